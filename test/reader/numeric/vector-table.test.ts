import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DotArena } from '../../../src/reader/numeric/dot-kernel.ts';
import { startOfRow } from '../../../src/reader/numeric/lower-triangle.ts';
import { VectorTable } from '../../../src/reader/numeric/vector-table.ts';
import { dotOf, normOf } from '../../../src/reader/numeric/vectors.ts';
import { vectorOf } from '../threads/builders.ts';

const TEXTS = Array.from({ length: 200 }, (_, index) => `text number ${index} of ${index % 7}`);

describe('VectorTable', () => {
  it('gives the cosines that plain arithmetic gives, for any length of vector', () => {
    for (const dimensions of [1, 15, 16, 17, 384]) {
      const rows = TEXTS.map((text) =>
        Float32Array.from({ length: dimensions }, (_, at) => vectorOf(text)[at % 32]! + at / 1000),
      );
      const table = new VectorTable(new DotArena(dimensions));
      for (const row of rows) table.push(row);
      const query = rows[3]!.map((value) => value / normOf(rows[3]!));
      const out = new Float32Array(rows.length);
      table.cosines(query, out);
      rows.forEach((row, index) => ok(Math.abs(out[index]! - dotOf(query, row) / normOf(row)) < 1e-5));
      const pairs = new Float64Array(startOfRow(rows.length));
      table.pairCosines(pairs);
      const expected = dotOf(rows[150]!, rows[7]!) / normOf(rows[150]!) / normOf(rows[7]!);
      ok(Math.abs(pairs[startOfRow(150) + 7]! - expected) < 1e-5);
      table.cosinesOf(150, out);
      ok(Math.abs(out[7]! - expected) < 1e-5);
    }
  });

  it('keeps tables of one arena apart and uses cleared memory again', () => {
    const arena = new DotArena(32);
    const first = new VectorTable(arena);
    const second = new VectorTable(arena);
    for (const text of TEXTS) first.push(vectorOf(text));
    second.push(vectorOf('other'));
    const size = arena.floats.length;
    first.clear();
    for (const text of TEXTS) first.push(vectorOf(`again ${text}`));
    equal(arena.floats.length, size);
    const out = new Float32Array(1);
    second.cosines(vectorOf('other'), out);
    ok(Math.abs(out[0]! - 1) < 1e-6);
  });
});
