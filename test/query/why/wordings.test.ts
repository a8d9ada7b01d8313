import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mostTypical } from '../../../src/query/why/wordings.ts';

const of = (micro: number | null, text: string) => ({ micro, text });
const textsOf = (candidates: readonly { readonly text: string }[]): string[] =>
  candidates.map(({ text }) => text);

describe('typical wordings', () => {
  it('are those most like the others, one of each micro-cluster first', () => {
    const candidates = [
      of(1, 'my dog ate the invoice and now I want my money'),
      of(1, 'I want my money back'),
      of(1, 'please give me my money back'),
      of(2, 'refund my order'),
      of(2, 'a refund of my money please, I want it back'),
      of(null, 'money back'),
    ];
    const three = textsOf(mostTypical(candidates, 3));
    deepEqual(three.length, 3);
    deepEqual(
      three.map((text) => candidates.find((candidate) => candidate.text === text)?.micro),
      [1, 2, null],
    );
    deepEqual(three[0] === candidates[0]?.text, false);
    // Then the next ones of any micro-cluster.
    deepEqual(textsOf(mostTypical(candidates, 10)).toSorted(), textsOf(candidates).toSorted());
  });

  it('are different, whatever the letters, and compare in any script', () => {
    const texts = ['我要退款', '我要退款', '我想要退款。', '天气怎么样'].map((text) => of(1, text));
    deepEqual(textsOf(mostTypical(texts, 2)), ['我要退款', '我想要退款。']);
    deepEqual(textsOf(mostTypical([of(1, 'Refund'), of(2, 'refund')], 5)), ['Refund']);
    deepEqual(mostTypical([], 5), []);
  });
});
