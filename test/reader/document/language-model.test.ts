import { deepEqual, equal, ok } from 'node:assert/strict';
import { statSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  BUCKETS,
  decodeModel,
  encodeModel,
  featuresOf,
  languageModel,
  MAX_FEATURES,
  MODEL_PATH,
  type Posting,
} from '../../../src/reader/document/language-model.ts';

const features = new Uint32Array(MAX_FEATURES);

function modelOf(word: string, weight: number): ReturnType<typeof decodeModel> {
  const postings: Posting[][] = Array.from({ length: BUCKETS }, () => []);
  const count = featuresOf([word], false, features);
  for (const bucket of new Set(features.slice(0, count))) postings[bucket] = [{ language: 2, weight }];
  const groups = [
    { script: 'Cyrillic', languages: ['ru'] },
    { script: 'Latin', languages: ['de', 'en'] },
  ];
  return decodeModel(encodeModel({ groups, scale: 0.1, bias: [0, 0, 0] }, postings));
}

describe('featuresOf', () => {
  it('gives the n-grams of a word with its edges, and the word', () => {
    // "_ab_": _a ab b_ _ab ab_ _ab_, and a b; the word.
    equal(featuresOf(['ab'], false, features), 9);
  });

  it('adds a pair for neighbours and a sign for capitals', () => {
    equal(featuresOf(['ab', 'ab'], true, features), 9 + 9 + 2);
  });

  it('stays within its bound', () => {
    ok(featuresOf(Array<string>(500).fill('abcdefgh'), true, features) <= MAX_FEATURES);
    ok(featuresOf(['x'.repeat(5000)], true, features) <= MAX_FEATURES);
  });

  it('gives buckets only', () => {
    const count = featuresOf(['größe', 'mañana'], false, features);
    ok(features.slice(0, count).every((bucket) => bucket < BUCKETS));
  });
});

describe('LanguageModel', () => {
  it('adds the weights of a text within its script', () => {
    const english = modelOf('hello', 100).likeliest('Latin', ['hello'], false)!;
    const german = modelOf('hello', -100).likeliest('Latin', ['hello'], false)!;
    deepEqual([english.language, german.language], ['en', 'de']);
    ok(english.probability > 0.99 && german.probability > 0.99);
  });

  it('leaves it open where it knows nothing of the text', () => {
    deepEqual(modelOf('hello', 100).likeliest('Latin', ['zzz'], false), { language: 'de', probability: 0.5 });
  });

  it('has nothing for a script without languages', () => {
    equal(modelOf('hello', 100).likeliest('Greek', ['hello'], false), null);
  });

  it('names the languages that it tells, not the class of all others', () => {
    ok(languageModel().languages.includes('de') && !languageModel().languages.includes(''));
  });

  it('ships in less than 1.5 MB', () => {
    ok(statSync(MODEL_PATH).size < 1.5 * 1024 * 1024);
  });
});
