import { createHash } from 'node:crypto';
import type { CachedBucket } from './assembly-store.ts';
import type { GiveWay } from './give-way.ts';
import type { KnownTurn, Said } from './known-turn.ts';
import { mergeSpan } from './known-turns.ts';
import { keyOf, MAX_CANDIDATES, type Candidate } from './records.ts';
import { partsOf, type SpokenSpan } from './spoken-span.ts';

/** What a trace without an id of its conversation says. */
export interface AnonymousTrace {
  /** Only conversations of the same scope are told by what was said: project, instance, end user. */
  readonly scope: readonly string[];
  readonly trace: string;
  /** In order of their start; at least one. */
  readonly spans: readonly SpokenSpan[];
}

/** By what the conversation of a trace is looked up. */
export interface AnonymousReading {
  readonly anonymous: AnonymousTrace;
  /** All that it says, merged; of a trace that is too large, what its first spans say. */
  readonly whole: readonly KnownTurn[];
  /** Key of a gap that it fills; null: it is too large for one. */
  readonly gap: string | null;
  /** What was said before it. */
  readonly before: readonly Said[];
  /** Keys of the ends that it may go on with, the longest history first. */
  readonly ends: readonly { readonly length: number; readonly key: string }[];
  /** Key of the end of a longer history that the application cut; null: what is left may be anybody's. */
  readonly tail: string | null;
}

/** A conversation to which a trace belongs. */
export interface FoundConversation {
  /** The trace that began it. */
  readonly trace: string;
  /** So many messages of the history are all of it, so the trace goes on with it. */
  readonly begun?: number;
  /** What the trace says is what it begins with, and was only seen in a history. */
  readonly missing?: readonly KnownTurn[];
}

/** The most spans of a trace, and messages of them, that together may be a part of another one's history. */
const [MAX_MERGED, MAX_MERGED_MESSAGES] = [200, 20_000];
/** The most beginnings of a history that are looked up. */
const MAX_BEGINNINGS = 24;
/** The most gaps of one conversation that are kept for spans to come. */
const MAX_GAPS = 64;

/** By so many of its last turns a conversation is looked up whose history was cut. */
const TAIL = 2;
/** A shorter history may be anybody's. */
const TELLING_CHARACTERS = 40;
/** Conversations with the same last turns that are compared as a whole. */
const MAX_TRIED = 4;

/** Reads by what a trace is looked up. */
export async function readAnonymous(anonymous: AnonymousTrace, giveWay: GiveWay): Promise<AnonymousReading> {
  const { scope, spans } = anonymous;
  const [first] = spans as readonly [SpokenSpan, ...SpokenSpan[]];
  // Of a trace of more, no call repeats all.
  const merged = firstSpans(spans);
  const whole: KnownTurn[] = [];
  for (const span of merged) {
    mergeSpan(whole, span);
    await giveWay.after(span.asked.length + span.answered.length);
  }
  // What a trace of several calls goes on with was asked in the same trace.
  const { history, questions, steps } = partsOf(first);
  const before = first.continues && first.alone ? [...history, ...questions, ...steps] : history;
  const isTelling = history.reduce((sum, { content }) => sum + content.length, 0) >= TELLING_CHARACTERS;
  const lengths = Array.from(
    { length: Math.min(before.length, MAX_BEGINNINGS) },
    (_, shorter) => before.length - shorter,
  );
  const fingerprints = fingerprintsOf(before, lengths);
  return {
    anonymous,
    whole,
    gap: merged.length < spans.length ? null : keyOf('gap', ...scope, fingerprintOf(whole)),
    before,
    ends: lengths.map((length) => ({ length, key: keyOf('end', ...scope, fingerprints.get(length) ?? '') })),
    tail: isTelling && before.length >= TAIL ? tailKey(scope, before) : null,
  };
}

/**
 * Finds conversations without an id by what was said in them. A call that repeats the history goes on with a
 * conversation that ended exactly so: which one of several is the same to everybody. A call that comes late is found by
 * the history of a later one. Each goes on with another conversation: whoever takes one is written into its key, so
 * that the same trace finds the same conversation again.
 */
