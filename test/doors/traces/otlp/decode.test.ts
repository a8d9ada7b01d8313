import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { AppError } from '../../../../src/errors.ts';
import { decodeLogs, decodeTraces, type Encoding } from '../../../../src/doors/traces/otlp/decode.ts';
import { readLogs, readTraces } from '../../../../src/doors/traces/otlp/read.ts';
import {
  jsonTraces,
  otlpSpan,
  protobufTraces,
  type OtlpAttributes,
  type OtlpValue,
} from '../../../support/otlp-exports.ts';

const all = (): boolean => true;
const traces = (bytes: Uint8Array, encoding: Encoding): ReturnType<typeof decodeTraces> =>
  decodeTraces(bytes, encoding, all);
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const withSpans = (...spans: unknown[]): Buffer =>
  json({ resourceSpans: [{ scopeSpans: [{ spans: [] }, { spans }] }] });

const GOOD = {
  traceId: '5b8efff798038103d269b633813fc60c',
  spanId: 'eee19b7ec3c1b174',
  startTimeUnixNano: '5000',
};

function refusal(read: () => unknown): { code: string; message: string } {
  try {
    read();
  } catch (error) {
    ok(error instanceof AppError, String(error));
    return { code: error.code, message: error.message };
  }
  throw new Error('it is not refused');
}

