import type { ObservedMessage } from '../observation.ts';
import { EqualQuestions } from './equal-questions.ts';
import { alignHistory, type Alignment } from './history-alignment.ts';
import { insertTurns, timeBetween, type Insertion, type KnownTurn } from './known-turn.ts';
import { SpanPlace } from './span-zone.ts';
import { partsOf, type SaidMessage, type SpanParts, type SpokenSpan } from './spoken-span.ts';
import { TurnRun } from './turn-run.ts';

/** A message that no earlier span has brought. */
export interface NewMessage extends ObservedMessage {
  readonly at: number;
}

export interface MergeOptions {
  /** The beginning of the conversation has been counted and then forgotten. */
  readonly forgotten?: boolean;
  /** The known turns are exactly this many first messages of the history. */
  readonly begun?: number | undefined;
}

/**
 * Merges the messages of a span into the known turns of its conversation and returns the new ones. Changes `turns`.
 * Keeps the invariant that each message counts once, although calls repeat the history, are tried again and arrive in
 * any order. Takes time linear in the messages and the turns.
 */
export function mergeSpan(turns: KnownTurn[], span: SpokenSpan, options: MergeOptions = {}): NewMessage[] {
  const parts = partsOf(span);
  const merge = new Merge(turns, span, parts);
  merge.addHistory(parts.history, options);
  merge.addQuestions(parts.questions, [...parts.steps, ...parts.answers]);
  merge.addAnswers(parts.steps, true);
  merge.addAnswers(parts.answers, false);
  return merge.added;
}

/** Gives the first turns, which only a history has shown until now, the times and the trace of their own calls. */
export function recogniseTurns(turns: KnownTurn[], own: readonly KnownTurn[]): void {
  for (const [index, { inferred, at, trace }] of own.entries()) {
    const turn = turns[index];
    if (turn === undefined || inferred !== null || turn.inferred === null) continue;
    turns[index] = { ...turn, inferred: null, at: timeBetween(turns, index, at), trace };
  }
}

class Merge {
  readonly added: NewMessage[] = [];
  readonly #turns: KnownTurn[];
  readonly #span: SpokenSpan;
  readonly #spanPlace: SpanPlace;
  /** Turns that a message of this span has been matched with. No turn matches two messages. */
  readonly #taken = new Set<KnownTurn>();
  /** The questions follow the history, which ends here. Null: only the time of the span tells their place. */
  #place: number | null = null;
  /** The answers follow the questions, which end here. Null: only the time of the span tells their place. */
  #behind: number | null = null;

  constructor(turns: KnownTurn[], span: SpokenSpan, parts: SpanParts) {
    this.#turns = turns;
    this.#span = span;
    this.#spanPlace = new SpanPlace(span, parts);
  }

  addHistory(history: readonly SaidMessage[], { forgotten = false, begun }: MergeOptions): void {
    const isBegun = begun === this.#turns.length;
    if (history.length === 0 && !isBegun) return;
    const zone = this.#spanPlace.zone(this.#turns);
    const { places, place }: Alignment = isBegun
      ? {
          places: history.map((_, index) => (index < begun ? index : null)),
          place: Math.min(begun, history.length),
        }
      : alignHistory(this.#turns, history, zone);
    const first = places.findIndex((found) => found !== null);
    const from = first >= 0 ? (places[first] ?? 0) : isBegun ? 0 : zone.begin;
    const insertions: Insertion[] = [];
    let next = from;
    for (const [index, message] of history.entries()) {
      const found = places[index] ?? null;
      if (found !== null) {
        this.#taken.add(this.#turns[found] as KnownTurn);
        next = found + 1;
        continue;
      }
      const turn = this.#turn(message, this.#span.startedAt, 'history');
      this.#taken.add(turn);
      insertions.push({ index: next, turn });
      if (!forgotten || (first >= 0 && index > first)) this.#add(message, this.#span.startedAt);
    }
    insertTurns(this.#turns, insertions);
    this.#place = place === null ? null : Math.max(place, next) + insertions.length;
    this.#behind = this.#place;
  }

  addQuestions(questions: readonly SaidMessage[], answers: readonly SaidMessage[]): void {
    if (questions.length === 0) return;
    if (this.#place === null) this.#behind = this.#askInTime(questions, answers[0]?.hash ?? null);
    else this.#behind = this.#askBehind(questions, this.#place);
  }

  /** Looks for the questions near the start of the span: no history tells their place. */
  #askInTime(questions: readonly SaidMessage[], answer: string | null): number {
    const [turns, taken, span, place] = [this.#turns, this.#taken, this.#span, this.#spanPlace];
    const equal = new EqualQuestions({ turns, taken, span, place, answer });
    let last: number | null = null;
    for (const message of questions) {
      last = equal.find(message.hash);
      if (last === null) equal.insert(this.#newTurn(message, span.startedAt, span.continues));
      else if (span.continues) taken.add(turns[last] as KnownTurn);
      else equal.recognise(last);
    }
    return equal.settle(last);
  }

  /** Looks for the questions among those that follow the history. */
  #askBehind(questions: readonly SaidMessage[], place: number): number {
    const { startedAt: at, trace, continues } = this.#span;
    const run = new TurnRun(this.#turns, this.#taken, place, 'user');
    for (const message of questions) {
      const found = run.find(message.hash);
      if (found === null) run.insertHere(this.#newTurn(message, at, continues));
      else run.pass(found, continues ? null : { at, trace });
    }
    return run.settle();
  }

  /** `steps`: an earlier call has said these answers. */
  addAnswers(answers: readonly SaidMessage[], steps: boolean): void {
    if (answers.length === 0) return;
    const { startedAt, endedAt, trace } = this.#span;
    const at = steps ? startedAt : endedAt;
    const from = this.#behind ?? this.#spanPlace.zone(this.#turns).end;
    const run = new TurnRun(this.#turns, this.#taken, from, 'assistant');
    for (const message of answers) {
      const found = run.find(message.hash);
      if (found === null) run.insertInTime(this.#newTurn(message, at, steps));
      else run.pass(found, steps ? null : { at, trace });
    }
    this.#behind = run.settle();
  }

  #newTurn(message: SaidMessage, at: number, step: boolean): KnownTurn {
    this.#add(message, at);
    return this.#turn(message, at, step ? 'step' : null);
  }

  #turn({ role, hash }: SaidMessage, at: number, inferred: KnownTurn['inferred']): KnownTurn {
    return { role, hash, at, inferred, trace: this.#span.trace };
  }

  #add({ role, content }: SaidMessage, at: number): void {
    this.added.push({ role, content, at });
  }
}
