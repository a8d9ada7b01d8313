/**
 * Merges what a span says into the known turns of its conversation. Keeps the invariant that each message counts once,
 * although calls repeat the history, are tried again and arrive in any order. Takes time linear in the messages and the
 * turns. Test: test/doors/traces/assembly/merge-span.test.ts, laws.test.ts.
 */
import type { ObservedMessage } from '../observation.ts';
import { alignHistory } from './history.ts';
import { partsOf, type HashedMessage, type HashedSpan, type SpanParts } from './hashed-span.ts';
import { endOfRun, insertTurns, isTimed, zoneOf, type Inferred, type Insertion, type Turn } from './turn.ts';

/** A message that no earlier span has brought. */
export interface NewMessage extends ObservedMessage {
  readonly at: number;
}

export interface MergeOptions {
  /** The beginning of the conversation has been counted and then forgotten. */
  readonly forgotten?: boolean;
  /** What was said before was erased: only turns that were said later tell what of a history is new. Microseconds. */
  readonly erasedAt?: number | undefined;
  /** The conversation is one trace: what its calls repeat of others was said in other traces, which count it. */
  readonly isTrace?: boolean;
}

/** Returns the messages that are new, and adds their turns. */
export function mergeSpan(turns: Turn[], span: HashedSpan, options: MergeOptions = {}): NewMessage[] {
  return new Merge(turns, span, options).run();
}

/** Where messages are looked for, and where new ones go. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** New messages go before this turn, or behind what was found last. */
  readonly insertAt: number;
  readonly mayBe?: (turn: Turn, index: number) => boolean;
}

class Merge {
  readonly #added: NewMessage[] = [];
  readonly #turns: Turn[];
  readonly #span: HashedSpan;
  readonly #options: MergeOptions;
  readonly #parts: SpanParts;
  /** Turns that a message of this span was found to be. No turn is two messages. */
  readonly #taken = new Set<Turn>();

  constructor(turns: Turn[], span: HashedSpan, options: MergeOptions) {
    this.#turns = turns;
    this.#span = span;
    this.#options = options;
    const parts = partsOf(span);
    const { history, questions, steps, answers } = parts;
    const isFromOthers = options.isTrace === true && span.continues && span.alone;
    this.#parts = isFromOthers
      ? { history: [...history, ...questions, ...steps], questions: [], steps: [], answers }
      : parts;
  }

