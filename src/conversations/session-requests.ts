/** The requests of a session that its title and summary speak of, each with its answer. */
import type { ByteReader, ByteWriter } from '../domain/byte-codec.ts';
import { contentCount } from '../language/shown/phrase-set.ts';
import { ended } from '../language/shown/shortening.ts';
import { bestAnswer, stemsOf, type AssistantAnswer, type ScoredAnswer } from './assistant-answer.ts';
import { denies, isHidden, namesOne, refuses } from './said-sentence.ts';
import { kept } from './kept-text.ts';

/** Requests that a summary tells. */
export const TOLD = 3;
/** One more, so that a new one may come to weigh more than those that are told. */
const KEPT = TOLD + 1;
const REQUEST_LENGTH = 140;
const ANSWER_LENGTH = 180;
/** What says no more by itself does not stand for the session, however long it takes. */
export const LEANING = 3;
/** How much a turn counts beside what a request says (at most 15) and coming in the first turn that asks. */
const TURN_WEIGHT = 4;
const FIRST_WEIGHT = 8;
const DONE_WEIGHT = 16;
const MOST_TURNS = 20;
/** How much less a request is told whose answer is hidden. */
const HIDDEN_WEIGHT = 8;
/** What says no more than "I have a question" gains nothing by coming first. */
const VAGUE = 5;
/**
 * How much better a later answer must be: it speaks to a further question of the user, to what the user answered or
 * tried again (then it may be worse), or to anything else.
 */
const MARGINS = { detour: 0.6, answered: -0.25, step: 0.1, other: 0.1, stated: 0.6, closing: 9 } as const;
/** What a report names with so few words, the answer before it tells; it must state something, in hundredths. */
const THIN = 5;
const PLAIN = 48;
/** What an assistant turn after the first speaks to. */
export type Bearing = keyof typeof MARGINS;
/** After these a statement takes the place of a refusal. */
const OVERCOMING: readonly Bearing[] = ['other', 'step', 'stated'];
/** After these a report needs no word of the request. */
const CONFIRMED: readonly Bearing[] = ['answered', 'step', 'closing'];

/** A request as a user turn brings it up. */
export type NewRequest = Pick<SessionRequest, 'text' | 'telling'> &
  Partial<Pick<SessionRequest, 'isInformation'>>;

/** A request, and the best answer to it so far. */
export interface SessionRequest {
  readonly text: string;
  /** 0 to 15: how well it says by itself what is wanted. */
  readonly telling: number;
  /** It came in the first turn that asked. */
  readonly isFirst: boolean;
  /** It only asks to be told something, so nothing is done for it. */
  isInformation: boolean;
  /** The one before it came in the same turn. */
  isJoined: boolean;
  /** Of the latest turn that wanted something done: after a question beside it the session goes on with it. */
  isOpen: boolean;
  /** Assistant turns that dealt with it. */
  turns: number;
  /** '' without. */
  answer: string;
  /** Hundredths. */
  answerScore: number;
  /** The answer reports that the request is done. */
  isDone: boolean;
}

