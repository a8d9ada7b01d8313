import { deepEqual, throws } from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SetupError } from '../../../src/errors.ts';
import { loadPhraseFiles } from '../../../src/reader/phrases/phrase-files.ts';
import { phraseDirectory } from '../../support/phrase-files.ts';

const load = (directory: string): unknown => loadPhraseFiles({ purpose: 'test', kinds: ['good'], directory });

function fault(directory: string, message: RegExp): void {
  throws(
    () => load(directory),
    (error) => error instanceof SetupError && message.test(error.message),
  );
}

describe('phrase files', () => {
  it('are read by language, with the classes of their grammar', () => {
    const grammar = { classes: { very: ['very'], so: ['so'] } };
    const directory = phraseDirectory({
      de: { grammar, classes: { so: ['such'] }, kinds: { good: { phrases: ['{very} good'] } } },
      en: {},
    });
    const files = loadPhraseFiles({ purpose: 'test', kinds: ['good'], directory });
    deepEqual(
      files.map(({ language }) => language),
      ['de', 'en'],
    );
    deepEqual(
      [...files[0]!.classes],
      [
        ['very', ['very']],
        ['so', ['such']],
      ],
    );
  });

  it('name the file and the place of a fault', () => {
    fault(
      phraseDirectory({ de: { kinds: { good: { phrases: ['a', 'a (b'] } } } }),
      /de\/test\.json .*phrases\.1: .*lacks/,
    );
    fault(
      phraseDirectory({ de: { kinds: { good: { phrases: ['a', 'a'] } } } }),
      /kinds\.good\.phrases\.1: "a" stands twice/,
    );
    fault(
      phraseDirectory({ de: { kinds: { bad: { phrases: ['a'] } } } }),
      /de\/test\.json is not usable \(kinds/,
    );
    fault(phraseDirectory({ de: { kinds: { good: { phrases: ['A'] } } } }), /not in lower case/);
    fault(phraseDirectory({ de: { grammar: { contrast: ['{x}'] } } }), /contrast\.0: .*no class "x"/);
    fault(phraseDirectory({ de: { grammar: { skipped: ['a b'] } } }), /skipped\.0: .*more than one word/);
    fault(phraseDirectory({ de: { grammar: { gap: 0 } } }), /de\/grammar\.json is not usable \(gap/);
  });

  it('share the "unless" of a kind that another one names', () => {
    const good = { phrases: ['thanks'], unless: ['no thanks'] };
    const great = { phrases: ['many thanks'], unlessOf: 'good' };
    const kinds = ['good', 'great'] as const;
    const directory = phraseDirectory({ en: { kinds: { good, great } } });
    const [file] = loadPhraseFiles({ purpose: 'test', kinds, directory });
    deepEqual(file?.kinds.great?.unless, ['no thanks']);
    const lacking = phraseDirectory({ en: { kinds: { good: { ...great, unlessOf: 'great' } } } });
    fault(lacking, /kinds\.good\.unlessOf: needs a kind with "unless"/);
  });

  it('need a grammar', () => {
    const directory = phraseDirectory({ de: {} });
    rmSync(join(directory, 'de/grammar.json'));
    fault(directory, /de\/grammar\.json is missing/);
    writeFileSync(join(directory, 'de/grammar.json'), '{');
    fault(directory, /is not JSON/);
  });
});
