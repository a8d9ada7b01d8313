import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Assigner } from '../../../src/reader/threads/assigner.ts';
import type { Thresholds } from '../../../src/domain/model-thresholds.ts';
import { InstanceThresholds } from '../../../src/reader/topics/instance-thresholds.ts';
import type { Assignment, StateRow } from '../../../src/domain/facts.ts';
import { normals } from '../../support/transformer.ts';
import { INSTANCE_ID, enrichedTurn } from '../threads/builders.ts';

const GUESS: Thresholds = { micro: 0.7, topic: 0.42, cluster: 0.22, repeated: 0.55, background: 0.035 };
const DIMENSIONS = 24;
const TOPICS = 12;

/**
 * Requests of twelve topics, as a model sees them that gives all texts the same direction: the larger `common`, the
 * nearer all cosines are to 1.
 */
function requests(count: number, common: number): Float32Array[] {
  const random = normals(7);
  const centres = Array.from({ length: TOPICS }, () => random(DIMENSIONS - 1, 1));
  return Array.from({ length: count }, (_, i) => {
    const own = random(DIMENSIONS - 1, 0.55);
    const centre = centres[(i * 7) % TOPICS];
    const vector = new Float32Array(DIMENSIONS);
    for (let d = 0; d < DIMENSIONS - 1; d += 1) vector[d] = (own[d] ?? 0) + (centre?.[d] ?? 0);
    vector[DIMENSIONS - 1] = common * 5;
    const length = Math.hypot(...vector);
    return vector.map((x) => x / length);
  });
}

function calibrated(vectors: readonly Float32Array[], given: Thresholds = GUESS): InstanceThresholds {
  const calibration = new InstanceThresholds(1, given);
  for (const vector of vectors) calibration.add(vector);
  return calibration;
}

const valuesOf = ({ micro, topic, cluster, repeated, floor, scale }: InstanceThresholds): number[] => [
  micro,
  topic,
  cluster,
  repeated,
  floor,
  scale,
];

describe('the thresholds of an instance', () => {
  it('are those of the model when it has its own', () => {
    const { background: _, ...own } = GUESS;
    const calibration = calibrated(requests(300, 3), own);
    deepEqual(valuesOf(calibration), [0.7, 0.42, 0.22, 0.55, 0, 1]);
    equal(calibration.topic, calibration.settledTopic);
  });

  it('find topics by less at first, and go on from their state', () => {
    const { background: _, ...own } = GUESS;
    const vectors = requests(100, 0);
    const at = (count: number): number => calibrated(vectors.slice(0, count), own).topic;
    deepEqual(
      [0, 50, 100].map((count) => at(count).toFixed(2)),
      ['0.30', '0.36', '0.42'],
    );
    const half = calibrated(vectors.slice(0, 50), own);
    const again = new InstanceThresholds(1, own);
    again.restore(half.takeState());
    equal(again.topic, half.topic);
    deepEqual(again.takeState(), []);
  });

  it('follow the range that its cosines take, in order, below 1', () => {
    let before = calibrated(requests(300, 0));
    ok(Math.abs(before.floor) < 0.1, String(before.floor));
    for (const common of [0.5, 1, 2, 4, 10]) {
      const now = calibrated(requests(300, common));
      const { floor, cluster, topic, repeated, micro } = now;
      ok(
        floor < cluster && cluster < topic && topic <= repeated && repeated <= micro && micro < 1,
        String(valuesOf(now)),
      );
      ok(floor > before.floor && topic > before.topic && micro > before.micro);
      before = now;
    }
    ok(before.floor > 0.97);
  });

  it('depend on the order of requests alone: not on restarts, whenever they come', () => {
    const vectors = requests(2300, 1);
    const whole = calibrated(vectors);
    for (const cuts of [[1, 2, 3, 4, 5], [27, 28, 29], [128, 129, 500], [1999], [2000, 2001]]) {
      let calibration = new InstanceThresholds(1, GUESS);
      let rows: StateRow[] = [];
      vectors.forEach((vector, i) => {
        if (cuts.includes(i)) {
          rows = stored(rows, calibration.takeState());
          calibration = new InstanceThresholds(1, GUESS);
          calibration.restore(rows);
        }
        calibration.add(vector);
      });
      deepEqual(valuesOf(calibration), valuesOf(whole), `restarts at ${cuts.join(', ')}`);
    }
  });

  it('stay as they are after 2,000 requests, and keep nothing but themselves', () => {
    const calibration = calibrated(requests(2000, 1));
    const before = valuesOf(calibration);
    const rows = stored([], calibration.takeState());
    deepEqual(
      rows.map(({ kind }) => kind),
      ['calibration'],
    );
    for (const vector of requests(500, 6)) equal(calibration.add(vector), false);
    deepEqual(valuesOf(calibration), before);
    equal(calibration.topic, calibration.settledTopic);
  });

  it('stand one instance apart from another, and the same text many times does no harm', () => {
    const [only] = requests(1, 1);
    ok(only !== undefined);
    const calibration = calibrated(Array.from({ length: 200 }, () => only));
    ok(valuesOf(calibration).every((value) => Number.isFinite(value)));
    ok(calibration.micro <= 1);
    equal(new InstanceThresholds(2, GUESS).topic, new InstanceThresholds(1, GUESS).topic);
  });
});

