import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SignalKey } from '../../src/domain/signal-kinds.ts';
import { loadHeads } from '../../src/enrich/heads.ts';
import { detectSignals, gradeTurn } from '../../src/enrich/signals.ts';

const heads = loadHeads();

const GIVEN: readonly [string, SignalKey][] = [
  ['Thanks a lot!', 'gratitude'],
  ['Muchas gracias por todo', 'gratitude'],
  ['Merci beaucoup !', 'gratitude'],
  ['Vielen Dank!', 'gratitude'],
  ['Muito obrigada', 'gratitude'],
  ['The second link worked. Thank you', 'gratitude'],
  ['Gefunden, danke!', 'gratitude'],
  ['Grazie mille', 'gratitude'],
  ['Bedankt!', 'gratitude'],
  ['Dziękuję bardzo', 'gratitude'],
  ['非常感谢', 'gratitude'],
  ['没事，真的谢谢你', 'gratitude'],
  ['ありがとうございます', 'gratitude'],
  ['Спасибо большое', 'gratitude'],
  ['You have been very helpful', 'praise'],
  ['Perfect!', 'praise'],
  ['Das ist wirklich hilfreich', 'praise'],
  ["C'est parfait", 'praise'],
  ['It works now', 'problem-solved'],
  ['That fixed the problem', 'problem-solved'],
  ['Jetzt funktioniert es', 'problem-solved'],
  ['问题解决了', 'problem-solved'],
  ["No, that's all I need. Have a great day!", 'positive-closing'],
  ["No, I don't need anything else", 'positive-closing'],
  ['Eso es todo, gracias', 'positive-closing'],
  ['Das war alles', 'positive-closing'],
  ['Oh I see, that makes sense', 'acknowledgement'],
  ['Good to know', 'acknowledgement'],
  ['Ah, ich verstehe.', 'acknowledgement'],
  ["That didn't help at all", 'negative-feedback'],
  ['What a useless answer', 'negative-feedback'],
  ['Eso no me ayuda', 'negative-feedback'],
  ['Das hilft mir nicht weiter', 'negative-feedback'],
  ['Diese Auskunft hilft mir leider gar nicht', 'negative-feedback'],
  ['没有帮助', 'negative-feedback'],
  ['Can you find something else?', 'negative-feedback'],
  ['Are there any other options?', 'negative-feedback'],
  ['I tried that already and it changed nothing', 'negative-feedback'],
  ['Das funktioniert aber immer noch nicht', 'negative-feedback'],
  ['Ça ne marche toujours pas', 'negative-feedback'],
  ['Che delusione', 'negative-feedback'],
  ['Wat jammer', 'negative-feedback'],
  ['Всё равно не работает', 'negative-feedback'],
  ['Hâlâ aynı', 'negative-feedback'],
  ['もう試しました', 'negative-feedback'],
  ['还是不行', 'negative-feedback'],
  ["That's not what I asked", 'correction'],
  ['No, I meant the other account', 'correction'],
  ['No, for two people', 'correction'],
  ['No, on the kitchen speaker please', 'correction'],
  ['Das war nicht meine Frage.', 'correction'],
  ['Non era la mia domanda', 'correction'],
  ['Beni yanlış anladınız', 'correction'],
  ["Ce n'est pas ce que j'ai demandé", 'correction'],
  ['Das habe ich nicht gefragt', 'correction'],
  ['不是这个意思，我要问的是退款', 'correction'],
  ['That is wrong.', 'factual-error'],
  ['But you said it was included', 'factual-error'],
  ["You're mistaken, it opened in 1998", 'factual-error'],
  ['Das stimmt nicht.', 'factual-error'],
  ["C'est faux", 'factual-error'],
  ['Это неправда', 'factual-error'],
  ['I already told you my order number', 'ignored-instruction'],
  ['I told you not to use bullet points', 'ignored-instruction'],
  ['Ich habe doch schon gesagt, dass es nicht geht', 'ignored-instruction'],
  ["That's too vague", 'insufficient-detail'],
  ['Can you be more specific?', 'insufficient-detail'],
  ['Más detalles, por favor', 'insufficient-detail'],
  ['You already asked me that', 'ignored-instruction'],
  ['Eso ya me lo dijiste', 'ignored-instruction'],
  ['Das haben Sie mir schon gesagt', 'ignored-instruction'],
  ['We keep going round in circles', 'frustration'],
  ['Es la tercera vez que pregunto', 'frustration'],
  ["C'est la deuxième fois que je demande", 'frustration'],
  ['Já é a terceira vez que pergunto', 'frustration'],
  ['我第三次问了', 'frustration'],
  ['Третий раз спрашиваю', 'frustration'],
  ['This is ridiculous', 'frustration'],
  ['Are you kidding me?', 'frustration'],
  ['You are so stupid', 'frustration'],
  ['Das ist doch lächerlich', 'frustration'],
  ['Let me talk to a human', 'gives-up'],
  ['Forget it', 'gives-up'],
  ['Quiero hablar con una persona', 'gives-up'],
  ['Ich möchte mit einem Mitarbeiter sprechen', 'gives-up'],
  ['转人工客服', 'gives-up'],
  ['Dann kaufe ich es woanders', 'gives-up'],
  ['Bir insanla görüşmek istiyorum', 'gives-up'],
];

