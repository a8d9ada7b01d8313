/** Attacks over OTLP. */
import { randomFillSync } from 'node:crypto';
import { constants, zstdCompressSync } from 'node:zlib';
import { field, fixed64, spanIdOf, traceIdOf, varintAt } from '../../../../test/support/otlp.ts';
import { isRefusal, randomWord, type Attack, type Attacker } from './attacker.ts';
import type { ConnectionPool } from '../http-load.ts';
import type { Account } from './ledger.ts';

const HEADERS = { 'content-type': 'application/x-protobuf', 'content-encoding': 'zstd' };
const MINUTE_MS = 60_000;

const zipped = (bytes: Buffer): Buffer =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 3 } });

const attribute = (key: string, text: string): Buffer =>
  field(9, Buffer.concat([field(1, Buffer.from(key)), field(2, field(1, Buffer.from(text)))]));

const exportOf = (spans: readonly Buffer[]): Buffer => zipped(field(1, field(2, Buffer.concat(spans))));

interface Ids {
  readonly trace: Buffer;
  readonly span: Buffer;
  readonly parent?: Buffer;
}

/** A call of a model, with its times in nanoseconds since 1970. */
function callSpan({ trace, span, parent }: Ids, from: bigint, to: bigint, attributes: Buffer): Buffer {
  const ids = [field(1, trace), field(2, span), ...(parent === undefined ? [] : [field(4, parent)])];
  const times = [fixed64(7, from), fixed64(8, to)];
  return field(2, Buffer.concat([...ids, field(5, Buffer.from('chat')), ...times, attributes]));
}

const startOfSpans = (): bigint => BigInt(Date.now() - MINUTE_MS) * 1_000_000n;

interface Answers {
  readonly spans: number;
  readonly answers: number;
  /** Each span is a trace of its own. */
  readonly areTraces?: boolean;
}

/**
 * Spans of one conversation, and of one trace unless each is one, that begin at the same time, the later ones ending
 * earlier, each with a question and thousands of answers of one character: a few kilobytes become many megabytes.
 */
