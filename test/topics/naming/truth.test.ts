import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharesIn, tokensOf } from '../../../src/topics/naming/tokens.ts';
import { readSample, Truth } from '../../../src/topics/naming/truth.ts';

const stems = (name: string): string[] => [...tokensOf(name).stems];

function truthOf(...texts: readonly string[]): Truth {
  return new Truth(
    texts.map((text) => readSample({ text, weight: 1 })),
    sharesIn(texts),
  );
}

describe('Truth', () => {
  it('takes words that mean the same action or thing for one', () => {
    const truth = truthOf('change my address', 'modify my address', 'update the address');
    equal(truth.inSamples(stems('change address')), 1);
    equal(truthOf('cancel my order', 'cancel the purchase').inSamples(stems('cancel order')), 1);
  });

  it('takes two words for one meaning only once', () => {
    const truth = truthOf('modify my address', 'change my address', 'change the address');
    ok(truth.inSamples(stems('change modify')) < 0.5);
  });

  it('is the share of the requests by weight', () => {
    const samples = [
      readSample({ text: 'track my parcel', weight: 3 }),
      readSample({ text: 'opening hours', weight: 1 }),
    ];
    equal(new Truth(samples, new Map()).inSamples(stems('parcel')), 0.75);
  });

  it('counts the actions of all requests, not only of the samples', () => {
    const samples = ['cancel my order', 'stop my order'].map((text) => readSample({ text, weight: 1 }));
    const few = new Map([
      ['cancel', 0.1],
      ['order', 1],
    ]);
    const keys = { actions: new Map([['cancel', 8]]), things: new Map<string, number>() };
    ok(new Truth(samples, few).of(stems('cancel order')) < 0.4);
    ok(new Truth(samples, few, { keys, requests: 10 }).of(stems('cancel order')) > 0.8);
  });

  it('knows which word is the usual one', () => {
    const truth = truthOf('change my address', 'change the address', 'modify my address');
    equal(truth.usualness(stems('change address')), 1);
    equal(truth.usualness(stems('modify address')), 0.5);
  });
});
