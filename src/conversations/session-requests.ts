/** The requests of a session that its title and summary speak of, each with its answer. */
import type { ByteReader, ByteWriter } from '../domain/byte-codec.ts';
import { bestAnswer, stemsOf, type AssistantAnswer, type ScoredAnswer } from '../turns/assistant-answer.ts';
import { kept } from './kept-text.ts';
import { denies, isHidden } from '../turns/said-sentence.ts';
import {
  ANSWER_LENGTH,
  CONFIRMED,
  DETAIL_LENGTH,
  forget,
  isStale,
  marginOf,
  MOST_TURNS,
  newRequest,
  rankOf,
  readRequest,
  take,
  weightOf,
  writeRequest,
  type Bearing,
  type NewRequest,
  type SessionRequest,
} from './session-request.ts';

/** Requests that a summary tells. */
export const TOLD = 3;
/** Some more, so that a new one may come to weigh more than those that are told. */
const KEPT = TOLD + 2;
/** Sentences that a group is told by. */
const TOLD_OF_GROUP = 2;
const MOST_DROPPED = 255;

export class SessionRequests {
  #all: SessionRequest[] = [];
  /** Those of the latest turn that asked: the assistant deals with them. */
  #current: SessionRequest[] = [];
  /** What the assistant is about to do, as it last asked to confirm; '' without. */
  #recap = '';
  /** Requests that are kept no more. */
  #dropped = 0;
  readonly #stems = new WeakMap<SessionRequest, ReadonlySet<string>>();

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** The requests of one turn; what is not kept any more is one that took few turns. */
  add(requests: readonly NewRequest[]): void {
    const isFirst = this.#all.length === 0;
    const opens = requests.some(({ isInformation }) => isInformation !== true);
    if (opens) {
      this.#recap = '';
      for (const request of this.#all) request.isOpen = false;
    }
    const best = Math.max(...requests.map(({ telling }) => telling));
    this.#current = requests
      .slice(0, TOLD)
      .map((request, place) => ({
        ...newRequest(request),
        isFirst: isFirst && request.telling === best,
        isJoined: place > 0,
        isOpen: opens && request.isInformation !== true,
      }))
      .filter(({ text }) => text !== '');
    this.#all.push(...this.#current);
    this.#makeRoom();
  }

  /** The user says more of what is wanted: it is told with the open request, with its own answer once that has one. */
  addMore(wish: NewRequest): void {
    const open = this.#all.filter(({ isOpen }) => isOpen);
    const goingOn = open.findLast(({ goesOn }) => goesOn);
    const head =
      goingOn ?? open.toSorted((one, other) => other.telling - one.telling)[0] ?? this.#current.at(-1);
    if (head === undefined || head.isDone) {
      this.add([wish]);
      return;
    }
    this.#current = [head];
    if (head.answer === '' || head.isRefused) {
      head.detail = kept(wish.text, DETAIL_LENGTH);
      this.#stems.delete(head);
      return;
    }
    const more = { ...newRequest(wish), isJoined: true, goesOn: true, isOpen: true };
    const place = this.#all.indexOf(head);
    this.#all.splice(place + 1, 0, more);
    // One such says enough of a request.
    if (head.goesOn) this.#all.splice(place, 1);
    this.#current = [more];
    this.#makeRoom();
  }

  #makeRoom(): void {
    while (this.#all.length > KEPT) {
      const earlier = this.#all.filter((request) => !this.#current.includes(request));
      const pool = earlier.length > 0 ? earlier : this.#all;
      const least = pool.reduce((one, other) => (rankOf(other) <= rankOf(one) ? other : one));
      const next = this.#all[this.#all.indexOf(least) + 1];
      if (next !== undefined && !least.isJoined) Object.assign(next, { isJoined: false, goesOn: false });
      if (!least.isJoined && next?.isJoined !== true)
        this.#dropped = Math.min(this.#dropped + 1, MOST_DROPPED);
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
    const tasks = this.#current.filter(({ isInformation }) => !isInformation);
    const open = tasks.length > 0 ? tasks : this.#all.filter(({ isOpen }) => isOpen);
    const left =
      open.length > 0 ? open : this.#current.filter(({ answer, isSpent }) => answer === '' && !isSpent);
    if (left.length > 0) this.#current = left;
    else if (this.#current.length === 0) this.#current = this.#all.slice(-1);
  }

  /** The user says that what the assistant last said is not it: it is no answer. */
  reject(): void {
    if (this.#recap !== '') {
      this.#recap = '';
      return;
    }
    for (const request of this.#current) {
      if (request.isDone || request.isInformation) continue;
      forget(request);
    }
  }

  /** The user asks for another one than what was proposed: what is stated next is the answer. */
  revise(): void {
    const open = this.#all.filter(({ isOpen }) => isOpen);
    if (open.length > 0) this.#current = open;
    this.#recap = '';
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
    this.#recap = '';
  }

  /**
   * An assistant turn on the latest requests; it may also report that an earlier one is done. `redact`: takes personal
   * data out of a sentence that is kept.
   */
  answer(
    answer: AssistantAnswer,
    bearing: Bearing,
    redact: (text: string) => string,
    { isRefused = answer.refuses && !answer.goesOn, isAwaited = false } = {},
  ): void {
    const all = this.#all.toSorted((one, other) => this.#placeOf(other) - this.#placeOf(one));
    // What the answer reports of the requests that are spoken of.
    let bestReport = 0;
    for (const request of all) {
      const isCurrent = this.#current.includes(request);
      if (isCurrent && bearing !== 'detour') request.turns = Math.min(request.turns + 1, MOST_TURNS);
      const isConfirmed = !request.isInformation && (isAwaited || CONFIRMED.includes(bearing));
      const rivals = isCurrent ? this.#rivalsOf(request) : [];
      const best = bestAnswer(answer, this.#stemsOf(request), {
        isConfirmed,
        isInformation: request.isInformation,
        rivals,
      });
      if (isCurrent && best === null && answer.asksBack) this.#makeTask(request);
      if (isCurrent && best === null && !answer.asksBack) request.isSpent = true;
      // What was proposed before is turned down, or what could not be had is found, in words that are not shown.
      if (isCurrent && best === null && answer.states && !isRefused && isStale(request, bearing))
        forget(request);
      if (best === null) continue;
      const score = Math.max(0, Math.min(255, Math.round(best.score * 60)));
      const isSpokenOf =
        isCurrent || (request.isOpen && (isAwaited || !best.isForeign || this.#current.length === 0));
      // What cannot be done is the request, not what was asked beside it.
      if (isAwaited && isRefused && request.isInformation && !best.shares) continue;
      if (isSpokenOf && best.isReport) bestReport = Math.max(bestReport, score);
      const isOutcome = isAwaited && request.isOpen && isRefused;
      const isReported = (isSpokenOf && best.isReport) || (best.settles && score > bestReport);
      if (!isCurrent && !isOutcome && !isReported) continue;
      // "No, they do not deliver" to a question on the way takes nothing back.
      const isBeside = bearing === 'step' && answer.denies && request.answer !== '' && !isOutcome;
      const margin = isOutcome ? -255 : isBeside ? 255 : marginOf(request, bearing, isRefused);
      if (!takesPlace(request, best, { score, margin, isCurrent, isSpokenOf })) continue;
      take(request, best, { text: redact(best.text), score, recap: this.#recap, isRefused });
    }
    if (answer.recaps) this.#recap = kept(redact(answer.recap), ANSWER_LENGTH);
    else if (answer.reports || isRefused) this.#recap = '';
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
    const stems = this.#stems.get(request) ?? stemsOf(`${request.text} ${request.detail}`);
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

  /** Whether the assistant has answered a request that is spoken of. */
  get isAnswered(): boolean {
    return this.#all.some(
      (request) =>
        (request.isOpen || this.#current.includes(request)) && (request.answer !== '' || request.isSpent),
    );
  }

  /** Whether the assistant has said of the latest request that it cannot be met. */
  get isRefused(): boolean {
    return this.#current.some(({ isRefused, isInformation }) => isRefused && !isInformation);
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

  /**
   * At most three requests, the weightiest, in their order, each with those that are told with it; `latest`: the latest
   * one is among them.
   */
  told(latest: boolean): readonly (readonly SessionRequest[])[] {
    const last = latest ? this.#current.at(-1) : undefined;
    const rank = (request: SessionRequest): number => (request === last ? Infinity : rankOf(request));
    const heaviest = (group: readonly SessionRequest[]): number => Math.max(...group.map(rank));
    const groups = this.#groups();
    const byRank = groups.toSorted((one, other) => heaviest(other) - heaviest(one)).slice(0, TOLD);
    return groups
      .filter((group) => byRank.includes(group))
      .map((group) => {
        const most = groups.length === 1 ? TOLD : TOLD_OF_GROUP;
        // How it went on is told.
        const inGroup = (request: SessionRequest): number =>
          request.goesOn && request.answer !== '' ? Infinity : rank(request);
        const best = group.toSorted((one, other) => inGroup(other) - inGroup(one)).slice(0, most);
        return group.filter((request) => best.includes(request));
      });
  }

  /** How many requests there were besides those that are told. */
  untold(told: readonly (readonly SessionRequest[])[]): number {
    return this.#dropped + this.#groups().length - told.length;
  }

  /** Requests of one turn, and what goes on with them. */
  #groups(): SessionRequest[][] {
    const groups: SessionRequest[][] = [];
    for (const request of this.#all) {
      const group = groups.at(-1);
      if (request.isJoined && group !== undefined) group.push(request);
      else groups.push([request]);
    }
    return groups;
  }

  write(writer: ByteWriter): void {
    writer.text(this.#recap).byte(this.#dropped).count(this.#all.length);
    for (const request of this.#all) {
      writeRequest(writer, request, this.#current.includes(request));
    }
  }

  static read(reader: ByteReader): SessionRequests {
    const requests = new SessionRequests();
    requests.#recap = reader.text();
    requests.#dropped = reader.byte();
    const count = reader.count();
    for (let place = 0; place < count; place += 1) {
      const { request, isCurrent } = readRequest(reader);
      requests.#all.push(request);
      if (isCurrent) requests.#current.push(request);
    }
    return requests;
  }
}

/** How an answer stands to a request. */
interface Standing {
  /** Hundredths, and by how many it must be better than the answer so far. */
  readonly score: number;
  readonly margin: number;
  readonly isCurrent: boolean;
  readonly isSpokenOf: boolean;
}

/** Whether an answer takes the place of the one so far. */
function takesPlace(
  request: SessionRequest,
  best: ScoredAnswer,
  { score, margin, isCurrent, isSpokenOf }: Standing,
): boolean {
  const { isDone, isInformation, isFirst, answer, answerScore } = request;
  if (!isCurrent && isDone && score <= answerScore) return false;
  if (!isSpokenOf && (isInformation || denies(answer))) return false;
  // What is answered and was asked beside something stays answered.
  if (isInformation && !isFirst && answer !== '' && !best.shares) return false;
  if (isDone && (isHidden(best.text) || (best.isReport && best.isForeign))) return false;
  // What is done beats any list or step before it, and is only followed by what is done as well.
  if (best.isReport !== isDone) return !isDone;
  return best.isReport || score > answerScore + margin;
}
