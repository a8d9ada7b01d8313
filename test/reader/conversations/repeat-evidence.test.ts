import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ANSWERED,
  evidenceOf as readEvidence,
  type Evidence,
} from '../../../src/reader/conversations/repeat-evidence.ts';
import { RepeatText } from '../../../src/reader/acts/repeat-phrases.ts';
import { newRequest } from '../../../src/reader/conversations/repeated-requests.ts';
import { vectorOf } from '../threads/builders.ts';

const request = (text: string) => newRequest(text, vectorOf(text));
const as = (content: string, answer: string) => ({
  edges: new RepeatText(content),
  answer: new RepeatText(answer),
});

function evidenceOf(...of: Parameters<typeof readEvidence>): Evidence[] {
  const { turn, pairs } = readEvidence(...of);
  return pairs.map((pair) => ({ ...turn, ...pair }));
}

function between(before: string, answer: string, turnText: string, isAsked = false): Evidence {
  const asked = { request: request(turnText), ...as(turnText, answer), isAsked, isBare: false };
  return evidenceOf(asked, [request(before)], 0.6, 1)[0]!;
}

describe('evidenceOf', () => {
  it('compares the words of the requests and of the answer', () => {
    const { known, kept, same, restates, fromAnswer } = between(
      'is the blue lamp heavy',
      'The lamp is made of glass.',
      'is the lamp glass',
    );
    equal(known, 0.5);
    ok(kept > 0 && kept < 1);
    equal(same, 0);
    equal(restates, 1);
    equal(fromAnswer, 1);
    equal(between('cancel my order', 'Hello.', 'please cancel the order').same, 1);
  });

  it('takes a question of the assistant for answered, or for asked back', () => {
    equal(between('return a lamp', 'Which lamp?', 'return the blue lamp', true).isAsked, 1);
    equal(between('return a lamp', 'Which lamp?', 'which lamps do I have?', true).asksBack, 1);
    equal(between('return a lamp', 'Anything else?', 'return the blue lamp', true).isAsked, 0);
  });

  it('knows whether a number that was asked for was given', () => {
    equal(between('how much is the lamp', 'It is 20 euros.', 'how much').met, 1);
    equal(between('how much is the lamp', 'It is made of glass.', 'how much').unmet, 1);
    equal(between('is the lamp blue', 'It is made of glass.', 'blue').unmet, 0);
  });

  it('knows whether a question for yes or no got either', () => {
    equal(between('can I dim the lamp', 'Lamps make a room cosy.', 'dim').open, 1);
    equal(between('can I dim the lamp', 'Yes, with a switch.', 'dim').open, 0);
    equal(between('lässt sich die Lampe dimmen?', 'Lampen machen Räume gemütlich.', 'dimmen').open, 1);
    equal(between('who made the lamp?', 'Lamps make a room cosy.', 'who').open, 0);
  });

  it('keeps with a request how it was first answered', () => {
    const [lamp, table] = [request('how much is the lamp'), request('how much is the table')];
    const ask = (turnText: string, answer: string, earlier: readonly (typeof lamp)[]): Evidence[] =>
      evidenceOf(
        { request: request(turnText), ...as(turnText, answer), isAsked: false, isBare: false },
        earlier,
        0.6,
        1,
      );
    ask('how much is the table', 'It is 20 euros.', [lamp]);
    equal(lamp.answered, ANSWERED.read | ANSWERED.met);
    const [first, second] = ask('how much', 'It is made of wood.', [lamp, table]);
    equal(first!.met, 1);
    equal(second!.unmet, 1);
  });

  it('measures how much nearer a request is than the others', () => {
    const earlier = ['open the door', 'paint the fence', 'cancel the orders'].map(request);
    const turnText = 'cancel the order';
    const asked = { request: request(turnText), ...as(turnText, 'Hello.'), isAsked: false, isBare: false };
    const evidence = evidenceOf(asked, earlier, 0.6, 1);
    ok(evidence[2]!.nearer > 0 && evidence[0]!.nearer < 0);
    equal(
      evidence.findIndex(({ nearest }) => nearest === 1),
      2,
    );
    equal(evidence[0]!.earlier, Math.log2(3));
  });
});
