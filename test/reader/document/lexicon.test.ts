import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { detectableLanguages } from '../../../src/reader/document/detect.ts';
import { LEXICON_DIRECTORY, lexiconOf, loadLanguages } from '../../../src/reader/document/lexicon.ts';

const scratch = mkdtempSync(join(tmpdir(), 'undertone-lexicon-'));
after(() => rmSync(scratch, { recursive: true }));

/** What belongs to no one language has a folder of its own. */
const SHARED = ['figures', 'lists', 'names'];
const all = readdirSync(LEXICON_DIRECTORY, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.json'),
);
const ofLanguages = all.filter((file) => !SHARED.includes(file.split('/')[0]!));
const files = ofLanguages.filter((file) => file.endsWith('/words.json'));
const read = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(LEXICON_DIRECTORY, file), 'utf8')) as Record<string, unknown>;

/** A lexicon of English alone, with something changed. */
function changed(change: Record<string, unknown>): string {
  const directory = mkdtempSync(join(scratch, 'changed-'));
  mkdirSync(join(directory, 'en'));
  writeFileSync(join(directory, 'en/words.json'), JSON.stringify({ ...read('en/words.json'), ...change }));
  return directory;
}

describe('lexicon', () => {
  it('holds a folder a language, named by its code, with a grammar for its phrases', () => {
    const phrases = /^(?:signals|turns|gaps|abilities|repeats)\.json$/;
    for (const file of ofLanguages) {
      const [code = '', name = ''] = file.split('/');
      ok(detectableLanguages().has(code), file);
      ok(/^(?:words|grammar|personal|texts)\.json$/.test(name) || phrases.test(name), file);
      ok(!phrases.test(name) || all.includes(`${code}/grammar.json`), file);
    }
  });

  it('has the same sections for every language, in the same order', () => {
    const sections = Object.keys(read('en/words.json'));
    for (const file of files) deepEqual(Object.keys(read(file)), sections, file);
  });

  it('names the same things in every language, and no two by one word', () => {
    const languages = loadLanguages();
    const keys = Object.keys(languages.get('en')!.things);
    for (const [code, { things, actions, questions, troubles, hints }] of languages) {
      deepEqual(Object.keys(things), keys, code);
      for (const meanings of [things, { ...actions }, questions, troubles, hints]) {
        const words = Object.values(meanings).flat();
        deepEqual(
          words.filter((word, index) => words.indexOf(word) !== index),
          [],
          code,
        );
      }
    }
  });

  it('gathers the languages, with and without spaces', () => {
    const { please } = lexiconOf(loadLanguages());
    ok(please.spaced.includes('bitte') && please.unspaced.includes('请'));
    equal(please.all.length, please.spaced.length + please.unspaced.length);
  });

  it('names file and place of what cannot be used', () => {
    const faults: [Record<string, unknown>, RegExp][] = [
      [
        { please: ['please', 'Pls'] },
        /en\/words\.json is not usable \(please\.1: "Pls" is not in lower case\)/,
      ],
      [{ please: ['pls', 'please'] }, /please\.1: "please" is not sorted: it belongs before "pls"/],
      [{ please: ['please', 'please'] }, /please\.1: "please" stands twice/],
      [{ please: ['plea.*'] }, /please\.0: "plea\.\*" is more than letters/],
      [{ please: [7] }, /please\.0: /],
      [{ plaese: [] }, /plaese/],
      [{ digits: undefined }, /digits: /],
      [{ hints: { dance: ['dance'] } }, /hints: .*dance/],
      [{ things: { 'Gift card': ['gift card'] } }, /things\.Gift card: /],
    ];
    for (const [change, message] of faults) throws(() => loadLanguages(changed(change)), { message });
    const broken = mkdtempSync(join(scratch, 'broken-'));
    cpSync(LEXICON_DIRECTORY, broken, { recursive: true });
    writeFileSync(join(broken, 'fr/words.json'), '{');
    throws(() => loadLanguages(broken), {
      name: 'SetupError',
      message: /fr\/words\.json is not usable \(is not JSON\)/,
    });
  });
});
