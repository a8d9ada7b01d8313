import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Columns } from '../../../src/store/duckdb.ts';
import { HeldTables, type HeldRows, type HeldSpec } from '../../../src/store/published/held-rows.ts';
import type { Segment } from '../../../src/store/published/manifest.ts';

const SPEC: HeldSpec = { table: 't', columns: { key: 'key', value: 'value' }, key: ['key'] };

/** `[key, value]`; a value of 0 is a tombstone. */
type Rows = readonly (readonly [key: number, value: number])[];

function columnsOf(rows: Rows): Columns {
  const numbers = {
    key: Int32Array.from(rows, ([key]) => key),
    value: Int32Array.from(rows, ([, value]) => value),
    alive: Int32Array.from(rows, ([, value]) => Number(value !== 0)),
  };
  return { rows: rows.length, numbers, texts: {} };
}

/** Files by name, and what was read of them. */
class Files {
  readonly files = new Map<string, Rows>();
  readonly read: string[] = [];
  failures = 0;

  ask(held: HeldTables, names: readonly string[], caller = 'a', spec = SPEC): Promise<HeldRows | null> {
    const segments = names.map((file): Segment => ({
      file,
      seq: 1,
      rows: 1,
      from: null,
      to: null,
      replaces: true,
    }));
    return held.rowsOf(spec, 'folder', {
      caller,
      segments,
      read: async (some, { most, isOrdered }) => {
        if (!isOrdered) this.read.push(some.map(({ file }) => file).join());
        if (this.failures-- > 0) throw new Error('no file');
        const newest = new Map(some.flatMap(({ file }) => this.files.get(file) ?? []));
        const rows = [...newest];
        return columnsOf((isOrdered ? rows.toSorted(([x], [y]) => x - y) : rows).slice(0, most));
      },
    });
  }
}

function valuesOf(held: HeldRows | null): Record<string, number> {
  ok(held !== null);
  const found: Record<string, number> = {};
  for (const { rows, numbers, skip } of held.parts)
    for (let row = 0; row < rows; row += 1)
      if (skip?.[row] !== 1) found[numbers['key']![row]!] = numbers['value']![row]!;
  return found;
}

describe('rows in memory', () => {
  it('are those of the newest segment that has them, without tombstones', async () => {
    const files = new Files();
    files.files.set('low', [
      [3, 30],
      [1, 10],
      [2, 20],
      [4, 0],
    ]);
    files.files.set('new', [
      [2, 21],
      [3, 0],
      [5, 50],
    ]);
    deepEqual(valuesOf(await files.ask(new HeldTables(10_000), ['low', 'new'])), { 1: 10, 2: 21, 5: 50 });
  });

  it('are read again only where files are new', async () => {
    const [files, held] = [new Files(), new HeldTables(10_000)];
    files.files.set('low', [[1, 10]]);
    files.files.set('new1', [[2, 20]]);
    files.files.set('new2', [[1, 11]]);
    const first = await files.ask(held, ['low', 'new1']);
    equal(await files.ask(held, ['low', 'new1']), first);
    deepEqual(valuesOf(await files.ask(held, ['low', 'new2'])), { 1: 11 });
    deepEqual(valuesOf(first), { 1: 10, 2: 20 });
    deepEqual(files.read, ['low', 'new1', 'new2']);
    await files.ask(held, ['merged']);
    equal(files.read.at(-1), 'merged');
  });

  it('of ranges that hold nothing take room, too', async () => {
    const [files, held] = [new Files(), new HeldTables(20_000)];
    files.files.set('low', []);
    for (let number = 0; number < 100; number += 1)
      await files.ask(held, ['low'], 'a', { ...SPEC, equal: { number } });
    const before = files.read.length;
    await files.ask(held, ['low'], 'a', { ...SPEC, equal: { number: 0 } });
    ok(held.bytes <= 20_000);
    equal(files.read.length, before + 1);
  });

  it('are read again after a failure', async () => {
    const [files, held] = [new Files(), new HeldTables(10_000)];
    files.files.set('low', [[1, 10]]);
    files.failures = 1;
    await rejects(files.ask(held, ['low']), /no file/);
    deepEqual(valuesOf(await files.ask(held, ['low'])), { 1: 10 });
  });

  it('are not held when they are too many, which is found out once', async () => {
    const [files, held] = [new Files(), new HeldTables(4000)];
    files.files.set(
      'low',
      Array.from({ length: 100 }, (_, key) => [key, 1] as const),
    );
    equal(await files.ask(held, ['low']), null);
    equal(await files.ask(held, ['low']), null);
    deepEqual(files.read, ['low']);
  });

  it('leave room by who has most, the least recently used first', async () => {
    const [files, held] = [new Files(), new HeldTables(20_000)];
    files.files.set(
      'low',
      Array.from({ length: 10 }, (_, key) => [key, 1] as const),
    );
    const of = (number: number): HeldSpec => ({ ...SPEC, equal: { number } });
    const ask = (caller: string, number: number): Promise<HeldRows | null> =>
      files.ask(held, ['low'], caller, of(number));
    const other = await ask('b', 0);
    ok(other !== null);
    const first = await ask('a', 1);
    const second = await ask('a', 2);
    equal(await ask('a', 1), first);
    for (let number = 3; number <= 9; number += 1) await ask('a', number);
    ok(held.bytes <= 20_000);
    equal(await ask('b', 0), other);
    equal(await ask('a', 1), first);
    ok((await ask('a', 2)) !== second);
  });
});
