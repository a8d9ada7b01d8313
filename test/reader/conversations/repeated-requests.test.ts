import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayAskAgain, newRequest, repeatIn } from '../../../src/reader/conversations/repeated-requests.ts';
import { RepeatText } from '../../../src/reader/acts/repeat-phrases.ts';
import { vectorOf } from '../threads/builders.ts';

const THRESHOLD = 0.55;
const ANSWER = 'The office is upstairs.';

const as = (content: string, answer = ANSWER) => ({
  edges: new RepeatText(content),
  answer: new RepeatText(answer),
});

interface Between {
  readonly answer?: string;
  readonly isAsked?: boolean;
}

function repeats(before: string, now: string, { answer = ANSWER, isAsked = false }: Between = {}): boolean {
  const [earlier, request] = [before, now].map((text) => newRequest(text, vectorOf(text)));
  const asked = { request: request!, ...as(now, answer), isAsked, isBare: false };
  return repeatIn(asked, [earlier!], THRESHOLD) !== null;
}

describe('repeatIn', () => {
  it('takes the same request in other words for a repeat', () => {
    equal(repeats('When will my refund arrive?', 'when will my refund arrive'), true);
    equal(repeats('cancel my order please', 'please cancel my orders'), true);
    equal(repeats('cancel my order please', 'which restaurants are open'), false);
  });

  it('takes what insists for a repeat, whatever its words', () => {
    equal(repeats('the radiator is cold', 'As I said, we have no heating'), true);
    equal(repeats('die heizung ist kalt', 'wie gesagt, im bad friert man'), true);
    equal(repeats('the radiator is cold', 'we have no heating'), false);
  });

  it('takes another number or name for another request', () => {
    equal(repeats('convert 500 dollars to euros', 'convert 1000 dollars to euros'), false);
    equal(repeats('convert 500 dollars to euros', 'convert 500 dollars to euros'), true);
    equal(repeats('what is the price of Apple', 'what is the price of Microsoft'), false);
    equal(repeats('what is the price of apple', 'what is the price of Apple'), true);
  });

  it('takes what goes on for no repeat', () => {
    equal(repeats('find a restaurant near me', 'find another restaurant near me'), false);
    equal(repeats('busca un restaurante', 'busca otro restaurante'), false);
    equal(repeats('帮我找餐馆', '帮我找其他的餐馆'), false);
    const answer = 'Yes, ten percent.';
    const [students, children] = ['is there a discount for students', 'and is there one for children'];
    equal(repeats(students!, children!, { answer }), false);
  });

  it('takes the answer to a question back for no repeat', () => {
    const back = 'Which one would you like to return?';
    const now = 'I would like to return the kettle';
    equal(repeats('I would like to return something', now, { answer: back, isAsked: true }), false);
    equal(repeats('I would like to return something', now), true);
    equal(
      repeats('how late is it', 'how late is it', { answer: 'Could you rephrase?', isAsked: true }),
      true,
    );
  });

  it('counts an answer that settles the matter against a repeat', () => {
    equal(repeats('is the pool open', 'is the pool warm', { answer: 'Yes, from 8 to 20.' }), false);
    equal(repeats('is the pool open', 'is the pool open', { answer: 'Yes, from 8 to 20.' }), true);
  });

  it('tells a retry in few words by its phrases', () => {
    const retries = (now: string): boolean => {
      const earlier = newRequest('my headset does not connect', vectorOf('my headset does not connect'));
      const request = newRequest(now, new Float32Array(32), '');
      const answer = 'Press the button for five seconds.';
      const asked = { request, ...as(now, answer), isAsked: false, isBare: true };
      return repeatIn(asked, [earlier], THRESHOLD) !== null;
    };
    equal(retries('still not working'), true);
    equal(retries('which one?'), false);
  });

  it('takes what is as near as all else in a long session for no repeat', () => {
    const subject = ['who built it', 'how tall is the tower', 'is the tower open', 'how old is the tower'];
    const earlier = subject.map((text) => newRequest(text, vectorOf(text)));
    const turnText = 'who owns the tower';
    const asked = {
      request: newRequest(turnText, vectorOf(turnText)),
      ...as(turnText),
      isAsked: false,
      isBare: false,
    };
    equal(repeatIn(asked, earlier, THRESHOLD), null);
    equal(
      repeatIn({ ...asked, ...as('as I said, who owns it') }, earlier.slice(1, 2), THRESHOLD) === null,
      false,
    );
  });

  it('is sure of what is plain only', () => {
    const of = (before: string, now: string): boolean | undefined => {
      const [earlier, request] = [before, now].map((text) => newRequest(text, vectorOf(text)));
      const asked = { request: request!, ...as(now), isAsked: false, isBare: false };
      return repeatIn(asked, [earlier!], THRESHOLD)?.isSure;
    };
    equal(of('cancel my order', 'As I said, cancel my order'), true);
    equal(of('is the pool open', 'is the pool next to the garden warm'), undefined);
  });

  it('chooses the likeliest of several, and none of none', () => {
    const [track, cancel, again] = ['track my parcel', 'cancel my order', 'cancel the order'].map((text) =>
      newRequest(text, vectorOf(text)),
    );
    const asked = {
      request: again!,
      ...as('cancel the order'),
      isAsked: false,
      isBare: false,
    };
    equal(repeatIn(asked, [track!, cancel!], THRESHOLD)?.of, cancel);
    equal(repeatIn(asked, [], THRESHOLD), null);
  });
});

describe('mayAskAgain', () => {
  it('looks at replies that ask something, not at complaints', () => {
    equal(mayAskAgain({ kind: 'reply' }, new RepeatText('but when?')), true);
    equal(mayAskAgain({ kind: 'reply' }, new RepeatText('still broken')), false);
    equal(mayAskAgain({ kind: 'request' }, new RepeatText('but when?')), false);
  });
});
