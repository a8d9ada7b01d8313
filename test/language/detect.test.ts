import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detectLanguage } from '../../src/language/detect.ts';

describe('detectLanguage', () => {
  const cases: readonly [string, string | null][] = [
    ['I would like to know when my order will arrive', 'en'],
    ['¿Podría decirme cuándo llegará mi pedido?', 'es'],
    ['Je voudrais savoir quand ma commande va arriver', 'fr'],
    ['Ich möchte wissen, wann meine Bestellung ankommt', 'de'],
    ['Я хотел бы узнать, когда придёт мой заказ', 'ru'],
    ['我想知道我的订单什么时候能到，谢谢你们的帮助，请尽快回复我好吗', 'zh'],
    ['Hi there', null],
    ['', null],
    ['1234567890 1234567890 1234567890', null],
    ['?!?!?!?!?!?!?!?!?!?!?!?!?!?!', null],
  ];
  for (const [text, language] of cases) {
    it(`says ${language ?? 'nothing'} of: ${text}`, () => equal(detectLanguage(text), language));
  }
});
