import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { worthOf, type IsNoun } from '../../../../src/reader/topics/naming/name-form.ts';
import { SampleWords } from '../../../../src/reader/topics/naming/sample-words.ts';
import { ReadRequest } from '../../../../src/reader/topics/read-request.ts';

const nouns = (...texts: readonly string[]): IsNoun => {
  const words = new SampleWords(texts.map((text) => ({ request: new ReadRequest(text), weight: 1 })));
  return (stem) => words.isNoun(stem);
};
const NONE = nouns();
const worth = (name: string, isNoun = NONE): number => worthOf(name, isNoun);

describe('worthOf', () => {
  it('puts what is to be done with which thing above a bare thing, and that above a bare verb', () => {
    const isNoun = nouns('my invoice');
    ok(worth('Print invoice', isNoun) > worth('Invoice', isNoun));
    ok(worth('Invoice', isNoun) > worth('Number', nouns('the number')));
    ok(worth('Invoice', isNoun) > worth('Find') && worth('Find') > 0);
  });

  it('puts a noun that says of what below another one', () => {
    const isNoun = nouns('the cost', 'my invoice', 'the costs');
    for (const name of ['Cost', 'Costs']) ok(worth('Invoice', isNoun) > worth(name, isNoun), name);
    ok(worth('Shipping cost', isNoun) > worth('Invoice', isNoun));
  });

  it('refuses what is cut off or is a statement of its own', () => {
    for (const name of ['Funds come', 'App not send', 'Restaurant of', 'Deposit from not in account', 'Not'])
      equal(worth(name), 0, name);
  });

  it('accepts statements of what went wrong', () => {
    for (const name of ['Card not working', 'Payment declined', 'Lost card', 'Cannot send message'])
      equal(worth(name, nouns('my card', 'a payment', 'the message')), 1, name);
  });

  it('lets a noun follow a command, whatever else it may be', () => {
    equal(worth('Cancel order'), 1);
    equal(worth('Cancel orders'), 1);
  });
});
