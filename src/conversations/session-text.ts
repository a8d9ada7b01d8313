import type { ByteReader, ByteWriter } from '../domain/byte-codec.ts';
import type { Enrichment, GapType } from '../domain/facts.ts';
import { SIGNALS, type SignalKey } from '../domain/signal-kinds.ts';
import { truncate } from '../domain/truncate.ts';
import { capitalOf } from '../language/capital.ts';
import type { DetectLanguage } from '../language/detect.ts';
import { ENDINGS, TEXT_LANGUAGES, type Ending } from '../language/shown/lexicon.ts';
import { ended, isContrasted, shortened, shortenedAtClause } from '../language/shown/shortening.ts';
import { withoutOpenings } from '../language/shown/trimming.ts';
import { askedSentences, beginsWithReply, statedSentence, type AskedSentence } from './asked-sentences.ts';
import { readAnswer } from './assistant-answer.ts';
import { holdsQuestion } from './answering-turns.ts';
import { LEANING, SessionRequests, type Bearing, type SessionRequest } from './session-requests.ts';

/** UTF-16 units. */
const TITLE_LENGTH = 60;
/** Of each request and of the answers together, where a summary tells several. */
const TOLD_LENGTH = 110;
const ANSWERS_LENGTH = 300;
/** User text that language is told from; past it the answer stands. */
const LANGUAGE_SAMPLE = 240;
/** How much less a later request tells that speaks of what was said before. */
const REFERENCE = 8;
/** Between what was asked, what was answered and how it ended. */
const PART = ' – ';
/** Between one request with its answer and the next. */
const PAIR = ' · ';

/** How a user turn stands to the turns before it. */
export interface TurnPlace {
  /** It can only answer the assistant's question. */
  readonly isAnswer: boolean;
  /** It is another try at an earlier request. */
  readonly isRepeated: boolean;
}

/** Takes personal data out of a text. */
export type Redact = (text: string) => string;

