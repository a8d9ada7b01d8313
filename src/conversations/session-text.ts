import type { ByteReader, ByteWriter } from '../domain/byte-codec.ts';
import type { Enrichment, GapType, Stance } from '../domain/facts.ts';
import type { SignalKey } from '../domain/signal-kinds.ts';
import { truncate } from '../domain/truncate.ts';
import type { DetectLanguage } from '../text/detect.ts';
import { isMarkedQuestion } from '../text/question-marks.ts';
import { ENDINGS, type Ending } from '../text/shown/lexicon.ts';
import {
  askedSentences,
  beginsWithReply,
  statedSentence,
  type AskedSentence,
} from '../turns/asked-sentences.ts';
import { readAnswer } from '../turns/assistant-answer.ts';
import { holdsQuestion } from '../turns/answering-turns.ts';
import { endingAfterUser, isLiking } from './session-ending.ts';
import { BEARINGS, type Bearing } from './session-request.ts';
import { SessionRequests } from './session-requests.ts';
import { summaryOf, titleOf } from './shown-session.ts';
import { asksUnmarked, asMore, bringsUp, takingOf, withoutReference, type Taking } from './user-move.ts';

/** User text that language is told from; past it the answer stands. */
const LANGUAGE_SAMPLE = 240;
/** How a user turn stands to the turns before it. */
export interface TurnPlace {
  /** It can only answer the assistant's question. */
  readonly isAnswer: boolean;
  /** It is another try at an earlier request. */
  readonly isRepeated: boolean;
  /** `askedSentences` of it, where they were read. */
  readonly asked?: readonly AskedSentence[];
}

/** What was found in a user turn. */
type TurnFindings = Pick<Enrichment, 'kind' | 'request' | 'sentences' | 'signals'>;

/** Takes personal data out of a text. */
export type Redact = (text: string) => string;

const OPENS: TurnPlace = { isAnswer: false, isRepeated: false };
/** What a user turn does: it asks anew, takes up what was asked, asks about it, goes a step on with it, or replies. */
type Move = 'new' | 'more' | 'another' | 'retry' | 'detour' | 'aside' | 'step' | 'statement' | 'reply';
/** A user turn in its session. */
interface UserTurn {
  readonly signals: readonly SignalKey[];
  /** The sentences that may ask for something; of an answer, those that bring up something of their own. */
  readonly asked: readonly AskedSentence[];
  /** Wishes of an answer that name what no request does. */
  readonly wishes: readonly AskedSentence[];
  readonly isAnswer: boolean;
  readonly isReply: boolean;
  readonly isRequest: boolean;
  readonly isRepeated: boolean;
  /** It begins with a "no", and wishes for something. */
  readonly isDenial: boolean;
  /** What it wishes for is another matter. */
  readonly isChange: boolean;
  readonly taking: Taking;
}
const BEARING_OF: Readonly<Partial<Record<Move, Bearing>>> = {
  new: 'other',
  more: 'answered',
  another: 'another',
  retry: 'answered',
  detour: 'detour',
  aside: 'detour',
  step: 'step',
  statement: 'stated',
};
/** A wish that speaks of what was said before is one of its own when it names so much. */
const OWN_MATTER = 5;
/** What is taken for another try is none when it asks for so much, and shares no more than this part with a request. */
const OWN_TRY = 3;
const MOST_SHARED = 0.5;
/** What shares more with a request is that request. */
const SAME = 0.67;
/** A wish in an answer says more of a request when it names so much. */
const LEAST_WISH = 2;

/**
 * What title, summary and language of a session are made of: a few sentences, never the conversation.
 * Everything that it gives depends only on the turns so far, not on when it is asked.
 */
export class SessionText {
  #sample = '';
  #sampleFull = false;
  #language: string | null = null;
  /** Where the turns end in the sample that language was not told from yet. */
  #untold: number[] = [];
  #requests = new SessionRequests();
  /** The one of `#requests` is what the user said without asking. */
  #isOnlyStated = false;
  #ending: Ending | null = null;
  /** The assistant has stated something since the latest request. */
  #isAnswered = false;
  /** The assistant has stated something that is no refusal and no "no". */
  #isMet = false;
  /** What the assistant's next turn speaks to. */
  #bearing: Bearing = 'other';
  /** The assistant's latest turn asked for something. */
  #asksBack = false;
  /** The assistant's latest turn asked to confirm what it is about to do. */
  #recaps = false;
  /** The assistant's latest turn asked whether something that it named would do. */
  #proposes = false;
  /** The user did not deny what the assistant had asked to confirm: next it is done, or cannot be. */
  #isAwaited = false;
  /** The assistant's latest turn asked whether there is anything else: what follows is no answer. */
  #offersMore = false;
  /** The latest user turn asked or answered: what the assistant says next may settle it. */
  #isMoved = false;

