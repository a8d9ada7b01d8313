import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Random } from '../faults/support/random.ts';

/** A request that no exporter sends. */
export interface BadExport {
  /** What is wrong with it. */
  readonly name: string;
  readonly path: '/v1/traces' | '/v1/logs';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const FOLDER = join(import.meta.dirname, '../fixtures/otlp');
const RECORDED = readdirSync(FOLDER)
  .filter((name) => name !== 'README.md')
  .toSorted()
  .map((name) => ({ name, bytes: readFileSync(join(FOLDER, name)) }));
const PROTOBUF = RECORDED.filter(({ name }) => name.endsWith('.pb'));
const JSON_ONES = RECORDED.filter(({ name }) => name.endsWith('.jsonl'));
const TYPES = { protobuf: 'application/x-protobuf', json: 'application/json' };
const DEPTH = 10_000;

/** Real exports with something wrong in them, and bodies that were never right. */
export function badExport(random: Random): BadExport {
  const { name, bytes, type } = random.pick(KINDS)(random);
  const packed = random.next() < 0.4 ? compressed(random, bytes) : null;
  // Some say that they are another signal, or another encoding.
  const contentType = random.next() < 0.95 ? type : random.pick(Object.values(TYPES));
  return {
    name: `${name}${packed === null ? '' : `, ${packed.name}`}`,
    path: random.pick(['/v1/traces', '/v1/logs']),
    headers: { 'content-type': contentType, ...packed?.headers },
    body: packed?.body ?? bytes,
  };
}

interface Made {
  readonly name: string;
  readonly bytes: Buffer;
  readonly type: string;
}

const KINDS: readonly ((random: Random) => Made)[] = [
  changedBytes,
  changedBytes,
  changedJson,
  changedJson,
  nestedJson,
  nestedProtobuf,
  wrongVarints,
];

/** A few times: other bytes, a piece left out, said twice, or at another place. */
function changedBytes(random: Random): Made {
  const { name, bytes: recorded } = random.pick(RECORDED);
  let bytes = Buffer.from(recorded);
  for (let times = random.between(1, 6); times > 0 && bytes.length > 1; times -= 1) {
    const at = random.between(0, bytes.length - 1);
    const end = Math.min(bytes.length, at + random.between(1, 40));
    const piece = bytes.subarray(at, end);
    const other = Buffer.from(piece.map(() => random.between(0, 255)));
    const middle = random.pick([other, Buffer.alloc(0), Buffer.concat([piece, piece]), piece.toReversed()]);
    bytes = Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(end)]);
    if (random.next() < 0.1) bytes = bytes.subarray(0, at);
  }
  return { name: `bytes of ${name}`, bytes, type: name.endsWith('.pb') ? TYPES.protobuf : TYPES.json };
}

/** Members of the wrong type, missing, or of any size. */
function changedJson(random: Random): Made {
  const { name, bytes } = random.pick(JSON_ONES);
  const value = JSON.parse(bytes.toString().split('\n', 1)[0] ?? '') as object;
  for (let times = random.between(1, 8); times > 0; times -= 1) {
    const [holder, key] = memberOf(random, value);
    if (random.next() < 0.2) Reflect.deleteProperty(holder, key);
    else Reflect.set(holder, key, random.pick(WRONG)(random));
  }
  return { name: `members of ${name}`, bytes: Buffer.from(JSON.stringify(value)), type: TYPES.json };
}

const WRONG: readonly ((random: Random) => unknown)[] = [
  () => null,
  () => [],
  () => ({}),
  () => [[[null]], 5],
  () => '',
  () => '\ud800 \u0000',
  () => -1,
  () => 1e308,
  () => '99999999999999999999999999',
  () => true,
  () => ({ stringValue: 5, intValue: '1e999', arrayValue: { values: 'x' } }),
  () => ({ kvlistValue: { values: [{ key: 5 }, null, { key: '__proto__', value: { stringValue: 'x' } }] } }),
  () => ({ stringValue: '['.repeat(DEPTH) }),
  () => ({ stringValue: `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}` }),
  () => ({ stringValue: `${'{"content":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}` }),
  (random) => ({ stringValue: JSON.stringify(randomMessages(random)) }),
  (random) => ({ key: random.pick(KEYS), value: { stringValue: JSON.stringify(randomMessages(random)) } }),
];
const KEYS = [
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'llm.input_messages.99999999999.message.content',
  'llm.input_messages.0.message.contents.0.message_content.text',
  'gen_ai.prompt.-1.content',
  'traceloop.entity.input',
  'ai.prompt.messages',
  'metadata',
  'gen_ai.usage.input_tokens',
  'langfuse.observation.usage_details',
];

