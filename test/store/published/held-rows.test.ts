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
  readonly counted: string[] = [];
  failures = 0;
  /** Rows of each file, of all specs. */
  rows = 1;

  ask(held: HeldTables, names: readonly string[], caller = 'a', spec = SPEC): Promise<HeldRows | null> {
    const segments = names.map((file): Segment => ({
      file,
      seq: 1,
      rows: this.rows,
      from: null,
      to: null,
      replaces: true,
    }));
    const rowsOf = (file: string): Rows => this.files.get(file) ?? [];
    return held.rowsOf(spec, 'folder', {
      caller,
      segments,
      count: async (some, most) => {
        this.counted.push(some.map(({ file }) => file).join());
        return Math.min(
          most,
          some.reduce((sum, { file }) => sum + rowsOf(file).length, 0),
        );
      },
      read: async (some, most) => {
        this.read.push(some.map(({ file }) => file).join());
        if (this.failures-- > 0) throw new Error('no file');
        const newest = new Map(some.flatMap(({ file }) => rowsOf(file)));
        return columnsOf([...newest].slice(0, most));
      },
    });
  }
}

function valuesOf(held: HeldRows | null): Record<string, number> {
  ok(held !== null);
  const found: Record<string, number> = {};
  for (const { columns, skip } of held)
    for (let row = 0; row < columns.rows; row += 1)
      if (skip?.[row] !== 1) found[columns.numbers['key']![row]!] = columns.numbers['value']![row]!;
  return found;
}

const many = (count: number): Rows => Array.from({ length: count }, (_, key) => [key, 1] as const);

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
    const [files, held] = [new Files(), new HeldTables(20_000)];
    files.files.set('low', [
      [1, 10],
      [4, 40],
    ]);
    files.files.set('middle', [
      [2, 20],
      [4, 0],
    ]);
    files.files.set('new1', [[2, 21]]);
    files.files.set('new2', [[1, 11]]);
    const first = await files.ask(held, ['low', 'middle', 'new1']);
    equal(await files.ask(held, ['low', 'middle', 'new1']), first);
    deepEqual(valuesOf(await files.ask(held, ['low', 'middle', 'new2'])), { 1: 11, 2: 20 });
    deepEqual(valuesOf(first), { 1: 10, 2: 21 });
    deepEqual(files.read, ['low', 'middle', 'new1', 'new2']);
    files.files.set('higher', [
      [1, 11],
      [2, 20],
      [4, 0],
    ]);
    deepEqual(valuesOf(await files.ask(held, ['low', 'higher'])), { 1: 11, 2: 20 });
    deepEqual(files.read.slice(4), ['higher']);
    await files.ask(held, ['merged']);
    deepEqual(files.read.slice(5), ['merged']);
  });

  it('of a range are read of all lower files at once', async () => {
    const [files, held] = [new Files(), new HeldTables(20_000)];
    files.files.set('low', [[1, 10]]);
    files.files.set('middle', [[1, 11]]);
    files.files.set('new', [[2, 20]]);
    const spec = { ...SPEC, range: { from: 0, to: 1 } };
    deepEqual(valuesOf(await files.ask(held, ['low', 'middle', 'new'], 'a', spec)), { 1: 11, 2: 20 });
    deepEqual(files.read, ['low,middle', 'new']);
  });

  it('are read once however many ask at a time', async () => {
    const [files, held] = [new Files(), new HeldTables(20_000)];
    files.files.set('low', [[1, 10]]);
    const [one, other] = await Promise.all([files.ask(held, ['low']), files.ask(held, ['low'])]);
    equal(one, other);
    deepEqual(files.read, ['low']);
  });

  it('that take long to read are read when statements took as long, and wait anew once they had to go', async () => {
    const [files, held] = [new Files(), new HeldTables(4_400_000)];
    files.files.set('low', many(12_000));
    files.rows = 12_000;
    const ask = async (number: number): Promise<boolean> =>
      (await files.ask(held, ['low'], 'a', { ...SPEC, id: 'id', equal: { number } })) !== null;
    deepEqual([await ask(1), await ask(1)], [false, true]);
    deepEqual(files.counted, ['low']);
    for (let number = 2; number < 40; number += 1)
      deepEqual([await ask(number), await ask(number)], [false, true]);
    equal(await ask(1), false);
    ok(held.bytes <= 4_400_000);
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

  it('are not read when they are too many', async () => {
    const [files, held] = [new Files(), new HeldTables(2900)];
    files.files.set('low', many(100));
    files.rows = 100;
    equal(await files.ask(held, ['low']), null);
    equal(await files.ask(held, ['low']), null);
    deepEqual(files.read, []);
    const range = { from: 0, to: 1 };
    equal(await files.ask(held, ['low'], 'a', { ...SPEC, range }), null);
    equal(await files.ask(held, ['low'], 'a', { ...SPEC, range }), null);
    deepEqual(files.read, ['low'], 'of a range it is found out once');
  });

  it('are counted with the orders that are made of them', async () => {
    const [files, held] = [new Files(), new HeldTables(20_000)];
    files.files.set('low', many(100));
    const [part] = (await files.ask(held, ['low'])) ?? [];
    ok(part !== undefined);
    const before = held.bytes;
    const order = async (): Promise<Uint32Array> => Uint32Array.from(many(100), ([key]) => key);
    const made = await part.orders.of('by key', order);
    equal(await part.orders.of('by key', order), made);
    equal(held.bytes, before + 400);
  });

  it('leave room by who has most, the least recently used first', async () => {
    const [files, held] = [new Files(), new HeldTables(39_000)];
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
    ok(held.bytes <= 39_000);
    equal(await ask('b', 0), other);
    equal(await ask('a', 1), first);
    ok((await ask('a', 2)) !== second);
  });
});
