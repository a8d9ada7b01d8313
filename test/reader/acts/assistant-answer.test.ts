import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stemsOf } from '../../../src/reader/shortening/phrase-set.ts';
import { bestAnswer, readAnswer, withoutHidden } from '../../../src/reader/acts/assistant-answer.ts';

const best = (content: string, asked = ''): string | undefined =>
  bestAnswer(readAnswer(content), stemsOf(asked))?.text;

describe('the answer in an assistant turn', () => {
  it('is what states something, not a courtesy, a lead-in, a question back or a line of a table', () => {
    equal(best("I'm happy to help! The pool opens at nine. Anything else?"), 'The pool opens at nine.');
    equal(best('Natürlich! Hier sind die Schritte:\n- Hauptschalter drehen'), 'Hauptschalter drehen');
    equal(best('Please provide your name. The museum closes at six.'), 'The museum closes at six.');
    equal(best('| Day | Hour |\nWe open on Sunday.'), 'We open on Sunday.');
    equal(best('Which city?', 'a map of the city'), undefined);
    equal(
      best('These are the big fairs of the year\n- The book fair in May', 'big fairs'),
      'The book fair in May',
    );
    equal(best('Have a lovely day!'), undefined);
    equal(best('Your shoes ship on Monday. I can transfer you to a person.'), 'Your shoes ship on Monday.');
    equal(best('抱歉给您带来不便。包裹明天送到。'), '包裹明天送到。');
  });

  it('is a list with its head, the things of it, and nothing that only leads up to more', () => {
    equal(
      best(
        'These are our pools:\n1. **North**: warm and deep and open for everybody who has a ticket of the town\n2. **South**: cold',
      ),
      'These are our pools: North; South: cold',
    );
    equal(best('You have these orders:', 'my orders'), undefined);
    equal(
      best('This is a script that sorts words:\n```\nsort()\n```', 'sort'),
      'This is a script that sorts words',
    );
    equal(
      best('[Map of the town](https://town.example/map) shows all stops.'),
      'Map of the town shows all stops.',
    );
  });

  it('is what is proposed by name, and never what is only asked for', () => {
    equal(best('I found two cafés. How about Café Anders?'), 'I found two cafés. How about Café Anders?');
    equal(best('How about another day?'), undefined);
    equal(best('To move the sofa on Friday, I need your address.', 'move the sofa on Friday'), undefined);
    equal(best('Just confirm that the order of tea is right.', 'an order of tea'), undefined);
  });

  it('shares most with the request, and reports it done', () => {
    const content = 'The weather is fine today. Your table for Friday has been booked. We serve fish.';
    equal(best(content, 'book a table for Friday'), 'Your table for Friday has been booked.');
    equal(bestAnswer(readAnswer(content), stemsOf('book a table for Friday'))?.isReport, true);
    equal(bestAnswer(readAnswer(content), stemsOf('is there parking'))?.isReport, false);
  });

  it('hands over only without a negation before it in the clause, and never as a question', () => {
    const hands = (content: string): boolean => readAnswer(content).handsOver;
    deepEqual(
      [
        "I can't do that, so I am transferring you to our team.",
        'Ich leite Sie an die Kollegen weiter.',
        'I am not able to transfer you to a person.',
        'Shall I transfer you to a person?',
        '我帮您转接人工客服。',
      ].map(hands),
      [true, true, false, false, true],
    );
  });

  it('refuses only where the first statement does', () => {
    const refuses = (content: string): boolean => readAnswer(content).refuses;
    deepEqual(
      [
        'Unfortunately we cannot offer that.',
        'Your room is ready. Unfortunately the lift is not available.',
        "Malheureusement ce n'est pas possible.",
        '申し訳ございません。返品はできません。',
        'You will find it on page two.',
      ].map(refuses),
      [true, false, true, true, false],
    );
  });

  it('leaves the user to answer, to choose, to confirm, to bring up more, or nothing', () => {
    deepEqual(
      [
        'Please provide the order number.',
        'How about Café Anders?',
        'A table for two at nine. Is that correct?',
        'Done. Is there anything else I can do?',
        'It arrives today.',
      ].map((content) => readAnswer(content).awaits),
      ['answer', 'choice', 'confirmation', 'more', 'nothing'],
    );
  });

  it('knows what is to be confirmed', () => {
    deepEqual(
      [
        'Please confirm the following: a table for two at nine on Friday.',
        'The red train leaves Bergen on Monday. Is that correct?',
        'Is that correct?',
      ].map((content) => readAnswer(content).recap),
      ['a table for two at nine on Friday.', 'The red train leaves Bergen on Monday.', ''],
    );
  });

  it('is a head with its list, without what is hidden', () => {
    equal(best('Your orders are:\n- Order •••\n- a lamp\n- a chair'), 'Your orders are: a lamp; a chair');
    equal(best('Your orders are:\n- Order •••\n- Order •••\n- a chair'), 'a chair');
  });

  it('ends before the clause that hides something, and is left out when little else is said', () => {
    deepEqual(
      [
        'The room costs 90 euros, the phone number is •••.',
        '价格是325元，地址在•••。',
        'The lamp of order #••• is sent.',
        'Nothing is hidden here, nothing at all.',
        'It is at •••.',
        '••• with a rating of four.',
        '地址在•••。',
      ].map(withoutHidden),
      [
        'The room costs 90 euros.',
        '价格是325元。',
        'The lamp of order #••• is sent.',
        'Nothing is hidden here, nothing at all.',
        '',
        '',
        '',
      ],
    );
  });
});
