/**
 * Contrastive training of a table of piece vectors (multiple negatives ranking: Henderson et al. 2017).
 * A text's vector is the normalised sum of its pieces' vectors; of a batch of pairs, every text must be
 * nearer to its partner than to the partners of the others. The gradient is analytic, the optimiser Adam
 * over the rows that a batch touches. Nothing here depends on the clock, on threads or on the processor.
 */
import type { Source } from './embedding-data.ts';
import { MatrixSpace, transposeSquare, type Matrix } from './matrix-space.ts';
import { INNER, SPECIAL_PIECES, preTokensOf, type Pieces } from './pieces.ts';
import { Random, WeightedChoice } from './random.ts';

export interface ContrastiveOptions {
  /** A multiple of 32. */
  readonly dimensions: number;
  readonly steps: number;
  /** Pairs a batch, a multiple of 8. */
  readonly batch: number;
  readonly learningRate: number;
  readonly temperature: number;
  /** Share of pieces that a text loses each time it is seen. */
  readonly pieceDropout: number;
  /** Share of words that are seen cut into smaller pieces than need be. */
  readonly parting: number;
  /** Share of texts that are seen with typing errors. */
  readonly typing: number;
  readonly maxPieces: number;
  readonly seed: number;
  /** Called every so many steps with the mean loss since the last call. */
  readonly onProgress?: (step: number, loss: number) => void;
}

const WARM_UP_STEPS = 200;
/** The learning rate falls in a straight line to this share of its greatest value. */
const LAST_RATE = 0.02;
export const PROGRESS_STEPS = 500;

/** Trains `table` (pieces × dimensions, row after row) in place. */
export function trainTable(
  table: Float32Array,
  pieces: Pieces,
  texts: readonly string[],
  sources: readonly Source[],
  options: ContrastiveOptions,
): void {
  const { dimensions, batch, temperature, maxPieces } = options;
  const random = new Random(options.seed);
  const reader = new BatchReader(pieces, texts, sources, options, random);
  const rows = pieces.list.length;
  const touchable = Math.min(rows, 2 * batch * maxPieces);
  const space = new MatrixSpace(
    3 * table.length + (touchable + 4 * batch) * dimensions + 2 * batch * batch + 4 * batch * maxPieces + 64,
    batch * Math.max(batch, dimensions),
  );
  const vectors = space.matrix(rows, dimensions);
  vectors.values.set(table);
  const left = new Side(space, batch, dimensions, maxPieces);
  const right = new Side(space, batch, dimensions, maxPieces);
  const scores = space.matrix(batch, batch);
  const flipped = space.matrix(batch, batch);
  const adam = new SparseAdam(space, vectors, touchable);
  let lossSum = 0;

  for (let step = 0; step < options.steps; step += 1) {
    const pairs = reader.next();
    left.read(pairs.left, vectors);
    right.read(pairs.right, vectors);
    space.multiplyTransposed(left.units, right.units, scores);
    lossSum += lossGradient(scores.values, batch, temperature, pairs.leftKeys, pairs.rightKeys);
    space.multiply(scores, right.units, left.gradient);
    transposeSquare(scores.values, batch, flipped.values);
    space.multiply(flipped, left.units, right.gradient);
    adam.add(left);
    adam.add(right);
    const rate =
      options.learningRate *
      Math.min(1, (step + 1) / WARM_UP_STEPS) *
      Math.max(LAST_RATE, 1 - step / options.steps);
    adam.step(rate);
    if ((step + 1) % PROGRESS_STEPS === 0) {
      options.onProgress?.(step + 1, lossSum / PROGRESS_STEPS);
      lossSum = 0;
    }
  }
  table.set(vectors.values);
}

