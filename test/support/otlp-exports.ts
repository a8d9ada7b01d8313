/** Exports as exporters write them, in both encodings. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** A value of an attribute; bigint is an int64, Uint8Array bytes. */
export type OtlpValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | readonly OtlpValue[]
  | { readonly [key: string]: OtlpValue };

export type OtlpAttributes = Readonly<Record<string, OtlpValue>>;

export interface OtlpSpan {
  /** Hex digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  /** Nanoseconds. */
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly attributes?: OtlpAttributes;
  readonly events?: readonly { readonly name: string; readonly attributes: OtlpAttributes }[];
}

export function otlpSpan(more: Partial<OtlpSpan> = {}): OtlpSpan {
  return {
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: 'eee19b7ec3c1b174',
    name: 'a span',
    startedAt: 1_772_357_400_123_456_789n,
    endedAt: 1_772_357_401_000_000_000n,
    ...more,
  };
}

export function jsonTraces(spans: readonly OtlpSpan[], resource: OtlpAttributes = {}): Buffer {
  return Buffer.from(
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: jsonAttributes(resource), droppedAttributesCount: 0 },
          scopeSpans: [{ scope: { name: 'a library' }, spans: spans.map(jsonSpan) }],
        },
      ],
    }),
  );
}

function jsonSpan({ attributes = {}, events = [], startedAt, endedAt, ...rest }: OtlpSpan): object {
  return {
    ...rest,
    kind: 3,
    startTimeUnixNano: String(startedAt),
    endTimeUnixNano: String(endedAt),
    attributes: jsonAttributes(attributes),
    events: events.map((event) => ({ name: event.name, attributes: jsonAttributes(event.attributes) })),
    status: { code: 1 },
  };
}

function jsonAttributes(attributes: OtlpAttributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: jsonValue(value) }));
}

export function jsonValue(value: OtlpValue): object {
  if (value === null) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: String(value) };
  if (typeof value === 'number') return { doubleValue: value };
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') };
  if (isList(value)) return { arrayValue: { values: value.map(jsonValue) } };
  return { kvlistValue: { values: jsonAttributes(value) } };
}

export function protobufTraces(spans: readonly OtlpSpan[], resource: OtlpAttributes = {}): Uint8Array {
  const writer = new BinaryWriter();
  message(writer, 1, () => {
    message(writer, 1, () => {
      protobufAttributes(writer, 1, resource);
      writer.tag(2, WireType.Varint).uint32(0);
    });
    message(writer, 2, () => {
      message(writer, 1, () => writer.tag(1, WireType.LengthDelimited).string('a library'));
      for (const span of spans) message(writer, 2, () => protobufSpan(writer, span));
    });
    writer.tag(3, WireType.LengthDelimited).string('https://opentelemetry.io/schemas/1.36.0');
  });
  return writer.finish();
}

function protobufSpan(writer: BinaryWriter, span: OtlpSpan): void {
  const id = (field: number, hex: string | undefined): void => {
    if (hex !== undefined) writer.tag(field, WireType.LengthDelimited).bytes(Buffer.from(hex, 'hex'));
  };
  id(1, span.traceId);
  id(2, span.spanId);
  id(4, span.parentSpanId);
  writer.tag(5, WireType.LengthDelimited).string(span.name ?? '');
  writer.tag(6, WireType.Varint).uint32(3);
  writer.tag(7, WireType.Bit64).fixed64(span.startedAt);
  writer.tag(8, WireType.Bit64).fixed64(span.endedAt);
  protobufAttributes(writer, 9, span.attributes ?? {});
  for (const { name, attributes } of span.events ?? [])
    message(writer, 11, () => {
      writer.tag(1, WireType.Bit64).fixed64(span.endedAt);
      writer.tag(2, WireType.LengthDelimited).string(name);
      protobufAttributes(writer, 3, attributes);
    });
  message(writer, 15, () => writer.tag(3, WireType.Varint).uint32(1));
  writer.tag(16, WireType.Bit32).fixed32(257);
}

function protobufAttributes(writer: BinaryWriter, field: number, attributes: OtlpAttributes): void {
  for (const [key, value] of Object.entries(attributes))
    message(writer, field, () => {
      writer.tag(1, WireType.LengthDelimited).string(key);
      message(writer, 2, () => protobufValue(writer, value));
    });
}

export function protobufValue(writer: BinaryWriter, value: OtlpValue): void {
  if (value === null) return;
  if (typeof value === 'string') writer.tag(1, WireType.LengthDelimited).string(value);
  else if (typeof value === 'boolean') writer.tag(2, WireType.Varint).bool(value);
  else if (typeof value === 'bigint') writer.tag(3, WireType.Varint).int64(value);
  else if (typeof value === 'number') writer.tag(4, WireType.Bit64).double(value);
  else if (value instanceof Uint8Array) writer.tag(7, WireType.LengthDelimited).bytes(value);
  else if (isList(value))
    message(writer, 5, () => {
      for (const member of value) message(writer, 1, () => protobufValue(writer, member));
    });
  else message(writer, 6, () => protobufAttributes(writer, 1, value));
}

function isList(value: OtlpValue): value is readonly OtlpValue[] {
  return Array.isArray(value);
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}
