import { deepEqual, equal, throws } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { detectableLanguages } from '../../../src/reader/document/detect.ts';
import { SESSION_OUTCOMES } from '../../../src/domain/session-outcomes.ts';
import { LEXICON_DIRECTORY } from '../../../src/reader/document/lexicon.ts';
import { loadTextLanguages } from '../../../src/reader/document/text-lexicon.ts';

const scratch = mkdtempSync(join(tmpdir(), 'undertone-texts-'));
after(() => rmSync(scratch, { recursive: true }));

describe('lexicon of titles and summaries', () => {
  it('closes a summary in sixteen languages', () => {
    const languages = loadTextLanguages();
    equal(languages.size, 16);
    for (const [code, { endings }] of languages) {
      equal(detectableLanguages().has(code), true, code);
      equal(new Set(SESSION_OUTCOMES.map((outcome) => endings[outcome])).size, SESSION_OUTCOMES.length, code);
    }
  });

  it('never cuts a "no" from the front, and nothing that another language denies with', () => {
    const languages = [...loadTextLanguages().values()];
    const denials = new Set(languages.flatMap(({ negations }) => negations));
    for (const { greetings, courtesies, leads, openings } of languages)
      deepEqual(
        [...greetings, ...courtesies, ...leads, ...openings].filter((phrase) => denials.has(phrase)),
        [],
      );
  });

  it('names file and place of what cannot be used', () => {
    const text = readFileSync(join(LEXICON_DIRECTORY, 'en/texts.json'), 'utf8');
    const faulty = { ...(JSON.parse(text) as object), leads: ['so', 'and'] };
    mkdirSync(join(scratch, 'en'));
    writeFileSync(join(scratch, 'en/texts.json'), JSON.stringify(faulty));
    throws(() => loadTextLanguages(scratch), {
      message: /en\/texts\.json is not usable \(leads\.1: "and" is not in/,
    });
  });
});
