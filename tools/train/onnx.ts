/** Writes the embedding model as an ONNX file: the few messages of onnx.proto that it needs. */

/** Element types of `TensorProto`. */
export const ELEMENT = { float: 1, int8: 3, int64: 7 } as const;

export interface OnnxTensor {
  readonly name: string;
  readonly type: (typeof ELEMENT)[keyof typeof ELEMENT];
  readonly shape: readonly number[];
  /** Little-endian, row after row. */
  readonly data: Uint8Array;
}
export interface OnnxNode {
  readonly operation: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Whole-number attributes. */
  readonly attributes?: Readonly<Record<string, number>>;
}
/** An input or output of the graph; a dimension is a length or the name of an open one. */
export interface OnnxValue {
  readonly name: string;
  readonly type: (typeof ELEMENT)[keyof typeof ELEMENT];
  readonly shape: readonly (number | string)[];
}
export interface OnnxGraph {
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly OnnxTensor[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
}

const IR_VERSION = 8;
const OPERATOR_SET = 17;
const ATTRIBUTE_INT = 2;

/** A serialised `ModelProto` (field numbers of onnx.proto3). */
export function encodeModel(graph: OnnxGraph): Uint8Array {
  return Buffer.concat([
    integer(1, IR_VERSION),
    string(2, 'undertone'),
    message(7, graphProto(graph)),
    message(8, [string(1, ''), integer(2, OPERATOR_SET)]),
  ]);
}

function graphProto({ name, nodes, initializers, inputs, outputs }: OnnxGraph): Uint8Array[] {
  return [
    ...nodes.map((node) =>
      message(1, [
        ...node.inputs.map((input) => string(1, input)),
        ...node.outputs.map((output) => string(2, output)),
        string(4, node.operation),
        ...Object.entries(node.attributes ?? {}).map(([attribute, value]) =>
          message(5, [string(1, attribute), integer(3, value), integer(20, ATTRIBUTE_INT)]),
        ),
      ]),
    ),
    string(2, name),
    ...initializers.map((tensor) =>
      message(5, [
        ...tensor.shape.map((length) => integer(1, length)),
        integer(2, tensor.type),
        string(8, tensor.name),
        bytes(9, tensor.data),
      ]),
    ),
    ...inputs.map((input) => message(11, valueInfo(input))),
    ...outputs.map((output) => message(12, valueInfo(output))),
  ];
}

function valueInfo({ name, type, shape }: OnnxValue): Uint8Array[] {
  const dimensions = shape.map((length) =>
    message(1, [typeof length === 'number' ? integer(1, length) : string(2, length)]),
  );
  const tensorType = message(1, [integer(1, type), message(2, dimensions)]);
  return [string(1, name), message(2, [tensorType])];
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    out.push(rest === 0n ? byte : byte | 0x80);
  } while (rest !== 0n);
  return Buffer.from(out);
}
function integer(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}
function bytes(field: number, data: Uint8Array): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);
}
function string(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value, 'utf8'));
}
function message(field: number, parts: readonly Uint8Array[]): Buffer {
  return bytes(field, Buffer.concat(parts));
}