  /** `content`, and the sentences of `enrichment`: without personal data. */
  addUserTurn(content: string, enrichment: TurnFindings, place: TurnPlace = OPENS): void {
    this.#addSample(content);
    const turn = this.#readUserTurn(content, enrichment, place);
    const { signals, isAnswer, isReply, isRequest, isRepeated } = turn;
    if (turn.taking === 'rejects' || (turn.isDenial && !turn.isChange)) this.#requests.reject();
    const move = this.#moveOf(content, turn);
    const isTried = isRepeated && turn.asked.some(({ text }) => this.#requests.shareOf(text) > 0);
    if (move === 'aside') this.#requests.setAside();
    else if (move === 'another') this.#requests.revise();
    else if (move !== 'more' && move !== 'new' && !isTried) this.#requests.resume();
    if (isReply && this.#requests.isEmpty) this.#addStated(content);
    const isLiked = isLiking(signals);
    this.#isAwaited = this.#recaps && turn.taking === 'none';
    const taken: Bearing = this.#isAwaited ? 'confirmed' : 'answered';
    const bearing: Bearing = isAnswer ? taken : isLiked && isReply ? 'closing' : 'other';
    this.#bearing = BEARING_OF[move] ?? bearing;
    this.#isMoved = !isReply || isAnswer;
    this.#ending = endingAfterUser(this.#ending, {
      asks:
        move === 'new' ||
        (move === 'step' && this.#ending !== 'handedOver') ||
        (isRequest && isRepeated && move !== 'more'),
      isReply: isReply && !isAnswer,
      isAsking: isRequest && holdsQuestion(content),
      isAnswered: this.#isAnswered,
      isMet: this.#isMet,
      isDone: this.#requests.isDone,
      hasDone: this.#requests.hasDone,
      signals,
    });
    if (move === 'new') this.#isAnswered = false;
  }

  #readUserTurn(content: string, enrichment: TurnFindings, place: TurnPlace): UserTurn {
    const isReply = enrichment.kind === 'reply';
    const isAsking = enrichment.kind === 'request';
    const opens = this.#requests.isEmpty || this.#isOnlyStated;
    const sentences = isAsking ? (place.asked ?? askedSentences(content, enrichment)) : [];
    const isReplying =
      place.isAnswer || (this.#asksBack && !holdsQuestion(content)) || (this.#recaps && isReply);
    const isAnswer = !this.#offersMore && isReplying && !sentences.some(asksUnmarked);
    const asks = this.#recaps || this.#proposes;
    const { isAnswered } = this.#requests;
    const taking = opens ? 'none' : takingOf(content, sentences, { isAnswered, asks });
    const denies = isAnswer && !opens && beginsWithReply(content, true);
    const least = denies && !this.#recaps ? 1 : LEAST_WISH;
    const wishes = isAnswer && !opens ? sentences.filter((sentence) => this.#isOwnWish(sentence, least)) : [];
    const isDenial = wishes.length > 0 && denies;
    // "No. I need a house" is another matter, "No, I need two" is not.
    const isChange = isDenial && !this.#recaps && !beginsWithReply(wishes[0]!.text, true);
    const broughtUp = isChange ? wishes : sentences.filter((sentence) => bringsUp(sentence, opens));
    const asked = isAnswer ? broughtUp : sentences;
    return {
      signals: enrichment.signals.map(({ key }) => key),
      asked,
      wishes,
      isAnswer,
      isReply,
      isRequest: isAsking && (!isAnswer || asked.length > 0),
      isRepeated: place.isRepeated && this.#isRetry(asked),
      isDenial,
      isChange,
      taking,
    };
  }

  /** A wish in an answer that names what no request does: more of what is wanted, or something else. */
  #isOwnWish({ text, asks, content, refers, isInformation }: AskedSentence, least: number): boolean {
    if (asks !== 'question' || isInformation || refers || content < least) return false;
    return this.#requests.shareOf(text) <= MOST_SHARED;
  }

  #addSample(content: string): void {
    if (this.#sampleFull) return;
    const longer = this.#sample === '' ? content : `${this.#sample}\n${content}`;
    this.#sampleFull = longer.length >= LANGUAGE_SAMPLE;
    this.#sample = truncate(longer, LANGUAGE_SAMPLE);
    this.#untold.push(this.#sample.length);
  }

  /** Another try says what was said before, or speaks of it; what names other things is no such try. */
  #isRetry(asked: readonly AskedSentence[]): boolean {
    return !asked.some(
      ({ text, content, refers, asks, isInformation }) =>
        asks === 'question' &&
        (isInformation ? content > 1 : content >= (refers ? OWN_MATTER : OWN_TRY)) &&
        this.#requests.shareOf(text) <= MOST_SHARED,
    );
  }

