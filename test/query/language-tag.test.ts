import { describe, it } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { detectableLanguages } from '../../src/reader/document/detect.ts';
import { languageOf } from '../../src/query/language-tag.ts';

describe('a language tag', () => {
  it('names the language of its first part', () => {
    const named = ['en', 'EN', 'en-US', 'en_us', 'zh-Hant-TW', 'pt-BR', 'eng', 'deu', 'iw', 'fil', 'yue'];
    deepEqual(named.map(languageOf), ['en', 'en', 'en', 'en', 'zh', 'pt', 'en', 'de', 'he', 'tl', 'yue']);
  });

  it('names each language that texts are found to be in by that very code', () => {
    for (const code of detectableLanguages()) equal(languageOf(code), code);
  });

  for (const tag of ['', 'xx', 'english', 'en-', '-', 'e', '12', 'en us', 'en-US-', 'und', 'mis', 'x-own'])
    it(`is none: ${JSON.stringify(tag)}`, () => equal(languageOf(tag), null));
});
