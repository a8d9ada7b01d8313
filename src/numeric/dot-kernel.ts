/**
 * Dot products of one vector with many, in WebAssembly SIMD.
 *
 * Plain JavaScript does about one multiplication per cycle, which is too slow for the search over a
 * thousand centroids that every request turn needs. WebAssembly is as deterministic as JavaScript: the
 * additions happen in one fixed order on every machine, so a replay gives the same bits.
 */

/** Vectors are padded with zeros to a multiple of this many floats: one turn of the inner loop. */
export const FLOATS_PER_STEP = 16;

/** The little of the WebAssembly JavaScript interface that is used here (not in the es2024 library). */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WasmApi {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { env: { memory: WasmMemory } },
  ) => { readonly exports: { readonly dots: DotsFunction } };
}
/** All five are byte addresses or counts: query, first row, number of rows, first output, bytes a row. */
type DotsFunction = (query: number, rows: number, count: number, out: number, rowBytes: number) => void;

const I32 = 0x7f;
const V128 = 0x7b;
const OP = {
  block: [0x02, 0x40],
  loop: [0x03, 0x40],
  end: [0x0b],
  br: (depth: number) => [0x0c, depth],
  brIf: (depth: number) => [0x0d, depth],
  get: (local: number) => [0x20, local],
  set: (local: number) => [0x21, local],
  tee: (local: number) => [0x22, local],
  constant: (value: number) => [0x41, ...signedLeb(value)],
  eqz: [0x45],
  lessUnsigned: [0x49],
  addInt: [0x6a],
  subtractInt: [0x6b],
  storeFloat: [0x38, 2, 0],
  addFloat: [0x92],
  loadVector: (offset: number) => [0xfd, 0x00, 4, offset],
  zeroVector: [0xfd, 0x0c, ...new Uint8Array(16)],
  lane: (index: number) => [0xfd, 0x1f, index],
  addVectors: [0xfd, 0xe4, 0x01],
  multiplyVectors: [0xfd, 0xe6, 0x01],
} as const;

function signedLeb(value: number): number[] {
  const bytes: number[] = [];
  for (;;) {
    const byte = value & 0x7f;
    value >>= 7;
    const done = (value === 0 && (byte & 0x40) === 0) || (value === -1 && (byte & 0x40) !== 0);
    bytes.push(done ? byte : byte | 0x80);
    if (done) return bytes;
  }
}

function unsignedLeb(value: number): number[] {
  const bytes: number[] = [];
  do {
    const byte = value & 0x7f;
    value >>>= 7;
    bytes.push(value === 0 ? byte : byte | 0x80);
  } while (value !== 0);
  return bytes;
}

function section(id: number, ...items: readonly (readonly number[])[]): number[] {
  const body = [...unsignedLeb(items.length), ...items.flat()];
  return [id, ...unsignedLeb(body.length), ...body];
}

function text(value: string): number[] {
  return [value.length, ...Buffer.from(value, 'latin1')];
}

const MAXIMUM_PAGES = 32_768;

/** `\0asm`, version 1. */
const WASM_HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

