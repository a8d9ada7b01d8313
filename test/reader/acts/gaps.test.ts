import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detectGap, gradeGap } from '../../../src/reader/acts/gaps.ts';
import { loadHead } from '../../../src/reader/acts/heads.ts';

const head = loadHead('gap');

const TOOL = [
  "I'm sorry, but I'm unable to cancel bookings.",
  "I don't have the ability to open tickets for you.",
  'Unfortunately the reservation could not be made.',
  "As an AI I don't have access to your account.",
  'No puedo cancelar su pedido desde aquí.',
  'Je ne peux pas annuler votre commande.',
  'Ich kann leider keine Tickets buchen.',
  'Não posso cancelar o seu pedido.',
  'Non posso annullare il tuo ordine.',
  'Ik kan helaas geen tafel reserveren.',
  'Nie mogę anulować zamówienia.',
  'Я не могу отменить заказ.',
  '抱歉，我无法预订机票。',
  '申し訳ありませんが、予約することができません。',
];
const KNOWLEDGE = [
  "I don't have any information about that.",
  "Sorry, I don't know.",
  "I couldn't find any results for your search.",
  'No tengo información sobre eso.',
  "Je n'ai pas d'information à ce sujet.",
  'Das weiß ich leider nicht.',
  'Não tenho informações sobre isso.',
  'Non ho informazioni su questo.',
  'Daar heb ik geen informatie over.',
  'Nie mam informacji na ten temat.',
  'У меня нет информации об этом.',
  '抱歉，我不清楚这个问题。',
  '申し訳ありませんが、わかりません。',
];
const NEITHER = [
  'Your table is booked for eight.',
  'No, they do not have a pool.',
  "I'm sorry, but I can't help with that: it would be illegal and harmful.",
  "I'm sorry, but I can't assist with that.",
  "I'm not sure what you mean. Could you clarify?",
  "I can't wait to help you! Where would you like to go?",
  'I do not have personal opinions.',
  'Lo siento, no puedo ayudar con eso porque es ilegal.',
  'Your appointment is successfully booked.',
  'Hier sind drei Hotels in der Nähe.',
  '好的，已经为您预订。',
  '',
  `Cats are small carnivores. ${'They sleep a lot and hunt at night. '.repeat(30)} We do not know why they purr.`,
];

describe('detectGap', () => {
  for (const [type, texts] of [
    ['TOOL', TOOL],
    ['KNOWLEDGE', KNOWLEDGE],
    [null, NEITHER],
  ] as const) {
    for (const text of texts) {
      it(`says ${type ?? 'nothing'} of: ${text.slice(0, 70)}`, () => {
        equal(detectGap(text, head)?.type ?? null, type);
      });
    }
  }
});

describe('gradeGap', () => {
  it('ranks an admission above regret and regret above an answer, and a refusal below an admission', () => {
    const grade = (text: string): number => gradeGap(text, head);
    ok(grade("Sorry, I don't know.") > grade('Sorry, there is a queue at the desk.'));
    ok(grade('Sorry, there is a queue at the desk.') > grade('There is a queue at the desk.'));
    ok(grade("I don't have any information about that.") > grade("I'm sorry, but I can't assist with that."));
  });
});
