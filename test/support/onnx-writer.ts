/**
 * Writes ONNX files: enough of the protobuf format (onnx.proto3, IR version 8, opset 17) for small graphs made by
 * tests and benchmarks, without a dependency.
 */

/** Element types by their number in `TensorProto.DataType`. */
export const ELEMENT = { float: 1, uint8: 2, int8: 3, int64: 7 } as const;
export type Element = keyof typeof ELEMENT;

export interface TensorValue {
  readonly type: Element;
  readonly dims: readonly number[];
  readonly data: Float32Array | Uint8Array | Int8Array | BigInt64Array;
}

/** A graph's input or output; a dimension is a size or the name of one that varies. */
export interface Port {
  readonly name: string;
  readonly type: Element;
  readonly dims: readonly (number | string)[];
}

/** Whole numbers are INT, other numbers must be given as `{ float }`. */
export type Attribute = number | readonly number[] | { readonly float: number };

const IR_VERSION = 8;
const OPSET = 17;
const ATTRIBUTE = { float: 1, int: 2, ints: 7 } as const;

/** A graph that is written node after node; tensors go by name. */
export class OnnxGraph {
  readonly #nodes: Buffer[] = [];
  readonly #initializers: Buffer[] = [];
  #made = 0;

  /** Adds a constant; returns its name. */
  constant({ type, dims, data }: TensorValue, name = this.#name('constant')): string {
    const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.#initializers.push(
      Buffer.concat([
        ...dims.map((dim) => varintField(1, dim)),
        varintField(2, ELEMENT[type]),
        bytesField(8, Buffer.from(name)),
        bytesField(9, raw),
      ]),
    );
    return name;
  }

  floats(dims: readonly number[], data: readonly number[] | Float32Array, name?: string): string {
    return this.constant({ type: 'float', dims, data: Float32Array.from(data) }, name);
  }

  integers(dims: readonly number[], data: readonly number[]): string {
    return this.constant({ type: 'int64', dims, data: BigInt64Array.from(data, BigInt) });
  }

  /** Adds an operation with one output; returns the output's name. */
  node(
    operation: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
    output = this.#name(operation),
  ): string {
    this.#add(operation, inputs, [output], attributes);
    return output;
  }

  /** Adds DynamicQuantizeLinear; returns the names of what it gives. */
  quantised(input: string): { bytes: string; step: string; zero: string } {
    const outputs = {
      bytes: this.#name('bytes'),
      step: this.#name('step'),
      zero: this.#name('zero'),
    };
    this.#add('DynamicQuantizeLinear', [input], Object.values(outputs), {});
    return outputs;
  }

  /** The whole model file. */
  finish(inputs: readonly Port[], outputs: readonly Port[]): Buffer {
    const graph = Buffer.concat([
      ...this.#nodes.map((node) => bytesField(1, node)),
      bytesField(2, Buffer.from('graph')),
      ...this.#initializers.map((tensor) => bytesField(5, tensor)),
      ...inputs.map((input) => bytesField(11, port(input))),
      ...outputs.map((output) => bytesField(12, port(output))),
    ]);
    return Buffer.concat([
      varintField(1, IR_VERSION),
      bytesField(7, graph),
      bytesField(8, Buffer.concat([bytesField(1, Buffer.alloc(0)), varintField(2, OPSET)])),
    ]);
  }

  #add(
    operation: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>>,
  ): void {
    this.#nodes.push(
      Buffer.concat([
        ...inputs.map((input) => bytesField(1, Buffer.from(input))),
        ...outputs.map((output) => bytesField(2, Buffer.from(output))),
        bytesField(3, Buffer.from(this.#name('node'))),
        bytesField(4, Buffer.from(operation)),
        ...Object.entries(attributes).map(([name, value]) => bytesField(5, attribute(name, value))),
      ]),
    );
  }

  #name(kind: string): string {
    this.#made += 1;
    return `${kind}_${this.#made}`;
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  while (left >= 0x80n) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  bytes.push(Number(left));
  return Buffer.from(bytes);
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function bytesField(field: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
}

function attribute(name: string, value: Attribute): Buffer {
  const head = bytesField(1, Buffer.from(name));
  if (typeof value === 'number')
    return Buffer.concat([head, varintField(3, value), varintField(20, ATTRIBUTE.int)]);
  if ('float' in value) {
    const float = Buffer.alloc(4);
    float.writeFloatLE(value.float);
    return Buffer.concat([head, varint((2 << 3) | 5), float, varintField(20, ATTRIBUTE.float)]);
  }
  return Buffer.concat([head, ...value.map((item) => varintField(8, item)), varintField(20, ATTRIBUTE.ints)]);
}

function port({ name, type, dims }: Port): Buffer {
  const shape = Buffer.concat(
    dims.map((dim) =>
      bytesField(1, typeof dim === 'number' ? varintField(1, dim) : bytesField(2, Buffer.from(dim))),
    ),
  );
  const tensor = Buffer.concat([varintField(1, ELEMENT[type]), bytesField(2, shape)]);
  return Buffer.concat([bytesField(1, Buffer.from(name)), bytesField(2, bytesField(1, tensor))]);
}
