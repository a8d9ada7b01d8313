import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface WrittenPhrases {
  readonly grammar?: object;
  readonly classes?: Readonly<Record<string, readonly string[]>>;
  readonly kinds?: Readonly<
    Record<string, { phrases: readonly string[]; unless?: readonly string[]; unlessOf?: string }>
  >;
}

/** A grammar that says nothing. */
export const PLAIN_GRAMMAR = {
  name: 'Test',
  gap: 3,
  skipped: [],
  negation: { before: [], reachAfter: 0, after: [], reachBefore: 0 },
  contrast: [],
  spellings: {},
  classes: {},
};

/** They go with the process. */
const made: string[] = [];
process.on('exit', () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** A directory with a grammar and a file of phrases for each language, under the purpose "test". */
export function phraseDirectory(languages: Readonly<Record<string, WrittenPhrases>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'phrases-'));
  made.push(directory);
  for (const [language, { grammar = {}, classes = {}, kinds = {} }] of Object.entries(languages)) {
    const examples = { fires: ['x'], silent: [] };
    const content = Object.entries(kinds).map(([kind, of]) => [kind, { ...of, examples }]);
    mkdirSync(join(directory, language));
    const write = (name: string, value: object): void =>
      writeFileSync(join(directory, language, `${name}.json`), JSON.stringify(value));
    write('grammar', { ...PLAIN_GRAMMAR, ...grammar });
    write('test', { classes, kinds: Object.fromEntries(content) });
  }
  return directory;
}
