import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eigen, whiten } from '../../../tools/train/whitening.ts';

const SIZE = 8;

/** Rows with much more spread along some axes than along others, turned so that no axis is a direction of its own. */
function table(rows: number): Float32Array {
  let state = 7;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  const out = new Float32Array(rows * SIZE);
  for (let row = 0; row < rows; row += 1) {
    const raw = Array.from({ length: SIZE }, (_, i) => next() * (1 + 4 * i));
    for (let i = 0; i < SIZE; i += 1)
      out[row * SIZE + i] = raw[i]! + 0.8 * raw[(i + 1) % SIZE]! - 0.6 * raw[(i + 3) % SIZE]!;
  }
  return out;
}

function moments(vectors: Float32Array, messages: readonly (readonly number[])[]): Float64Array {
  const out = new Float64Array(SIZE * SIZE);
  for (const pieces of messages) {
    const sum = new Float64Array(SIZE);
    for (const piece of pieces)
      for (let i = 0; i < SIZE; i += 1) sum[i] = sum[i]! + vectors[piece * SIZE + i]!;
    const square = sum.reduce((total, value) => total + value * value, 0);
    for (let i = 0; i < SIZE; i += 1)
      for (let j = 0; j < SIZE; j += 1)
        out[i * SIZE + j] = out[i * SIZE + j]! + (sum[i]! * sum[j]!) / square / messages.length;
  }
  return out;
}

const MESSAGES = Array.from({ length: 400 }, (_, i) => [i, (i * 7 + 3) % 400]);

test('eigen finds orthogonal directions along which a symmetric matrix only stretches', () => {
  const matrix = moments(table(400), MESSAGES);
  const { values, vectors } = eigen(Float64Array.from(matrix), SIZE);
  for (let k = 0; k < SIZE; k += 1) {
    for (let i = 0; i < SIZE; i += 1) {
      let product = 0;
      let overlap = 0;
      for (let j = 0; j < SIZE; j += 1) {
        product += matrix[i * SIZE + j]! * vectors[j * SIZE + k]!;
        overlap += vectors[j * SIZE + i]! * vectors[j * SIZE + k]!;
      }
      assert.ok(Math.abs(product - values[k]! * vectors[i * SIZE + k]!) < 1e-9);
      assert.ok(Math.abs(overlap - (i === k ? 1 : 0)) < 1e-9);
    }
  }
  const trace = matrix.filter((_, at) => at % (SIZE + 1) === 0).reduce((sum, value) => sum + value, 0);
  assert.ok(Math.abs(values.reduce((sum, value) => sum + value, 0) - trace) < 1e-9);
});

test('whitening makes messages vary more evenly, the more the higher its power', () => {
  const spread = (power: number): number => {
    const vectors = table(400);
    whiten(vectors, SIZE, MESSAGES, power);
    const { values } = eigen(moments(vectors, MESSAGES), SIZE);
    return Math.max(...values) / Math.min(...values);
  };
  const [none, half, full] = [spread(0), spread(0.5), spread(1)];
  assert.ok(none > 10 && half < 0.75 * none && full < 0.5 * half, `${none}, ${half}, ${full}`);
});

test('power 0 and messages without pieces leave the table as it is', () => {
  const before = table(400);
  for (const [messages, power] of [
    [MESSAGES, 0],
    [[...MESSAGES, []], 0],
  ] as const) {
    const vectors = Float32Array.from(before);
    whiten(vectors, SIZE, messages, power);
    for (let i = 0; i < vectors.length; i += 1) assert.ok(Math.abs(vectors[i]! - before[i]!) < 1e-5);
  }
});

test('the same table gives the same bits', () => {
  const [a, b] = [table(400), table(400)];
  whiten(a, SIZE, MESSAGES, 0.3);
  whiten(b, SIZE, MESSAGES, 0.3);
  assert.deepEqual(a, b);
});
