/**
 * Sorts rows by a number without blocking the event loop.
 *
 * Test: test/store/published/row-order.test.ts.
 */
import { giveWay } from '../../domain/give-way.ts';

const DIGITS = 2 ** 11;
/** Positions of the digits in a key of two 32-bit halves, lowest digit first. */
const PLACES = [0, 1].flatMap((half) => [0, 11, 22].map((shift) => ({ half, shift })));

/** With more rows, each pass yields to other work. */
const ROWS_AT_ONCE = 8192;

/**
 * Returns the rows ordered by a value, NaN last; the sort is stable. A radix sort in pieces, as a comparison sort of a
 * hundred thousand rows would block other work.
 */
export async function ordered(
  rows: Uint32Array,
  value: (row: number) => number,
  isDescending: boolean,
): Promise<Uint32Array> {
  const count = rows.length;
  const keys = keysOf(rows, value, isDescending);
  let [order, next] = [new Uint32Array(count), new Uint32Array(count)];
  for (let at = 0; at < count; at += 1) order[at] = at;
  const starts = new Uint32Array(DIGITS + 1);
  for (const { half, shift } of PLACES) {
    starts.fill(0);
    for (let at = 0; at < count; at += 1) starts[((keys[2 * at + half]! >>> shift) & (DIGITS - 1)) + 1]! += 1;
    if (starts.includes(count)) continue;
    if (count > ROWS_AT_ONCE) await giveWay();
    for (let digit = 1; digit < DIGITS; digit += 1) starts[digit]! += starts[digit - 1]!;
    for (let at = 0; at < count; at += 1) {
      const place = order[at]!;
      const digit = (keys[2 * place + half]! >>> shift) & (DIGITS - 1);
      next[starts[digit]!] = place;
      starts[digit]! += 1;
    }
    [order, next] = [next, order];
  }
  for (let at = 0; at < count; at += 1) order[at] = rows[order[at]!]!;
  return order;
}

/** Returns 64-bit keys (two halves each, lower first) whose order is that of the values. */
function keysOf(rows: Uint32Array, value: (row: number) => number, isDescending: boolean): Uint32Array {
  const bits = new DataView(new ArrayBuffer(8));
  const keys = new Uint32Array(2 * rows.length);
  for (let at = 0; at < rows.length; at += 1) {
    // Adding 0 makes -0 equal to 0.
    const number = value(rows[at]!) + 0;
    bits.setFloat64(0, number);
    const [upper, lower] = [bits.getUint32(0), bits.getUint32(4)];
    // Negative values increase as their bits decrease, and come first.
    const isNegative = upper >>> 31 === 1;
    const flip = isNegative === isDescending ? 0 : -1;
    const isNothing = Number.isNaN(number);
    keys[2 * at] = isNothing ? -1 : lower ^ flip;
    keys[2 * at + 1] = isNothing ? -1 : upper ^ flip ^ (isNegative ? 0 : 0x80000000);
  }
  return keys;
}
