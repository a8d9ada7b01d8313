/**
 * An assembler for the few WebAssembly instructions and loops of our kernels: the dot products of the service
 * (`dot-kernel.ts`) and the arithmetic of training (`tools/train/kernels.ts`). Keeps the invariant that a kernel's
 * order of additions is fixed, so it computes the same bits on every machine.
 *
 * Test: test/reader/numeric/vector-table.test.ts, test/tools/train/matrix-space.test.ts.
 */

/** The part of the WebAssembly interface that is used here; the compiler's library for Node lacks it. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
interface WasmApi<Exports> {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { env: { memory: WasmMemory } },
  ) => { readonly exports: Exports };
}

export const PAGE_BYTES = 65_536;
export const I32 = 0x7f;
export const F32 = 0x7d;
const V128 = 0x7b;
/** `\0asm`, version 1. */
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** A function without a result. Its locals follow its parameters: integers first, then vectors of four floats. */
export interface WasmFunction {
  readonly name: string;
  readonly parameters: readonly number[];
  readonly integers: number;
  readonly vectors: number;
  readonly code: readonly number[];
}

/** Instructions; those on vectors work on four 32-bit floats at once. */
export const OP = {
  block: [0x02, 0x40],
  loop: [0x03, 0x40],
  end: [0x0b],
  br: (depth: number) => [0x0c, depth],
  brIf: (depth: number) => [0x0d, depth],
  get: (local: number) => [0x20, local],
  set: (local: number) => [0x21, local],
  tee: (local: number) => [0x22, local],
  constant: (value: number) => [0x41, ...signedLeb(value)],
  float: (value: number) => [0x43, ...new Uint8Array(Float32Array.of(value).buffer)],
  load: [0x28, 2, 0],
  storeFloat: [0x38, 2, 0],
  eqz: [0x45],
  lessUnsigned: [0x49],
  add: [0x6a],
  subtract: [0x6b],
  multiply: [0x6c],
  and: [0x71],
  shiftRight: [0x76],
  addFloat: [0x92],
  loadVector: (offset: number) => [0xfd, 0x00, 4, ...unsignedLeb(offset)],
  loadSplat: (offset: number) => [0xfd, 0x09, 2, ...unsignedLeb(offset)],
  storeVector: (offset: number) => [0xfd, 0x0b, 4, ...unsignedLeb(offset)],
  zeroVector: [0xfd, 0x0c, ...new Uint8Array(16)],
  splat: [0xfd, 0x13],
  lane: (index: number) => [0xfd, 0x1f, index],
  squareRoot: [0xfd, 0xe3, 0x01],
  addVectors: [0xfd, 0xe4, 0x01],
  subtractVectors: [0xfd, 0xe5, 0x01],
  multiplyVectors: [0xfd, 0xe6, 0x01],
  divideVectors: [0xfd, 0xe7, 0x01],
} as const;

/** Code that adds to a local. */
export function advance(local: number, by: readonly number[]): number[] {
  return [...OP.get(local), ...by, ...OP.add, ...OP.set(local)];
}

/** Code that repeats `code` while `count`, which decreases by one each time, is not 0. */
export function countDown(count: number, code: readonly number[]): number[] {
  return [
    ...OP.block,
    ...OP.loop,
    ...OP.get(count),
    ...OP.eqz,
    ...OP.brIf(1),
    ...code,
    ...advance(count, OP.constant(-1)),
    ...OP.br(0),
    ...OP.end,
    ...OP.end,
  ];
}

/** Code that repeats `code`, at least once, while `at`, which increases by `step` each time, is below `end`. */
export function stepUp(at: number, step: number, end: number, code: readonly number[]): number[] {
  return [
    ...OP.loop,
    ...code,
    ...OP.get(at),
    ...OP.constant(step),
    ...OP.add,
    ...OP.tee(at),
    ...OP.get(end),
    ...OP.lessUnsigned,
    ...OP.brIf(0),
    ...OP.end,
  ];
}

/** Code that sets vectors to zero. */
export function clear(locals: readonly number[]): number[] {
  return locals.flatMap((local) => [...OP.zeroVector, ...OP.set(local)]);
}

/** Compiles functions with a new memory, which can grow from `initial` to `maximum` pages. */
export function instantiate<Exports>(
  functions: readonly WasmFunction[],
  pages: { readonly initial: number; readonly maximum: number },
): { readonly memory: WasmMemory; readonly exports: Exports } {
  const api = (globalThis as unknown as { WebAssembly: WasmApi<Exports> }).WebAssembly;
  const memory = new api.Memory(pages);
  const module = new api.Module(moduleBytes(functions, pages));
  return { memory, exports: new api.Instance(module, { env: { memory } }).exports };
}

/** A binary module of the core specification: types, import of the memory, functions, exports, code. */
function moduleBytes(
  functions: readonly WasmFunction[],
  { initial, maximum }: { readonly initial: number; readonly maximum: number },
): Uint8Array {
  const limits = [0x01, ...unsignedLeb(initial), ...unsignedLeb(maximum)];
  return Uint8Array.from([
    ...HEADER,
    ...section(1, ...functions.map(({ parameters }) => [0x60, parameters.length, ...parameters, 0])),
    ...section(2, [...text('env'), ...text('memory'), 0x02, ...limits]),
    ...section(3, ...functions.map((_, index) => [index])),
    ...section(7, ...functions.map(({ name }, index) => [...text(name), 0x00, index])),
    ...section(10, ...functions.map(body)),
  ]);
}

function body({ integers, vectors, code }: WasmFunction): number[] {
  const bytes = [2, ...unsignedLeb(integers), I32, ...unsignedLeb(vectors), V128, ...code, ...OP.end];
  return [...unsignedLeb(bytes.length), ...bytes];
}

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
