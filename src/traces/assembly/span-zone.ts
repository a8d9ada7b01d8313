/** Covered by test/traces/assembly/known-turns.test.ts. */
import { isTimed, type KnownTurn } from './known-turn.ts';
import type { SpanParts, SpokenSpan } from './spoken-span.ts';

/** Turns that may belong before or behind the start of a span: from the last answer that was given before it. */
export interface Zone {
  readonly begin: number;
  readonly end: number;
  /** The question that the span goes on with; `end` if there is none. */
  readonly question: number;
  /** How likely it is that one; -1 if there is none. */
  readonly score: number;
}

/** Finds where among the turns of a conversation a span belongs, by its time. */
export class SpanPlace {
  readonly #span: SpokenSpan;
  readonly #goneOnWith: QuestionGoneOnWith | null;

  constructor(span: SpokenSpan, parts: SpanParts) {
    this.#span = span;
    const question = span.continues ? parts.questions.at(-1) : undefined;
    this.#goneOnWith = question === undefined ? null : new QuestionGoneOnWith(span, parts, question.hash);
  }

  /** The hash of the question that the span goes on with; null: it asks its own. */
  get goneOnWith(): string | null {
    return this.#goneOnWith?.hash ?? null;
  }

  zone(turns: readonly KnownTurn[]): Zone {
    const end = this.#end(turns);
    const { question, score } = this.#goneOnWith?.before(turns, end) ?? { question: end, score: -1 };
    return { begin: behindLastAnswer(turns, question), end, question, score };
  }

  /**
   * The span has asked its question again, in a new turn before `zone.end`: that may be the one that it goes on with.
   * `before`: the hash of the turn that it stands behind.
   */
  asked(turns: readonly KnownTurn[], zone: Zone, hash: string, before: string | undefined): Zone {
    const goneOnWith = this.#goneOnWith;
    if (goneOnWith?.hash !== hash || goneOnWith.scoreOfOwn(before) < zone.score) return zone;
    return { ...zone, question: TAKEN, begin: behindLastAnswer(turns, zone.end) };
  }

  /** The first turn that is said later than the span begins. */
  #end(turns: readonly KnownTurn[]): number {
    const { startedAt } = this.#span;
    let end = turns.length;
    for (let index = turns.length - 1; index >= 0; index -= 1) {
      const turn = turns[index] as KnownTurn;
      if (!isTimed(turn)) continue;
      if (turn.at <= startedAt) break;
      end = index;
    }
    return end;
  }
}

/** No turn: the question was found to be one that the span has asked itself. */
const TAKEN = -1;

function behindLastAnswer(turns: readonly KnownTurn[], before: number): number {
  let index = before - 1;
  while (index >= 0 && !isTimedAnswer(turns[index] as KnownTurn)) index -= 1;
  return index + 1;
}

function isTimedAnswer(turn: KnownTurn): boolean {
  return turn.role === 'assistant' && isTimed(turn);
}

/**
 * The question that a span goes on with: since then, no more was said than the span repeats. The likeliest is one of
 * its own trace, then one behind what the span says was said before, then the last.
 */
class QuestionGoneOnWith {
  readonly hash: string;
  readonly #span: SpokenSpan;
  /** Where what the assistant said since the question is among the steps, by hash, ascending. */
  readonly #steps: ReadonlyMap<string, readonly number[]>;
  readonly #stepCount: number;
  /** What was said before that question. */
  readonly #lastBefore: string | undefined;

  constructor(span: SpokenSpan, { history, steps }: SpanParts, hash: string) {
    this.hash = hash;
    this.#span = span;
    this.#stepCount = steps.length;
    this.#lastBefore = history.at(-1)?.hash;
    this.#steps = Map.groupBy(steps.keys(), (index) => steps[index]?.hash ?? '');
  }

  /** Returns the likeliest of the turns before `end`; `end` if none fits. */
  before(turns: readonly KnownTurn[], end: number): Pick<Zone, 'question' | 'score'> {
    let best = { question: end, score: -1 };
    let runEnd = end;
    // Before a question that was answered with more, there is none: what was said since would be more, too.
    for (let index = end - 1; index >= 0; index -= 1) {
      const turn = turns[index] as KnownTurn;
      if (turn.role !== 'user') continue;
      if (turn.hash === this.hash && this.#mayBe(turn) && this.#repeats(turns, index, runEnd)) {
        const score = (turn.trace === this.#span.trace ? OWN : 0) + this.#behind(turns[index - 1]?.hash);
        if (score > best.score) best = { question: index, score };
      }
      if (hasTimedAnswer(turns, index + 1, runEnd)) break;
      runEnd = index;
    }
    return best;
  }

  /** Scores a turn that the span has asked itself, behind what has the hash `before`. */
  scoreOfOwn(before: string | undefined): number {
    return OWN + this.#behind(before);
  }

  #behind(before: string | undefined): number {
    return before === this.#lastBefore ? 1 : 0;
  }

  /** What a step of a trace goes on with was said in the same trace, unless each call is a trace of its own. */
  #mayBe({ inferred, trace }: KnownTurn): boolean {
    return inferred !== 'step' || this.#span.alone || trace === this.#span.trace;
  }

  /** Whether all that was answered to a question, up to `end`, are steps of the span, in their order. */
  #repeats(turns: readonly KnownTurn[], question: number, end: number): boolean {
    let step = 0;
    let repeated = 0;
    for (let index = question + 1; index < end; index += 1) {
      const turn = turns[index] as KnownTurn;
      const found = firstFrom(this.#steps.get(turn.hash) ?? [], step);
      if (found !== null) [step, repeated] = [found + 1, repeated + 1];
      else if (isTimed(turn)) return false;
    }
    // A history leaves nothing out.
    return turns[question]?.inferred !== 'history' || repeated === this.#stepCount;
  }
}

const OWN = 2;

function hasTimedAnswer(turns: readonly KnownTurn[], from: number, to: number): boolean {
  for (let index = from; index < to; index += 1) if (isTimed(turns[index] as KnownTurn)) return true;
  return false;
}

/** The first of ascending numbers that is not below `from`; null if there is none. */
function firstFrom(numbers: readonly number[], from: number): number | null {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < from) low = middle + 1;
    else high = middle;
  }
  return numbers[low] ?? null;
}
