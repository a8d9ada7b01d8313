import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { signalsInContext } from '../../../src/reader/conversations/signal-context.ts';
import type { AssistantAct } from '../../../src/domain/facts.ts';
import type { SignalKey } from '../../../src/domain/signal-kinds.ts';
import { assistantActOf } from '../../../src/reader/acts/tables/assistant-turn.ts';
import { detectSignals, isOnlyComplaint } from '../../../src/reader/acts/signals.ts';
import { shippedPhraseFiles } from '../../support/shipped-phrases.ts';

/** What counts after an assistant turn of a stance; null: in the turn that opens the session. */
function signalsIn(text: string, latestAct: AssistantAct | null = 'answered'): SignalKey[] {
  const context = { latestAct, hasUserTurn: latestAct !== null };
  return signalsInContext(detectSignals(text), context);
}

const GIVEN: readonly [string, SignalKey][] = [
  ['Thanks a lot!', 'gratitude'],
  ['Muchas gracias por todo', 'gratitude'],
  ['Merci beaucoup !', 'gratitude'],
  ['Je vous suis très reconnaissante', 'gratitude'],
  ['Je tiens à vous remercier', 'gratitude'],
  ["I can't thank you enough", 'gratitude'],
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
  ['这个回答没有帮助', 'negative-feedback'],
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
  ['You already asked me that', 'ignored-instruction'],
  ['Eso ya me lo dijiste', 'negative-feedback'],
  ['Das haben Sie mir schon gesagt', 'ignored-instruction'],
  ['We keep going round in circles', 'frustration'],
  ['Es la tercera vez que pregunto', 'repetition'],
  ["C'est la deuxième fois que je demande", 'repetition'],
  ['Já é a terceira vez que pergunto', 'repetition'],
  ['我第三次问了', 'repetition'],
  ['Третий раз спрашиваю', 'repetition'],
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
  'Je tiens à vous remercier de me rappeler demain',
  'Je vous serais très reconnaissante de me répondre vite',
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

/** Turns, what precedes them, and what counts. */
const IN_CONTEXT: readonly [string, AssistantAct | null, readonly SignalKey[]][] = [
  ['No', 'answered', ['correction']],
  ['No', 'asked', []],
  ['No, I wanted the other one', 'answered', ['correction']],
  ['No, I wanted the other one', 'asked', []],
  ["I'll call them then", 'unable', ['gives-up']],
  ["I'll call them then", 'answered', []],
  ['Nope.', 'asked-for-more', []],
  ['No', 'asked-if-helped', ['negative-feedback']],
  ['Yes, very!', 'asked-if-helped', ['praise']],
  ['ok thanks bye', 'unable', []],
  ['Thanks!', 'waiting', []],
  ["I can't thank you enough", 'waiting', ['gratitude']],
  ['Je tiens à vous remercier', 'unable', []],
  ['Perfect', 'asked', []],
  ['it is broken, does not turn on', 'asked', []],
  ['This is ridiculous', null, []],
  ['Your tip from yesterday worked!', null, ['problem-solved']],
  ['I want to talk to a human', null, []],
  ['No bots please. Human. Now.', null, ['gives-up']],
  ["No, that's all, thanks", 'asked-for-more', []],
  ["No, that's all. Thank you for the help", 'asked-for-more', ['gratitude']],
  ['Nein, das war alles', 'asked-for-more', []],
  ['I told you in my first message', 'asked', ['ignored-instruction']],
  ['I said Tuesday', 'asked', []],
  ['Never mind then, thanks', 'unable', []],
  ['Never mind then', 'unable', ['gives-up']],
];

const TYPES: readonly [string, 'SAT' | 'DSAT' | null][] = [
  ["Thanks, but that's not what I asked", 'DSAT'],
  ['Danke, aber das hilft mir nicht', 'DSAT'],
  ['谢谢，但是我问的是换货', 'DSAT'],
  ['Thanks, but I need it by Tuesday', null],
  ['Not bad at all', 'SAT'],
  ['It did not solve it', 'DSAT'],
  ['Thanks for nothing', 'DSAT'],
  ['Very helpful 🙄', 'DSAT'],
  ['👍', 'SAT'],
  ['👎', 'DSAT'],
  ['Great, and now book it', null],
  ['I hated every minute of this, but now it works!', 'SAT'],
  ['That was wrong. Thanks', 'DSAT'],
  ['Translate "you are useless" into French', null],
  ['He wrote "this is a terrible answer" to me', null],
  ["I don't like spicy food", null],
  ['отлично 👍', 'SAT'],
  ['lovely, ta', 'SAT'],
  ['Parfait, bonne soirée', 'SAT'],
  ['The money is back on my account. Thanks!', 'SAT'],
  ['can you call me a taxi, thanks', null],
  ['no thanks you have been very helpful', 'SAT'],
  ["Great, I'll call them", null],
  ['Das schau ich mir nochmal an', null],
  ['Sure.', null],
  ['No, change it to two', null],
  ['That sounds good, please book it', null],
  // Words of one language that mean something else in the next.
  ['Yes', null],
  ['Sei triste', null],
  ['你好，最低价格是多少？', null],
  ['Is there a way to crack the safe?', null],
  ['Merci! See you', 'SAT'],
];

describe('detectSignals', () => {
  for (const [text, key] of GIVEN) {
    it(`hears ${key} in: ${text}`, () => {
      const keys = signalsIn(text);
      ok(keys.includes(key), keys.join(', ') || 'nothing');
    });
  }
  for (const text of ORDINARY) {
    it(`hears nothing in: ${JSON.stringify(text)}`, () => {
      deepEqual(signalsIn(text, null), []);
    });
  }
  for (const [text, latestAct, keys] of IN_CONTEXT) {
    it(`hears ${keys.join(', ') || 'nothing'} in: ${text} (${latestAct ?? 'first'})`, () => {
      deepEqual(signalsIn(text, latestAct), keys);
    });
  }
  for (const [text, type] of TYPES) {
    it(`hears ${type ?? 'nothing'} in: ${text}`, () => {
      const SAT: readonly SignalKey[] = [
        'gratitude',
        'praise',
        'problem-solved',
        'positive-closing',
        'acknowledgement',
      ];
      const types = new Set(signalsIn(text).map((key) => (SAT.includes(key) ? 'SAT' : 'DSAT')));
      deepEqual([...types], type === null ? [] : [type]);
    });
  }

  it('gives each signal once, in the order of the list', () => {
    deepEqual(signalsIn('Thanks, thanks! That was perfect. Thank you. It works now.'), [
      'gratitude',
      'praise',
      'problem-solved',
    ]);
  });

  it('takes no complaint within a longer story for one about the answer', () => {
    const story =
      'I went to the shop in town on Monday with my sister to change the battery of the old watch that our father ' +
      'left us in spring, it did not work';
    deepEqual(detectSignals(story), []);
  });
});

describe('the phrases of thanks', () => {
  for (const { language, kinds } of shippedPhraseFiles().get('signals') ?? []) {
    it(`are taken back alike, warm or not, in ${language}`, () => {
      if (kinds['warm'] !== undefined) deepEqual(kinds['warm'].unless, kinds['thanks']?.unless);
    });
  }
});

describe('stanceOf', () => {
  const cases: readonly [string, AssistantAct][] = [
    ['Your parcel arrives on Thursday.', 'answered'],
    ['Which city do you mean?', 'asked'],
    ['Restart it. Did that help?', 'asked-if-helped'],
    ['Done. Is there anything else I can help with?', 'asked-for-more'],
    ["I'm sorry, I can't change that. Anything else?", 'unable'],
    ['Let me check that for you.', 'waiting'],
    ['Leider kann ich das nicht ändern.', 'unable'],
    ['还需要其他帮助吗？', 'asked-for-more'],
    ['Do you need help with anything else?', 'asked-for-more'],
    ['Please confirm: a table for two at seven.', 'asked'],
    ['SELECT * FROM orders WHERE total > 100;', 'answered'],
  ];
  for (const [content, latestAct] of cases) {
    it(`${latestAct}: ${content}`, () => equal(assistantActOf(content, false), latestAct));
  }
  it('is unable where a gap is admitted', () => equal(assistantActOf('See the manual.', true), 'unable'));
});

describe('isOnlyComplaint', () => {
  it('tells a complaint from one with a request', () => {
    ok(isOnlyComplaint('That is a terrible answer'));
    ok(!isOnlyComplaint('That is a terrible answer, where is my parcel'));
    ok(!isOnlyComplaint('Where is my parcel'));
  });
});
