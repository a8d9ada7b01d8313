import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRepeated, newRequest } from '../../src/conversations/repeated-requests.ts';
import { vectorOf } from '../worker/analysis/builders.ts';

const THRESHOLD = 0.55;

function repeats(before: string, now: string): boolean {
  const [earlier, request] = [before, now].map((text) => newRequest(text, vectorOf(text)));
  return isRepeated(request!, [earlier!], 1, THRESHOLD);
}

describe('isRepeated', () => {
  it('takes the same request in other words for a repeat', () => {
    equal(repeats('When will my refund arrive?', 'when will my refund arrive'), true);
    equal(repeats('cancel my order please', 'please cancel my orders'), true);
    equal(repeats('cancel my order please', 'which restaurants are open'), false);
  });

  it('takes another number or name for another request', () => {
    equal(repeats('convert 500 dollars to euros', 'convert 1000 dollars to euros'), false);
    equal(repeats('convert 500 dollars to euros', 'convert 500 dollars to euros'), true);
    equal(repeats('what is the price of Apple', 'what is the price of Microsoft'), false);
    equal(repeats('what is the price of apple', 'what is the price of Apple'), true);
  });

  it('takes what says that it goes on for no repeat', () => {
    equal(repeats('find a restaurant near me', 'find another restaurant near me'), false);
    equal(repeats('busca un restaurante', 'busca otro restaurante'), false);
    equal(repeats('帮我找餐馆', '帮我找另外的餐馆'), false);
  });

  it('looks only at requests that were answered', () => {
    const request = newRequest('cancel my order', vectorOf('cancel my order'));
    equal(isRepeated(request, [request], 0, THRESHOLD), false);
    equal(isRepeated(request, [request], 1, THRESHOLD), true);
  });
});
