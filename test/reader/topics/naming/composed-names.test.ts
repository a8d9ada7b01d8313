import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { composedNames } from '../../../../src/reader/topics/naming/composed-names.ts';
import { ReadRequest } from '../../../../src/reader/topics/read-request.ts';

const namesOf = (...texts: readonly string[]): string[] =>
  composedNames(texts.map((text) => ({ request: new ReadRequest(text), weight: 1 }))).map(({ name }) => name);

describe('composedNames', () => {
  it('joins the verb that most use with the thing that most name', () => {
    const names = namesOf('cancel my blue order', 'please cancel the purchase', 'cancel that big order');
    ok(names.includes('Cancel order'), names.join());
  });

  it('says what goes wrong with a thing', () => {
    const names = namesOf("my printer doesn't work", 'the printer is not working', 'printer not working');
    ok(names.includes('Printer not working'), names.join());
  });

  it('tracks what is asked after, though no request says so', () => {
    const names = namesOf(
      'where is my parcel? It was due on Monday and nobody is at the door all day long',
      "It is late and my parcel isn't here. Where is it, and who has my parcel now, please tell me",
      'where is my parcel? I have been waiting for it since the beginning of last week',
    );
    ok(names.includes('Track parcel'), names.join());
  });

  it('says what does not arrive', () => {
    const names = namesOf('I never received the mail', 'never received your mail');
    ok(names.includes('Mail not received'), names.join());
  });

  it('says what the price is of', () => {
    const names = namesOf('what does shipping to Norway cost?', 'how much does the shipping cost');
    ok(names.includes('Shipping cost'), names.join());
  });

  it('says no action twice', () => {
    const names = namesOf('I want a refund', 'refund my refund please', 'send back for a refund');
    ok(!names.some((name) => /refund refund|return refund/i.test(name)), names.join());
  });

  it('composes nothing of an action that few name, and takes no number', () => {
    deepEqual(namesOf('cancel it', 'opening hours', 'store address', 'parking', 'phone number'), []);
    ok(!namesOf('cancel order 55', 'cancel order 56').some((name) => /\d/.test(name)));
  });
});

describe('composedNames of several languages', () => {
  it('never joins words of two languages', () => {
    const texts = [
      'return my money please',
      '¿cuándo me devuelven el dinero?',
      'quiero que me devuelvan el dinero',
    ];
    const names = composedNames(texts.map((text) => ({ request: new ReadRequest(text), weight: 1 })));
    ok(
      names.every(({ name }) => !/dinero/i.test(name)),
      names.map(({ name }) => name).join(),
    );
  });
});