const ORDINARY: readonly string[] = [
  'I want to cancel my subscription',
  'My card does not work abroad',
  'Why was my payment declined?',
  'The amount on my invoice is wrong, can you check it?',
  'I did not receive the parcel yet',
  'Is that right?',
  'No thanks',
  'No, gracias',
  'yes please',
  'I need a taxi to the airport. Thanks',
  'Thanks in advance for looking into this',
  'How do I report a problem with the app?',
  'I would appreciate it if you could send the invoice',
  'What should I do if it does not help?',
  'Can you explain how this works?',
  'Is it wrong to eat with my hands?',
  'Please find me a good restaurant that is not too expensive',
  'No, not right now',
  'I have no preference',
  'Sorry, I meant Friday',
  "Oh no, that's my mistake!",
  'I asked for a refund last week, when will it arrive?',
  'When was the last time the car was in the shop?',
  'Mein Paket ist noch nicht da, wo ist es?',
  "Je n'ai pas encore reçu mon colis",
  '我想取消订单',
  '没有预约可以去吗',
  'いいえ、二人です',
  'Нет, на двоих',
  'Ich habe mein Passwort vergessen',
  'Je voudrais réserver une table',
  'Мне нужно изменить адрес доставки',
  '',
  '   ',
  '42',
];

describe('detectSignals', () => {
  for (const [text, key] of GIVEN) {
    it(`hears ${key} in: ${text}`, () => {
      const signals = detectSignals(text, heads);
      ok(signals.includes(key), signals.join(', ') || 'nothing');
    });
  }
  for (const text of ORDINARY) {
    it(`hears nothing in: ${JSON.stringify(text)}`, () => {
      deepEqual(detectSignals(text, heads), []);
    });
  }
  it('gives each signal once, in the order of the list', () => {
    deepEqual(detectSignals('Thanks, thanks! That was perfect. Thank you. It works now.', heads), [
      'gratitude',
      'praise',
      'problem-solved',
    ]);
  });
});

describe('gradeTurn', () => {
  it('orders turns by how they sound, also where no signal is given', () => {
    const dsat = (text: string): number => gradeTurn(text, heads).dsat.score;
    ok(dsat('No, I want another one instead') > dsat('I need a room for two'));
    ok(dsat('That is not what I asked') > dsat('I need a room for two'));
    equal(gradeTurn('That is not what I asked', heads).dsat.likely, true);
    const sat = (text: string): number => gradeTurn(text, heads).sat.score;
    ok(sat('Sounds good to me') > sat('I need a room for two'));
    equal(gradeTurn('Thank you so much!', heads).sat.likely, true);
  });
});