export class AnonymousConversations {
  readonly #bucket: CachedBucket<Candidate[]>;
  readonly #turnsOf: (scope: readonly string[], trace: string) => Promise<readonly KnownTurn[]>;
  readonly #changed = new Map<string, Candidate[]>();

  /** `turnsOf`: what is known of the conversation that a trace began. */
  constructor(
    bucket: CachedBucket<Candidate[]>,
    turnsOf: (scope: readonly string[], trace: string) => Promise<readonly KnownTurn[]>,
  ) {
    this.#bucket = bucket;
    this.#turnsOf = turnsOf;
  }

  /** Asks for all that a trace may need, side by side: also for what is noted of a conversation that it begins. */
  async prefetch({ anonymous, whole, gap, ends, tail }: AnonymousReading): Promise<void> {
    const { scope } = anonymous;
    const keys = [
      ...(gap === null ? [] : [gap]),
      ...ends.map(({ key }) => key),
      ...(tail === null ? [] : [tail]),
      keyOf('end', ...scope, fingerprintOf(whole)),
      ...(whole.length > TAIL ? [tailKey(scope, whole)] : []),
    ];
    await Promise.all(keys.map((key) => this.#candidates(key)));
  }

  /** The conversation which a trace goes on with, or belongs into; null: it begins one. */
  async find(reading: AnonymousReading): Promise<FoundConversation | null> {
    const { anonymous, whole, gap, before, ends, tail } = reading;
    const { scope, trace, spans } = anonymous;
    const [first] = spans as readonly [SpokenSpan, ...SpokenSpan[]];
    const endedAt = spans.reduce((latest, span) => Math.max(latest, span.endedAt), -Infinity);
    // A call between two uses of tools says nothing of its own, so it takes nothing from others.
    const taker = { trace, takes: whole.some(({ inferred }) => inferred === null) };
    // It stands before the call in whose history it is.
    const ahead = ({ at }: Candidate): number => (at >= endedAt ? at - endedAt : Infinity);
    const missing = gap === null ? null : await this.#take(gap, taker, ahead);
    if (missing !== null) return { trace: missing, missing: whole };
    const age = ({ at }: Candidate): number => (at <= first.startedAt ? first.startedAt - at : Infinity);
    for (const { length, key } of ends) {
      const continued = await this.#take(key, taker, age);
      if (continued !== null) return { trace: continued, begun: length };
      // Applications cut the history at its beginning: then the conversation ends with all that is left of it.
      if (length < before.length || tail === null) continue;
      const cut = await this.#take(tail, taker, age, async ({ name }) => {
        const turns = await this.#turnsOf(scope, name);
        return turns.length > before.length && endsWith(turns, before);
      });
      if (cut !== null) return { trace: cut };
    }
    return null;
  }

