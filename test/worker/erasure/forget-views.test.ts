import { ByteReader } from '../../../src/domain/byte-codec.ts';
import { Corrections } from '../../../src/reader/topics/corrections.ts';
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Assignment, StateRow, Turn } from '../../../src/domain/facts.ts';
import { derivedId } from '../../../src/domain/ids.ts';
import { positionOf } from '../../../src/domain/records.ts';
import { positionsOf } from '../../../src/worker/erasure/planned.ts';
import { detectLanguage } from '../../../src/reader/document/detect.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';
import { createEnricher } from '../../../src/reader/acts/enricher.ts';
import { Assigner } from '../../../src/reader/threads/assigner.ts';
import { forgetState } from '../../../src/reader/threads/forget-state.ts';

const MODELS = join(import.meta.dirname, '../../../models');
const INSTANCE = '0190a000-0000-7000-8000-000000000001';
/** Requests of three kinds, each with a word of its own that nobody else says. */
const KINDS = ['cancel my hotel booking', 'track my parcel', 'reset my password'] as const;
const TIMES = 6;
const wordOf = (kind: number, time: number): string => `zq${'abc'[kind]}${'uvwxyz'[time]}k`;
const request = (kind: number, word: string): string => `I want to ${KINDS[kind]!} ${word}`;
/** Kinds of rows that hold what requests said. */
const SAYING = new Set(['micro', 'gap', 'repeated', 'topic', 'sentence']);

describe('the positions of what goes', () => {
  it('count all messages of an entry', () => {
    const requestOf = (count: number) => ({ messages: Array.from({ length: count }, () => ({})) });
    const record = { v: 1, requests: [requestOf(2), requestOf(3), requestOf(1)] } as never;
    const places = { whole: [0], messages: [[1, [0, 2]]] } as const;
    deepEqual(
      positionsOf(7, record, places),
      [0, 1, 2, 4].map((index) => positionOf(7, index)),
    );
  });
});

describe('the state of groups forgets', () => {
  let embedder: Embedder;
  before(async () => {
    embedder = await loadEmbedder({ model: 'undertone-small', modelsDirectory: MODELS });
  });
  after(() => embedder?.close());

  const turnOf = (position: number, role: Turn['role'], content: string, session: number): Turn => ({
    position,
    instance: 1,
    instanceId: INSTANCE,
    session,
    sessionId: derivedId(INSTANCE, 'topic', String(session)),
    role,
    user: null,
    content,
    at: position * 1_000_000,
  });

  const newAssigner = (): Assigner =>
    new Assigner({ thresholds: embedder.thresholds, dimensions: embedder.dimensions, detectLanguage });

  async function assign(assigner: Assigner, turns: readonly Turn[]): Promise<Assignment> {
    for (const session of new Set(turns.map((turn) => turn.session)))
      assigner.restoreSession(1, session, null);
    const found = await createEnricher({ embedder }).enrich(turns);
    ok(found.every((one) => !('unanalysed' in one)));
    return assigner.assign(turns, found as never);
  }

  /** Each request in a session of its own, which the assistant cannot fulfil. */
  async function history(): Promise<readonly StateRow[]> {
    const assigner = newAssigner();
    assigner.restoreInstance(1, INSTANCE, []);
    const turns: Turn[] = [];
    for (let time = 0; time < TIMES; time++) {
      for (const kind of KINDS.keys()) {
        const session = 1 + time * KINDS.length + kind;
        turns.push(turnOf(turns.length + 1, 'user', request(kind, wordOf(kind, time)), session));
        turns.push(
          turnOf(turns.length + 1, 'assistant', `Sorry, I cannot ${KINDS[kind]!} for you.`, session),
        );
      }
    }
    await assign(assigner, turns);
    return assigner.takeState().filter(({ kind }) => kind !== 'session');
  }

  const words = KINDS.flatMap((_, kind) => Array.from({ length: TIMES }, (__, time) => wordOf(kind, time)));
  const keysOf = (rows: readonly StateRow[]): string[] =>
    words.filter((word) => rows.some(({ value }) => Buffer.from(value ?? []).includes(word)));

  function forgotten(
    rows: readonly StateRow[],
    isOld: (position: number) => boolean,
    isEmpty: (entity: string) => boolean = () => false,
    correctionsBefore = 0,
  ): StateRow[] {
    const { dimensions } = embedder;
    const changed = forgetState(rows, { dimensions, isOld, isEmpty, correctionsBefore });
    const keys = new Set(changed.map(({ kind, key }) => `${kind} ${key}`));
    return [...rows.filter(({ kind, key }) => !keys.has(`${kind} ${key}`)), ...changed];
  }

  it('the vectors of corrections, which hold for what was there', () => {
    const { dimensions } = embedder;
    const corrections = new Corrections();
    const vector = new Float32Array(dimensions).fill(0.1);
    for (const createdAt of [4, 5]) corrections.add({ topic: 1, belongs: true, vector, createdAt });
    const rows = [0, 1].map((key) => ({
      instance: 1,
      kind: 'correction',
      key,
      value: corrections.write(key),
    }));
    const left = forgotten(rows, () => false, undefined, 5);
    const again = new Corrections();
    for (const { key, value } of left) again.read(key, new ByteReader(value!), dimensions);
    deepEqual(
      [0, 1].map((key) => again.inEffect(key)?.vector.every((component) => component === 0)),
      [true, false],
    );
    deepEqual(again.near(vector, 0.0001), [1]);
  });

  it('what single requests said, and finds the same topics for what comes', async () => {
    const rows = await history();
    ok(keysOf(rows).length > KINDS.length, String(keysOf(rows)));
    const left = forgotten(rows, () => true);
    deepEqual(keysOf(left.filter(({ kind }) => SAYING.has(kind))), []);
    const later = KINDS.map((_, kind) => turnOf(1000 + kind, 'user', request(kind, 'please'), 100 + kind));
    const topics: unknown[] = [];
    for (const state of [rows, left]) {
      const assigner = newAssigner();
      assigner.restoreInstance(1, INSTANCE, state);
      const { messages } = await assign(assigner, later);
      topics.push(messages.map(({ micro }) => micro));
      ok(messages.every(({ micro }) => micro !== null));
    }
    deepEqual(topics[1], topics[0]);
  });

  it('nothing of what began later', async () => {
    const rows = await history();
    deepEqual(keysOf(forgotten(rows, () => false)), keysOf(rows));
  });

  it('names of what nothing is left of', async () => {
    const rows = await history();
    const nameOf = (state: readonly StateRow[]): boolean =>
      state.some(({ kind, value }) => kind === 'topic' && Buffer.from(value ?? []).includes('booking'));
    equal(nameOf(rows), true);
    equal(nameOf(forgotten(rows, () => true)), true);
    const emptied = forgotten(
      rows,
      () => true,
      () => true,
    );
    equal(nameOf(emptied), false);
    notEqual(emptied.length, 0);
    const assigner = newAssigner();
    assigner.restoreInstance(1, INSTANCE, emptied);
    const { messages } = await assign(assigner, [turnOf(1000, 'user', request(0, 'please'), 100)]);
    equal(messages.length, 1);
  });
});
