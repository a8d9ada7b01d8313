import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  readSentence,
  says,
  saysBefore,
  substanceOf,
  wishesMore,
} from '../../../src/reader/acts/read-sentence.ts';

const left = (text: string): string =>
  substanceOf(readSentence(text), { answers: true }).replace(/\s+/g, ' ');

describe('what is left of a sentence', () => {
  for (const [text, rest] of [
    ['Thank you so much for your help', ''],
    ['thanks for the refund', 'refund'],
    ['no information about my parcel', 'information about my parcel'],
    ['my name is Ana Moreno and my card is lost', 'and my card is lost'],
    ['my email is wrong', 'my email is wrong'],
    ['That sounds really lovely', ''],
    ['write to ana@example.org', 'write to'],
    ['two people tomorrow', ''],
    ['好的，谢谢您的帮助', ','],
  ] as const)
    it(`is "${rest}" of "${text}"`, () => equal(left(text), rest));

  it('holds numbers and dates where they are asked for', () => {
    equal(substanceOf(readSentence('two people')), 'two people');
  });

  it('begins where it is asked for', () => {
    equal(substanceOf(readSentence('so the lamp is dark'), { from: 1 }), 'the lamp is dark');
  });
});

describe('a sentence', () => {
  it('asks with "please" when something follows', () => {
    equal(saysBefore(readSentence('please cancel it'), 'asks-for'), true);
    equal(saysBefore(readSentence('the second one please'), 'asks-for'), false);
  });

  it('says that something is wrong', () => {
    equal(says(readSentence('my screen is broken'), 'problem'), true);
    equal(says(readSentence('my screen is large'), 'problem'), false);
  });

  it('wishes more when a word follows the wish', () => {
    equal(wishesMore(readSentence("That sounds lovely, I'd like to book it")), true);
    equal(wishesMore(readSentence('Thanks, that is what I need')), false);
  });
});