/** Messages that are hardly any. */
function randomMessages(random: Random): unknown {
  const part = (): unknown =>
    random.pick([null, 5, 'words', { type: 'text', content: { text: [] } }, { type: {} }, { parts: [[[]]] }]);
  const content = random.pick([part(), [part(), part()], { parts: part() }]);
  return [
    { role: random.pick(['user', 'assistant', 'tool', 5, null, {}]), content, parts: [part()] },
    part(),
  ];
}

function memberOf(random: Random, value: object): readonly [object, string] {
  let holder = value;
  for (;;) {
    const keys = Object.keys(holder);
    const key = keys.length === 0 ? 'value' : random.pick(keys);
    const inner: unknown = Reflect.get(holder, key);
    if (typeof inner !== 'object' || inner === null || random.next() < 0.15) return [holder, key];
    holder = inner;
  }
}

function nestedJson(random: Random): Made {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"resourceSpans":', '}'],
    ['{"arrayValue":{"values":[', ']}}'],
    ['{"kvlistValue":{"values":[{"key":"a","value":', '}]}}'],
  ] as const);
  const nested = `${open.repeat(DEPTH)}{}${random.next() < 0.7 ? close.repeat(DEPTH) : ''}`;
  const attribute = `{"key":"gen_ai.input.messages","value":${nested}}`;
  const span = `{"traceId":"${'a'.repeat(32)}","spanId":"${'b'.repeat(16)}","attributes":[${attribute}]}`;
  const text = random.pick([nested, `{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`]);
  return { name: 'nested JSON', bytes: Buffer.from(text), type: TYPES.json };
}

/** Messages in messages, as lists or maps of values are. */
function nestedProtobuf(random: Random): Made {
  const tags = random.pick([[0x0a], [0x2a, 0x0a], [0x32, 0x0a, 0x12], [0x4a, 0x12, 0x2a]]);
  const parts: Buffer[] = [];
  let length = 0;
  for (let depth = 0; depth < DEPTH; depth += 1) {
    const head = Buffer.from([tags[depth % tags.length] ?? 0x0a, ...varint(length)]);
    parts.push(head);
    length += head.length;
  }
  return { name: 'nested protobuf', bytes: Buffer.concat(parts.toReversed()), type: TYPES.protobuf };
}

/** Numbers that do not end, lengths beyond everything, and kinds of fields that nobody writes. */
function wrongVarints(random: Random): Made {
  const { bytes } = random.pick(PROTOBUF);
  const at = random.between(0, bytes.length);
  const wrong = random.pick([
    Buffer.alloc(random.between(1, 20), 0xff),
    Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
    Buffer.from([random.pick([0x0b, 0x0c, 0x0e, 0x0f, 0x00, 0x07])]),
    Buffer.concat([Buffer.alloc(DEPTH, 0x0b), Buffer.alloc(DEPTH, 0x0c)]),
  ]);
  const body = Buffer.concat([bytes.subarray(0, at), wrong, bytes.subarray(at)]);
  return { name: 'varints', bytes: body, type: TYPES.protobuf };
}

function varint(value: number): number[] {
  const digits: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) digits.push((rest % 128) | 128);
  return [...digits, rest];
}

function compressed(
  random: Random,
  bytes: Buffer,
): { readonly name: string; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer } {
  const [encoding, compress] = random.pick([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const);
  const whole = compress(bytes);
  const broken = Buffer.from(whole);
  broken[random.between(0, broken.length - 1)] = random.between(0, 255);
  const { name, body } = random.pick([
    { name: 'whole', body: whole },
    { name: 'truncated', body: whole.subarray(0, random.between(0, whole.length - 1)) },
    { name: 'broken', body: broken },
    { name: 'not compressed', body: bytes },
    { name: 'with more behind it', body: Buffer.concat([whole, Buffer.from('more')]) },
    { name: 'compressed twice', body: gzipSync(whole) },
  ]);
  const named = random.next() < 0.9 ? encoding : random.pick(['deflate', 'identity', 'gzip, gzip', 'x']);
  return { name: `${encoding} ${name}`, headers: { 'content-encoding': named }, body };
}
