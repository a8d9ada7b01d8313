import { deepEqual, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judge } from '../../../src/doors/writer/answers.ts';
import type { Ask } from '../../../src/doors/writer/asks.ts';

const PARCELS = ['Where is my parcel?', 'My parcel has not arrived yet, can you track it?'];

function ask(target: Ask['target'], texts: readonly string[]): Pick<Ask, 'target' | 'lines'> {
  return { target, lines: texts.map((text) => ({ speaker: 'user', text })) };
}

function faultOf(of: Pick<Ask, 'target' | 'lines'>, answer: string): string {
  const verdict = judge(of, answer);
  ok('fault' in verdict, `taken: ${answer}`);
  return verdict.fault;
}

describe('names that a model writes', () => {
  for (const [answer, text] of [
    ['Track parcel', 'Track parcel'],
    ['  "Track parcel"\n', 'Track parcel'],
    ['<think>The users ask\nfor parcels.</think>\nLate parcels', 'Late parcels'],
    ['Parcel delivery status', 'Parcel delivery status'],
  ] as const) {
    it(`are taken: ${JSON.stringify(answer)}`, () =>
      deepEqual(judge(ask('topic', PARCELS), answer), { text }));
  }

  it('are taken in other scripts', () => {
    deepEqual(judge(ask('gap', ['荷物はどこですか', '荷物を追跡できますか']), '荷物の追跡'), {
      text: '荷物の追跡',
    });
    deepEqual(judge(ask('topic', ['Где моя посылка?']), 'Где посылка'), { text: 'Где посылка' });
  });

  for (const [answer, fault] of [
    ['', /says nothing/],
    ['…', /says nothing/],
    ['The', /says nothing/],
    ['Track parcel\nand more', /one plain line/],
    ['Track \u202eparcel', /one plain line/],
    ...[
      'Track\u200b parcel',
      'Track\u2060 parcel',
      'Track\u00ad parcel',
      'Track parcel\u{e0049}\u{e0067}',
      'Track parcel\ud800',
      'Track parcel\uffff',
      'Track parcel\u{e0100}',
      'Track\u2800parcel',
      'Track\ufff9 parcel',
      `Track parcel${'\u0301'.repeat(30)}`,
    ].map((answer) => [answer, /one plain line/] as const),
    ['**Track parcel**', /marks/],
    ['{"name": "Track parcel"}', /marks/],
    ['See https://parcels.example', /marks/],
    ['x'.repeat(61), /60 characters/],
    ['Track a parcel that has not yet arrived at home', /7 words/],
    ['I cannot help with that request.', /sentence|words/],
    ['Parcel 4711', /number/],
    ['Buy bitcoin now', /shares no word/],
    ['Paket verfolgen', /shares no word/],
    ['荷物 parcel', /language/],
    ['Parcel of •••', /hidden/],
    ['Parcel quirke.a@example.org', /marks|personal/],
    ['My name is Alfonsina Quirke parcel', /personal/],
  ] as const) {
    it(`are not taken: ${JSON.stringify(answer)}`, () =>
      match(faultOf(ask('topic', PARCELS), answer), fault));
  }
});

describe('summaries that a model writes', () => {
  const session = ask('session', [
    'My parcel has not arrived, order 12 of last week.',
    'I am sorry. The parcel is at the depot and arrives tomorrow.',
    'thanks, that helps',
  ]);

  it('are taken when every word that carries meaning stands in the session, in any form', () => {
    const text = 'The parcel of order 12 has not arrived. It arrives tomorrow from the depot.';
    deepEqual(judge(session, text), { text });
  });

  for (const [answer, fault] of [
    ['The customer was furious about a parcel.', /not in the conversation: customer, furious/],
    ['The parcel arrives in 3 weeks.', /not in the conversation: 3/],
    ['Das Paket kommt morgen im Depot an.', /not in the conversation|language/],
    [`The parcel arrives tomorrow. ${'The parcel arrives. '.repeat(30)}`, /400 characters/],
  ] as const) {
    it(`are not taken: ${answer.slice(0, 50)}`, () => match(faultOf(session, answer), fault));
  }

  it('are not taken with personal data, though it stands in the session', () => {
    const open = ask('session', ['I am Alfonsina Quirke, write to quirke@example.org', 'I will write.']);
    match(faultOf(open, 'I am Alfonsina Quirke, write'), /personal/);
  });
});
