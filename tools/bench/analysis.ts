/** What does the analysis of a message take and leave, and which of its two steps takes it? */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DEFAULT_DATA_DIRECTORY } from '../eval/data.ts';
import type { Turn } from '../../src/domain/facts.ts';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';
import { createEnricher } from '../../src/reader/acts/enricher.ts';
import { detectLanguage } from '../../src/reader/document/detect.ts';
import { Assigner } from '../../src/reader/threads/assigner.ts';
import { benchmark } from './load/benchmark.ts';
import { corpora, repeated, take, type Conversation } from './load/distinct-texts.ts';
import { fixedLoopMs } from './load/fixed-loop.ts';
import { allocatedBy } from './load/garbage.ts';
import type { Ratios } from './load/ratios.ts';
import { table } from './load/table.ts';

const MODELS = join(import.meta.dirname, '../../models');
const BATCH = 2000;
/** Messages over which garbage is measured. */
const GARBAGE_OF = 4000;
const QUICK_MESSAGES = 2000;
const REPEATED_CONVERSATIONS = 300;
const INSTANCE_ID = '0190a000-0000-7000-8000-000000000001';
const SECOND_MICROS = 1_000_000;

const USAGE = `Usage: npm run bench -- analysis [TEXTS…] [OPTIONS]

What does the analysis of a message take, and which of its two steps takes it: enrich, which reads each text by itself,
or assign, which goes in the order of the stream? In this process and thread, with the model that ships. What it found
is told as a digest: equal digests, equal findings. Garbage is what the heap is asked for, measured over again, because
measuring it takes time.

TEXTS are those of npm run bench -- count, and repeated: three hundred conversations again and again. Default: all.

  --data FOLDER  the folder of data sets, with the folder dialogues in it
  --messages N   messages of each that are measured (default: 12000)
  --warm N       messages before them that are not (default: 6000)`;

const REPEATED = 'repeated';

export const command = benchmark(
  USAGE,
  { data: DEFAULT_DATA_DIRECTORY, messages: 12_000, warm: 6000 },
  async ({ data, messages, warm }, names) => {
    const rows: string[][] = [];
    for (const texts of names) {
      const conversations = await conversationsOf(texts, messages + warm, data);
      const analysed = await analyse(conversations, messages + warm, warm);
      const garbage = await garbageOf(conversations, GARBAGE_OF + warm, warm);
      rows.push(rowOf(texts, analysed, garbage));
    }
    const heading = [
      'texts',
      'messages',
      'enrich µs',
      'assign µs',
      'both',
      'assign %',
      'garbage KB',
      'digest',
    ];
    console.log(table(heading, rows));
    console.log(`fixed loop: ${fixedLoopMs().toFixed(0)} ms`);
  },
  ({ data }) => [...Object.keys(corpora(data)), REPEATED],
);

async function conversationsOf(
  texts: string,
  messages: number,
  data: string | undefined,
): Promise<Conversation[]> {
  const known = corpora(data);
  const open = known[texts === REPEATED ? (Object.hasOwn(known, 'mix') ? 'mix' : 'demo') : texts];
  if (open === undefined) throw new Error(`there are no texts ${texts}`);
  if (texts !== REPEATED) return take(open(), messages);
  return repeated((await take(open(), messages)).slice(0, REPEATED_CONVERSATIONS), messages);
}

interface Analysed {
  readonly messages: number;
  /** Microseconds of this thread for each message. */
  readonly enrich: number;
  readonly assign: number;
  readonly digest: string;
}

/** Bytes that the analysis of a message asks the heap for, over those behind the first `warm`. */
async function garbageOf(
  conversations: readonly Conversation[],
  most: number,
  warm: number,
): Promise<number> {
  let bytes = 0;
  const { messages } = await analyse(conversations, most, warm, async (work) => {
    bytes = await allocatedBy(work);
  });
  return bytes / messages;
}

/** Messages analysed for each megabyte that the heap is asked for: fewer where a message leaves more garbage. */
export const ratios: Ratios = async ({ times }) => {
  const conversations = await conversationsOf('demo', 2 * QUICK_MESSAGES, undefined);
  const samples: number[] = [];
  while (samples.length < times)
    samples.push(1e6 / (await garbageOf(conversations, 2 * QUICK_MESSAGES, QUICK_MESSAGES)));
  return { 'messages analysed for each megabyte of garbage': samples };
};

/**
 * Analyses conversations one after the other, each a session, in batches. `measured`: does the work behind the first
 * `warm` messages.
 */
async function analyse(
  conversations: readonly Conversation[],
  most: number,
  warm: number,
  measured: (work: () => Promise<void>) => Promise<void> = (work) => work(),
): Promise<Analysed> {
  const embedder = await loadEmbedder({ model: 'undertone-small', modelsDirectory: MODELS });
  const { thresholds, dimensions } = embedder;
  const enricher = createEnricher({ embedder });
  const assigner = new Assigner({ thresholds, dimensions, detectLanguage, memoryBytes: 2 ** 27 });
  const turns = turnsOf(conversations).slice(0, most);
  assigner.restoreInstance(0, INSTANCE_ID, []);
  const digest = createHash('sha256');
  const taken = { enrich: 0, assign: 0 };
  const analyseBatch = async (at: number): Promise<void> => {
    const batch = turns.slice(at, at + BATCH);
    const startedAt = threadMicros();
    const enrichments = await enricher.enrich(batch);
    const enrichedAt = threadMicros();
    for (const { session } of batch)
      if (!assigner.hasSession(0, session)) assigner.restoreSession(0, session, null);
    const assignment = assigner.assign(batch, enrichments);
    const rows = assigner.takeState();
    const assignedAt = threadMicros();
    digest.update(JSON.stringify(assignment));
    for (const { kind, key, value } of rows) digest.update(`${kind} ${key}`).update(value ?? '');
    if (at < warm) return;
    taken.enrich += enrichedAt - startedAt;
    taken.assign += assignedAt - enrichedAt;
  };
  let next = 0;
  for (; next < Math.min(warm, turns.length); next += BATCH) await analyseBatch(next);
  await measured(async () => {
    for (; next < turns.length; next += BATCH) await analyseBatch(next);
  });
  await embedder.close();
  const messages = turns.length - Math.ceil(warm / BATCH) * BATCH;
  return {
    messages,
    enrich: taken.enrich / messages,
    assign: taken.assign / messages,
    digest: digest.digest('hex').slice(0, 16),
  };
}

function turnsOf(conversations: readonly Conversation[]): Turn[] {
  let position = 0;
  return conversations.flatMap((conversation, session) =>
    conversation.map(({ role, content }): Turn => {
      position += 1;
      const at = position * SECOND_MICROS;
      return {
        position,
        instance: 0,
        instanceId: INSTANCE_ID,
        session,
        sessionId: String(session),
        role: role === 'user' || role === 'assistant' ? role : 'other',
        user: null,
        content,
        at,
      };
    }),
  );
}

function threadMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function rowOf(texts: string, { messages, enrich, assign, digest }: Analysed, garbage: number): string[] {
  const both = enrich + assign;
  const share = ((100 * assign) / both).toFixed(0);
  return [
    texts,
    String(messages),
    enrich.toFixed(0),
    assign.toFixed(0),
    both.toFixed(0),
    share,
    (garbage / 1000).toFixed(1),
    digest,
  ];
}
