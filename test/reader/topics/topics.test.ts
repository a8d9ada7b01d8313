import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReadRequest } from '../../../src/reader/topics/read-request.ts';
import { DotArena } from '../../../src/reader/numeric/dot-kernel.ts';
import { InstanceThresholds } from '../../../src/reader/topics/instance-thresholds.ts';
import { Topics } from '../../../src/reader/topics/topics.ts';
import type { StateRow } from '../../../src/domain/facts.ts';
import { derivedId } from '../../../src/domain/ids.ts';
import { DIMENSIONS, INSTANCE_ID, OPTIONS, vectorOf } from '../threads/builders.ts';

function fresh(): Topics {
  return new Topics({
    instance: 1,
    instanceId: INSTANCE_ID,
    thresholds: new InstanceThresholds(1, OPTIONS.thresholds),
    dimensions: DIMENSIONS,
    arena: new DotArena(DIMENSIONS),
  });
}

/** A request with a made-up direction: near `base` when `spread` is small. */
function near(base: string, noise: string, spread: number): Float32Array {
  const [x, y] = [vectorOf(base), vectorOf(noise)];
  const vector = x.map((value, at) => value + spread * y[at]!);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

describe('Topics', () => {
  it('keeps the ids of topics while they grow and others come up', () => {
    const topics = fresh();
    const idOfTopic = new Map<number, string>();
    const topicOf = new Map<number, number | null>();
    const drain = (): void => {
      const changed = topics.drain();
      for (const { topic, id } of changed.topics) {
        equal(idOfTopic.get(topic) ?? id, id);
        idOfTopic.set(topic, id);
      }
      for (const { micro, topic } of changed.micros) topicOf.set(micro, topic);
    };
    const bases = ['orders', 'flights', 'passwords', 'recipes', 'meters'];
    const firstMicro = new Map<string, number>();
    const early = new Map<string, string>();
    for (let position = 1; position <= 3000; position += 1) {
      const base = bases[position % Math.min(bases.length, 2 + Math.floor(position / 100))]!;
      const micro = topics.add(
        near(base, `${base} ${position}`, 0.7),
        new ReadRequest(`about ${base}`),
        position,
      );
      if (!firstMicro.has(base)) firstMicro.set(base, micro);
      if (position % 50 !== 0) continue;
      drain();
      for (const [name, first] of firstMicro) {
        const topic = topicOf.get(topics.resolve(first)) ?? null;
        if (topic === null) continue;
        if (!early.has(name)) early.set(name, idOfTopic.get(topic)!);
        equal(idOfTopic.get(topic), early.get(name));
      }
    }
    equal(new Set(early.values()).size, bases.length);
    equal(early.get('flights'), derivedId(INSTANCE_ID, 'topic', '1'));
  });

  it('counts what is loosely like a large topic to it, but not a new subject', () => {
    const topics = fresh();
    const topicOf = new Map<number, number | null>();
    const bases = ['orders', 'flights', 'passwords', 'recipes', 'meters', 'invoices', 'songs', 'doctors'];
    // Axes of their own, so that nothing but the fragment lies between two subjects.
    const axis = (at: number, weight: number, other: number): Float32Array => {
      const vector = new Float32Array(DIMENSIONS);
      vector[at] = weight;
      vector[other] = Math.sqrt(1 - weight * weight);
      return vector;
    };
    let position = 0;
    const say = (vector: Float32Array, text: string): number =>
      topics.add(vector, new ReadRequest(text), (position += 1));
    const ofBase = bases.map((base, at) => {
      let micro = 0;
      for (let count = 0; count < 150; count += 1) micro = say(axis(at, 1, DIMENSIONS - 1), base);
      return micro;
    });
    const fragment = [1, 2, 3, 4].map(() => say(axis(0, 0.3, 20), 'qwert')).at(-1)!;
    const subject = [1, 2, 3, 4].map(() => say(axis(21, 1, DIMENSIONS - 1), 'new subject')).at(-1)!;
    for (let count = 0; count < 600; count += 1) say(axis(1, 1, DIMENSIONS - 1), 'flights');
    for (const { micro, topic } of topics.drain().micros) topicOf.set(micro, topic);
    const topic = (micro: number): number | null => topicOf.get(topics.resolve(micro)) ?? null;
    equal(new Set(ofBase.map(topic)).size, bases.length);
    equal(topic(fragment), topic(ofBase[0]!));
    ok(topic(subject) !== null && !ofBase.map(topic).includes(topic(subject)));
  });

  it('stays within its bounds however different the requests, and goes on the same after a restart', () => {
    let topics = fresh();
    const straight = fresh();
    const state = new Map<string, StateRow>();
    const rows = new Map<number, number | null>();
    const straightRows = new Map<number, number | null>();
    const tables: (readonly [Topics, Map<number, number | null>])[] = [];
    for (let position = 1; position <= 4000; position += 1) {
      const text = `${position} ${(position * 7919) % 1009}`;
      const vector = near(text, `theme ${position % 200}`, 0.3);
      const request = new ReadRequest(text);
      equal(topics.add(vector, request, position), straight.add(vector, request, position));
      if (position % 997 !== 0 && position !== 4000) continue;
      tables.length = 0;
      tables.push([topics, rows], [straight, straightRows]);
      for (const [one, table] of tables)
        for (const { micro, topic } of one.drain().micros) table.set(micro, topic);
      for (const row of topics.takeState()) {
        if (row.value === null) state.delete(`${row.kind} ${row.key}`);
        else state.set(`${row.kind} ${row.key}`, row);
      }
      const live = [...state.values()].filter(({ kind }) => kind === 'micro').length;
      ok(live <= 1000, `${live} live micro-clusters`);
      topics = fresh();
      topics.restore([...state.values()].reverse());
    }
    ok([...state.values()].some(({ kind }) => kind === 'merged'));
    deepEqual(rows, straightRows);
    for (const [micro, topic] of rows) equal(topic, rows.get(topics.resolve(micro)));
  });
});
