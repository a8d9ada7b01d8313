/**
 * Reads the parts of turns that assign is likely to need, before the ordered step. Promises that a wrong guess costs
 * time but changes no result: a part that was not read ahead is read on demand.
 *
 * Test: test/reader/threads/turn-reader.test.ts.
 */
import { LRUCache } from 'lru-cache';
import type { Enrichment, Turn } from '../../domain/facts.ts';
import { READ_TOGETHER } from '../acts/finding.ts';
import type { StepListener } from '../embedding/step-listener.ts';
import { NOTHING_FOUND } from './stages.ts';
import { TurnReading } from './turn-reading.ts';

/** Bounds of the cache of readings: entries per role, and the longest cached text, UTF-16 units. */
const MOST_KEPT = 4096;
const LONGEST_KEPT = 500;

/** A turn to be read ahead, and what is known of its context. */
interface Ahead {
  /** Index among the turns that are read together. */
  readonly place: number;
  readonly role: Turn['role'];
  readonly isRequest: boolean;
  /** True if another turn of its session comes before it (`goesOn`) or after it (`isFollowed`). */
  readonly goesOn: boolean;
  readonly isFollowed: boolean;
  readonly reading: TurnReading;
}

/** The readers, run one after the other over all turns, so that each keeps its own data in the processor's caches. */
const READERS: readonly ((ahead: Ahead) => void)[] = [
  ({ reading }) => void reading.beginning,
  ({ isRequest, reading }) => {
    if (isRequest) void reading.redacted;
  },
  ({ role, isRequest, reading }) => {
    if (role === 'assistant') void reading.redactedAmong([]).answer;
    else if (isRequest) void reading.asked;
  },
  ({ role, isRequest, goesOn, isFollowed, reading }) => {
    if (role === 'assistant') {
      if (isFollowed) void reading.redactedAmong([]).edges.phrases;
    } else if (isRequest) {
      if (goesOn) void reading.edges.phrases;
      if (isFollowed) void reading.keptRequest.phrases;
    }
  },
  ({ role, isRequest, isFollowed, reading }) => {
    if (isRequest) void reading.compared;
    else if (role === 'assistant' && isFollowed) void reading.redactedAmong([]).edges.words;
  },
  ({ isRequest, reading }) => {
    if (isRequest) void reading.request.phrases;
  },
];

/** Reads turns, and caches the readings of short ones by text. */
export class TurnReader {
  readonly #kept = {
    user: new LRUCache<string, TurnReading>({ max: MOST_KEPT }),
    assistant: new LRUCache<string, TurnReading>({ max: MOST_KEPT }),
  };
  readonly #steps: StepListener;

  constructor(steps: StepListener) {
    this.#steps = steps;
  }

  /**
   * Returns the readings of the turns from `from` on, at most READ_TOGETHER. `hasTurns(session)`: true if the session
   * has turns before these.
   */
  read(
    turns: readonly Turn[],
    enrichments: readonly Enrichment[],
    from: number,
    hasTurns: (session: number) => boolean,
  ): readonly TurnReading[] {
    const together = turns.slice(from, from + READ_TOGETHER);
    const found = enrichments.slice(from, from + READ_TOGETHER);
    const readings = together.map((turn, index) => this.#readingOf(turn, found[index]));
    const ahead = aheadOf(together, found, readings, hasTurns);
    for (const read of READERS) this.#readAll(read, ahead, from);
    return readings;
  }

  #readAll(read: (typeof READERS)[number], ahead: readonly Ahead[], from: number): void {
    for (const one of ahead) {
      this.#steps.onText(from + one.place);
      read(one);
    }
  }

  #readingOf(turn: Turn, found: Enrichment = NOTHING_FOUND): TurnReading {
    if (turn.role === 'other' || turn.content.length > LONGEST_KEPT) return new TurnReading(turn, found);
    const kept = this.#kept[turn.role];
    const known = kept.get(turn.content);
    if (known !== undefined) return known;
    const reading = new TurnReading(turn, found);
    kept.set(turn.content, reading);
    return reading;
  }
}

function aheadOf(
  turns: readonly Turn[],
  found: readonly Enrichment[],
  readings: readonly TurnReading[],
  hasTurns: (session: number) => boolean,
): Ahead[] {
  const last = new Map(turns.map(({ session }, index) => [session, index]));
  const begun = new Set<number>();
  return turns.flatMap(({ role, session }, place) => {
    const goesOn = begun.has(session) || hasTurns(session);
    begun.add(session);
    if (role === 'other') return [];
    const isRequest = found[place]?.kind === 'request';
    const isFollowed = last.get(session) !== place;
    const reading = readings[place] as TurnReading;
    return [{ place, role, isRequest, goesOn, isFollowed, reading }];
  });
}
