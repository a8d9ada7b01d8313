import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setPhrases } from '../../../src/topics/naming/set-phrases.ts';
import { ReadRequest } from '../../../src/topics/read-request.ts';

const shareOf = (name: string, ...texts: readonly string[]): number | undefined =>
  setPhrases(texts.map((text) => ({ request: new ReadRequest(text), weight: 1 }))).find(
    (phrase) => phrase.name === name,
  )?.share;

describe('setPhrases', () => {
  it('are runs of words with their function words', () => {
    equal(shareOf('Anything else', 'do you have anything else?', 'anything else', 'what now', 'else'), 0.5);
    equal(shareOf('I will wait', 'I will wait', 'ok i will wait'), 1);
  });

  it('begin and end where a phrase does', () => {
    const texts = ['can you send the list to me', 'can you send the list'];
    for (const name of ['Can you', 'Send the', 'The list', 'List to'])
      equal(shareOf(name, ...texts), undefined, name);
  });

  it('hold no number and come from no long request', () => {
    equal(shareOf('Order 12', 'order 12'), undefined);
    equal(shareOf('That works', `that works ${'and so '.repeat(8)}`), undefined);
  });
});
