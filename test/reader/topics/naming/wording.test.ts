import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addRequest,
  mergeSamplesAndPhrases,
  samplesOf,
  WordsOfMicros,
  type Wording,
} from '../../../../src/reader/topics/naming/wording.ts';
import { ReadRequest } from '../../../../src/reader/topics/read-request.ts';
import { axis, freshState, microOf } from '../builders.ts';

const add = (wording: Wording, text: string, cosine: number) =>
  addRequest(wording, new ReadRequest(text), cosine);
const empty = (): Wording => ({ samples: [], words: new Map(), phrases: new Map() });
const textsOf = ({ samples }: Wording): string[] => samples.map(({ request }) => request.text);

describe('the wording of a micro-cluster', () => {
  it('keeps the four most central and shortest requests, each text once', () => {
    const wording = empty();
    add(wording, 'far', 0.5);
    for (const text of ['one', 'One', 'two', 'three', 'four']) add(wording, text, 0.9);
    deepEqual(textsOf(wording), ['one', 'two', 'three', 'four']);
    add(wording, 'a much longer request that says the same', 0.9);
    deepEqual(textsOf(wording), ['one', 'two', 'three', 'four']);
    add(wording, 'nearest', 1);
    deepEqual(textsOf(wording), ['one', 'two', 'four', 'nearest']);
  });

  it('keeps at most 32 phrases', () => {
    const wording = empty();
    const letters = [...'abcdefghijklmnopqrst'];
    for (const letter of letters) add(wording, `alpha${letter} beta${letter} gamma${letter}`, 0.9);
    equal(wording.phrases.size, 32);
    const other = empty();
    add(other, 'alphat betat', 0.9);
    mergeSamplesAndPhrases(wording, other);
    equal(wording.phrases.get('alphat betat')?.count, 2);
  });
});

describe('the wording of a group', () => {
  it('gives samples of the heaviest first, shares of words and uses of phrases', () => {
    const state = freshState();
    const members = [microOf(state, axis(0), 'track parcel'), microOf(state, axis(1), 'cancel my order', 3)];
    deepEqual(
      samplesOf(members).map(({ request, weight }) => [request.text, weight]),
      [
        ['cancel my order', 3],
        ['track parcel', 1],
      ],
    );
    const { shares, phrases } = new WordsOfMicros(members);
    deepEqual([shares.get('cancel'), shares.get('parcel')], [0.75, 0.25]);
    equal(phrases.requests, 4);
    equal(phrases.uses.get('cancel order')?.count, 3);
  });
});
