/**
 * Sentences that come back in many sessions whatever was asked: signatures, "My workspace is …", disclaimers,
 * headers of forms. They are told by their spread: in several sessions, hardly ever alone, and beside other
 * sentences whose meanings are spread as those of all requests are. A request that many make in the same words
 * mostly stands alone, or beside sentences that are near to each other.
 */
import type { Enrichment, RequestSentence, StateRow } from '../../domain/facts.ts';
import { ByteWriter, readersOf, type ByteReader } from '../../domain/byte-codec.ts';
import { chosenSentences, joinedSentences } from '../document/chosen-sentences.ts';
import { addTo, dotOf, normOf } from '../numeric/vectors.ts';

const VERSION = 1;
/** So many sentences are followed; the one with the fewest sessions of those not seen for longest makes room. */
const MOST_FOLLOWED = 1024;
const CONSIDERED_TO_GO = 32;
/** The latest sessions of a sentence, in which it does not count again. */
const KEPT_SESSIONS = 8;

/** What makes a sentence boilerplate. What asks could be the request itself, so more is asked of it. */
interface Criterion {
  /** Sessions in which it stood beside others. */
  readonly least: number;
  /** Sessions in which it stood alone, for one in which it did not. */
  readonly alone: number;
}
const OF_STATEMENTS: Criterion = { least: 3, alone: 0.6 };
const OF_REQUESTS: Criterion = { least: 12, alone: 0.1 };
/** A turn that holds nothing else is no request from so many sessions on. */
const SURE: Criterion = { least: 10, alone: 0.6 };
/**
 * How far the mean meaning beside a sentence may be from that of all requests, squared, free of the bias of small
 * samples: so far, and more the fewer sentences were beside it.
 */
const FARTHEST = 0.05;
const FARTHER_FOR_FEW = 0.35;
/** A sentence with so large a part of another one's sessions may be boilerplate with it. */
const SUSPECT = 1 / 1.5;

interface Followed {
  /** Key of its state row. */
  readonly slot: number;
  readonly key: number;
  /** Sessions in which it stood beside others, and in which it only stood alone. */
  beside: number;
  alone: number;
  /** The latest of them, oldest first. */
  readonly sessions: { readonly session: number; isAlone: boolean }[];
  /** When it was seen last, counted in observations. */
  seen: number;
  /** What stood beside it, from the second session on. */
  besides: Meanings | null;
}

/** Vectors of unit length: how many, and their sum. */
interface Meanings {
  count: number;
  readonly sum: Float32Array;
}

/** About what following a sentence takes beside its vector. */
const FOLLOWED_BYTES = 300;

