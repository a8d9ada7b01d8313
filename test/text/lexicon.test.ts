import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { toldLanguages } from '../../src/text/detect.ts';
import { LEXICON_DIRECTORY, lexiconOf, loadLanguages } from '../../src/text/lexicon.ts';

const scratch = mkdtempSync(join(tmpdir(), 'undertone-lexicon-'));
after(() => rmSync(scratch, { recursive: true }));

/** Personal data and public figures have folders of their own. */
const all = readdirSync(LEXICON_DIRECTORY).filter((name) => name.includes('.'));
const files = all.filter(
  (file) => !/^README\.md$|\.(?:grammar|signals|repeats|gaps|abilities|turns)\.json$/.test(file),
);
const read = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(LEXICON_DIRECTORY, file), 'utf8')) as Record<string, unknown>;

/** A lexicon of English alone, with something changed. */
function changed(change: Record<string, unknown>): string {
  const directory = mkdtempSync(join(scratch, 'changed-'));
  writeFileSync(join(directory, 'en.json'), JSON.stringify({ ...read('en.json'), ...change }));
  return directory;
}

describe('lexicon', () => {
  it('holds one file a language, named by its code', () => {
    const codes = files.map((file) => /^([a-z]{2})\.json$/.exec(file)?.[1] ?? file);
    deepEqual(
      codes.filter((code) => !toldLanguages().has(code)),
      [],
    );
  });

  it('holds files of phrases for languages only, with a grammar each', () => {
    for (const file of all) {
      const [code, purpose] = file.split('.');
      if (files.includes(file) || file === 'README.md') continue;
      ok(toldLanguages().has(code!), file);
      ok(purpose === 'grammar' || all.includes(`${code}.grammar.json`), file);
    }
  });

  it('has the same sections for every language, in the same order', () => {
    const sections = Object.keys(read('en.json'));
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
      [{ please: ['please', 'Pls'] }, /en\.json is not usable \(please\.1: "Pls" is not in lower case\)/],
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
    writeFileSync(join(broken, 'fr.json'), '{');
    throws(() => loadLanguages(broken), {
      name: 'SetupError',
      message: /fr\.json is not usable \(is not JSON\)/,
    });
  });
});
