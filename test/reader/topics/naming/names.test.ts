import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coreWords } from '../../../../src/reader/document/core-words.ts';
import { namesOf, requestName, uniqueName } from '../../../../src/reader/topics/naming/names.ts';
import { wordsOfRequests, type GroupWords } from '../../../../src/reader/topics/naming/wording.ts';
import { ReadRequest } from '../../../../src/reader/topics/read-request.ts';

const FREQUENCIES = { groups: 10, groupsWith: (stem: string): number => (stem === 'order' ? 6 : 1) };

const groupOf = (texts: readonly string[]): GroupWords =>
  wordsOfRequests(texts.map((text) => new ReadRequest(text)));

function nameOf(texts: readonly string[]): string | undefined {
  return namesOf(groupOf(texts), FREQUENCIES)[0];
}

describe('namesOf', () => {
  it('names a group after the phrase that its members share', () => {
    const name = nameOf([
      'I want to cancel my booking',
      'Can you cancel the booking for Friday please?',
      'hi, I need to cancel a booking',
      'cancelling my booking, how?',
    ]);
    equal(name, 'Cancel booking');
  });

  it('joins words that stand apart, with the preposition between them', () => {
    equal(
      nameOf([
        'add this song to my playlist',
        'add Waterloo to the playlist',
        'please add Hey Jude to playlist',
      ]),
      'Add to playlist',
    );
  });

  it('takes no date, number or single word while there is a phrase', () => {
    const name = nameOf([
      'book a table for 2 on Monday',
      'book a table at 7pm on Monday',
      'book table Monday 19:30',
    ]);
    equal(name, 'Book table');
  });

  it('keeps the language of the members', () => {
    equal(
      nameOf([
        'Ich möchte meine Rechnung bezahlen',
        'Rechnung bezahlen bitte',
        'Kann ich die Rechnung bezahlen?',
      ]),
      'Rechnung bezahlen',
    );
    match(nameOf(['我想取消订单', '请帮我取消订单', '取消订单']) ?? '', /取消.*订单/u);
  });

  it('follows all members, not the samples that stand for them', () => {
    const members = [
      ...['Leeds', 'York', 'Bath', 'Ely', 'Wells'].map((town) => `find me a dentist in ${town}`),
      'dentist parking',
      'dentist parking?',
    ];
    const { shares, phrases } = groupOf(members);
    equal(namesOf({ ...groupOf(members.slice(-2)), shares, phrases }, FREQUENCIES)[0], 'Find dentist');
  });

  it('takes the action of most for those who only name its thing', () => {
    const name = nameOf([
      'find me a flight',
      'find a flight to Rome',
      'a flight on Monday',
      'cheap flight please',
    ]);
    equal(name, 'Find flight');
  });

  it('takes the thing where requests want different things with it', () => {
    const name = nameOf([
      'change my PIN',
      'unblock my PIN',
      'what is a PIN for',
      'I never got my PIN',
      'my PIN please',
    ]);
    equal(name, 'PIN');
  });

  it('prefers the whole of a thing', () => {
    equal(
      nameOf(['a sea salt cookie', '2 sea salt cookies', 'one sea salt cookie please']),
      'Sea salt cookie',
    );
  });

  it('keeps names short and finds one even where nothing is shared', () => {
    const long = nameOf(['x'.repeat(200), 'y'.repeat(300)]);
    ok(long !== undefined && long.length <= 60);
    deepEqual(namesOf(groupOf(['!!!']), FREQUENCIES), []);
    equal(nameOf(['opening hours on Sunday']), 'Opening hours');
  });

  it('does not depend on the order of equal members', () => {
    const texts = ['reset my password', 'password reset', 'change a password', 'reset passwords'];
    equal(nameOf(texts), nameOf([...texts].reverse()));
  });
});

describe('requestName', () => {
  it('cuts what only introduces the request', () => {
    equal(requestName('Hello there, could you please tell me how to reset my router?'), 'Reset router');
    deepEqual(
      coreWords('I would like to').map(({ text }) => text),
      [],
    );
  });
});

describe('uniqueName', () => {
  it('takes the best free name, else counts', () => {
    equal(uniqueName(['Pay bill', 'Bill'], new Set(['Pay bill'])), 'Bill');
    equal(uniqueName(['Pay bill'], new Set(['Pay bill', 'Pay bill (2)'])), 'Pay bill (3)');
    equal(uniqueName([], new Set()), 'Unnamed');
  });
});
