/** How many messages a second does assign take, with how much state, and how long does a regrouping last? */
import { Assigner } from '../../src/reader/threads/assigner.ts';
import { DotArena } from '../../src/reader/numeric/dot-kernel.ts';
import { averageLinkage } from '../../src/reader/numeric/linkage.ts';
import { startOfRow } from '../../src/reader/numeric/lower-triangle.ts';
import { VectorTable } from '../../src/reader/numeric/vector-table.ts';
import { dotOf } from '../../src/reader/numeric/vectors.ts';
import type { Enrichment, Turn } from '../../src/domain/facts.ts';
import { benchmark } from './load/benchmark.ts';
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
const verbs = 'cancel change track book refund return upgrade explain find print'.split(' ');
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
const USAGE = `Usage: npm run bench -- assign [OPTIONS]

How many messages a second can assign process, with how much state, and how long does a regrouping take?

The vectors are made up: 400 themes with noise, so that an instance has as many micro-clusters as allowed. The
alternative, in the same run: the plain JavaScript search over as many centroids.

  --messages N   how many (default: 200000)
  --requests N   then twice as many messages, in which every user turn is a request that topics take in (above, three
                 of four may answer the assistant): first of few kinds, then each with words and a vector of its own
                 (default: 50000)`;

export const command = benchmark(USAGE, { messages: 200_000, requests: 50_000 }, async (options) => {
  benchAssign(options.messages);
  compareDistinct(options.requests);
  const { simd, plain, linkage } = searches();
  const [fast, slow] = [timed(500, simd), timed(50, plain)];
  print('search over 1,000 centroids, SIMD, µs', (fast * 1000).toFixed(1));
  print('  the same in plain JavaScript, µs', (slow * 1000).toFixed(1));
  print('  plain over SIMD', (slow / fast).toFixed(1));
  print('linkage of 1,000 micro-clusters, ms', timed(5, linkage).toFixed(1));
});

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

/** A user turn: its text and its vector. */
interface MadeRequest {
  readonly text: string;
  readonly vector: Float32Array;
  readonly thing: string;
}
type MakeRequest = (position: number) => MadeRequest;

/** What most instances see: few kinds of requests, told as orders. */
function ofFewKinds(position: number): MadeRequest {
  const theme = Math.floor(random() * random() * THEMES);
  const thing = things[theme % 40]!;
  const text = `please ${verbs[theme % 10]} my ${thing} for order ${position % 97}`;
  return { text, thing, vector: near(themes[theme]!, 0.09) };
}

/** The same as questions, which are never answers to the assistant. */
function questionOfFewKinds(position: number): MadeRequest {
  const request = ofFewKinds(position);
  return { ...request, text: `${request.text}?` };
}

/** No two have the same words, and hardly any two are similar enough for one micro-cluster. */
function distinctQuestion(position: number): MadeRequest {
  const theme = Math.floor(random() * THEMES);
  const thing = things[theme % 40]!;
  const text = `please ${verbs[theme % 10]} the ${spelled(position)} of my ${thing} for ${spelled(position * 7919)}?`;
  return { text, thing, vector: near(themes[theme]!, 0.12) };
}

function near(theme: Float32Array, distance: number): Float32Array {
  return unit(noise(distance).map((value, index) => value + theme[index]!));
}

/** A made-up word for each number below 10^8. */
function spelled(number: number): string {
  let word = '';
  for (let left = number % 1e8; left > 0 || word === ''; left = Math.floor(left / 100))
    word += `${'bcdfghklmn'[left % 10]}${'aeiouaeiou'[Math.floor(left / 10) % 10]}${left % 100 > 49 ? 'r' : 'l'}`;
  return word;
}

/** Sums over one history. Times in milliseconds. */
interface Measured {
  assignMs: number;
  stateMs: number;
  stateBytes: number;
  slowest: number;
  topics: number;
  micros: number;
}

function assigned(messages: number, request: MakeRequest): Measured {
  const assigner = new Assigner({
    thresholds: { micro: 0.7, topic: 0.42, cluster: 0.22, repeated: 0.55 },
    dimensions: DIMENSIONS,
    detectLanguage: () => 'en',
  });
  assigner.restoreInstance(1, INSTANCE_ID, []);
  const measured: Measured = { assignMs: 0, stateMs: 0, stateBytes: 0, slowest: 0, topics: 0, micros: 0 };
  for (let start = 0; start < messages; start += BATCH) {
    const { turns, enrichments } = made(start, Math.min(messages, start + BATCH), request);
    for (const { session } of turns)
      if (!assigner.hasSession(1, session)) assigner.restoreSession(1, session, null);
    const before = performance.now();
    const result = assigner.assign(turns, enrichments);
    const between = performance.now();
    const rows = assigner.takeState();
    measured.stateMs += performance.now() - between;
    measured.assignMs += between - before;
    measured.slowest = Math.max(measured.slowest, between - before);
    for (const { value } of rows) measured.stateBytes += value?.length ?? 0;
    for (const { micro } of result.micros) measured.micros = Math.max(measured.micros, micro + 1);
    for (const { topic } of result.topics) measured.topics = Math.max(measured.topics, topic + 1);
    assigner.evict();
  }
  return measured;
}

/** The turns at some positions: sessions of eight, user and assistant in turn. */
function made(from: number, to: number, request: MakeRequest): { turns: Turn[]; enrichments: Enrichment[] } {
  const turns: Turn[] = [];
  const enrichments: Enrichment[] = [];
  let asked: MadeRequest | null = null;
  for (let position = from; position < to; position += 1) {
    const session = Math.floor(position / 8);
    const user = position % 2 === 0;
    if (user || asked === null) asked = request(position);
    const text = user
      ? asked.text
      : `I have done that for you. Is there anything else that I can do about ${asked.thing}?`;
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
      vector: user ? asked.vector : null,
      sentences: [],
      signals: [],
      gap: null,
    });
  }
  return { turns, enrichments };
}

function benchAssign(messages: number): void {
  const { assignMs, stateMs, stateBytes, slowest, topics, micros } = assigned(messages, ofFewKinds);
  print('messages, half of them requests', String(messages));
  print('assign, messages/s', perSecond(messages, assignMs));
  print('assign and takeState, messages/s', perSecond(messages, assignMs + stateMs));
  print(`slowest batch of ${BATCH}, ms`, slowest.toFixed(0));
  print('state written a message, bytes', (stateBytes / messages).toFixed(0));
  print('micro-clusters and topics ever', `${micros}, ${topics}`);
  print('resident memory, MB', (process.memoryUsage().rss / 2 ** 20).toFixed(0));
}

/** How much slower requests are of which no two are the same. */
function compareDistinct(requests: number): void {
  const few = assigned(2 * requests, questionOfFewKinds);
  const distinct = assigned(2 * requests, distinctQuestion);
  print(`${requests} requests of few kinds, messages/s`, perSecond(2 * requests, few.assignMs));
  print(`${requests} distinct requests, messages/s`, perSecond(2 * requests, distinct.assignMs));
  print('  distinct over few kinds', (few.assignMs / distinct.assignMs).toFixed(2));
  print('  micro-clusters and topics ever', `${distinct.micros}, ${distinct.topics}`);
  print(`  slowest batch of ${BATCH}, ms`, distinct.slowest.toFixed(0));
}

function perSecond(messages: number, ms: number): string {
  return String(Math.round((messages / ms) * 1000));
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