describe('decodeTraces', () => {
  it('reads protobuf and JSON of an export alike', () => {
    const spans = [
      otlpSpan({
        parentSpanId: '00000000000000aa',
        attributes: {
          text: 'Grüße, 你好 🙂',
          int: -5n,
          large: 9_007_199_254_740_991n,
          double: 0.25,
          yes: true,
          none: null,
          bytes: new Uint8Array([1, 2]),
          list: ['a', 1n, ['b']],
          map: { a: { b: 'c' }, ['__proto__']: 'own' },
        },
        events: [{ name: 'gen_ai.user.message', attributes: { content: 'Hello?' } }],
      }),
      otlpSpan({ spanId: '00000000000000aa' }),
    ];
    const resource = { 'service.name': 'shop' };
    const decoded = traces(jsonTraces(spans, resource), 'json');
    deepEqual(traces(protobufTraces(spans, resource), 'protobuf'), decoded);
    const [first] = decoded.items;
    deepEqual(
      { ...first, attributes: Object.fromEntries(first?.attributes ?? []) },
      {
        traceId: '5b8efff798038103d269b633813fc60c',
        spanId: 'eee19b7ec3c1b174',
        parentSpanId: '00000000000000aa',
        name: 'a span',
        startedAt: 1_772_357_400_123_456,
        endedAt: 1_772_357_401_000_000,
        attributes: {
          text: 'Grüße, 你好 🙂',
          int: -5,
          large: 9_007_199_254_740_991,
          double: 0.25,
          yes: true,
          none: null,
          bytes: null,
          list: ['a', 1, ['b']],
          map: { a: { b: 'c' }, ['__proto__']: 'own' },
        },
        events: [{ name: 'gen_ai.user.message', attributes: new Map([['content', 'Hello?']]) }],
        resource: new Map([['service.name', 'shop']]),
      },
    );
    equal(({} as Record<string, unknown>)['own'], undefined);
  });

  it('reads only the attributes that are wanted', () => {
    const bytes = protobufTraces([otlpSpan({ attributes: { a: 'x', b: 'y' } })], { a: 'z', c: 'z' });
    const [span] = decodeTraces(bytes, 'protobuf', (key) => key === 'a').items;
    deepEqual([span?.attributes, span?.resource], [new Map([['a', 'x']]), new Map([['a', 'z']])]);
  });

  it('reads what OTLP/JSON allows: numbers as texts, upper-case ids, missing and null members', () => {
    const { items, rejected } = traces(
      withSpans({
        traceId: '5B8EFFF798038103D269B633813FC60C',
        spanId: 'EEE19B7EC3C1B174',
        parentSpanId: '',
        startTimeUnixNano: 1_772_357_400_000_000_000,
        endTimeUnixNano: null,
        attributes: [
          { key: 'int', value: { intValue: '7' } },
          { key: 'other', value: { intValue: 8 } },
          { key: 'unknown', value: { valueOfTomorrow: 1 } },
          { key: 'empty', value: { arrayValue: {} } },
        ],
        events: null,
        memberOfTomorrow: { a: 1 },
      }),
      'json',
    );
    deepEqual(rejected, []);
    deepEqual(items, [
      {
        traceId: '5b8efff798038103d269b633813fc60c',
        spanId: 'eee19b7ec3c1b174',
        name: '',
        startedAt: 1_772_357_400_000_000,
        endedAt: 1_772_357_400_000_000,
        attributes: new Map<string, unknown>([
          ['int', 7],
          ['other', 8],
          ['unknown', null],
          ['empty', []],
        ]),
        events: [],
        resource: new Map(),
      },
    ]);
  });

  it('reads an empty request', () => {
    const nothing = { items: [], count: 0, rejected: [] };
    deepEqual(traces(new Uint8Array(), 'protobuf'), nothing);
    deepEqual(traces(json({}), 'json'), nothing);
    deepEqual(traces(json({ resourceSpans: null }), 'json'), nothing);
  });

  it('rejects spans alone, and says where they are and why', () => {
    const { items, count, rejected } = traces(
      withSpans(
        GOOD,
        { ...GOOD, traceId: 'W47/95gDgQPSabYzgTz GDA==' },
        { ...GOOD, spanId: '0000000000000000' },
        { ...GOOD, startTimeUnixNano: 0 },
        { ...GOOD, startTimeUnixNano: 'yesterday' },
        { ...GOOD, attributes: { a: 1 } },
        { ...GOOD, attributes: [1] },
        { ...GOOD, events: 'none' },
        'a span',
        GOOD,
      ),
      'json',
    );
    deepEqual([items.length, count], [2, 10]);
    const place = 'resourceSpans.0.scopeSpans.1.spans';
    deepEqual(rejected, [
      { place: `${place}.1`, reason: 'traceId must have 32 hex digits' },
      { place: `${place}.2`, reason: 'has no spanId' },
      { place: `${place}.3`, reason: 'has no startTimeUnixNano' },
      { place: `${place}.4`, reason: 'startTimeUnixNano must be nanoseconds since 1970' },
      { place: `${place}.5`, reason: 'attributes must be a list' },
      { place: `${place}.6`, reason: 'attributes must be a list of objects' },
      { place: `${place}.7`, reason: 'events must be a list' },
      { place: `${place}.8`, reason: 'is not an object' },
    ]);
  });

  it('refuses a request that is none, and names the place', () => {
    deepEqual(
      refusal(() => traces(Buffer.from('{'), 'json')),
      {
        code: 'BAD_REQUEST',
        message: 'The body is not an ExportTraceServiceRequest: it is not valid JSON.',
      },
    );
    deepEqual(refusal(() => traces(json([]), 'json')).code, 'VALIDATION_ERROR');
    deepEqual(
      refusal(() => traces(json({ resourceSpans: [{ scopeSpans: [{}, { spans: {} }] }] }), 'json')),
      {
        code: 'VALIDATION_ERROR',
        message: 'resourceSpans.0.scopeSpans.1.spans must be a list.',
      },
    );
    deepEqual(
      refusal(() => traces(json({ resourceSpans: [1] }), 'json')).message,
      'resourceSpans.0 must be an object.',
    );
    deepEqual(refusal(() => traces(Buffer.from('{"resourceSpans":[]}'), 'protobuf')).code, 'BAD_REQUEST');
    deepEqual(refusal(() => decodeLogs(Buffer.from([0x0a, 0xff]), 'protobuf', all, all)).code, 'BAD_REQUEST');
  });

  it('refuses more spans than a request may have, however small they are', () => {
    const spans = Buffer.alloc(2 * 100_001);
    for (let at = 0; at < spans.length; at += 2) spans.writeUInt16BE(0x1200, at);
    const writer = new BinaryWriter();
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(2, WireType.LengthDelimited).bytes(spans);
    writer.join();
    deepEqual(refusal(() => traces(writer.finish(), 'protobuf')).code, 'PAYLOAD_TOO_LARGE');
    const values = Buffer.alloc(2 * 2_000_000);
    for (let at = 0; at < values.length; at += 2) values.writeUInt16BE(0x0a00, at);
    const one = protobufTraces([otlpSpan({ attributes: { list: new Uint8Array(values) } })]);
    // Bytes and a list are written alike but for the number of the field.
    const start = Buffer.from(one.buffer, one.byteOffset).indexOf('0a000a00', 'hex');
    equal(one[start - 5], 0x3a);
    one[start - 5] = 0x2a;
    deepEqual(refusal(() => traces(one, 'protobuf')).code, 'PAYLOAD_TOO_LARGE');
  });

  it('cuts values that are nested deeper than anybody needs', () => {
    let deep: OtlpValue = 'bottom';
    for (let depth = 0; depth < 1000; depth += 1) deep = depth % 2 === 0 ? [deep] : { a: deep };
    const spans = [otlpSpan({ attributes: { deep } })];
    const [value] = traces(protobufTraces(spans), 'protobuf').items.map(({ attributes }) =>
      attributes.get('deep'),
    );
    equal(JSON.stringify(value).includes('bottom'), false);
    deepEqual(traces(jsonTraces(spans), 'json'), traces(protobufTraces(spans), 'protobuf'));
    // Deeper than any stack.
    const nested = `${'{"arrayValue":{"values":['.repeat(200_000)}{}${']}}'.repeat(200_000)}`;
    const body = withSpans({ ...GOOD, attributes: [{ key: 'a', value: 'here' }] }).toString();
    equal(traces(Buffer.from(body.replace('"here"', nested)), 'json').items.length, 1);
  });

  it('takes any two exports in a row for one', () => {
    const [a, b] = [otlpSpan(), otlpSpan({ spanId: '00000000000000aa' })];
    const both = Buffer.concat([protobufTraces([a]), protobufTraces([b])]);
    deepEqual(traces(both, 'protobuf').items, traces(protobufTraces([a, b]), 'protobuf').items);
  });
});

