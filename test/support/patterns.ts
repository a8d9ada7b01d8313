/** Finds every regular expression of our sources, so that a test can hold them all to one law. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ParserOptions } from 'prettier';
import { parsers } from 'prettier/plugins/babel';

const root = join(import.meta.dirname, '../..');

export interface Pattern {
  readonly source: string;
  readonly flags: string;
  /** Where it is written: `src/reader/document/sentences.ts:23`. */
  readonly place: string;
}

/** The files of some rooms of `src`, as paths from the root. */
export function filesOf(rooms: readonly string[]): string[] {
  return rooms.flatMap((room) => globSync(`src/${room}/**/*.ts`, { cwd: root })).toSorted();
}

/** The regular expression literals of the files, from their syntax trees. */
export async function literalsOf(files: readonly string[]): Promise<Pattern[]> {
  const found: Pattern[] = [];
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const tree: unknown = await parsers['babel-ts'].parse(text, { filepath: file } as ParserOptions);
    for (const { pattern, flags, line } of literalsUnder(tree)) {
      found.push({ source: pattern, flags, place: `${file}:${line}` });
    }
  }
  return found;
}

interface RegExpLiteral {
  readonly pattern: string;
  readonly flags: string;
  readonly loc: { readonly start: { readonly line: number } };
}

function* literalsUnder(node: unknown): Iterable<{ pattern: string; flags: string; line: number }> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node) && 'type' in node && node.type === 'RegExpLiteral') {
    const { pattern, flags, loc } = node as unknown as RegExpLiteral;
    yield { pattern, flags, line: loc.start.line };
  }
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'loc' && key !== 'tokens' && key !== 'comments') yield* literalsUnder(value);
  }
}

/**
 * From now on notes each pattern that code of the rooms makes with the `RegExp` constructor. Call it before
 * the first of their modules is loaded.
 */
export function noteConstructed(rooms: readonly string[]): ReadonlyMap<string, Pattern> {
  const noted = new Map<string, Pattern>();
  const frame = new RegExp(`/(src/(?:${rooms.join('|')})/[^:)]+:\\d+)`);
  const Plain = RegExp;
  const note = (made: RegExp): RegExp => {
    const frames = new Error().stack?.split('\n').flatMap((line) => frame.exec(line)?.[1] ?? []) ?? [];
    const place = frames.at(-1);
    if (place !== undefined)
      noted.set(`${place} ${String(made)}`, { source: made.source, flags: made.flags, place });
    return made;
  };
  globalThis.RegExp = new Proxy(Plain, {
    construct: (target, [source, flags]: [string | RegExp, string?]) => note(new target(source, flags)),
    apply: (target, _self, [source, flags]: [string | RegExp, string?]) => note(target(source, flags)),
  });
  return noted;
}
