/** What does it cost to read an export of spans? */
import { action, wholeNumber, type Command } from '../../src/cli/command.ts';
import { isRead } from '../../src/doors/traces/conventions/registry.ts';
import { decodeTraces } from '../../src/doors/traces/otlp/decode.ts';
import { readTraces } from '../../src/doors/traces/otlp/read.ts';
import { jsonTraces, otlpSpan, protobufTraces, type OtlpSpan } from '../../test/support/otlp-exports.ts';
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

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      spans: { type: 'string', default: '512' },
      messages: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '40' },
    },
    read({ spans, messages, rounds }) {
      const count = wholeNumber('--spans', spans);
      const length = wholeNumber('--messages', messages);
      const times = wholeNumber('--rounds', rounds);
      return () => {
        const { protobuf, json } = exportsOf(count, length);
        const of = (work: () => unknown): string => ((costOf(work, times) * 1000) / count).toFixed(1);
        console.log(
          table(
            ['µs per span', 'decoded', 'with messages', 'JSON.parse', 'bytes per span'],
            [
              [
                'protobuf',
                of(() => decodeTraces(protobuf, 'protobuf', isRead)),
                of(() => readTraces(protobuf, 'protobuf')),
                '',
                String(Math.round(protobuf.length / count)),
              ],
              [
                'JSON',
                of(() => decodeTraces(json, 'json', isRead)),
                of(() => readTraces(json, 'json')),
                of(() => JSON.parse(json.toString()) as unknown),
                String(Math.round(json.length / count)),
              ],
            ],
          ),
        );
        return Promise.resolve();
      };
    },
  }),
};

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
