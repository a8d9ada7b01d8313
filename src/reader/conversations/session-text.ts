/**
 * The texts behind a session's title, summary, outcome and language: a few sentences, never the conversation. Keeps the
 * invariant that its results depend only on the turns so far, not on when they are asked for.
 *
 * The title is the heaviest request. The summary is the three heaviest, each with its current answer, and the outcome.
 * A user turn adds a request or makes a move on the present ones (`Move`); an assistant turn answers the current
 * request (`answerRequest`).
 *
 * Test: test/reader/conversations/session-text.test.ts.
 */
import type { ByteReader, ByteWriter } from '../../domain/byte-codec.ts';
import type { Enrichment, GapType, AssistantAct } from '../../domain/facts.ts';
import { FLAG, listOf, LINK, oneOf, record, TEXT } from '../../domain/record-codec.ts';
import type { SignalKey } from '../../domain/signal-kinds.ts';
import { SESSION_OUTCOMES, type SessionOutcome } from '../../domain/session-outcomes.ts';
import type { DetectLanguage } from '../document/detect.ts';
import { holdsQuestion } from '../acts/answering-turns.ts';
import {
  askedSentences,
  beginsWithReply,
  statedSentence,
  type AskedSentence,
} from '../acts/asked-sentences.ts';
import { AWAITED, readAnswer, type AssistantAnswer, type Awaited } from '../acts/assistant-answer.ts';
import { TEXT_PHRASES, phraseWordsOf, stemsOf } from '../shortening/phrase-set.ts';
import { addToSample, LANGUAGE_SAMPLE, languageOf, type LanguageSample } from './session-language.ts';
import {
  ANSWER_LENGTH,
  answerRequest,
  forget,
  MOVES,
  newRequest,
  rankOf,
  SESSION_REQUEST,
  weightOf,
  type Move,
  type SessionRequest,
} from './session-request.ts';
import { afterAssistant, afterUser, moveOf } from './moves-and-outcome.ts';
import { kept, spelled, summaryOf } from './title-and-summary.ts';

/** Requests that a summary tells. */
const SUMMARISED = 3;
/** Requests that are kept: some more, because a kept one may come to outweigh those that are told. */
const KEPT = SUMMARISED + 2;
/** Least content words of a later sentence that is a request of its own. */
const NAMED = { referring: 5, statement: 5, complaint: 3, question: 2, afterAll: 1 } as const;
/** Greatest share of its words that may have been asked before; smaller if it may be another try. */
const SHARED = { wish: 0.67, again: 0.5, question: 0.99 } as const;
/** Number of words at the start of a turn that may accept or reject a proposal. */
const TAKING_WORDS = 24;

interface State {
  sample: LanguageSample;
  requests: SessionRequest[];
  /** Index of the current request; -1 if it is none of the kept ones. */
  current: number;
  /** Number of requests that were dropped. */
  dropped: number;
  /** The reply that the assistant's latest turn expects. */
  awaited: Awaited;
  move: Move;
  /** The text that the assistant asked to confirm; '' if none. */
  recap: string;
  outcome: SessionOutcome;
  /** True if the assistant reported the wish as done, or the user says that it works, and nobody contradicts. */
  isDone: boolean;
}

const STATE = record<State>({
  sample: LANGUAGE_SAMPLE,
  requests: listOf(SESSION_REQUEST),
  current: LINK,
  dropped: LINK,
  awaited: oneOf(AWAITED),
  move: oneOf(MOVES),
  recap: TEXT,
  outcome: oneOf(SESSION_OUTCOMES),
  isDone: FLAG,
});

/** A user turn in relation to the turns before it. */
export interface TurnPlace {
  /** True if it can only answer the assistant's question. */
  readonly isAnswer: boolean;
  /** True if it is another try at an earlier request. */
  readonly isRepeated: boolean;
  /** `askedSentences` of the turn, if they were read already. */
  readonly asked?: readonly AskedSentence[];
}

/** The findings of a user turn. */
type TurnFindings = Pick<Enrichment, 'kind' | 'request' | 'sentences' | 'signals'>;

interface UserTurn extends Pick<TurnPlace, 'isAnswer' | 'isRepeated'> {
  readonly content: string;
  readonly isReply: boolean;
  readonly isRequest: boolean;
  readonly asked: readonly AskedSentence[];
  readonly signals: readonly SignalKey[];
}

const OPENS: TurnPlace = { isAnswer: false, isRepeated: false };