describe('topics by calibrated thresholds', () => {
  const COUNT = 900;

  /** Topic of each request after all, in batches of `size`, with a restart after each. */
  function topicsOf(
    vectors: readonly Float32Array[],
    size: number,
  ): { topics: (number | null)[]; result: unknown } {
    const options = { thresholds: GUESS, dimensions: DIMENSIONS, detectLanguage: () => null };
    let rows: StateRow[] = [];
    const micros: (number | null)[] = [];
    const topicOf = new Map<number, number | null>();
    const names = new Map<number, string>();
    for (let start = 0; start < vectors.length; start += size) {
      const assigner = new Assigner(options);
      assigner.restoreInstance(1, INSTANCE_ID, rows);
      const part = vectors.slice(start, start + size);
      const all = part.map((vector, i) => {
        const number = start + i;
        const { turn, enrichment } = enrichedTurn(number + 1, `request ${(number * 7) % TOPICS}`, {
          session: number,
        });
        return { turn, enrichment: { ...enrichment, vector } };
      });
      for (const { turn } of all) assigner.restoreSession(1, turn.session, null);
      const made: Assignment = assigner.assign(
        all.map(({ turn }) => turn),
        all.map(({ enrichment }) => enrichment),
      );
      rows = stored(
        rows,
        assigner.takeState().filter(({ kind }) => kind !== 'session'),
      );
      micros.push(...made.messages.map(({ micro }) => micro));
      for (const { micro, topic } of made.micros) topicOf.set(micro, topic);
      for (const { topic, id, name } of made.topics) names.set(topic, `${id} ${name}`);
    }
    const topics = micros.map((micro) => (micro === null ? null : (topicOf.get(micro) ?? null)));
    return { topics, result: { topics, names: [...names] } };
  }

  for (const common of [0, 1, 3, 8]) {
    it(`neither collapse nor shatter when all cosines are near ${(common ** 2 / (1 + common ** 2)).toFixed(2)}`, () => {
      const { topics } = topicsOf(requests(COUNT, common), COUNT);
      const groups = new Map<number | null, Map<number, number>>();
      topics.forEach((topic, i) => {
        const held = groups.get(topic) ?? new Map<number, number>();
        groups.set(topic, held.set((i * 7) % TOPICS, (held.get((i * 7) % TOPICS) ?? 0) + 1));
      });
      const found = [...groups.keys()].filter((topic) => topic !== null).length;
      ok(found >= TOPICS * 0.7 && found <= TOPICS * 1.6, `${found} topics for ${TOPICS}`);
      const pure = [...groups.values()].reduce((sum, held) => sum + Math.max(...held.values()), 0);
      ok(pure / COUNT > 0.75, `${pure} of ${COUNT} with their own kind`);
    });
  }

  it('are the same in batches of 1, 37 and all at once, with a restart after each', () => {
    const vectors = requests(200, 2);
    const whole = topicsOf(vectors, vectors.length).result;
    for (const size of [1, 37]) deepEqual(topicsOf(vectors, size).result, whole);
  });
});

/** What a store holds after rows were put into it. */
function stored(before: readonly StateRow[], put: readonly StateRow[]): StateRow[] {
  const rows = new Map(before.map((row) => [`${row.kind} ${row.key}`, row]));
  for (const row of put) {
    if (row.value === null) rows.delete(`${row.kind} ${row.key}`);
    else rows.set(`${row.kind} ${row.key}`, row);
  }
  return [...rows.values()];
}
