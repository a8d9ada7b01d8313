import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SampleWords } from '../../../../src/reader/topics/naming/sample-words.ts';
import { ReadRequest } from '../../../../src/reader/topics/read-request.ts';

const wordsOf = (...texts: readonly string[]): SampleWords =>
  new SampleWords(texts.map((text) => ({ request: new ReadRequest(text), weight: 1 })));

describe('the words of samples', () => {
  it('are nouns behind articles and at the end of their things', () => {
    const words = wordsOf('what is on my shopping list', 'cancel the order');
    ok(words.isNoun('list') && words.isNoun('order') && !words.isNoun('cancel'));
  });

  it('are no nouns where they agree with a subject', () => {
    const words = wordsOf(
      'where do my funds come from',
      'when the cab arrives',
      'where this money came from',
    );
    ok(!words.isNoun('com') && !words.isNoun('arriv') && words.isNoun('cab'));
  });

  it('are shown as most write them', () => {
    const words = wordsOf('cancel orders', 'cancel my order', 'CANCEL THE ORDER NOW');
    equal(words.wordOf('order')?.name, 'Order');
    equal(words.wordOf('unheard'), null);
  });

  it('are plural as headings where samples say so, and never made up', () => {
    equal(wordsOf('cancel my order', 'where is the order', 'track orders').headingOf('order'), 'Orders');
    equal(wordsOf('weather in town', 'the weather').headingOf('weather'), 'Weather');
    equal(wordsOf('how long does it take').headingOf('tim'), null);
  });

  it('tell which samples hold them, and the language of most', () => {
    const words = wordsOf('cancel my order', 'the weather', 'wo ist das');
    deepEqual([...words.holdersOf('weather')!], [0, 1, 0]);
    equal(words.language, 'en');
  });
});