const OPENS: TurnPlace = { isAnswer: false, isRepeated: false };
const BEARINGS: readonly Bearing[] = ['other', 'answered', 'detour', 'step', 'closing', 'stated'];
/** What a user turn does: it asks anew, takes up what was asked, asks about it, goes a step on with it, or replies. */
type Move = 'new' | 'retry' | 'detour' | 'aside' | 'step' | 'statement' | 'reply';
const BEARING_OF: Readonly<Partial<Record<Move, Bearing>>> = {
  new: 'other',
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
const SAT: ReadonlySet<SignalKey> = signalsOf('SAT');
const DSAT: ReadonlySet<SignalKey> = signalsOf('DSAT');

function signalsOf(wanted: 'SAT' | 'DSAT'): ReadonlySet<SignalKey> {
  return new Set(SIGNALS.flatMap(({ key, type }) => (type === wanted ? [key] : [])));
}

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
  /** The assistant's latest turn asked whether there is anything else: what follows is no answer. */
  #offersMore = false;
  /** The latest user turn asked or answered: what the assistant says next may settle it. */
  #isMoved = false;

  /** `content`, and the sentences of `enrichment`: without personal data. */
  addUserTurn(content: string, enrichment: Enrichment, place: TurnPlace = OPENS): void {
    this.#addSample(content);
    const { kind } = enrichment;
    const signals = enrichment.signals.map(({ key }) => key);
    const isAnswer = !this.#offersMore && (place.isAnswer || (this.#asksBack && !holdsQuestion(content)));
    const sentences = kind === 'request' ? askedSentences(content, enrichment) : [];
    const opens = this.#requests.isEmpty || this.#isOnlyStated;
    const asked = isAnswer ? sentences.filter((sentence) => bringsUp(sentence, opens)) : sentences;
    const isRequest = kind === 'request' && (!isAnswer || asked.length > 0);
    const isRepeated = place.isRepeated && this.#isRetry(asked);
    const move = isRepeated ? 'retry' : this.#moveOf(content, asked, signals, isRequest);
    const isNew = move === 'new';
    if (move === 'aside') this.#requests.setAside();
    else if (!isNew && !(isRepeated && asked.some(({ text }) => this.#requests.shareOf(text) > 0)))
      this.#requests.resume();
    if (kind === 'reply' && this.#requests.isEmpty) this.#addStated(content);
    const isLiked = signals.some((key) => SAT.has(key)) && !signals.some((key) => DSAT.has(key));
    const bearing = isAnswer ? 'answered' : isLiked && kind === 'reply' ? 'closing' : 'other';
    this.#bearing = BEARING_OF[move] ?? bearing;
    if (this.#recaps && beginsWithReply(content, true)) this.#requests.doubt();
    this.#isMoved = kind !== 'reply' || isAnswer;
    this.#ending = this.#endingAfterUser(
      isNew || (move === 'step' && this.#ending !== 'handedOver') || (isRequest && isRepeated),
      isLiked,
      kind === 'reply' && !isAnswer,
      isRequest && holdsQuestion(content),
      signals,
    );
    if (isNew) this.#isAnswered = false;
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

  #moveOf(
    content: string,
    asked: readonly AskedSentence[],
    signals: readonly SignalKey[],
    isRequest: boolean,
  ): Move {
    if (this.#addRequests(content, asked, signals)) return 'new';
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

  /** Whether the turn asked for something that was not asked before. */
  #addRequests(content: string, asked: readonly AskedSentence[], signals: readonly SignalKey[]): boolean {
    const isFirst = this.#requests.isEmpty || this.#isOnlyStated;
    const isReply =
      !isFirst &&
      !this.#offersMore &&
      beginsWithReply(content, !this.#asksBack && this.#ending !== 'handedOver');
    // A later turn that asks explains itself beside the question.
    const hasQuestion = asked.some(({ asks }) => asks === 'question');
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
    { text, asks, content, refers, adds, isInformation, isMarked }: AskedSentence,
    isReply: boolean,
    signals: readonly SignalKey[],
  ): boolean {
    if (signals.includes('gives-up')) return false;
    // "Yes, I'd like to return the lamp": more than a yes.
    const isMore = !refers && content > OWN_TRY && this.#requests.shareOf(text) <= MOST_SHARED;
    const isAsked = /[?？؟]["'”»)\]]*$/u.test(text) || (asks === 'question' && (!isReply || isMore));
    if (!isAsked && (isReply || signals.length > 0)) return false;
    // "Change it to the blue one" is a step of what was asked before.
    const isStep = refers && !adds && !isInformation && asks === 'question';
    if (isStep && content < OWN_MATTER) return false;
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

  #endingAfterUser(
    asks: boolean,
    isLiked: boolean,
    isReply: boolean,
    isAsking: boolean,
    signals: readonly SignalKey[],
  ): Ending | null {
    const before = this.#ending;
    if (signals.includes('gives-up') && !isAsking && (this.#isAnswered || !asks)) {
      // "I'm done here" of what is done is no giving up.
      const stays = before === 'handedOver' || before === 'refused' || this.#requests.hasDone;
      return stays ? before : 'givenUp';
    }
    // "Can I speak to a person?"
    if (asks || (isAsking && signals.includes('gives-up'))) return 'open';
    if (isLiked && this.#isAnswered) {
      const stays = before === 'refused' || before === 'handedOver' || before === 'givenUp';
      if (signals.includes('problem-solved')) return 'solved';
      return stays ? before : this.#isMet ? 'solved' : null;
    }
    const isClosed =
      isReply && before === null && this.#requests.isDone && !signals.some((key) => DSAT.has(key));
    if (isClosed) return 'solved';
    return before === 'solved' ? null : before;
  }

  /** `redact`: takes personal data out of a sentence that is kept. */
  addAssistantTurn(content: string, redact: Redact, gap: GapType | null = null): void {
    const answer = readAnswer(content);
    this.#requests.answer(answer, this.#bearing, redact);
    this.#asksBack = answer.asksBack;
    this.#recaps = answer.recaps;
    this.#isAnswered ||= answer.states;
    this.#offersMore = answer.offersMore;
    const isRefused = (gap !== null || answer.refuses) && !answer.goesOn;
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
    if (main === null) return null;
    // "I wanted to pay, but it failed" is not "Pay, but it failed".
    const short = withoutMarks(isContrasted(main.text) ? main.text : withoutOpenings(main.text));
    if (short.length <= TITLE_LENGTH) return capitalised(short);
    const clause = shortenedAtClause(short, TITLE_LENGTH, short.length < main.text.length - 2);
    if (clause !== null) return capitalised(withoutMarks(withoutOpenings(clause)));
    const shorter = isContrasted(main.text) ? short : withoutMarks(withoutOpenings(main.text, true));
    return capitalised(withoutMarks(shortened(shorter, TITLE_LENGTH)));
  }

  /**
   * What was asked, what was answered to it and how it ended; at most 640 characters, null as `title`. `language`: ISO
   * 639-1, of the closing words.
   */
  summary(language: string | null): string | null {
    const { main } = this.#requests;
    if (main === null) return null;
    // How it ended is how the latest request did.
    const told = this.#requests.told(this.#ending !== null && this.#ending !== 'solved');
    const pairs = pairsOf(told, this.#requests);
    const endings = language === null ? undefined : TEXT_LANGUAGES.get(language)?.endings;
    const ending = this.#ending === null ? undefined : endings?.[this.#ending];
    return [pairs.join(PAIR), ending ?? ''].filter((part) => part !== '').join(PART);
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
      .byte(BEARINGS.indexOf(this.#bearing))
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
    text.#bearing = BEARINGS[reader.byte()] ?? 'other';
    text.#sample = reader.text();
    text.#language = reader.text() || null;
    text.#requests = SessionRequests.read(reader);
    return text;
  }
}

/** A later request that speaks of what was said before does not stand for the conversation. */
function withoutReference(asked: AskedSentence): AskedSentence {
  return asked.refers
    ? { ...asked, telling: Math.max(0, Math.min(LEANING, asked.telling - REFERENCE)) }
    : asked;
}

/** Whether a sentence of an answer asks for something of its own; `opens`: nothing was asked before. */
function bringsUp({ adds, refers, asks }: AskedSentence, opens: boolean): boolean {
  return (adds && !refers) || (opens && asks === 'question');
}

/** The answers to the requests that are told, by request: short ones whole, the others in equal parts of the room. */
function answersOf(told: readonly SessionRequest[]): ReadonlyMap<SessionRequest, string> {
  const short = new Map<string, string>();
  const answers = [...new Set(told.map(({ answer }) => answer))].filter((answer) => answer !== '');
  let room = ANSWERS_LENGTH;
  answers
    .toSorted((one, other) => one.length - other.length)
    .forEach((answer, place) => {
      const text = shortened(answer, Math.floor(room / (answers.length - place)));
      short.set(answer, text);
      room -= text.length;
    });
  return new Map(told.map((request) => [request, short.get(request.answer) ?? '']));
}

/** Requests with the answers that follow them; those of one turn stand together. */
function pairsOf(told: readonly SessionRequest[], requests: SessionRequests): string[] {
  const most = told.length > 1 ? TOLD_LENGTH : Number.POSITIVE_INFINITY;
  const answers = answersOf(told);
  const pairs: { asked: string; answers: Set<string> }[] = [];
  for (const [place, request] of told.entries()) {
    const answer = answers.get(request) ?? '';
    const asked = sentenceOf(shortened(request.text, most));
    const last = pairs.at(-1);
    const isJoined = place > 0 && requests.areJoined(told[place - 1]!, request);
    if (last !== undefined && (isJoined || (answer !== '' && last.answers.has(answer)))) {
      last.asked += ` ${asked}`;
      if (answer !== '') last.answers.add(answer);
    } else pairs.push({ asked, answers: new Set(answer === '' ? [] : [answer]) });
  }
  return pairs.map(({ asked, answers: given }) =>
    [asked, [...given].map(sentenceOf).join(' ')].filter((part) => part !== '').join(PART),
  );
}

function withoutMarks(text: string): string {
  let end = text.length;
  while (end > 0 && /[\s.!?。！？؟;,:，、；：।]/u.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function sentenceOf(text: string): string {
  return ended(capitalised(text.trim()));
}

/** With a capital, unless the first word has one somewhere: "iPhone". */
function capitalised(text: string): string {
  const first = /^\S*/u.exec(text)?.[0] ?? '';
  if (first !== first.toLowerCase()) return text;
  const [letter = '', ...rest] = Array.from(text);
  return capitalOf(letter) + rest.join('');
}
