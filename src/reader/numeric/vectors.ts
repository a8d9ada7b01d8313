/**
 * Arithmetic on vectors of 32-bit floats. Keeps the invariant that sums are added in a fixed order, so that results are
 * equal to the bit on every machine.
 *
 * Test: test/reader/numeric/vectors.test.ts.
 */

/** The Euclidean length, summed in 64 bits. */
export function normOf(vector: Float32Array): number {
  let total = 0;
  for (let index = 0; index < vector.length; index += 1) total += vector[index]! * vector[index]!;
  return Math.sqrt(total);
}

/** The dot product of two vectors of equal length, summed in 64 bits. */
export function dotOf(a: Float32Array, b: Float32Array): number {
  let total = 0;
  for (let index = 0; index < a.length; index += 1) total += a[index]! * b[index]!;
  return total;
}

/**
 * Writes the dot products of one vector with many to `out`, equal to the bit to `dotOf`. Computes four at a time,
 * because an addition has to wait only for the one before it in the same sum.
 */
export function dotsOf(vector: Float32Array, others: readonly Float32Array[], out: Float64Array): void {
  let at = 0;
  for (; at + 4 <= others.length; at += 4) {
    const [a, b, c, d] = [others[at]!, others[at + 1]!, others[at + 2]!, others[at + 3]!];
    let totalA = 0;
    let totalB = 0;
    let totalC = 0;
    let totalD = 0;
    for (let index = 0; index < vector.length; index += 1) {
      const x = vector[index]!;
      totalA += x * a[index]!;
      totalB += x * b[index]!;
      totalC += x * c[index]!;
      totalD += x * d[index]!;
    }
    out[at] = totalA;
    out[at + 1] = totalB;
    out[at + 2] = totalC;
    out[at + 3] = totalD;
  }
  for (; at < others.length; at += 1) out[at] = dotOf(vector, others[at]!);
}

/** Adds `vector` to `sum`, in place. */
export function addTo(sum: Float32Array, vector: Float32Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index]! += vector[index]!;
}
