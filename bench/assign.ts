/** How many messages a second does assign take, with how much state, and how long does a regrouping last? */
import { action, wholeNumber, type Command } from '../src/cli/command.ts';
import { Assigner } from '../src/worker/analysis/assigner.ts';
import { DotArena } from '../src/numeric/dot-kernel.ts';
import { averageLinkage } from '../src/numeric/linkage.ts';
import { startOfRow } from '../src/numeric/lower-triangle.ts';
import { VectorTable } from '../src/numeric/vector-table.ts';
import { dotOf } from '../src/numeric/vectors.ts';
import type { Enrichment, Turn } from '../src/domain/facts.ts';
import { randomFrom } from './load/questions.ts';
import { timesFaster, type Ratios } from './load/ratios.ts';

const DIMENSIONS = 256;
const THEMES = 400;
const BATCH = 5000;
const INSTANCE_ID = '0190a000-0000-7000-8000-000000000001';

const random = randomFrom(42);
function unit(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(dotOf(vector, vector));
  return vector.map((value) => value / norm);
}
const noise = (scale: number): Float32Array =>
  Float32Array.from({ length: DIMENSIONS }, () => (random() + random() + random() - 1.5) * scale);
const themes = Array.from({ length: THEMES }, () => unit(noise(1)));
const verbs = [
  'cancel',
  'change',
  'track',
  'book',
  'refund',
  'return',
  'upgrade',
  'explain',
  'find',
  'print',
];
const things = Array.from({ length: 40 }, (_, index) => `thing${index}`);

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(44)} ${value}\n`);
}

function timed(rounds: number, work: () => void): number {
  work();
  const before = performance.now();
  for (let round = 0; round < rounds; round += 1) work();
  return (performance.now() - before) / rounds;
}
const USAGE = `Usage: npm run bench -- assign [MESSAGES]

How many messages a second can assign process, with how much state, and how long does a regrouping take?

The vectors are made up: 400 themes with noise, so that an instance has as many micro-clusters as allowed. The
alternative, in the same run: the plain JavaScript search over as many centroids. MESSAGES defaults to 200000.`;

export const command: Command = {
  usage: USAGE,
  action: action({
    operands: 1,
    read(_, [messages = '200000']) {
      const count = wholeNumber('MESSAGES', messages);
      return async () => {
        benchAssign(count);
        const { simd, plain, linkage } = searches();
        print('search over 1,000 centroids, SIMD, µs', (timed(500, simd) * 1000).toFixed(1));
        print('  the same in plain JavaScript, µs', (timed(50, plain) * 1000).toFixed(1));
        print('linkage of 1,000 micro-clusters, ms', timed(5, linkage).toFixed(1));
      };
    },
  }),
};

/** How many times faster the search with SIMD is than the plain one. */
export const ratios: Ratios = async ({ times }) => {
  const { simd, plain } = searches();
  const repeat = (count: number, work: () => void) => (): void => {
    for (let done = 0; done < count; done += 1) work();
  };
  const samples: number[] = [];
  while (samples.length < times) samples.push(await timesFaster(repeat(30, simd), repeat(30, plain)));
  return { 'search, SIMD over plain JavaScript': samples };
};

function benchAssign(messages: number): void {
  const assigner = new Assigner({
    thresholds: { micro: 0.7, topic: 0.42, cluster: 0.22, repeated: 0.55 },
    dimensions: DIMENSIONS,
    detectLanguage: () => 'en',
  });
  assigner.restoreInstance(1, INSTANCE_ID, []);
  let assignMs = 0;
  let stateMs = 0;
  let stateBytes = 0;
  let slowest = 0;
  let topics = 0;
  let micros = 0;
  for (let start = 0; start < messages; start += BATCH) {
    const turns: Turn[] = [];
    const enrichments: Enrichment[] = [];
    for (let position = start; position < Math.min(messages, start + BATCH); position += 1) {
      const session = Math.floor(position / 8);
      const user = position % 2 === 0;
      const theme = Math.floor(random() * random() * THEMES);
      const text = user
        ? `please ${verbs[theme % 10]} my ${things[theme % 40]} for order ${position % 97}`
        : `I have done that for you. Is there anything else that I can do about ${things[theme % 40]}?`;
      const base = themes[theme]!;
      const vector = user ? unit(noise(0.09).map((value, index) => value + base[index]!)) : null;
      if (!assigner.hasSession(1, session)) assigner.restoreSession(1, session, null);
      turns.push({
        position,
        instance: 1,
        instanceId: INSTANCE_ID,
        session,
        sessionId: String(session),
        role: user ? 'user' : 'assistant',
        user: session % 1000,
        content: text,
        at: position,
      });
      enrichments.push({
        kind: user ? 'request' : 'none',
        request: user ? text : '',
        vector,
        sentences: [],
        signals: [],
        gap: null,
      });
    }
    const before = performance.now();
    const result = assigner.assign(turns, enrichments);
    const between = performance.now();
    const rows = assigner.takeState();
    stateMs += performance.now() - between;
    assignMs += between - before;
    slowest = Math.max(slowest, between - before);
    for (const { value } of rows) stateBytes += value?.length ?? 0;
    for (const { micro } of result.micros) micros = Math.max(micros, micro + 1);
    for (const { topic } of result.topics) topics = Math.max(topics, topic + 1);
    assigner.evict();
  }
  print('messages, half of them requests', String(messages));
  print('assign, messages/s', String(Math.round((messages / assignMs) * 1000)));
  print('assign and takeState, messages/s', String(Math.round((messages / (assignMs + stateMs)) * 1000)));
  print(`slowest batch of ${BATCH}, ms`, slowest.toFixed(0));
  print('state written a message, bytes', (stateBytes / messages).toFixed(0));
  print('micro-clusters and topics ever', `${micros}, ${topics}`);
  print('resident memory, MB', (process.memoryUsage().rss / 2 ** 20).toFixed(0));
}

/** Both searches for a vector among as many centroids as an instance has, and the linkage of all. */
function searches(): { simd: () => void; plain: () => void; linkage: () => void } {
  const rows = 1000;
  const vectors = Array.from({ length: rows }, (_, index) =>
    unit(noise(0.09).map((value, at) => value + themes[index % THEMES]![at]!)),
  );
  const table = new VectorTable(new DotArena(DIMENSIONS));
  for (const vector of vectors) table.push(vector);
  const out = new Float32Array(rows);
  return {
    simd: () => table.cosines(vectors[0]!, out),
    plain: () => vectors.forEach((vector, index) => (out[index] = dotOf(vectors[0]!, vector))),
    linkage() {
      const totals = new Float64Array(startOfRow(rows));
      table.pairCosines(totals);
      averageLinkage(
        totals,
        vectors.map(() => 1),
        0.42,
      );
    },
  };
}