/** The texts of one session, fed turn by turn. */
export class SessionText {
  #state: State = {
    sample: { text: '', isFull: false, language: '', untold: [] },
    requests: [],
    current: -1,
    dropped: 0,
    awaited: 'nothing',
    move: 'says',
    recap: '',
    outcome: 'open',
    isDone: false,
  };

  /** Adds a user turn. `content` and the sentences of `found` must be redacted. */
  addUserTurn(content: string, found: TurnFindings, place: TurnPlace = OPENS): void {
    const state = this.#state;
    addToSample(state.sample, content);
    const turn: UserTurn = {
      content,
      isReply: found.kind === 'reply',
      isRequest: found.kind === 'request',
      asked: found.kind === 'request' ? (place.asked ?? askedSentences(content, found)) : [],
      signals: found.signals.map(({ key }) => key),
      isAnswer: this.#isAnswered(content, place),
      isRepeated: place.isRepeated,
    };
    if (this.#isTurnedDown(turn)) {
      state.recap = '';
      if (this.#current !== undefined) forget(this.#current);
    }
    const own = this.#opens ? turn.asked : this.#ownSentences(turn);
    if (own.length > 0) this.#add(own);
    else if (turn.isReply && state.requests.length === 0) this.#addStated(content);
    const bringsUp = own.length > 0;
    // A question in the words of a request asks for that again, and nothing beside it.
    const asked = bringsUp ? [] : turn.asked.filter(({ text }) => this.#shareOf(text) < 1);
    const { awaited, recap } = state;
    state.move = moveOf({ ...turn, asked, bringsUp, awaited, recap });
    if (state.move === 'asksBeside') state.current = -1;
    else if (state.move !== 'asks') this.#resume();
    const isAnswered = this.#current?.turns !== 0;
    const { outcome, isDone, move } = state;
    const ending = { outcome, isDone, move, isAnswered, asks: holdsQuestion(content) };
    Object.assign(state, afterUser({ ...turn, ...ending }));
  }

  get #current(): SessionRequest | undefined {
    return this.#state.requests[this.#state.current];
  }

  /** True if nothing was asked yet. */
  get #opens(): boolean {
    return this.#state.requests.every(({ telling }) => telling === 0);
  }

  /** True if the user answers the assistant's question. */
  #isAnswered(content: string, { isAnswer }: TurnPlace): boolean {
    const { awaited } = this.#state;
    return awaited !== 'more' && (isAnswer || (awaited !== 'nothing' && !holdsQuestion(content)));
  }

  /** True if the user rejects what was proposed or to be confirmed, or asks for an alternative. */
  #isTurnedDown({ content, asked }: UserTurn): boolean {
    const { awaited } = this.#state;
    const asks = awaited === 'choice' || awaited === 'confirmation';
    if (!asks && (this.#current === undefined || this.#current.answer === '')) return false;
    return (
      asked.some(({ isAnother }) => isAnother) ||
      TEXT_PHRASES.rejections.firstIn(content, phraseWordsOf(content, TAKING_WORDS)) >= 0 ||
      (asks && beginsWithReply(content, true))
    );
  }

  /**
   * The sentences that bring up a request of their own: they name enough new things, and do not only answer or react.
   */
  #ownSentences({ content, asked, signals, isAnswer, isRepeated }: UserTurn): readonly AskedSentence[] {
    if (signals.includes('gives-up')) return [];
    const { awaited } = this.#state;
    const isReaction =
      signals.length > 0 || (awaited !== 'more' && beginsWithReply(content, awaited === 'nothing'));
    // "No. I need a house" is a new matter; "No, I need two" is not.
    const isDenial = awaited !== 'confirmation' && beginsWithReply(content, true);
    return asked.filter((sentence) => {
      const { text, asks, content: named, adds, isInformation, isAnother } = sentence;
      if (isAnother || (isAnswer && !adds && (!isDenial || beginsWithReply(text, true)))) return false;
      if (asks !== 'question' && isReaction) return false;
      const most = isRepeated ? SHARED.again : isInformation ? SHARED.question : SHARED.wish;
      return named >= leastOf(sentence, awaited) && this.#shareOf(text) <= most;
    });
  }

  /** Greatest share of a sentence's words that one request names. */
  #shareOf(text: string): number {
    const named = [...stemsOf(text)];
    return Math.max(
      ...this.#state.requests.map(({ asked }) => {
        const stems = stemsOf(asked.join(' '));
        return named.filter((stem) => stems.has(stem)).length / Math.max(1, named.length);
      }),
    );
  }

  #add(asked: readonly AskedSentence[]): void {
    const state = this.#state;
    if (this.#opens) state.requests = [];
    state.requests.push(newRequest(asked, state.requests.length === 0));
    if (state.requests.length > KEPT) {
      const least = state.requests
        .slice(0, -1)
        .reduce((one, other) => (rankOf(other) <= rankOf(one) ? other : one));
      state.requests = state.requests.filter((request) => request !== least);
      state.dropped += 1;
    }
    state.current = state.requests.length - 1;
    if (!state.requests.at(-1)!.isInformation) state.recap = '';
  }

  #addStated(content: string): void {
    const stated = statedSentence(content);
    if (stated !== null) this.#add([{ ...stated, telling: 0 }]);
  }

  /** Returns to the task after a question beside it. */
  #resume(): void {
    const state = this.#state;
    const task = state.requests.findLastIndex(({ isInformation }) => !isInformation);
    if (state.current < 0) state.current = task >= 0 ? task : state.requests.length - 1;
    else if (this.#current!.isInformation && this.#current!.outcome !== 'open' && task >= 0)
      state.current = task;
  }

  /**
   * Adds an assistant turn. `redact` removes personal data from a sentence that is kept. `answer`: `readAnswer` of the
   * content.
   */
  addAssistantTurn(
    content: string,
    redact: (text: string) => string,
    gap: GapType | null = null,
    act: AssistantAct | null = null,
    answer = readAnswer(content),
  ): void {
    const state = this.#state;
    const isRefused = gap !== null || answer.refuses;
    const isNewlyDone = this.#answerCurrent(answer, isRefused, redact);
    if (answer.recap !== '') state.recap = kept(redact(answer.recap), ANSWER_LENGTH);
    else if (answer.reports || isRefused) state.recap = '';
    state.awaited = act === 'asked-for-more' ? 'more' : answer.awaits;
    if (answer.reports || isNewlyDone) state.isDone = !isRefused;
    const wasRefused = state.requests.some(({ outcome }) => outcome === 'refused');
    const { outcome, isDone, move } = state;
    const { handsOver, states } = answer;
    state.outcome = afterAssistant({ outcome, isDone, move, handsOver, states, isRefused, wasRefused });
    state.move = 'says';
  }

  /** Applies an answer to the current request. Returns true if it reports as done what was not done before. */
  #answerCurrent(answer: AssistantAnswer, isRefused: boolean, redact: (text: string) => string): boolean {
    const current = this.#current;
    if (current === undefined) return false;
    const { move, recap } = this.#state;
    const wasDone = current.outcome === 'done';
    answerRequest(current, { answer, move, isRefused, recap, redact });
    return current.outcome === 'done' && !current.isInformation && !wasDone;
  }

  get #main(): SessionRequest | undefined {
    const { requests } = this.#state;
    return requests.length === 0
      ? undefined
      : requests.reduce((one, other) => (weightOf(other) > weightOf(one) ? other : one));
  }

  /** The main request, at most 60 characters; null until the user names a matter. `language` as in `summary`. */
  title(language: string | null): string | null {
    const title = this.#main?.title;
    return title === undefined ? null : spelled(title, language);
  }

  /**
   * The requests with their answers, and the outcome; null like `title`. `language`: ISO 639-1, of the closing words.
   */
  summary(language: string | null): string | null {
    const { requests, dropped, outcome } = this.#state;
    if (requests.length === 0) return null;
    // The outcome belongs to the latest request, so that one is told.
    const latest = outcome !== 'solved' && outcome !== 'thanked' ? this.#current : undefined;
    const rank = (request: SessionRequest): number => (request === latest ? Infinity : rankOf(request));
    const heaviest = requests.toSorted((one, other) => rank(other) - rank(one)).slice(0, SUMMARISED);
    const summarised = requests.filter((request) => heaviest.includes(request));
    return summaryOf(
      { requests: summarised, further: dropped + requests.length - summarised.length, outcome },
      language,
    );
  }

  /** The outcome so far; null like `title`. */
  get outcome(): SessionOutcome | null {
    return this.#state.requests.length === 0 ? null : this.#state.outcome;
  }

  /** ISO 639-1 code of the user's turns together; null until it is reliable. */
  language(detect: DetectLanguage): string | null {
    return languageOf(this.#state.sample, detect);
  }

  /** Writes the state. Call it after `language`, which drops what it no longer needs. */
  write(writer: ByteWriter): void {
    STATE.write(writer, this.#state);
  }

  static read(reader: ByteReader): SessionText {
    const text = new SessionText();
    text.#state = STATE.read(reader);
    return text;
  }
}

/** Least content words of a request of its own; few suffice for a wish after "anything else?". */
function leastOf({ asks, refers, adds, isInformation }: AskedSentence, awaited: Awaited): number {
  if (refers && !adds && !isInformation) return NAMED.referring;
  if (asks !== 'question') return asks === 'complaint' ? NAMED.complaint : NAMED.statement;
  return awaited === 'more' && !refers ? NAMED.afterAll : NAMED.question;
}