export class Boilerplate {
  readonly #instance: number;
  readonly #dimensions: number;
  /** By key, the one seen last at the end. */
  readonly #followed = new Map<number, Followed>();
  readonly #unsaved = new Set<Followed>();
  #observations = 0;
  /** Of all requests without what may be boilerplate, and of those that are the first of their session. */
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
   * Notes the sentences of a user turn, and gives what was found in it without boilerplate. `isFirst`: its session has
   * no request yet.
   */
  cut(session: number, isFirst: boolean, found: Enrichment): Enrichment {
    if (found.kind !== 'request' || found.vector === null) return found;
    const sentences = uniqueByKey(found.sentences);
    const known = new Set(sentences.filter((sentence) => this.#isBoilerplate(sentence)));
    for (const sentence of sentences) this.#note(session, sentence, sentences, known);
    const meaning = meaningOf(this.#rarest(sentences)) ?? found.vector;
    add(this.#all, meaning);
    if (isFirst) add(this.#first, meaning);
    return this.#withoutBoilerplate(found);
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

  /** Takes back all state rows, in any order, into a new object; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    for (const { read } of readersOf(rows, 'sentences')) this.#readCounters(read);
    const followed = readersOf(rows, 'sentence').map(({ key, read }) =>
      readFollowed(key, read, this.#dimensions),
    );
    for (const one of followed.sort((a, b) => a.seen - b.seen)) this.#followed.set(one.key, one);
  }

  /** About how much memory it takes. */
  get bytes(): number {
    let vectors = 2;
    for (const { besides } of this.#followed.values()) vectors += besides === null ? 0 : 1;
    return vectors * this.#dimensions * 4 + this.#followed.size * FOLLOWED_BYTES;
  }

  #withoutBoilerplate(found: Enrichment): Enrichment {
    const boilerplate = new Set(found.sentences.filter((sentence) => this.#isBoilerplate(sentence)));
    if (boilerplate.size === 0) return found;
    const rest = found.sentences.filter((sentence) => !boilerplate.has(sentence));
    if (rest.length > 0) {
      const chosen = chosenSentences(rest);
      const vector = meaningOf(chosen);
      return vector === null ? found : { ...found, request: joinedSentences(chosen), vector };
    }
    const isSure = found.sentences.every(({ key }) => meets(this.#followed.get(key), SURE));
    return isSure ? { ...found, kind: 'reply', request: '', vector: null, sentences: [] } : found;
  }

  /** `known`: those of the turn that were boilerplate before it. */
  #note(
    session: number,
    sentence: RequestSentence,
    sentences: readonly RequestSentence[],
    known: ReadonlySet<RequestSentence>,
  ): void {
    const others = sentences.filter((other) => other !== sentence && !known.has(other));
    const before = this.#followed.get(sentence.key);
    // Of what was never seen beside others, nothing is followed.
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

  /** Whether a sentence may be boilerplate: what is beside it says nothing of another one, nor of all requests. */
  #isSuspect({ key }: RequestSentence, least: number): boolean {
    const followed = this.#followed.get(key);
    return followed !== undefined && followed.beside >= least && followed.alone * 4 <= followed.beside;
  }

  #isBoilerplate({ key, asks }: RequestSentence): boolean {
    const followed = this.#followed.get(key);
    if (!meets(followed, asks ? OF_REQUESTS : OF_STATEMENTS)) return false;
    const { besides } = followed;
    if (besides === null || besides.count < 2) return false;
    const farthest = FARTHEST + FARTHER_FOR_FEW / besides.count;
    return distance(besides, this.#all) <= farthest || distance(besides, this.#first) <= farthest;
  }

  /** The sentences of a turn without those that come back more often than its rarest one. */
  #rarest(sentences: readonly RequestSentence[]): RequestSentence[] {
    const least = Math.min(...sentences.map(({ key }) => this.#followed.get(key)?.beside ?? 0));
    return sentences.filter((sentence) => !this.#isSuspect(sentence, (least + 0.5) / SUSPECT));
  }

  #follow(key: number): Followed {
    const slot = this.#followed.size < MOST_FOLLOWED ? this.#followed.size : this.#makeRoom();
    return { slot, key, beside: 0, alone: 0, sessions: [], seen: 0, besides: null };
  }

  /** Drops a sentence, and returns its slot. */
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

/** Counts a session; false when it counted before, or holds the sentence alone so far. */
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
 * The squared distance of the mean meaning of a sample from that of all, free of what chance adds to it: means of few
 * vectors are far from everything. 0, or somewhat less, when the sample is drawn from all.
 */
function distance(sample: Meanings, all: Meanings): number {
  if (all.count <= sample.count) return Infinity;
  const within = pairwise(sample);
  // Each of the sample is among all too.
  const between = (dotOf(sample.sum, all.sum) - sample.count) / (sample.count * (all.count - 1));
  return within - 2 * between + pairwise(all);
}

/** The mean cosine of two different ones. */
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

/** The mean meaning of sentences, each by its words: of unit length, or null when they have none. */
function meaningOf(sentences: readonly RequestSentence[]): Float32Array | null {
  const [first] = sentences;
  if (first === undefined) return null;
  if (sentences.length === 1) return first.vector !== null && normOf(first.vector) > 0 ? first.vector : null;
  let sum: Float32Array | null = null;
  for (const { vector, words } of sentences) {
    if (vector === null) continue;
    sum ??= new Float32Array(vector.length);
    // Rounded before it is added, as an array of such numbers holds it.
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

/** The row of a sentence without the vectors of what stood beside it, where these are fewer than `least`. */
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
