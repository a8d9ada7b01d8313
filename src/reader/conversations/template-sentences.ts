/**
 * Finds template sentences, which recur in many sessions whatever was asked, such as signatures, "My workspace is …",
 * disclaimers, form headers. They differ from requests in their spread: they stand in several sessions, hardly ever
 * alone, and beside sentences as varied as all requests. A request in common words mostly stands alone, or beside
 * similar sentences.
 *
 * Test: test/reader/conversations/template-sentences.test.ts.
 */
import type { Enrichment, RequestSentence, StateRow } from '../../domain/facts.ts';
import { ByteWriter, readersOf, type ByteReader } from '../../domain/byte-codec.ts';
import { chosenSentences, joinedSentences } from '../document/chosen-sentences.ts';
import { addTo, dotOf, normOf } from '../numeric/vectors.ts';

const VERSION = 1;
/**
 * Most sentences that are tracked, and the number of least recently seen ones among which the one with the fewest
 * sessions is dropped.
 */
const MOST_FOLLOWED = 1024;
const CONSIDERED_TO_GO = 32;
/** Number of latest sessions that a sentence keeps; it does not count again in them. */
const KEPT_SESSIONS = 8;

/** A bound for template sentences. It is stricter for a sentence that asks, which may be the request itself. */
interface Criterion {
  /** Least sessions in which it stood beside others. */
  readonly least: number;
  /** Most sessions in which it stood alone, per session in which it did not. */
  readonly alone: number;
}
const OF_STATEMENTS: Criterion = { least: 3, alone: 0.6 };
const OF_REQUESTS: Criterion = { least: 12, alone: 0.1 };
/** The bound at which a turn of template sentences alone is no request. */
const SURE: Criterion = { least: 10, alone: 0.6 };
/**
 * Greatest squared distance between the mean meaning beside a sentence and that of all requests, free of small-sample
 * bias: a base, and an allowance divided by the number of vectors beside it.
 */
const FARTHEST = 0.05;
const FARTHER_FOR_FEW = 0.35;
/** A sentence with at least this share of another one's sessions may be a template together with it. */
const SUSPECT = 1 / 1.5;

interface Followed {
  /** Key of its state row. */
  readonly slot: number;
  readonly key: number;
  /** Sessions in which it stood beside others, and sessions in which it only stood alone. */
  beside: number;
  alone: number;
  /** Its latest sessions, oldest first. */
  readonly sessions: { readonly session: number; isAlone: boolean }[];
  /** Number of the observation at which it was last seen. */
  seen: number;
  /** The meanings beside it, from the second session on; null before. */
  besides: Meanings | null;
}

/** Number and sum of vectors of unit length. */
interface Meanings {
  count: number;
  readonly sum: Float32Array;
}

/** Estimated memory of a tracked sentence without its vector, bytes. */
const FOLLOWED_BYTES = 300;

/** The tracked sentences of one instance. */
export class TemplateSentences {
  readonly #instance: number;
  readonly #dimensions: number;
  /** Tracked sentences by key, in the order in which they were last seen. */
  readonly #followed = new Map<number, Followed>();
  readonly #unsaved = new Set<Followed>();
  #observations = 0;
  /** Meanings of all requests without possible template sentences, and of the first requests of sessions. */
  readonly #all: Meanings;
  readonly #first: Meanings;
  #savedRequests = 0;

  constructor(instance: number, dimensions: number) {
    this.#instance = instance;
    this.#dimensions = dimensions;
    this.#all = { count: 0, sum: new Float32Array(dimensions) };
    this.#first = { count: 0, sum: new Float32Array(dimensions) };
  }

