/**
 * Soft whitening (Su et al. 2021, by part: Diera et al. 2024): after training a few directions hold most of
 * what messages differ in, and these drown the others. Each direction is scaled by a power of the variance
 * that messages have along it. A sum of vectors stays a sum, so the map is applied to the table itself and
 * costs nothing when the model runs.
 */

/** Added to every variance (of unit vectors, so that all variances sum up to 1): directions without any stay small. */
const FLOOR = 1e-4;
const SWEEPS = 30;
/** Sums of squares off the diagonal, below which a matrix is diagonal. */
const ENOUGH = 1e-18;

/**
 * Whitens `table` (rows of `dimensions` numbers) in place. `messages`: the rows that each sums up to.
 * `power` 0 changes nothing, 1 makes all directions vary alike.
 */
export function whiten(
  table: Float32Array,
  dimensions: number,
  messages: readonly (readonly number[])[],
  power: number,
): void {
  const { values, vectors } = eigen(secondMoments(table, dimensions, messages), dimensions);
  const middle = Float64Array.from(values).sort()[dimensions >> 1]! + FLOOR;
  const map = new Float64Array(dimensions * dimensions);
  for (let k = 0; k < dimensions; k += 1) {
    const factor = ((Math.max(0, values[k]!) + FLOOR) / middle) ** (-power / 2);
    for (let i = 0; i < dimensions; i += 1) {
      const scaled = factor * vectors[i * dimensions + k]!;
      for (let j = 0; j < dimensions; j += 1)
        map[i * dimensions + j] = map[i * dimensions + j]! + scaled * vectors[j * dimensions + k]!;
    }
  }
  const row = new Float64Array(dimensions);
  for (let start = 0; start < table.length; start += dimensions) {
    for (let i = 0; i < dimensions; i += 1) row[i] = table[start + i]!;
    for (let i = 0; i < dimensions; i += 1) {
      let sum = 0;
      for (let j = 0; j < dimensions; j += 1) sum += map[i * dimensions + j]! * row[j]!;
      table[start + i] = sum;
    }
  }
}

/** Mean of the products of every two numbers of the messages' unit vectors: a symmetric matrix. */
function secondMoments(
  table: Float32Array,
  dimensions: number,
  messages: readonly (readonly number[])[],
): Float64Array {
  const moments = new Float64Array(dimensions * dimensions);
  const sum = new Float64Array(dimensions);
  for (const pieces of messages) {
    sum.fill(0);
    for (const piece of pieces)
      for (let i = 0; i < dimensions; i += 1) sum[i] = sum[i]! + table[piece * dimensions + i]!;
    let square = 0;
    for (const value of sum) square += value * value;
    if (square === 0) continue;
    for (let i = 0; i < dimensions; i += 1) {
      const scaled = sum[i]! / (square * messages.length);
      for (let j = 0; j <= i; j += 1)
        moments[i * dimensions + j] = moments[i * dimensions + j]! + scaled * sum[j]!;
    }
  }
  for (let i = 0; i < dimensions; i += 1)
    for (let j = 0; j < i; j += 1) moments[j * dimensions + i] = moments[i * dimensions + j]!;
  return moments;
}

/**
 * Eigenvalues of a symmetric matrix, and eigenvectors as the columns of a matrix, by Jacobi's rotations
 * (Golub & Van Loan 2013, 8.5). `matrix` is used up. The order is that of the diagonal.
 */
export function eigen(
  matrix: Float64Array,
  size: number,
): { readonly values: Float64Array; readonly vectors: Float64Array } {
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i += 1) vectors[i * size + i] = 1;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    let off = 0;
    for (let p = 0; p < size; p += 1) {
      for (let q = p + 1; q < size; q += 1) {
        const value = matrix[p * size + q]!;
        off += value * value;
        if (value === 0) continue;
        const turn = (matrix[q * size + q]! - matrix[p * size + p]!) / (2 * value);
        const tangent = (turn < 0 ? -1 : 1) / (Math.abs(turn) + Math.sqrt(turn * turn + 1));
        const cosine = 1 / Math.sqrt(tangent * tangent + 1);
        const sine = tangent * cosine;
        for (let k = 0; k < size; k += 1) rotate(matrix, k * size + p, k * size + q, cosine, sine);
        for (let k = 0; k < size; k += 1) rotate(matrix, p * size + k, q * size + k, cosine, sine);
        for (let k = 0; k < size; k += 1) rotate(vectors, k * size + p, k * size + q, cosine, sine);
      }
    }
    if (off < ENOUGH) break;
  }
  return { values: Float64Array.from({ length: size }, (_, i) => matrix[i * size + i]!), vectors };
}

function rotate(numbers: Float64Array, a: number, b: number, cosine: number, sine: number): void {
  const x = numbers[a]!;
  const y = numbers[b]!;
  numbers[a] = cosine * x - sine * y;
  numbers[b] = sine * x + cosine * y;
}