export class SessionRequests {
  #all: SessionRequest[] = [];
  /** Those of the latest turn that asked: the assistant deals with them. */
  #current: SessionRequest[] = [];
  readonly #stems = new WeakMap<SessionRequest, ReadonlySet<string>>();

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** The requests of one turn; what is not kept any more is one that took few turns. */
  add(requests: readonly NewRequest[]): void {
    const isFirst = this.#all.length === 0;
    const opens = requests.some(({ isInformation }) => isInformation !== true);
    if (opens) for (const request of this.#all) request.isOpen = false;
    const best = Math.max(...requests.map(({ telling }) => telling));
    const added = requests
      .slice(0, TOLD)
      .map(({ text, telling, isInformation = false }, place): SessionRequest => ({
        text: kept(text, REQUEST_LENGTH),
        telling,
        isFirst: isFirst && telling === best,
        isInformation,
        isJoined: place > 0,
        isOpen: opens && !isInformation,
        turns: 0,
        answer: '',
        answerScore: 0,
        isDone: false,
      }));
    this.#current = added.filter(({ text }) => text !== '');
    this.#all.push(...this.#current);
    while (this.#all.length > KEPT) {
      const earlier = this.#all.filter((request) => !this.#current.includes(request));
      const pool = earlier.length > 0 ? earlier : this.#all;
      const least = pool.reduce((one, other) => (rankOf(other) <= rankOf(one) ? other : one));
      const next = this.#all[this.#all.indexOf(least) + 1];
      if (next !== undefined && !least.isJoined) next.isJoined = false;
      this.#all = this.#all.filter((request) => request !== least);
      this.#current = this.#current.filter((request) => request !== least);
    }
  }

  /** Whether an earlier request holds all that a sentence names. */
  covers(text: string): boolean {
    const named = [...stemsOf(text)];
    return this.#all.some((request) => {
      const stems = this.#stemsOf(request);
      return named.every((stem) => stems.has(stem));
    });
  }

  /** The user goes on: where the latest questions have their answers, with what is wanted done. */
  resume(): void {
    const left = this.#current.filter(({ isInformation, answer }) => !isInformation || answer === '');
    const open = left.length > 0 ? left : this.#all.filter(({ isOpen }) => isOpen);
    if (open.length > 0) this.#current = open;
    else if (this.#current.length === 0) this.#current = this.#all.slice(-1);
  }

  /** The user denies what the assistant last said: it is no answer to go by. */
  doubt(): void {
    for (const request of this.#current) if (!request.isDone) request.answerScore = 0;
  }

  /** The user asks about something that is not kept: the next answer belongs to no request, a report excepted. */
  setAside(): void {
    this.#current = [];
  }

  /** The greatest part of what a sentence names that an earlier request names. */
  shareOf(text: string): number {
    const named = [...stemsOf(text)];
    const shares = this.#all.map((request) => {
      const stems = this.#stemsOf(request);
      return named.filter((stem) => stems.has(stem)).length / Math.max(1, named.length);
    });
    return Math.max(0, ...shares);
  }

  clear(): void {
    this.#all = [];
    this.#current = [];
  }

  /**
   * An assistant turn on the latest requests; it may also report that an earlier one is done. `redact`: takes personal
   * data out of a sentence that is kept.
   */
  answer(answer: AssistantAnswer, bearing: Bearing, redact: (text: string) => string): void {
    const all = this.#all.toSorted((one, other) => this.#placeOf(other) - this.#placeOf(one));
    // What the answer reports of the requests that are spoken of.
    let bestReport = 0;
    for (const request of all) {
      const isCurrent = this.#current.includes(request);
      if (isCurrent && bearing !== 'detour') request.turns = Math.min(request.turns + 1, MOST_TURNS);
      const isConfirmed = !request.isInformation && CONFIRMED.includes(bearing);
      const rivals = isCurrent ? this.#rivalsOf(request) : [];
      const best = bestAnswer(answer, this.#stemsOf(request), {
        isConfirmed,
        isInformation: request.isInformation,
        rivals,
      });
      if (isCurrent && best === null && answer.asksBack) this.#makeTask(request);
      if (best === null) continue;
      const score = Math.max(0, Math.min(255, Math.round(best.score * 60)));
      const isSpokenOf = isCurrent || (request.isOpen && !(best.isForeign && this.#current.length > 0));
      if (isSpokenOf && best.isReport) bestReport = Math.max(bestReport, score);
      if (!isCurrent && !(isSpokenOf && best.isReport) && !(best.settles && score > bestReport)) continue;
      if (!isCurrent && request.isDone && score <= request.answerScore) continue;
      if (!isSpokenOf && (request.isInformation || denies(request.answer))) continue;
      // What is answered and was asked beside something stays answered.
      if (request.isInformation && !request.isFirst && request.answer !== '' && !best.shares) continue;
      if (request.isDone && isHidden(best.text)) continue;
      if (request.isDone && best.isReport && best.isForeign) continue;
      const margin = marginOf(request, best, bearing);
      // What is done beats any list or step before it, and is only followed by what is done as well.
      const isWorse = score <= request.answerScore + margin;
      if (best.isReport === request.isDone ? isWorse && !best.isReport : request.isDone) continue;
      request.answer = kept(reported(request, best, redact(best.text)), ANSWER_LENGTH);
      request.isDone = best.isReport;
      request.answerScore = score;
    }
  }

  /** "Is there a train at noon?" – "From where?": there is something to be done, unless something else is. */
  #makeTask(request: SessionRequest): void {
    const isBeside = this.#all.some(({ isOpen, isDone }) => isOpen && !isDone);
    if (!request.isInformation || request.answer !== '' || isBeside) return;
    for (const other of this.#all) other.isOpen = false;
    request.isInformation = false;
    request.isOpen = true;
  }

  /** What is spoken of now comes first. */
  #placeOf(request: SessionRequest): number {
    return this.#current.includes(request) ? 2 : request.isOpen ? 1 : 0;
  }

  /** What the other requests of the turn name. */
  #rivalsOf(request: SessionRequest): ReadonlySet<string>[] {
    return this.#current.filter((other) => other !== request).map((other) => this.#stemsOf(other));
  }

  #stemsOf(request: SessionRequest): ReadonlySet<string> {
    const stems = this.#stems.get(request) ?? stemsOf(request.text);
    this.#stems.set(request, stems);
    return stems;
  }

  /** The request that stands for the session: the first, unless a later one took more turns or says more. */
  get main(): SessionRequest | null {
    let main: SessionRequest | null = null;
    for (const request of this.#all) if (main === null || weightOf(request) > weightOf(main)) main = request;
    return main;
  }

  /** Whether the assistant has reported a request as done. */
  get hasDone(): boolean {
    return this.#all.some(({ isDone }) => isDone);
  }

  /** Whether the latest requests are reported as done. */
  get isDone(): boolean {
    return this.#current.length > 0 && this.#current.every(({ isDone }) => isDone);
  }

  /** Whether the latest requests are what the session is about. */
  get isAtMain(): boolean {
    const { main } = this;
    return main === null || this.#current.includes(main);
  }

  /** At most three, the weightiest, in their order; `latest`: the latest one is among them. */
  told(latest: boolean): readonly SessionRequest[] {
    const last = latest ? this.#current.at(-1) : undefined;
    const rank = (request: SessionRequest): number => (request === last ? Infinity : rankOf(request));
    const byRank = this.#all.toSorted((one, other) => rank(other) - rank(one)).slice(0, TOLD);
    return this.#all.filter((request) => byRank.includes(request));
  }

  /** Whether two requests came in the same turn, the first before the other. */
  areJoined(one: SessionRequest, other: SessionRequest): boolean {
    const from = this.#all.indexOf(one);
    const between = this.#all.slice(from + 1, this.#all.indexOf(other) + 1);
    return between.length > 0 && between.every(({ isJoined }) => isJoined);
  }

  write(writer: ByteWriter): void {
    writer.count(this.#all.length);
    for (const request of this.#all) {
      const { text, telling, isFirst, isDone, isInformation, isOpen, turns, answer, answerScore } = request;
      writer
        .text(text)
        .byte(
          telling | (isFirst ? 16 : 0) | (isDone ? 32 : 0) | (isInformation ? 64 : 0) | (isOpen ? 128 : 0),
        )
        .byte(turns | (request.isJoined ? 64 : 0) | (this.#current.includes(request) ? 128 : 0))
        .text(answer)
        .byte(answerScore);
    }
  }

  static read(reader: ByteReader): SessionRequests {
    const requests = new SessionRequests();
    const count = reader.count();
    for (let place = 0; place < count; place += 1) {
      const text = reader.text();
      const flags = reader.byte();
      const turns = reader.byte();
      const request: SessionRequest = {
        text,
        telling: flags & 15,
        isFirst: (flags & 16) !== 0,
        isDone: (flags & 32) !== 0,
        isInformation: (flags & 64) !== 0,
        isOpen: (flags & 128) !== 0,
        isJoined: (turns & 64) !== 0,
        turns: turns & 63,
        answer: reader.text(),
        answerScore: reader.byte(),
      };
      requests.#all.push(request);
      if (turns > 127) requests.#current.push(request);
    }
    return requests;
  }
}

/** Hundredths by which a later answer must be better; a refusal gives way to what is stated after it. */
function marginOf({ answer }: SessionRequest, { text }: ScoredAnswer, bearing: Bearing): number {
  if (answer === '' && bearing !== 'closing') return -255;
  const isOvercome = OVERCOMING.includes(bearing) && refuses(answer) && !refuses(text);
  return Math.round(MARGINS[isOvercome ? 'answered' : bearing] * 60);
}

/** A report that names little tells as well what was found before it: "The pizzeria Etna has a table. It is booked." */
function reported({ answer, answerScore, isDone }: SessionRequest, best: ScoredAnswer, text: string): string {
  if (!best.isReport || isDone || answer === '' || answerScore < PLAIN || denies(answer)) return text;
  const both = `${ended(answer)} ${text}`;
  return contentCount(text) <= THIN && !namesOne(text) && both.length <= ANSWER_LENGTH ? both : text;
}

/** What is told first: what was done rather than what was only asked beside it. */
function rankOf(request: SessionRequest): number {
  const hidden = isHidden(request.answer) ? HIDDEN_WEIGHT : 0;
  return weightOf(request) + (request.isDone ? DONE_WEIGHT : 0) - hidden;
}

/** What a session came for, and got, stays its main request. */
function weightOf({ telling, isFirst, turns: all, isDone, isInformation }: SessionRequest): number {
  const turns = (isInformation && !isFirst) || telling <= LEANING ? Math.min(all, 1) : all;
  const first = isDone ? FIRST_WEIGHT + DONE_WEIGHT : FIRST_WEIGHT;
  return telling + turns * TURN_WEIGHT + (isFirst && telling > VAGUE ? first : 0);
}
