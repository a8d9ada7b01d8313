import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SampleWords } from '../../../../src/reader/topics/naming/sample-words.ts';
import { tokensOf } from '../../../../src/reader/topics/naming/tokens.ts';
import { Coverage } from '../../../../src/reader/topics/naming/coverage.ts';
import { wordsOfRequests, type GroupWords } from '../../../../src/reader/topics/naming/wording.ts';
import { ReadRequest } from '../../../../src/reader/topics/read-request.ts';
import { noKeys } from '../../../../src/reader/topics/request-keys.ts';

const stems = (name: string): string[] => [...tokensOf(name).stems];

const groupOf = (...texts: readonly string[]): GroupWords =>
  wordsOfRequests(texts.map((text) => new ReadRequest(text)));
const coverageOf = (...texts: readonly string[]): Coverage => new Coverage(groupOf(...texts), texts.length);

describe('Coverage', () => {
  it('takes words that mean the same action or thing for one', () => {
    const coverage = coverageOf('change my address', 'modify my address', 'update the address');
    equal(coverage.inSamples(stems('change address')), 1);
    equal(coverageOf('cancel my order', 'cancel the purchase').inSamples(stems('cancel order')), 1);
  });

  it('takes two words for one meaning only once', () => {
    const coverage = coverageOf('modify my address', 'change my address', 'change the address');
    ok(coverage.inSamples(stems('change modify')) < 0.5);
  });

  it('is the share of the requests by weight', () => {
    const samples = [
      { request: new ReadRequest('track my parcel'), weight: 3 },
      { request: new ReadRequest('opening hours'), weight: 1 },
    ];
    const group = { ...groupOf(), samples, sampleWords: new SampleWords(samples) };
    equal(new Coverage(group, 4).inSamples(stems('parcel')), 0.75);
  });

  it('counts the actions of all requests, not only of the samples', () => {
    const shares = new Map([
      ['cancel', 0.1],
      ['order', 1],
    ]);
    const few = { ...groupOf('cancel my order', 'stop my order'), shares };
    const keys = { ...noKeys(), actions: new Map([['cancel', 8]]) };
    ok(new Coverage(few, 10).of(stems('cancel order')) < 0.4);
    ok(new Coverage({ ...few, keys }, 10).of(stems('cancel order')) > 0.8);
  });

  it('knows which word is the usual one', () => {
    const coverage = coverageOf('change my address', 'change the address', 'modify my address');
    equal(coverage.usualness(stems('change address')), 1);
    equal(coverage.usualness(stems('modify address')), 0.5);
  });
});