describe('decoders under fire', () => {
  const value: fc.Arbitrary<OtlpValue> = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.boolean(),
      // JSON has no negative zero.
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }),
      fc.constant(null),
      fc.uint8Array({ maxLength: 4 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }),
    ),
  }))['value'] as fc.Arbitrary<OtlpValue>;
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'gen_ai.input.messages',
      'gen_ai.operation.name',
      'openinference.span.kind',
      'llm.input_messages.0.message.role',
      'input.value',
      'ai.operationId',
      'ai.prompt',
      'traceloop.entity.input',
      'gen_ai.prompt.0.content',
      'metadata',
      'session.id',
    ),
  );
  const attributes: fc.Arbitrary<OtlpAttributes> = fc.dictionary(key, value, { maxKeys: 6 });

  /** What may come of any bytes: a reading, or a refusal that names the fault. */
  function answers(bytes: Uint8Array): void {
    for (const read of [readTraces, readLogs])
      for (const encoding of ['protobuf', 'json'] as const) {
        try {
          const { observations, rejected, spans } = read(bytes, encoding);
          ok(observations.length + rejected.length <= spans);
        } catch (error) {
          ok(error instanceof AppError && error.code !== 'INTERNAL_ERROR', String(error));
        }
      }
  }

  it('reads both encodings of any attributes alike', () => {
    fc.assert(
      fc.property(attributes, attributes, (own, resource) => {
        const spans = [otlpSpan({ attributes: own, events: [{ name: 'gen_ai.choice', attributes: own }] })];
        const [fromJson, fromProtobuf] = [jsonTraces(spans, resource), protobufTraces(spans, resource)];
        deepEqual(traces(fromProtobuf, 'protobuf'), traces(fromJson, 'json'));
        deepEqual(readTraces(fromProtobuf, 'protobuf'), readTraces(fromJson, 'json'));
      }),
      { numRuns: 150 },
    );
  });

  it('answers garbage', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), answers), { numRuns: 300 });
  });

  it('answers JSON of any shape, and members of the wrong type', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => answers(Buffer.from(text))),
      { numRuns: 100 },
    );
    const wrong = fc.anything({ maxDepth: 2, withNullPrototype: false });
    const span = fc.record(
      {
        traceId: wrong,
        spanId: fc.oneof(wrong, fc.constant('eee19b7ec3c1b174')),
        startTimeUnixNano: wrong,
        attributes: fc.oneof(wrong, fc.array(fc.record({ key: wrong, value: wrong }))),
        events: wrong,
        name: wrong,
        body: wrong,
      },
      { requiredKeys: [] },
    );
    const export_ = fc.record(
      {
        resource: wrong,
        scopeSpans: fc.oneof(wrong, fc.array(fc.record({ spans: fc.oneof(wrong, fc.array(span)) }))),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(wrong, fc.array(export_)), (resourceSpans) => {
        const text = JSON.stringify({ resourceSpans }, (_, inner: unknown) =>
          typeof inner === 'bigint' ? String(inner) : inner,
        );
        answers(Buffer.from(text));
      }),
      { numRuns: 150 },
    );
  });

  it('answers real exports that are cut, or in which a byte is another', () => {
    const folder = join(import.meta.dirname, '../../../fixtures/otlp');
    const files = readdirSync(folder)
      .filter((name) => name !== 'README.md')
      .map((name) => readFileSync(join(folder, name)));
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.nat(), fc.nat(255), (file, at, byte) => {
        answers(file.subarray(0, at % file.length));
        const changed = Buffer.from(file);
        changed[at % file.length] = byte;
        answers(changed);
      }),
      { numRuns: 200 },
    );
  });
});