export function answersExport({ spans, answers, areTraces = false }: Answers): Buffer {
  const name = randomWord();
  const startedAt = startOfSpans();
  const answersText = `[${Array.from({ length: answers }, () => '{"role":"assistant","content":"k"}').join(',')}]`;
  const attributes = Buffer.concat([
    attribute('gen_ai.operation.name', 'chat'),
    attribute('gen_ai.conversation.id', name),
    attribute('gen_ai.input.messages', '[{"role":"user","content":"k"}]'),
    attribute('gen_ai.output.messages', answersText),
  ]);
  return exportOf(
    Array.from({ length: spans }, (_, number) => {
      const trace = Buffer.from(traceIdOf(areTraces ? `${name} ${number}` : name), 'hex');
      const ids = { trace, span: Buffer.from(spanIdOf(`${name} ${number}`), 'hex') };
      return callSpan(ids, startedAt, startedAt + 1_000_000_000n - BigInt(number) * 1000n, attributes);
    }),
  );
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** Spans that are each a trace of their own, whose parent never comes. Each holds a question and an answer. */
export function halfTracesExport(spans: number): Buffer {
  const startedAt = startOfSpans();
  const bytes = Buffer.alloc(TRACE_ID_BYTES + 2 * SPAN_ID_BYTES);
  const ids = {
    trace: bytes.subarray(0, TRACE_ID_BYTES),
    span: bytes.subarray(TRACE_ID_BYTES, TRACE_ID_BYTES + SPAN_ID_BYTES),
    parent: bytes.subarray(TRACE_ID_BYTES + SPAN_ID_BYTES),
  };
  return exportOf(
    Array.from({ length: spans }, () => {
      randomFillSync(bytes);
      return callSpan(ids, startedAt, startedAt + 1_000_000n, HALF_ATTRIBUTES);
    }),
  );
}

const HALF_ATTRIBUTES = Buffer.concat([
  attribute('gen_ai.operation.name', 'chat'),
  attribute('gen_ai.input.messages', '[{"role":"user","content":"a"}]'),
  attribute('gen_ai.output.messages', '[{"role":"assistant","content":"b"}]'),
]);

/** Of an ExportTraceServiceResponse: partial_success.rejected_spans. */
export function rejectedSpans(answer: Buffer): number {
  let at = 0;
  const next = (): number => {
    const { value, end } = varintAt(answer, at);
    at = end;
    return value;
  };
  if (answer.length === 0 || next() !== ((1 << 3) | 2)) return 0;
  const end = next() + at;
  return at < end && next() === 1 << 3 ? next() : 0;
}

interface Exported {
  readonly account: Account;
  readonly spans: number;
  readonly perSpan: number;
  /** So many messages of it may count (TRACE_MESSAGES, TRACE_EXPORT_MESSAGES); null: each span counts as a whole. */
  readonly most: number | null;
}

/** Sends an export; the messages of its spans are in the ledger. */
async function exported(
  attacker: Attacker,
  pool: ConnectionPool,
  body: Buffer,
  { account, spans, perSpan, most }: Exported,
): Promise<void> {
  const { instanceId, key } = account;
  const headers = { ...HEADERS, 'x-instance-id': instanceId };
  const answer = await attacker.send(pool, { path: '/v1/traces', body, headers, key });
  if (isRefusal(answer)) return;
  const stored = answer?.status === 200 ? spans - rejectedSpans(answer.bytes) : 0;
  const left = answer?.status === 200 ? 0 : spans;
  if (most === null) attacker.ledger.accepted(account, stored * perSpan);
  else attacker.ledger.unknown(account, Math.min(most, stored * perSpan));
  attacker.ledger.unknown(account, Math.min(most ?? Infinity, left * perSpan));
}

const MOST_OF_TRACE = 10_000;
const MOST_OF_EXPORT = 100_000;

/** What is sent at once, and of each body how many of its messages may count. */
interface Exports {
  readonly spans: number;
  readonly perSpan: number;
  readonly bodies: readonly { readonly make: () => Buffer; readonly most: number | null }[];
}

/** The first bodies are made before the attack, later ones with new ids. */
function exporting(exportsFor: (attacker: Attacker) => Exports): Attack['prepare'] {
  return async (attacker) => {
    const { bodies, ...of } = exportsFor(attacker);
    const pool = attacker.pool(bodies.length);
    const account = await attacker.newInstance(pool);
    const made = (): { body: Buffer; most: number | null }[] =>
      bodies.map(({ make, most }) => ({ body: make(), most }));
    let next: ReturnType<typeof made> | null = made();
    return async () => {
      const sent = next ?? made();
      next = null;
      await Promise.all(
        sent.map(({ body, most }) => exported(attacker, pool, body, { account, ...of, most })),
      );
    };
  };
}

/** Exports of one trace or of traces each: which of the answers are messages is for the service to say. */
function answering(whole: Answers, areTraces: readonly boolean[]): Attack['prepare'] {
  return exporting((attacker) => {
    const { spans, answers } = attacker.size === 'small' ? { spans: 3, answers: 20 } : whole;
    const bodies = areTraces.map((are) => ({
      make: () => answersExport({ spans, answers, areTraces: are }),
      most: are ? MOST_OF_EXPORT : MOST_OF_TRACE,
    }));
    return { spans, perSpan: answers + 1, bodies };
  });
}

const halfTraces = exporting((attacker) => {
  const spans = attacker.sized(90_000, 3000, 20);
  const half = { make: () => halfTracesExport(spans), most: null };
  return { spans, perSpan: 2, bodies: [half, half] };
});

export const SPAN_ATTACKS: readonly Attack[] = [
  {
    name: 'trace-answers',
    what: '3 exports of 4 KB at once, each 80 spans of one conversation with 9,000 one-character answers',
    everyMs: 60_000,
    prepare: answering({ spans: 80, answers: 9000 }, [false, false, false]),
  },
  {
    name: 'equal-spans',
    what: '45 equal spans of 9,000 answers as one trace, and again as a trace each: more than may count',
    everyMs: 60_000,
    prepare: answering({ spans: 45, answers: 9000 }, [false, true]),
  },
  {
    name: 'half-traces',
    what: '2 exports of 90,000 spans at once, each span a trace whose parent never comes',
    everyMs: 300_000,
    salvos: 2,
    // A trace waits 30 s for its rest.
    lasts: { alone: 90, among: 35 },
    prepare: halfTraces,
  },
];
