import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFragment, nameOfRequest } from '../../../src/reader/conversations/request-name.ts';

describe('nameOfRequest', () => {
  const names: readonly (readonly [text: string, name: string])[] = [
    ['Can you send me the invoice for order 47755? I need it for my employer', 'Send invoice'],
    ["I'd like to change the delivery address", 'Change delivery address'],
    ['Können Sie die Adresse wirklich nicht ändern?', 'Adresse ändern'],
    ['Preciso alterar a morada de entrega da encomenda 48560', 'Morada de entrega da encomenda'],
    ["Please try, it's really just the house number", 'House'],
    ['Payment failed but the money left my account', 'Payment failed'],
    ['I paid 19.90 for express. I want that back', 'Express'],
    ['I want that back', 'I want that back'],
    ['Why does my card keep getting declined?', 'Card declined'],
    ['The invoice that I requested is missing', 'Invoice'],
    ['The zip on my Fjell jacket broke after four months', 'Fjell jacket'],
    ['Could you find out?', 'Could you find out'],
    ['どこで見られますか?', 'どこで見られますか'],
    ['', ''],
  ];
  for (const [text, name] of names)
    it(`names “${text}”`, () => {
      equal(nameOfRequest(text), name);
    });

  it('tells a phrase from what is torn from a sentence', () => {
    equal(isFragment('Delivery address'), false);
    equal(isFragment('Paid 19.90 for express'), true);
    equal(isFragment("Try it's really just house"), true);
    equal(isFragment('見'), true);
  });
});
