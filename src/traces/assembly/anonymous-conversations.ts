import { createHash } from 'node:crypto';
import type { CachedBucket } from './assembly-store.ts';
import { hashOf, mergeSpan, partsOf, type KnownTurn, type SpokenSpan } from './known-turns.ts';
import { keyOf, type Candidate } from './records.ts';

/** What a trace without an id of its conversation says. */
export interface AnonymousTrace {
  /** Only conversations of the same scope are told by what was said: project, instance, end user. */
  readonly scope: readonly string[];
  readonly trace: string;
  /** In order of their start; at least one. */
  readonly spans: readonly SpokenSpan[];
}

/** The most beginnings of a history that are looked up. */
const MAX_BEGINNINGS = 24;
/** The most gaps of one conversation that are kept for spans to come. */
const MAX_GAPS = 64;

type Said = Pick<KnownTurn, 'role' | 'hash'>;

/**
 * Finds conversations without an id by what was said in them. A call that repeats the history goes on with a
 * conversation that ended exactly so: which one of several is the same to everybody. A call that comes late is found by
 * the history of a later one. Each goes on with another conversation: whoever takes one is written into its key, so that
 * the same trace finds the same conversation again.
 */
export class AnonymousConversations {
  readonly #bucket: CachedBucket<Candidate[]>;
  readonly #changed = new Map<string, Candidate[]>();

  constructor(bucket: CachedBucket<Candidate[]>) {
    this.#bucket = bucket;
  }

  /** The trace that began the conversation which this one goes on with, or belongs into; null: it begins one. */
  async find({ scope, trace, spans }: AnonymousTrace): Promise<string | null> {
    const [first] = spans;
    if (first === undefined) return null;
    const whole: KnownTurn[] = [];
    for (const span of spans) mergeSpan(whole, span, false);
    const endedAt = Math.max(...spans.map((span) => span.endedAt));
    const missing = await this.#take(['gap', ...scope, fingerprintOf(whole)], trace, (candidates) =>
      // Each stands before the call in whose history it is.
      candidates.filter(({ at }) => at >= endedAt).toSorted((a, b) => a.at - b.at),
    );
    if (missing !== null) return missing;
    const history = partsOf(first).history.map(({ role, content }): Said => ({
      role,
      hash: hashOf(content),
    }));
    for (const said of beginningsOf(history)) {
      const continued = await this.#take(['end', ...scope, fingerprintOf(said)], trace, (candidates) =>
        candidates.filter(({ at }) => at <= first.startedAt).toSorted((a, b) => b.at - a.at),
      );
      if (continued !== null) return continued;
    }
    return null;
  }

  /** Takes the best that is free, or what this trace had taken before. */
  async #take(
    parts: readonly string[],
    trace: string,
    fitting: (free: Candidate[]) => Candidate[],
  ): Promise<string | null> {
    const key = keyOf(...parts);
    const candidates = await this.#candidates(key);
    const own = candidates.find(({ takenBy }) => takenBy === trace);
    const [best] =
      own === undefined ? fitting(candidates.filter(({ takenBy }) => takenBy === undefined)) : [own];
    if (best === undefined) return null;
    if (own === undefined) {
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
  }): Promise<void> {
    const { scope, trace, name, turns } = options;
    const last = turns.findLast(({ inferred }) => !inferred) ?? turns.at(-1);
    if (last === undefined) return;
    await this.#add(['end', ...scope, fingerprintOf(turns)], { name, at: last.at }, trace);
    const gaps = turns.flatMap((turn, index) => {
      const isEnd = turn.role === 'assistant' || turns[index + 1]?.role !== 'user';
      return turn.inferred && isEnd ? [index + 1] : [];
    });
    for (const length of gaps.slice(-MAX_GAPS)) {
      const at = turns[length - 1]?.at ?? last.at;
      await this.#add(['gap', ...scope, fingerprintOf(turns.slice(0, length))], { name, at }, null);
    }
  }

  /** `trace`: what it took itself is free again, when the conversation still ends as it did. */
  async #add(parts: readonly string[], candidate: Candidate, trace: string | null): Promise<void> {
    const key = keyOf(...parts);
    const candidates = await this.#candidates(key);
    const known = candidates.find(({ name }) => name === candidate.name);
    if (known !== undefined && (known.takenBy === undefined || known.takenBy !== trace)) return;
    this.#changed.set(key, [...candidates.filter((other) => other !== known), candidate]);
  }

  async #candidates(key: string): Promise<Candidate[]> {
    return this.#changed.get(key) ?? (await this.#bucket.get(key)) ?? [];
  }

  async write(): Promise<void> {
    await Promise.all([...this.#changed].map(([key, candidates]) => this.#bucket.put(key, candidates)));
  }
}

/** The history, then its beginnings that end with an answer: a call between them may not have come yet. */
function* beginningsOf(history: readonly Said[]): Generator<readonly Said[]> {
  let left = MAX_BEGINNINGS;
  for (let length = history.length; length > 0 && left > 0; length -= 1) {
    if (length < history.length && history[length - 1]?.role !== 'assistant') continue;
    left -= 1;
    yield history.slice(0, length);
  }
}

function fingerprintOf(said: readonly Said[]): string {
  const text = said.map(({ role, hash }) => `${role}${hash}`).join(' ');
  return createHash('sha256').update(text).digest('base64url');
}
