import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TemplateSentences } from '../../../src/reader/conversations/template-sentences.ts';
import type { Enrichment, StateRow } from '../../../src/domain/facts.ts';
import { sentenceKey } from '../../../src/reader/document/sentence-key.ts';
import { DIMENSIONS, vectorOf } from '../threads/builders.ts';

const ASKED = [
  ['refund for broken lamp', 'give money back for broken lamp', 'broken lamp refund money'],
  ['cannot open invoice page', 'invoice page stays empty', 'open empty invoice page'],
  ['change delivery street', 'deliver parcel to another street', 'other street for parcel delivery'],
] as const;

/** A request of a session; each sentence asks when it ends in a question mark. */
function found(...texts: readonly string[]): Enrichment {
  const sentences = texts.map((text) => ({
    key: sentenceKey(text),
    text,
    score: text.endsWith('?') ? 2 : 1,
    words: text.split(' ').length,
    asks: text.endsWith('?'),
    vector: texts.length === 1 ? null : vectorOf(text),
  }));
  const request = texts.join(' ');
  return { kind: 'request', request, vector: vectorOf(request), sentences, signals: [], gap: null };
}

const asked = (session: number): string => ASKED[session % 3]![(session % 7) % 3]!;

/** The requests of sessions 0, 1, …, as they were given on. */
function requestsOf(templates: TemplateSentences, turns: readonly Enrichment[], from = 0): string[] {
  return turns.map((turn, index) => templates.cut(from + index, true, turn).request);
}

const signed = (session: number): Enrichment => found(asked(session), `sent from device ${session}`);

describe('TemplateSentences', () => {
  it('cuts a sentence that comes back beside everything, from its third session or soon after', () => {
    const requests = requestsOf(
      new TemplateSentences(1, DIMENSIONS),
      Array.from({ length: 20 }, (_, session) => signed(session)),
    );
    deepEqual(
      requests.slice(8),
      Array.from({ length: 12 }, (_, index) => asked(index + 8)),
    );
    equal(requests[1], `${asked(1)} sent from device 1`);
  });

  it('gives the vector of what is left', () => {
    const templates = new TemplateSentences(1, DIMENSIONS);
    for (let session = 0; session < 12; session += 1) templates.cut(session, true, signed(session));
    deepEqual(templates.cut(12, true, signed(12)).vector, vectorOf(asked(12)));
  });

  it('knows sentences that always come together', () => {
    const turns = Array.from({ length: 20 }, (_, session) =>
      found('secret words of our house', asked(session), 'tell nobody of them', 'burn them at once'),
    );
    equal(requestsOf(new TemplateSentences(1, DIMENSIONS), turns).at(-1), asked(19));
  });

  it('keeps a request that many make in the same words, alone or with small talk or more to say', () => {
    const turns = Array.from({ length: 60 }, (_, session) =>
      session % 5 === 0 ? found('where is my order?', asked(session)) : found('where is my order?'),
    );
    const others = Array.from({ length: 30 }, (_, session) => found(asked(session)));
    const templates = new TemplateSentences(1, DIMENSIONS);
    requestsOf(templates, others, 1000);
    for (const request of requestsOf(templates, turns)) ok(request.startsWith('where is my order?'));
  });

  it('keeps a sentence that stands beside one matter only', () => {
    const templates = new TemplateSentences(1, DIMENSIONS);
    for (let session = 0; session < 40; session += 1) {
      const about = session % 3 === 0;
      const turn = about ? found(asked(session), 'it fell off the table') : found(asked(session));
      equal(templates.cut(session, true, turn).request, turn.request);
    }
  });

  it('counts a session once, however often it says so', () => {
    const templates = new TemplateSentences(1, DIMENSIONS);
    for (let turn = 0; turn < 30; turn += 1) {
      const signedTurn = found(asked(turn), 'sent from my phone');
      equal(templates.cut(turn % 2, turn < 2, signedTurn).request, signedTurn.request);
    }
  });

  it('takes a turn of nothing else for a reply once it is sure, and for a request before', () => {
    const templates = new TemplateSentences(1, DIMENSIONS);
    for (let session = 0; session < 6; session += 1) templates.cut(session, true, signed(session));
    equal(templates.cut(6, true, found('sent from device 1')).kind, 'request');
    for (let session = 7; session < 20; session += 1) templates.cut(session, true, signed(session));
    const { kind, request, vector } = templates.cut(20, true, found('sent from device 1'));
    deepEqual([kind, request, vector], ['reply', '', null]);
  });

  it('goes on from its rows as if it had never stopped, within its bound', () => {
    const turns = Array.from({ length: 1500 }, (_, index) =>
      index % 3 === 0
        ? signed(index)
        : found(asked(index), `aside${index} alpha${index * 7}`, `beta${index}x`),
    );
    const whole = new TemplateSentences(1, DIMENSIONS);
    const rows = new Map<string, StateRow>();
    const store = (templates: TemplateSentences): void => {
      for (const row of templates.takeState()) rows.set(`${row.kind} ${row.key}`, row);
    };
    let parts = new TemplateSentences(1, DIMENSIONS);
    for (let start = 0; start < turns.length; start += 100) {
      const some = turns.slice(start, start + 100);
      const expected = requestsOf(whole, some, start);
      deepEqual(requestsOf(parts, some, start), expected);
      store(parts);
      parts = new TemplateSentences(1, DIMENSIONS);
      parts.restore([...rows.values()].toReversed());
    }
    const stored = [...rows.values()].map(({ kind, key, value }) => [kind, key, Buffer.from(value!)]);
    const final = new Map(
      whole.takeState().map(({ kind, key, value }) => [`${kind} ${key}`, [kind, key, Buffer.from(value!)]]),
    );
    deepEqual(new Map(stored.map((row) => [`${row[0]} ${row[1]}`, row])), final);
    ok(rows.size <= 1025, `${rows.size} rows`);
  });
});
