/** What does it cost to read an export of spans? */
import { isRead } from '../../src/doors/traces/conventions/registry.ts';
import { decodeTraces } from '../../src/doors/traces/otlp/decode.ts';
import { readTraces } from '../../src/doors/traces/otlp/read.ts';
import { jsonTraces, otlpSpan, protobufTraces, type OtlpSpan } from '../../test/support/otlp-exports.ts';
import { benchmark } from './load/benchmark.ts';
import { processorMs, timesFaster, type Ratios } from './load/ratios.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- otlp [OPTIONS]

What does it cost to read an export of spans? Reads requests as exporters send them: traces of four spans (the request
of a web application, an agent, a call of a model with the whole history, a tool), in both encodings. Prints
microseconds of the processor for each span, of decoding alone and with the messages, and beside them what JSON.parse
takes for the same content.

  --spans N      spans in a request (default: 512)
  --messages N   messages of history in a call of a model (default: 10)
  --rounds N     requests to read (default: 40)`;

const TEXT = 'I ordered a lamp last week, and it has not arrived. Can you tell me where it is, please? ';

export const ratios: Ratios = async ({ times }) => {
  const { protobuf, json } = exportsOf(512, 10);
  const samples: number[] = [];
  while (samples.length < times)
    samples.push(
      await timesFaster(
        () => readTraces(protobuf, 'protobuf'),
        () => JSON.parse(json.toString()) as unknown,
      ),
    );
  return { 'messages from protobuf over JSON.parse of the same export': samples };
};

export const command = benchmark(USAGE, { spans: 512, messages: 10, rounds: 40 }, async (options) => {
  const { spans, messages, rounds } = options;
  const { protobuf, json } = exportsOf(spans, messages);
  const cost = (work: () => unknown): number => (costOf(work, rounds) * 1000) / spans;
  const parsed = cost(() => JSON.parse(json.toString()) as unknown);
  const rows = (
    [
      ['protobuf', protobuf],
      ['json', json],
    ] as const
  ).map(([encoding, bytes]) => {
    const read = cost(() => readTraces(bytes, encoding));
    const decoded = cost(() => decodeTraces(bytes, encoding, isRead));
    const figures = [decoded, read, parsed].map((micros) => micros.toFixed(1));
    return [encoding, ...figures, (parsed / read).toFixed(2), String(Math.round(bytes.length / spans))];
  });
  const heading = ['µs per span', 'decoded', 'with messages', 'JSON.parse', 'ratio', 'bytes per span'];
  console.log(table(heading, rows));
});

/** Milliseconds of the processor for one. */
function costOf(work: () => unknown, times: number): number {
  for (let round = 0; round < times / 4; round += 1) work();
  const before = processorMs();
  for (let round = 0; round < times; round += 1) work();
  return (processorMs() - before) / times;
}

function exportsOf(count: number, messages: number): { protobuf: Uint8Array; json: Buffer } {
  const spans = Array.from({ length: count }, (_, index) => spanAt(index, messages));
  return { protobuf: protobufTraces(spans), json: jsonTraces(spans, { 'service.name': 'shop' }) };
}

function spanAt(index: number, messages: number): OtlpSpan {
  const [trace, place] = [Math.floor(index / 4), index % 4];
  const idOf = (number: number, length: number): string => (number + 1).toString(16).padStart(length, '0');
  const parent = place === 0 ? {} : { parentSpanId: idOf(trace * 4 + Math.min(place - 1, 1), 16) };
  return otlpSpan({
    traceId: idOf(trace, 32),
    spanId: idOf(index, 16),
    ...parent,
    attributes: [WEB, AGENT, modelCall(messages), TOOL][place] ?? {},
  });
}

const WEB = {
  'http.request.method': 'POST',
  'http.route': '/chat',
  'url.full': 'https://shop.example.org/chat',
  'http.response.status_code': 200n,
  'session.id': 'order 17',
  'user.id': 'anna',
};
const messageOf = (role: string, content: string): object => ({ role, parts: [{ type: 'text', content }] });
const AGENT = {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'shop',
  'gen_ai.input.messages': JSON.stringify([messageOf('user', TEXT)]),
  'gen_ai.output.messages': JSON.stringify([messageOf('assistant', TEXT)]),
};
const TOOL = {
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': 'find_parcel',
  'gen_ai.tool.call.arguments': '{"order":17}',
  'gen_ai.tool.call.result': JSON.stringify({ parcel: 'x'.repeat(400) }),
};

function modelCall(messages: number): Readonly<Record<string, string | bigint | number>> {
  const history = Array.from({ length: messages }, (_, at) =>
    messageOf(at % 2 === 0 ? 'user' : 'assistant', TEXT.repeat(1 + (at % 3))),
  );
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'small',
    'gen_ai.request.temperature': 0.2,
    'gen_ai.usage.input_tokens': 812n,
    'gen_ai.usage.output_tokens': 64n,
    'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: TEXT.repeat(10) }]),
    'gen_ai.tool.definitions': JSON.stringify([{ name: 'find_parcel', description: TEXT.repeat(5) }]),
    'gen_ai.input.messages': JSON.stringify(history),
    'gen_ai.output.messages': JSON.stringify([messageOf('assistant', TEXT)]),
  };
}