  /** Takes the nearest that is free, or what this trace had taken before. Times only choose among equal ones. */
  async #take(
    key: string,
    { trace, takes }: { readonly trace: string; readonly takes: boolean },
    distance: (candidate: Candidate) => number,
    fits: (candidate: Candidate) => Promise<boolean> = async () => true,
  ): Promise<string | null> {
    const candidates = await this.#candidates(key);
    const own = candidates.find(({ takenBy }) => takenBy === trace);
    const free = candidates.filter(({ takenBy }) => !takes || takenBy === undefined);
    const nearest = free.toSorted((a, b) => compare(distance(a), distance(b)));
    let best = own;
    for (let next = 0; best === undefined && next < Math.min(nearest.length, MAX_TRIED); next += 1) {
      const candidate = nearest[next];
      if (candidate !== undefined && (await fits(candidate))) best = candidate;
    }
    if (best === undefined) return null;
    if (own === undefined && takes) {
      const taken = { ...best, takenBy: trace };
      this.#changed.set(
        key,
        candidates.map((candidate) => (candidate === best ? taken : candidate)),
      );
    }
    return best.name;
  }

  /** Notes where a conversation ends now, and which of its parts were only seen in a history. */
  async note(options: {
    readonly scope: readonly string[];
    readonly trace: string;
    readonly name: string;
    readonly turns: readonly KnownTurn[];
    /** Each call is a trace of its own; else what a call goes on with comes in its own trace. */
    readonly alone: boolean;
  }): Promise<void> {
    const { scope, trace, name, turns, alone } = options;
    const last = turns.findLast(({ inferred }) => inferred !== 'history') ?? turns.at(-1);
    if (last === undefined) return;
    const gaps = gapsOf(turns, alone).slice(-MAX_GAPS);
    const fingerprints = fingerprintsOf(turns, [...gaps, turns.length]);
    const keyAt = (kind: string, length: number): string =>
      keyOf(kind, ...scope, fingerprints.get(length) ?? '');
    const notes: readonly Note[] = [
      { key: keyAt('end', turns.length), candidate: { name, at: last.at }, trace },
      ...(turns.length > TAIL
        ? [{ key: tailKey(scope, turns), candidate: { name, at: last.at, turns: turns.length }, trace }]
        : []),
      ...gaps.map((length) => ({
        key: keyAt('gap', length),
        candidate: { name, at: turns[length - 1]?.at ?? last.at },
        trace: null,
      })),
    ];
    await Promise.all(notes.map(({ key }) => this.#candidates(key)));
    for (const one of notes) await this.#add(one);
  }

  async #add({ key, candidate, trace }: Note): Promise<void> {
    const candidates = await this.#candidates(key);
    const own = candidates.filter(({ name }) => name === candidate.name);
    const known = own.find(({ turns }) => turns === candidate.turns);
    if (known !== undefined && (known.takenBy === undefined || known.takenBy !== trace)) return;
    // Who took an earlier end finds it again after a crash.
    const gone = own.filter((other) => other === known || other.takenBy === undefined);
    const kept = [...candidates.filter((other) => !gone.includes(other)), candidate];
    this.#changed.set(key, kept.slice(-MAX_CANDIDATES));
  }

  async #candidates(key: string): Promise<Candidate[]> {
    return this.#changed.get(key) ?? (await this.#bucket.get(key)) ?? [];
  }

  async write(): Promise<void> {
    await Promise.all([...this.#changed].map(([key, candidates]) => this.#bucket.put(key, candidates)));
  }
}

/** A place at which a conversation is found. */
interface Note {
  readonly key: string;
  readonly candidate: Candidate;
  /** What this trace took itself is free again, when the conversation still ends as it did. */
  readonly trace: string | null;
}

/** How many of the turns stand before the end of each part that was only seen in a history. */
function gapsOf(turns: readonly KnownTurn[], alone: boolean): number[] {
  return turns.flatMap((turn, index) => {
    const next = turns[index + 1];
    const isEnd = turn.role === 'assistant' || (next?.role !== 'user' && next?.inferred !== 'step');
    const isMissing = turn.inferred === 'history' || (turn.inferred === 'step' && alone);
    return isMissing && isEnd ? [index + 1] : [];
  });
}

function endsWith(turns: readonly Said[], said: readonly Said[]): boolean {
  const from = turns.length - said.length;
  return said.every(({ role, hash }, index) => {
    const turn = turns[from + index];
    return turn?.role === role && turn.hash === hash;
  });
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** As many of the first spans as are compared with what is known. */
function firstSpans(spans: readonly SpokenSpan[]): readonly SpokenSpan[] {
  let messages = 0;
  const most = spans.findIndex(({ asked, answered }, index) => {
    messages += asked.length + answered.length;
    return index === MAX_MERGED || messages > MAX_MERGED_MESSAGES;
  });
  return most < 0 ? spans : spans.slice(0, most);
}

function tailKey(scope: readonly string[], said: readonly Said[]): string {
  return keyOf('tail', ...scope, fingerprintOf(said.slice(-TAIL)));
}

function fingerprintOf(said: readonly Said[]): string {
  return fingerprintsOf(said, [said.length]).get(said.length) ?? '';
}

/** What beginnings of these lengths are known by. All are read in one pass. */
function fingerprintsOf(said: readonly Said[], lengths: readonly number[]): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  const hash = createHash('sha256');
  let read = 0;
  for (const length of new Set(lengths.toSorted((a, b) => a - b))) {
    const text = said.slice(read, length).map((one) => `${one.role}${one.hash}`);
    hash.update(`${read > 0 && length > read ? ' ' : ''}${text.join(' ')}`);
    read = length;
    found.set(length, hash.copy().digest('base64url'));
  }
  return found;
}
