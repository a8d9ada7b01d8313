import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** A message as `gen_ai.input.messages` has it. */
export interface SpanMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
}

/** A span, by what matters in it. */
export interface SpanDraft {
  /** Ids are made from names. */
  readonly trace: string;
  readonly span: string;
  readonly parent?: string;
  readonly operation?: 'chat' | 'invoke_agent';
  /** Milliseconds since 1970-01-01 UTC. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly conversationId?: string;
  readonly userId?: string;
  readonly instanceId?: string;
  readonly asked?: readonly SpanMessage[];
  readonly answered?: readonly SpanMessage[];
  /** Attributes with texts as values. */
  readonly more?: Readonly<Record<string, string>>;
}

export const traceIdOf = (name: string): string =>
  createHash('sha256').update(name).digest('hex').slice(0, 32);
export const spanIdOf = (name: string): string =>
  createHash('sha256').update(name).digest('hex').slice(0, 16);

function attributesOf(draft: SpanDraft): [string, string][] {
  const { operation, conversationId, userId, instanceId, asked, answered, more = {} } = draft;
  const messages = (list: readonly SpanMessage[]): string =>
    JSON.stringify(list.map(({ role, content }) => ({ role, parts: [{ type: 'text', content }] })));
  return [
    ...(operation === undefined ? [] : [['gen_ai.operation.name', operation] as [string, string]]),
    ...(conversationId === undefined ? [] : [['gen_ai.conversation.id', conversationId] as [string, string]]),
    ...(userId === undefined ? [] : [['user.id', userId] as [string, string]]),
    ...(instanceId === undefined ? [] : [['undertone.instance.id', instanceId] as [string, string]]),
    ...(asked === undefined ? [] : [['gen_ai.input.messages', messages(asked)] as [string, string]]),
    ...(answered === undefined ? [] : [['gen_ai.output.messages', messages(answered)] as [string, string]]),
    ...Object.entries(more),
  ];
}

/** An ExportTraceServiceRequest as JSON. */
export function exportJson(drafts: readonly SpanDraft[]): object {
  const spans = drafts.map((draft) => ({
    traceId: traceIdOf(draft.trace),
    spanId: spanIdOf(draft.span),
    ...(draft.parent === undefined ? {} : { parentSpanId: spanIdOf(draft.parent) }),
    name: draft.operation ?? 'work',
    kind: 3,
    startTimeUnixNano: `${draft.startedAt}000000`,
    endTimeUnixNano: `${draft.endedAt}000000`,
    attributes: attributesOf(draft).map(([key, stringValue]) => ({ key, value: { stringValue } })),
  }));
  return {
    resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: 'test' }, spans }] }],
  };
}

/** The same in protobuf (opentelemetry/proto/trace/v1/trace.proto). */
export function exportProtobuf(drafts: readonly SpanDraft[]): Buffer {
  const spans = drafts.map((draft) =>
    field(
      2,
      Buffer.concat([
        field(1, Buffer.from(traceIdOf(draft.trace), 'hex')),
        field(2, Buffer.from(spanIdOf(draft.span), 'hex')),
        ...(draft.parent === undefined ? [] : [field(4, Buffer.from(spanIdOf(draft.parent), 'hex'))]),
        field(5, Buffer.from(draft.operation ?? 'work')),
        fixed64(7, BigInt(draft.startedAt) * 1_000_000n),
        fixed64(8, BigInt(draft.endedAt) * 1_000_000n),
        ...attributesOf(draft).map(([key, value]) =>
          field(9, Buffer.concat([field(1, Buffer.from(key)), field(2, field(1, Buffer.from(value)))])),
        ),
      ]),
    ),
  );
  return field(1, field(2, Buffer.concat(spans)));
}

/** What an exporter posts: protobuf with gzip. */
export function exportRequest(drafts: readonly SpanDraft[]): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
    body: new Uint8Array(gzipSync(exportProtobuf(drafts), { level: 1 })),
  };
}

/** A field of protobuf that has a length: bytes, a text or a message. */
export function field(number: number, value: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(value.length), value]);
}

/** A field of protobuf of 64 bits. */
export function fixed64(number: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint((number << 3) | 1), bytes]);
}

function varint(value: number): Buffer {
  const digits: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...digits, rest]);
    digits.push((rest % 128) | 128);
  }
}

/** The varint of protobuf at an offset, and where it ends. */
export function varintAt(
  bytes: Uint8Array,
  offset: number,
): { readonly value: number; readonly end: number } {
  let [value, end] = [0, offset];
  for (let scale = 1; ; scale *= 128) {
    const digit = bytes[end] ?? 0;
    end += 1;
    value += (digit % 128) * scale;
    if (digit < 128) return { value, end };
  }
}
