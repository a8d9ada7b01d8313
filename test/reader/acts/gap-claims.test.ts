import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findGap } from '../../../src/reader/acts/gap-claims.ts';

/** Type and words of what is missing; null: nothing is. */
function missing(text: string): string | null {
  const found = findGap(text).missing;
  return found === null ? null : `${found.type} ${found.isUnseen ? 'access: ' : ''}${found.words}`;
}

describe('findGap', () => {
  for (const [text, expected] of [
    ["I'm sorry, but I can't move your piano lesson.", 'TOOL move your piano lesson'],
    ['I do not have access to the camera images.', 'TOOL access: camera images'],
    ["Tuning guitars isn't something I can do, so ask at the desk.", 'TOOL Tuning guitars'],
    ["I don't know when the ferry leaves.", 'KNOWLEDGE ferry leaves'],
    ["I can't tell you how deep the lake is.", 'KNOWLEDGE deep the lake'],
    ["I have no details on the choir's programme.", "KNOWLEDGE choir's programme"],
    ['Das Klavier kann ich leider nicht stimmen.', 'TOOL Klavier stimmen'],
    ['No puedo afinar el piano.', 'TOOL afinar el piano'],
    ['Je ne peux pas accorder le piano.', 'TOOL accorder le piano'],
    ['我无法调整座椅高度。', 'TOOL 调整座椅高度'],
    ["I can't read the tide table. What does it say for noon?", 'TOOL read the tide table'],
    ["I don't know if the quay is lit. Would you like the harbour's number?", 'KNOWLEDGE quay is lit'],
    ['Wann die Fähre ablegt, weiß ich leider nicht.', 'KNOWLEDGE Wann die Fähre ablegt'],
    ['Я не знаю, когда придёт паром.', 'KNOWLEDGE когда придёт паром'],
    ["I don't know, but the harbour office does.", 'KNOWLEDGE '],
    ['我不知道渡轮几点开。', 'KNOWLEDGE 渡轮几点开'],
    ['Я не могу настроить пианино.', 'TOOL настроить пианино'],
  ] as const)
    it(`finds what is missing in: ${text}`, () => {
      equal(missing(text), expected);
    });

  for (const [what, text] of [
    ['a quotation', 'It means: "I can\'t swim."'],
    ['a condition', "When I can't reach you by phone, I write a letter."],
    ['a refusal', "I can't do that, it would be illegal."],
    ['help that is refused', "I can't help you break into a boat."],
    ['a rule of the business', "We can't rent boats after sunset."],
    ['a record that was looked for', "I couldn't find that booking. Could you check the number?"],
    ['a turn that was not understood', "I'm not sure which boat you mean."],
    ['what it could with more', "I can't look the boat up without its registration."],
    ['what others have to allow', 'Das kann ich erst ändern, wenn die Eignerin zustimmt.'],
    ['what only another may do', 'Solo el titular puede anularlo, así que no puedo hacerlo.'],
    ['what only the user knows', "I don't know which engine you have. Diesel or electric?"],
    ['what only the user knows (French)', 'Je ne sais pas quel moteur vous utilisez. Diesel ou électrique ?'],
    ['what was not recognised', 'Das Modell kenne ich nicht. Steht etwas auf dem Typenschild?'],
    ['what it may not tell', 'Was Ihr Nachbar für den Liegeplatz zahlt, darf ich Ihnen nicht sagen.'],
    ['advice that is refused', "I can't tell you which shares to buy."],
    ['what belongs to another', "I can't tell you whether she sold the boat."],
    ['what a bank could not do', 'Su banco no pudo cobrar el amarre.'],
    ['what the user cannot do (Hindi)', 'बुकिंग के बाद आप नाव नहीं बदल सकते।'],
    ['what others cannot do', "The captain can't leave the harbour."],
    ['verse', 'I do not know the harbour light,\nI cannot find the quay,\nthe boats are gone into the night'],
    ['a dialogue', 'A: I am unable to row.\nB: I cannot row.'],
    ['a draft', 'Here is the letter:\n\nDear Ms Holm,\n\nwe are unable to repair the boat.\n\nKind regards'],
    [
      'a disclaimer before an answer',
      `As an AI, I can't row. ${'Hold the oars loosely and sit upright. '.repeat(8)}`,
    ],
  ] as const)
    it(`finds nothing in ${what}`, () => {
      equal(missing(text), null);
    });

  it('keeps the question that it has no answer to', () => {
    const question = (text: string): string | undefined => findGap(text).missing?.question;
    equal(question("I don't know when the ferry leaves, sorry."), 'when the ferry leaves');
    equal(question('Ob der Kai beleuchtet ist, weiß ich nicht.'), 'Ob der Kai beleuchtet ist');
    equal(question('No sé si el muelle está iluminado.'), 'si el muelle está iluminado');
    equal(question('I have no details on the ferry.'), undefined);
    equal(question("I can't move the boat."), undefined);
  });

  it('does not take what it can do for what is missing', () => {
    equal(missing("I can't help with that. My functions are limited to tide tables."), 'TOOL ');
  });

  it('names nothing where the assistant names nothing', () => {
    equal(missing("Sorry, that's outside my capabilities."), 'TOOL ');
    equal(missing("I don't know."), 'KNOWLEDGE ');
  });

  it('takes the cause where a turn says both', () => {
    equal(missing("I don't know, as I have no access to the log book."), 'TOOL access: log book');
  });

  it('tells an excused inability from none', () => {
    deepEqual(
      ["I can't do that, it would be illegal.", 'The boat is ready.'].map((text) => findGap(text).isExcused),
      [true, false],
    );
  });
});