/** One side of a batch: which pieces its texts have, their unit vectors, and the loss' gradient by these. */
class Side {
  readonly units: Matrix;
  readonly gradient: Matrix;
  /** Numbers of all texts' pieces, text after text. */
  readonly pieces: Int32Array;
  /** Where each text's pieces begin; one more at the end. */
  readonly starts: Int32Array;
  /** For each of `pieces`: the row of the optimiser that gathers its gradient. */
  readonly slots: Int32Array;
  readonly #space: MatrixSpace;
  readonly #lengths: Float64Array;

  constructor(space: MatrixSpace, batch: number, dimensions: number, maxPieces: number) {
    this.#space = space;
    this.units = space.matrix(batch, dimensions);
    this.gradient = space.matrix(batch, dimensions);
    this.pieces = space.numbers(batch * maxPieces);
    this.slots = space.numbers(batch * maxPieces);
    this.starts = new Int32Array(batch + 1);
    this.#lengths = new Float64Array(batch);
  }

  /** Takes over a batch's texts: normalised sums of their pieces' vectors. */
  read(texts: readonly Int32Array[], vectors: Matrix): void {
    const { columns, values } = this.units;
    let at = 0;
    texts.forEach((pieces, row) => {
      this.pieces.set(pieces, at);
      this.starts[row] = at;
      this.#space.sumRows(vectors, this.pieces.subarray(at), pieces.length, this.units, row);
      at += pieces.length;
      const from = row * columns;
      let square = 0;
      for (let i = from; i < from + columns; i += 1) square += values[i]! * values[i]!;
      const length = Math.sqrt(square) + 1e-6;
      this.#lengths[row] = length;
      for (let i = from; i < from + columns; i += 1) values[i] = values[i]! / length;
    });
    this.starts[texts.length] = at;
  }

  /** Takes the gradient back through the normalisation, and adds each text's to the rows of its pieces' slots. */
  spread(gradients: Matrix): void {
    const { rows, columns, values: units } = this.units;
    const values = this.gradient.values;
    for (let row = 0; row < rows; row += 1) {
      const from = row * columns;
      let along = 0;
      for (let i = from; i < from + columns; i += 1) along += units[i]! * values[i]!;
      const scale = 1 / this.#lengths[row]!;
      for (let i = from; i < from + columns; i += 1) values[i] = (values[i]! - along * units[i]!) * scale;
      const start = this.starts[row]!;
      this.#space.spreadRow(
        gradients,
        this.slots.subarray(start),
        this.starts[row + 1]! - start,
        this.gradient,
        row,
      );
    }
  }
}

/**
 * Turns cosines into the loss' gradient by them, in place; returns the loss, the mean over both
 * directions. Pairs that share a key are no negatives of each other.
 */
function lossGradient(
  scores: Float32Array,
  size: number,
  temperature: number,
  leftKeys: Int32Array,
  rightKeys: Int32Array,
): number {
  const rowSums = new Float64Array(size);
  const columnSums = new Float64Array(size);
  let own = 0;
  for (let row = 0; row < size; row += 1) {
    const start = row * size;
    const leftKey = leftKeys[row]!;
    const rightKey = rightKeys[row]!;
    let rowSum = 0;
    own += (scores[start + row]! - 1) / temperature;
    for (let column = 0; column < size; column += 1) {
      const isOther = column === row || (leftKeys[column] !== leftKey && rightKeys[column] !== rightKey);
      const weight = isOther ? Math.exp((scores[start + column]! - 1) / temperature) : 0;
      scores[start + column] = weight;
      rowSum += weight;
      columnSums[column] = columnSums[column]! + weight;
    }
    rowSums[row] = rowSum;
  }
  let loss = 0;
  for (let i = 0; i < size; i += 1) loss += Math.log(rowSums[i]!) + Math.log(columnSums[i]!);
  const scale = 1 / (size * temperature);
  for (let i = 0; i < size; i += 1) columnSums[i] = 0.5 / columnSums[i]!;
  for (let row = 0; row < size; row += 1) {
    const start = row * size;
    const ofRow = 0.5 / rowSums[row]!;
    for (let column = 0; column < size; column += 1)
      scores[start + column] = scores[start + column]! * (ofRow + columnSums[column]!) * scale;
    scores[start + row] = scores[start + row]! - scale;
  }
  return (loss / 2 - own) / size;
}