  run(): NewMessage[] {
    const { history, questions, steps, answers } = this.#parts;
    const { startedAt, endedAt, continues } = this.#span;
    const place = history.length === 0 ? null : this.#addHistory();
    const inferred = continues ? 'step' : null;
    const asked = questions.length === 0 ? null : this.#stretchOfQuestions(place);
    let behind = place ?? zoneOf(this.#turns, startedAt).end;
    if (asked !== null) behind = this.#add(questions, asked, startedAt, inferred);
    behind = this.#add(steps, this.#stretchOfAnswers(behind, startedAt), startedAt, 'step');
    this.#add(answers, this.#stretchOfAnswers(behind, endedAt), endedAt, null);
    return this.#added;
  }

  /** Returns the index behind the history; null: none of it is known, so only time tells what follows it. */
  #addHistory(): number | null {
    const { history, questions } = this.#parts;
    const { startedAt, trace, continues, alone } = this.#span;
    const { forgotten = false, isTrace = false, erasedAt = -Infinity } = this.#options;
    const zone = zoneOf(this.#turns, startedAt);
    const { places, end } = alignHistory(this.#turns, history, zone, {
      hash: questions[0]?.hash,
      mayBe: (turn) => turn.trace === trace || turn.inferred !== null || (continues && alone),
    });
    const first = places.findIndex((place) => place !== null);
    let next = first < 0 ? zone.begin : (places[first] as number);
    const isLater = (turn: Turn): boolean => erasedAt === -Infinity || (isTimed(turn) && turn.at > erasedAt);
    const firstLater = places.findIndex((place) => place !== null && isLater(this.#turns[place] as Turn));
    const insertions: Insertion[] = [];
    for (const [index, message] of history.entries()) {
      const place = places[index] ?? null;
      if (place !== null) {
        this.#taken.add(this.#turns[place] as Turn);
        next = Math.max(next, place + 1);
        continue;
      }
      const turn = this.#turnOf(message, startedAt, isTrace ? 'elsewhere' : 'history');
      this.#taken.add(turn);
      insertions.push({ index: next, turn });
      const isForgotten = forgotten && (firstLater < 0 || index < firstLater);
      if (!isTrace && !isForgotten) this.#count(message, startedAt);
    }
    insertTurns(this.#turns, insertions);
    return end === null ? null : Math.max(end, next) + insertions.length;
  }

  /** `place`: the index behind the history; null: only the time of the span tells where its questions are. */
  #stretchOfQuestions(place: number | null): Stretch {
    const { startedAt, endedAt, trace, continues, alone, answered } = this.#span;
    const { begin, end } = zoneOf(this.#turns, startedAt);
    if (place !== null) {
      // A question behind an earlier part of the history was asked later than what is answered there.
      const insertAt = place < begin ? end : place;
      return { from: place, to: endOfRun(this.#turns, place, 'user'), insertAt };
    }
    const gone = continues ? this.#goneOnWith(end) : null;
    if (gone !== null) return { from: gone, to: gone + 1, insertAt: end };
    return {
      from: begin,
      to: endOfRun(this.#turns, end, 'user'),
      insertAt: end,
      mayBe: (turn, index) => {
        if (turn.role !== 'user') return false;
        const isOwn = turn.trace === trace;
        if (turn.inferred === 'step' && !isOwn && !alone) return false;
        // A call that nobody answered is tried again later, in a trace of its own.
        const isTriedAgain = alone && answered.length === 0;
        return index < end || turn.inferred === 'step' || turn.at <= endedAt || isTriedAgain;
      },
    };
  }

  /**
   * Returns the turn before `end` that asks what the span goes on with, if no more was answered than the span repeats:
   * the last one of its trace, else the first one behind the last answer, because the span has no history.
   */
  #goneOnWith(end: number): number | null {
    const { trace, alone } = this.#span;
    const { questions, steps } = this.#parts;
    const question = questions.at(-1)?.hash;
    const repeated = new Set(steps.map(({ hash }) => hash));
    let found: number | null = null;
    let [isRepeated, isBehindLast] = [true, true];
    for (let index = end - 1; index >= 0; index -= 1) {
      const turn = this.#turns[index] as Turn;
      if (turn.role === 'assistant') {
        isRepeated &&= repeated.has(turn.hash) || !isTimed(turn);
        continue;
      }
      isBehindLast &&= isRepeated;
      if (turn.hash === question && isRepeated) {
        if (turn.trace === trace && turn.inferred !== 'history') return index;
        if (isBehindLast && (alone || turn.inferred === 'history')) found = index;
      }
      isRepeated = true;
    }
    return found;
  }

  #stretchOfAnswers(from: number, at: number): Stretch {
    const to = endOfRun(this.#turns, from, 'assistant');
    let insertAt = from;
    const isLater = (turn: Turn): boolean => isTimed(turn) && turn.at > at && !this.#taken.has(turn);
    while (insertAt < to && !isLater(this.#turns[insertAt] as Turn)) insertAt += 1;
    return { from, to, insertAt };
  }

  /** Finds messages in a stretch, each behind the one before it, and inserts those that are new. Returns their end. */
  #add(messages: readonly HashedMessage[], stretch: Stretch, at: number, inferred: Inferred | null): number {
    if (messages.length === 0) return stretch.from;
    const find = this.#finder(stretch);
    const insertions: Insertion[] = [];
    let position = stretch.from;
    for (const message of messages) {
      const found = find(message.hash, position);
      if (found !== null) {
        position = found + 1;
        this.#recognise(found, message, at, inferred);
        continue;
      }
      position = Math.max(position, stretch.insertAt);
      const turn = this.#turnOf(message, at, inferred);
      this.#taken.add(turn);
      this.#count(message, at);
      insertions.push({ index: position, turn });
    }
    insertTurns(this.#turns, insertions);
    return position + insertions.length;
  }

  /** Makes what finds the first free turn with a hash from an index on. Each turn is looked at once. */
  #finder({ from, to, mayBe }: Stretch): (hash: string, from: number) => number | null {
    const byHash = new Map<string, { readonly indexes: number[]; head: number }>();
    for (let index = from; index < to; index += 1) {
      const turn = this.#turns[index] as Turn;
      if (this.#taken.has(turn) || mayBe?.(turn, index) === false) continue;
      const equal = byHash.get(turn.hash);
      if (equal === undefined) byHash.set(turn.hash, { indexes: [index], head: 0 });
      else equal.indexes.push(index);
    }
    return (hash, position) => {
      const equal = byHash.get(hash);
      if (equal === undefined) return null;
      while ((equal.indexes[equal.head] ?? Infinity) < position) equal.head += 1;
      return equal.indexes[equal.head] ?? null;
    };
  }

  /** A message is a known turn. If this is its own call, its time is known now. */
  #recognise(index: number, message: HashedMessage, at: number, inferred: Inferred | null): void {
    const turn = this.#turns[index] as Turn;
    this.#taken.add(turn);
    if (inferred !== null || turn.inferred === null) return;
    if (turn.inferred === 'elsewhere') this.#count(message, at);
    turn.at = at;
    turn.inferred = null;
    turn.trace = this.#span.trace;
  }

  #turnOf({ role, hash }: HashedMessage, at: number, inferred: Inferred | null): Turn {
    return { role, hash, at, inferred, trace: this.#span.trace };
  }

  #count({ role, content }: HashedMessage, at: number): void {
    this.#added.push({ role, content, at });
  }
}