  #moveOf(content: string, turn: UserTurn): Move {
    const { asked, wishes, signals, isRequest, taking, isChange } = turn;
    if (turn.isAnswer && asked.length === 0 && wishes.length > 0) {
      this.#requests.addMore(asMore(wishes[0]!));
      return 'more';
    }
    if (turn.isRepeated) return 'retry';
    const own = asked.filter((sentence) => !this.#isOtherTry(sentence));
    if (taking === 'another' && own.length > 0 && own.every(({ content: named }) => named <= OWN_TRY)) {
      this.#requests.revise();
      this.#requests.addMore(asMore(own[0]!));
      return 'another';
    }
    if (isChange) this.#requests.add(asked.map(withoutReference));
    // A later turn that asks explains itself beside the question.
    const hasQuestion = asked.some(({ asks }) => asks === 'question');
    if (isChange || this.#addRequests(content, own, signals, hasQuestion)) return 'new';
    if (taking === 'another' || own.length < asked.length) return 'another';
    if (!isRequest) return 'reply';
    if (!asked.some(({ asks }) => asks === 'question')) return 'statement';
    if (asked.some(({ text, isInformation }) => isInformation && !this.#requests.covers(text)))
      return 'aside';
    return asked.some(
      ({ asks, isInformation, isMarked }) => asks === 'question' && !isInformation && !isMarked,
    )
      ? 'step'
      : 'detour';
  }

  /** It asks for another one than what was proposed, or in another way for what could not be had. */
  #isOtherTry({ text, content, other }: AskedSentence): boolean {
    if (this.#requests.isAnswered && other === 'asks') return content <= OWN_TRY;
    if (!this.#requests.isRefused || content > OWN_TRY) return false;
    return content < OWN_TRY || this.#requests.shareOf(text) > MOST_SHARED;
  }

  /** Whether the turn asked for something that was not asked before. */
  #addRequests(
    content: string,
    asked: readonly AskedSentence[],
    signals: readonly SignalKey[],
    hasQuestion: boolean,
  ): boolean {
    const isFirst = this.#requests.isEmpty || this.#isOnlyStated;
    const isReply =
      !isFirst &&
      !this.#offersMore &&
      beginsWithReply(content, !this.#asksBack && this.#ending !== 'handedOver');
    const further = asked.filter(
      (sentence) =>
        (!hasQuestion || sentence.asks === 'question') && this.#isFurther(sentence, isReply, signals),
    );
    const added = isFirst ? asked : further;
    if (added.length === 0) return false;
    if (this.#isOnlyStated) this.#requests.clear();
    this.#isOnlyStated = false;
    this.#requests.add(isFirst ? added : added.map(withoutReference));
    return true;
  }

  /**
   * Whether a later sentence is a request of its own: it says enough, is no reaction to what was said, and names
   * something that no earlier request does.
   */
  #isFurther(
    { text, asks, content, refers, adds, isInformation, isMarked, other }: AskedSentence,
    isReply: boolean,
    signals: readonly SignalKey[],
  ): boolean {
    if (signals.includes('gives-up') || other === 'denies') return false;
    // "Yes, I'd like to return the lamp": more than a yes.
    const isMore = !refers && content > OWN_TRY && this.#requests.shareOf(text) <= MOST_SHARED;
    const isAsked = isMarkedQuestion(text) || (asks === 'question' && (!isReply || isMore));
    if (!isAsked && (isReply || signals.length > 0)) return false;
    // "Change it to the blue one" is a step of what was asked before.
    const isStep = refers && !adds && !isInformation && asks === 'question';
    if (isStep && content < OWN_MATTER) return false;
    // The same again, in more words.
    if (!isInformation && this.#requests.shareOf(text) > SAME && !this.#requests.isDone) return false;
    // "Four days?" to "How long?"
    if (isMarked && this.#asksBack && !this.#offersMore && content < OWN_MATTER) return false;
    const isAfterAll = this.#offersMore || this.#requests.isDone;
    const least = isAsked
      ? isAfterAll && asks === 'question' && !refers && !isMarked
        ? 1
        : 2
      : asks === 'complaint'
        ? 3
        : 5;
    return content >= least && !this.#requests.covers(text);
  }

  #addStated(content: string): void {
    const stated = statedSentence(content);
    if (stated === null) return;
    this.#requests.add([stated]);
    this.#isOnlyStated = true;
  }

  /** `redact`: takes personal data out of a sentence that is kept. `answer`: `readAnswer` of it. */
  addAssistantTurn(
    content: string,
    redact: Redact,
    gap: GapType | null = null,
    stance: Stance | null = null,
    answer = readAnswer(content),
  ): void {
    const isRefused = (gap !== null || answer.refuses) && !answer.goesOn;
    this.#requests.answer(answer, this.#bearing, redact, { isRefused, isAwaited: this.#isAwaited });
    this.#asksBack = answer.asksBack;
    this.#recaps = answer.recaps;
    this.#proposes = answer.proposes;
    this.#isAnswered ||= answer.states;
    this.#offersMore = answer.offersMore || stance === 'asked-for-more';
    this.#isMet ||= answer.states && !isRefused && !answer.denies;
    const before = this.#ending === 'open' ? null : this.#ending;
    if (answer.handsOver) this.#ending = 'handedOver';
    else if (before === 'solved' || before === 'givenUp') this.#ending = before;
    else if (this.#bearing === 'detour') this.#ending = before;
    else if (isRefused) this.#ending = this.#requests.hasDone || !this.#requests.isAtMain ? null : 'refused';
    else if (before === 'handedOver' && this.#bearing !== 'answered') this.#ending = before;
    else this.#ending = before !== null && this.#isMoved && answer.states ? null : before;
    this.#isMoved = false;
  }

  /** The main request, at most 60 characters; null before the user has said anything that names a matter. */
  get title(): string | null {
    const { main } = this.#requests;
    return main === null ? null : titleOf(main);
  }

  /**
   * What was asked, what was answered to it and how it ended; at most 640 characters, null as `title`. `language`: ISO
   * 639-1, of the closing words.
   */
  summary(language: string | null): string | null {
    return this.#requests.isEmpty ? null : summaryOf(this.#requests, this.#ending, language);
  }

  /**
   * ISO 639-1 code of the user's turns together; null until it is reliable. `detect` is given what it told of the
   * turns before, and is asked turn by turn, so that the answer does not depend on when this is called.
   */
  language(detect: DetectLanguage): string | null {
    for (const end of this.#untold) this.#language = detect(this.#sample.slice(0, end), this.#language);
    this.#untold = [];
    if (this.#sampleFull) this.#sample = '';
    return this.#language;
  }

  /** Call after `language`: what is not needed for it any more is not written. */
  write(writer: ByteWriter): void {
    const flags = [
      this.#sampleFull,
      this.#isOnlyStated,
      this.#isAnswered,
      this.#asksBack,
      this.#isMoved,
      this.#offersMore,
      this.#isMet,
      this.#recaps,
    ];
    writer
      .byte(flags.reduce((byte, flag, bit) => byte | (flag ? 1 << bit : 0), 0))
      .byte(this.#ending === null ? 0 : ENDINGS.indexOf(this.#ending) + 1)
      .byte(BEARINGS.indexOf(this.#bearing) | (this.#proposes ? 128 : 0) | (this.#isAwaited ? 64 : 0))
      .text(this.#sample)
      .text(this.#language ?? '');
    this.#requests.write(writer);
  }

  static read(reader: ByteReader): SessionText {
    const text = new SessionText();
    const flags = reader.byte();
    text.#sampleFull = (flags & 1) !== 0;
    text.#isOnlyStated = (flags & 2) !== 0;
    text.#isAnswered = (flags & 4) !== 0;
    text.#asksBack = (flags & 8) !== 0;
    text.#isMoved = (flags & 16) !== 0;
    text.#offersMore = (flags & 32) !== 0;
    text.#isMet = (flags & 64) !== 0;
    text.#recaps = (flags & 128) !== 0;
    text.#ending = ENDINGS[reader.byte() - 1] ?? null;
    const bearing = reader.byte();
    text.#bearing = BEARINGS[bearing & 63] ?? 'other';
    text.#proposes = (bearing & 128) !== 0;
    text.#isAwaited = (bearing & 64) !== 0;
    text.#sample = reader.text();
    text.#language = reader.text() || null;
    text.#requests = SessionRequests.read(reader);
    return text;
  }
}