  /**
   * Tracks the sentences of a user turn and returns its findings without template sentences. `isFirst`: the session has no
   * request yet.
   */
  cut(session: number, isFirst: boolean, found: Enrichment): Enrichment {
    if (found.kind !== 'request' || found.vector === null) return found;
    const sentences = uniqueByKey(found.sentences);
    const known = new Set(sentences.filter((sentence) => this.#isTemplate(sentence)));
    for (const sentence of sentences) this.#note(session, sentence, sentences, known);
    const meaning = meaningOf(this.#rarest(sentences)) ?? found.vector;
    add(this.#all, meaning);
    if (isFirst) add(this.#first, meaning);
    return this.#withoutTemplates(found);
  }

  /** The state rows that changed since the last call. Kinds: `sentences` (the counters), `sentence`. */
  takeState(): StateRow[] {
    const rows: StateRow[] = [];
    const put = (kind: string, key: number, value: Uint8Array): void => {
      rows.push({ instance: this.#instance, kind, key, value });
    };
    if (this.#all.count !== this.#savedRequests || this.#unsaved.size > 0)
      put('sentences', 0, this.#writeCounters());
    this.#savedRequests = this.#all.count;
    for (const followed of this.#unsaved) put('sentence', followed.slot, writeFollowed(followed));
    this.#unsaved.clear();
    return rows;
  }

  /** Restores a new object from its state rows, in any order; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    for (const { read } of readersOf(rows, 'sentences')) this.#readCounters(read);
    const followed = readersOf(rows, 'sentence').map(({ key, read }) =>
      readFollowed(key, read, this.#dimensions),
    );
    for (const one of followed.sort((a, b) => a.seen - b.seen)) this.#followed.set(one.key, one);
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    let vectors = 2;
    for (const { besides } of this.#followed.values()) vectors += besides === null ? 0 : 1;
    return vectors * this.#dimensions * 4 + this.#followed.size * FOLLOWED_BYTES;
  }

  #withoutTemplates(found: Enrichment): Enrichment {
    const templates = new Set(found.sentences.filter((sentence) => this.#isTemplate(sentence)));
    if (templates.size === 0) return found;
    const rest = found.sentences.filter((sentence) => !templates.has(sentence));
    if (rest.length > 0) {
      const chosen = chosenSentences(rest);
      const vector = meaningOf(chosen);
      return vector === null ? found : { ...found, request: joinedSentences(chosen), vector };
    }
    const isSure = found.sentences.every(({ key }) => meets(this.#followed.get(key), SURE));
    return isSure ? { ...found, kind: 'reply', request: '', vector: null, sentences: [] } : found;
  }

  /** Counts one sentence. `known`: the sentences of the turn that were templates before it. */
  #note(
    session: number,
    sentence: RequestSentence,
    sentences: readonly RequestSentence[],
    known: ReadonlySet<RequestSentence>,
  ): void {
    const others = sentences.filter((other) => other !== sentence && !known.has(other));
    const before = this.#followed.get(sentence.key);
    // A sentence is tracked only once it stood beside others.
    if (before === undefined && others.length === 0) return;
    const followed = before ?? this.#follow(sentence.key);
    this.#unsaved.add(followed);
    this.#observations += 1;
    followed.seen = this.#observations;
    this.#followed.delete(sentence.key);
    this.#followed.set(sentence.key, followed);
    if (!isNewBeside(followed, session, others.length === 0) || followed.beside < 2) return;
    const vector = meaningOf(others.filter((other) => !this.#isSuspect(other, followed.beside * SUSPECT)));
    if (vector === null) return;
    followed.besides ??= { count: 0, sum: new Float32Array(this.#dimensions) };
    add(followed.besides, vector);
  }

  /**
   * True if a sentence may be a template. It then says nothing about the sentences beside it, nor about all requests.
   */
  #isSuspect({ key }: RequestSentence, least: number): boolean {
    const followed = this.#followed.get(key);
    return followed !== undefined && followed.beside >= least && followed.alone * 4 <= followed.beside;
  }

  #isTemplate({ key, asks }: RequestSentence): boolean {
    const followed = this.#followed.get(key);
    if (!meets(followed, asks ? OF_REQUESTS : OF_STATEMENTS)) return false;
    const { besides } = followed;
    if (besides === null || besides.count < 2) return false;
    const farthest = FARTHEST + FARTHER_FOR_FEW / besides.count;
    return distance(besides, this.#all) <= farthest || distance(besides, this.#first) <= farthest;
  }

  /** The sentences of a turn, without those that recur more often than its rarest one. */
  #rarest(sentences: readonly RequestSentence[]): RequestSentence[] {
    const least = Math.min(...sentences.map(({ key }) => this.#followed.get(key)?.beside ?? 0));
    return sentences.filter((sentence) => !this.#isSuspect(sentence, (least + 0.5) / SUSPECT));
  }

  #follow(key: number): Followed {
    const slot = this.#followed.size < MOST_FOLLOWED ? this.#followed.size : this.#makeRoom();
    return { slot, key, beside: 0, alone: 0, sessions: [], seen: 0, besides: null };
  }

  /** Drops a sentence and returns its slot. */
  #makeRoom(): number {
    let gone: Followed | null = null;
    let considered = 0;
    for (const followed of this.#followed.values()) {
      if (gone === null || followed.beside + followed.alone < gone.beside + gone.alone) gone = followed;
      considered += 1;
      if (considered === CONSIDERED_TO_GO) break;
    }
    this.#followed.delete(gone!.key);
    this.#unsaved.delete(gone!);
    return gone!.slot;
  }

  #writeCounters(): Uint8Array {
    return new ByteWriter()
      .byte(VERSION)
      .count(this.#observations)
      .count(this.#all.count)
      .floats(this.#all.sum)
      .count(this.#first.count)
      .floats(this.#first.sum)
      .finish();
  }

  #readCounters(read: ByteReader): void {
    if (read.byte() !== VERSION)
      throw new Error('the state of sentences was written by another version: rebuild the views');
    this.#observations = read.count();
    for (const meanings of [this.#all, this.#first]) {
      meanings.count = read.count();
      meanings.sum.set(read.floats(this.#dimensions));
    }
    this.#savedRequests = this.#all.count;
  }
}

/** Counts a session. Returns false if it counted before, or so far holds the sentence alone. */
function isNewBeside(followed: Followed, session: number, isAlone: boolean): boolean {
  const before = followed.sessions.find((one) => one.session === session);
  if (before !== undefined && (isAlone || !before.isAlone)) return false;
  if (before === undefined) {
    followed.sessions.push({ session, isAlone });
    if (followed.sessions.length > KEPT_SESSIONS) followed.sessions.shift();
  } else {
    before.isAlone = false;
    followed.alone -= 1;
  }
  if (isAlone) followed.alone += 1;
  else followed.beside += 1;
  return !isAlone;
}

function add(meanings: Meanings, vector: Float32Array): void {
  meanings.count += 1;
  addTo(meanings.sum, vector);
}

/**
 * Squared distance between the mean of a sample and the mean of all, without the share that chance adds: means of few
 * vectors are far from everything. About 0 if the sample is drawn from all; may be slightly negative.
 */
function distance(sample: Meanings, all: Meanings): number {
  if (all.count <= sample.count) return Infinity;
  const within = pairwise(sample);
  // Every vector of the sample is also in `all`.
  const between = (dotOf(sample.sum, all.sum) - sample.count) / (sample.count * (all.count - 1));
  return within - 2 * between + pairwise(all);
}

/** Mean cosine of two different vectors. */
function pairwise({ count, sum }: Meanings): number {
  return (dotOf(sum, sum) - count) / (count * (count - 1));
}

function meets(followed: Followed | undefined, { least, alone }: Criterion): followed is Followed {
  return followed !== undefined && followed.beside >= least && followed.alone <= followed.beside * alone;
}

function uniqueByKey(sentences: readonly RequestSentence[]): RequestSentence[] {
  const keys = new Set<number>();
  return sentences.filter(({ key }) => !keys.has(key) && keys.add(key));
}

/** Mean meaning of sentences, weighted by their words: unit length; null if no sentence has a vector. */
function meaningOf(sentences: readonly RequestSentence[]): Float32Array | null {
  const [first] = sentences;
  if (first === undefined) return null;
  if (sentences.length === 1) return first.vector !== null && normOf(first.vector) > 0 ? first.vector : null;
  let sum: Float32Array | null = null;
  for (const { vector, words } of sentences) {
    if (vector === null) continue;
    sum ??= new Float32Array(vector.length);
    // Rounds to 32 bits before adding, as a Float32Array would store the product.
    for (let at = 0; at < vector.length; at++) sum[at]! += Math.fround(vector[at]! * words);
  }
  if (sum === null) return null;
  const norm = normOf(sum);
  return norm === 0 ? null : sum.map((component) => component / norm);
}

function writeFollowed({ key, beside, alone, sessions, seen, besides }: Followed): Uint8Array {
  const writer = new ByteWriter().count(key).count(beside).count(alone).count(seen).count(sessions.length);
  for (const { session, isAlone } of sessions) writer.count(session).byte(isAlone ? 1 : 0);
  writer.count(besides?.count ?? 0);
  if (besides !== null) writer.floats(besides.sum);
  return writer.finish();
}

/** The row of a sentence, without the vectors beside it if they are fewer than `least`. */
export function withoutFewBeside(
  slot: number,
  read: ByteReader,
  dimensions: number,
  least: number,
): Uint8Array {
  const followed = readFollowed(slot, read, dimensions);
  const isFew = (followed.besides?.count ?? 0) < least;
  return writeFollowed(isFew ? { ...followed, besides: null } : followed);
}

function readFollowed(slot: number, read: ByteReader, dimensions: number): Followed {
  const [key, beside, alone, seen] = [read.count(), read.count(), read.count(), read.count()];
  const sessions = read.list(() => ({ session: read.count(), isAlone: read.byte() === 1 }));
  const count = read.count();
  const besides = count === 0 ? null : { count, sum: read.floats(dimensions) };
  return { slot, key, beside, alone, seen, sessions, besides };
}