function moduleBytes(): Uint8Array {
  const [query, rows, count, out, rowBytes, at] = [0, 1, 2, 3, 4, 5];
  const accumulators = [6, 7, 8, 9];
  const multiplyAdd = (lane: number): number[] => [
    ...OP.get(accumulators[lane]!),
    ...OP.get(query!),
    ...OP.get(at!),
    ...OP.addInt,
    ...OP.loadVector(16 * lane),
    ...OP.get(rows!),
    ...OP.get(at!),
    ...OP.addInt,
    ...OP.loadVector(16 * lane),
    ...OP.multiplyVectors,
    ...OP.addVectors,
    ...OP.set(accumulators[lane]!),
  ];
  const code = [
    ...OP.block,
    ...OP.loop,
    ...OP.get(count!),
    ...OP.eqz,
    ...OP.brIf(1),
    ...accumulators.flatMap((local) => [...OP.zeroVector, ...OP.set(local)]),
    ...OP.constant(0),
    ...OP.set(at!),
    ...OP.loop,
    ...[0, 1, 2, 3].flatMap(multiplyAdd),
    ...OP.get(at!),
    ...OP.constant(4 * FLOATS_PER_STEP),
    ...OP.addInt,
    ...OP.tee(at!),
    ...OP.get(rowBytes!),
    ...OP.lessUnsigned,
    ...OP.brIf(0),
    ...OP.end,
    ...OP.get(accumulators[0]!),
    ...OP.get(accumulators[1]!),
    ...OP.addVectors,
    ...OP.get(accumulators[2]!),
    ...OP.get(accumulators[3]!),
    ...OP.addVectors,
    ...OP.addVectors,
    ...OP.set(accumulators[0]!),
    ...OP.get(out!),
    ...OP.get(accumulators[0]!),
    ...OP.lane(0),
    ...OP.get(accumulators[0]!),
    ...OP.lane(1),
    ...OP.addFloat,
    ...OP.get(accumulators[0]!),
    ...OP.lane(2),
    ...OP.get(accumulators[0]!),
    ...OP.lane(3),
    ...OP.addFloat,
    ...OP.addFloat,
    ...OP.storeFloat,
    ...OP.get(rows!),
    ...OP.get(rowBytes!),
    ...OP.addInt,
    ...OP.set(rows!),
    ...OP.get(out!),
    ...OP.constant(4),
    ...OP.addInt,
    ...OP.set(out!),
    ...OP.get(count!),
    ...OP.constant(1),
    ...OP.subtractInt,
    ...OP.set(count!),
    ...OP.br(0),
    ...OP.end,
    ...OP.end,
    ...OP.end,
  ];
  const body = [2, 1, I32, accumulators.length, V128, ...code];
  return Uint8Array.from([
    ...WASM_HEADER,
    ...section(1, [0x60, 5, I32, I32, I32, I32, I32, 0]),
    ...section(2, [...text('env'), ...text('memory'), 0x02, 0x01, 1, ...unsignedLeb(MAXIMUM_PAGES)]),
    ...section(3, [0]),
    ...section(7, [...text('dots'), 0x00, 0]),
    ...section(10, [...unsignedLeb(body.length), ...body]),
  ]);
}

const PAGE_BYTES = 65_536;

/**
 * Memory for vectors of one padded length, handed out in blocks of `ROWS_PER_BLOCK` rows. Address 0 holds
 * the query, the next row the results.
 */
export class DotArena {
  static readonly ROWS_PER_BLOCK = 32;
  /** Floats from one row to the next. */
  readonly stride: number;
  #memory: WasmMemory;
  #floats: Float32Array<ArrayBuffer>;
  readonly #dots: DotsFunction;
  readonly #free: number[] = [];
  #end: number;

  constructor(dimensions: number) {
    this.stride = Math.ceil(dimensions / FLOATS_PER_STEP) * FLOATS_PER_STEP;
    const api = (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
    this.#memory = new api.Memory({ initial: 1, maximum: MAXIMUM_PAGES });
    this.#floats = new Float32Array(this.#memory.buffer);
    const instance = new api.Instance(new api.Module(moduleBytes()), { env: { memory: this.#memory } });
    this.#dots = instance.exports.dots;
    this.#end = this.stride + DotArena.ROWS_PER_BLOCK;
    this.#ensure(this.#end);
  }

  /** The whole memory, in floats. Growing replaces it: read it anew after every `allocate`. */
  get floats(): Float32Array {
    return this.#floats;
  }

  /** Offset in floats of a zeroed block of rows. */
  allocate(): number {
    const size = this.stride * DotArena.ROWS_PER_BLOCK;
    const block = this.#free.pop() ?? this.#end;
    if (block === this.#end) {
      this.#end += size;
      this.#ensure(this.#end);
    }
    this.#floats.fill(0, block, block + size);
    return block;
  }

  release(block: number): void {
    this.#free.push(block);
  }

  setQuery(vector: Float32Array): void {
    this.#floats.set(vector, 0);
  }

  /** Copies a row into the query's place. */
  setQueryRow(offset: number): void {
    this.#floats.copyWithin(0, offset, offset + this.stride);
  }

  /** Writes the query's dot product with each of the block's first `count` rows to `out` from `start`. */
  dots(block: number, count: number, out: Float32Array, start: number): void {
    this.#dots(0, block * 4, count, this.stride * 4, this.stride * 4);
    const floats = this.#floats;
    const from = this.stride;
    for (let index = 0; index < count; index += 1) out[start + index] = floats[from + index]!;
  }

  #ensure(floats: number): void {
    const missing = floats * 4 - this.#memory.buffer.byteLength;
    if (missing <= 0) return;
    const pages = Math.max(Math.ceil(missing / PAGE_BYTES), 64);
    this.#memory.grow(pages);
    this.#floats = new Float32Array(this.#memory.buffer);
  }
}