/** Adam whose moments move only where a batch has a gradient. */
class SparseAdam {
  readonly #space: MatrixSpace;
  readonly #vectors: Matrix;
  readonly #moments: { readonly means: Matrix; readonly squares: Matrix };
  /** Gradients of the pieces that this batch has touched, in the order of the first touch. */
  readonly #gradients: Matrix;
  /** A piece's row in `#gradients`; -1 without. */
  readonly #slots: Int32Array;
  readonly #touched: Int32Array;
  #count = 0;
  #steps = 0;

  constructor(space: MatrixSpace, vectors: Matrix, touchable: number) {
    this.#space = space;
    this.#vectors = vectors;
    this.#moments = {
      means: space.matrix(vectors.rows, vectors.columns),
      squares: space.matrix(vectors.rows, vectors.columns),
    };
    this.#gradients = space.matrix(touchable, vectors.columns);
    this.#slots = new Int32Array(vectors.rows).fill(-1);
    this.#touched = new Int32Array(touchable);
  }

  /** Adds the gradients of one side's texts to its pieces. */
  add(side: Side): void {
    const end = side.starts[side.starts.length - 1]!;
    for (let at = 0; at < end; at += 1) {
      const piece = side.pieces[at]!;
      let slot = this.#slots[piece]!;
      if (slot < 0) {
        slot = this.#count;
        this.#count += 1;
        this.#slots[piece] = slot;
        this.#touched[slot] = piece;
      }
      side.slots[at] = slot;
    }
    side.spread(this.#gradients);
  }

  /** Moves the touched rows and forgets the gradients. */
  step(rate: number): void {
    this.#steps += 1;
    const step = { rate, steps: this.#steps };
    for (let slot = 0; slot < this.#count; slot += 1) {
      const piece = this.#touched[slot]!;
      this.#space.adamRow(this.#vectors, this.#moments, piece, this.#gradients, slot, step);
      this.#slots[piece] = -1;
    }
    this.#gradients.values.fill(0, 0, this.#count * this.#gradients.columns);
    this.#count = 0;
  }
}

interface Batch {
  readonly left: readonly Int32Array[];
  readonly right: readonly Int32Array[];
  readonly leftKeys: Int32Array;
  readonly rightKeys: Int32Array;
}

/** Draws batches of pairs, each from one source, whose texts are therefore hard to tell apart. */
class BatchReader {
  readonly #pieces: Pieces;
  readonly #texts: readonly string[];
  readonly #sources: readonly Source[];
  readonly #options: ContrastiveOptions;
  readonly #random: Random;
  readonly #choice: WeightedChoice;
  readonly #groupChoices: readonly (WeightedChoice | null)[];
  /** Pieces of each text as they are. */
  readonly #cut: (Int32Array | undefined)[];
  /** For a piece that is a word: the smaller pieces it can be cut into. */
  readonly #parts: readonly (readonly number[] | null)[];

  constructor(
    pieces: Pieces,
    texts: readonly string[],
    sources: readonly Source[],
    options: ContrastiveOptions,
    random: Random,
  ) {
    this.#pieces = pieces;
    this.#texts = texts;
    this.#sources = sources;
    this.#options = options;
    this.#random = random;
    this.#choice = new WeightedChoice(sources.map(({ weight }) => weight));
    this.#groupChoices = sources.map((source) =>
      source.kind === 'groups'
        ? new WeightedChoice(source.groups.map((group) => Math.sqrt(Math.min(group.length, 150))))
        : null,
    );
    this.#cut = texts.map(() => undefined);
    this.#parts = pieces.list.map((piece, place) => {
      if (place < SPECIAL_PIECES.length || piece.startsWith(INNER) || [...piece].length < 4) return null;
      const parts = pieces.ofWord(piece, true);
      return parts.length > 1 && parts.length <= 3 ? parts : null;
    });
  }

  next(): Batch {
    const size = this.#options.batch;
    const random = this.#random;
    const index = this.#choice.draw(random);
    const source = this.#sources[index]!;
    const left: Int32Array[] = [];
    const right: Int32Array[] = [];
    const leftKeys = new Int32Array(size);
    const rightKeys = new Int32Array(size);
    const dropout = (source.kind === 'halves' ? undefined : source.dropout) ?? this.#options.pieceDropout;
    for (let i = 0; i < size; i += 1) {
      if (source.kind === 'groups') {
        const key = this.#groupChoices[index]!.draw(random);
        const group = source.groups[key]!;
        const a = random.below(group.length);
        const b = (a + 1 + random.below(group.length - 1)) % group.length;
        left.push(this.#seen(group[a]!, dropout));
        right.push(this.#seen(group[b]!, dropout));
        leftKeys[i] = rightKeys[i] = key;
      } else if (source.kind === 'halves') {
        const text = source.list[random.below(source.list.length)]!;
        const [half, other] = this.#halved(text);
        left.push(half);
        right.push(other);
        leftKeys[i] = rightKeys[i] = text;
      } else {
        const [a, b] = source.pairs[random.below(source.pairs.length)]!;
        left.push(this.#seen(a, dropout));
        right.push(this.#seen(b, dropout));
        leftKeys[i] = a;
        rightKeys[i] = b;
      }
    }
    return { left, right, leftKeys, rightKeys };
  }

  /** A text as it is seen this time: now and then with typing errors, missing pieces, parted words. */
  #seen(text: number, dropout: number): Int32Array {
    const { maxPieces, parting, typing } = this.#options;
    const random = this.#random;
    const cut = random.next() < typing ? this.#mistyped(text) : this.#cutOf(text);
    const seen: number[] = [];
    for (const piece of cut) {
      if (cut.length > 3 && random.next() < dropout) continue;
      const parts = this.#parts[piece];
      if (parts !== null && parts !== undefined && random.next() < parting) seen.push(...parts);
      else seen.push(piece);
    }
    if (seen.length === 0) return cut.slice(0, maxPieces);
    return Int32Array.from(seen.slice(0, maxPieces));
  }

  /** Every piece of a text on one of two sides, by chance. */
  #halved(text: number): [Int32Array, Int32Array] {
    const cut = this.#cutOf(text);
    const sides: [number[], number[]] = [[], []];
    for (const piece of cut) sides[this.#random.below(2)]!.push(piece);
    const [half, other] = sides.map((side) => (side.length === 0 ? cut : Int32Array.from(side)));
    return [half!, other!];
  }

  #cutOf(text: number): Int32Array {
    return (this.#cut[text] ??= Int32Array.from(
      this.#pieces.ofText(this.#texts[text]!, this.#options.maxPieces),
    ));
  }

  #mistyped(text: number): Int32Array {
    const pieces: number[] = [];
    for (const word of preTokensOf(this.#texts[text]!)) {
      const wrong = this.#random.next() < 0.25 ? mistype(word, this.#random) : word;
      pieces.push(...this.#pieces.ofWord(wrong, wrong !== word));
    }
    return Int32Array.from(pieces.slice(0, this.#options.maxPieces));
  }
}

/** A typing error in a word of at least four letters: two swapped, one missing, one double, one wrong. */
export function mistype(word: string, random: Random): string {
  const letters = [...word];
  if (letters.length < 4 || !/^\p{L}+$/u.test(word)) return word;
  const at = 1 + random.below(letters.length - 2);
  const kind = random.below(4);
  if (kind === 0) [letters[at], letters[at + 1]] = [letters[at + 1]!, letters[at]!];
  else if (kind === 1) letters.splice(at, 1);
  else if (kind === 2) letters.splice(at, 0, letters[at]!);
  else letters[at] = letters[random.below(letters.length)]!;
  return letters.join('');
}
