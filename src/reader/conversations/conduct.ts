/**
 * Finds what the assistant does wrong in the course of a session: it gives an answer again after a correction or a
 * complaint, asks for what it was told, or answers something else than the user asked. Keeps the invariant that it holds
 * hashes of sentences, never their words, and a bounded number of them.
 *
 * A failure is noted at the turn that shows it: an answer that comes again at the assistant's turn, an answer to
 * something else at the user's turn that says so.
 *
 * Test: test/reader/threads/conduct.test.ts.
 */
import type { ByteReader, ByteWriter } from '../../domain/byte-codec.ts';
import { COUNT, FLAG, listOf, record } from '../../domain/record-codec.ts';
import type { ObservedKey, SignalKey } from '../../domain/signal-kinds.ts';
import type { AssistantAnswer } from '../acts/assistant-answer.ts';
import { HIDDEN } from '../personal/redact.ts';
import { textHash } from '../document/text-hash.ts';
import { typeOf } from '../acts/signals.ts';

/** Most statements of the assistant, and most of its questions, that are kept. */
const MOST_STATED = 64;
const MOST_ASKED = 16;
/** Least content words of a statement: "Sorry about that." says nothing again. */
const LEAST_STATED = 3;
/** Least share of a turn's content words in statements that were made before. */
const SAID_BEFORE = 0.8;

const CORRECTIONS: ReadonlySet<SignalKey> = new Set(['correction', 'factual-error', 'ignored-instruction']);

interface State {
  /** Hashes of what the assistant stated, oldest first. */
  stated: number[];
  /** Hashes of the data that it asked for and was given since the user last brought something up. */
  given: number[];
  /** Hashes of the data that it asked for since the user's latest turn. */
  asked: number[];
  /** True if it has spoken since the user's latest turn. */
  hasSpoken: boolean;
  /** True if the user has asked for something since it spoke, and not said that it is solved. */
  isAsked: boolean;
  /** The user's latest turns, up to its next: they correct it; they complain or ask again. */
  isCorrected: boolean;
  isUnhappy: boolean;
}

const STATE = record<State>({
  stated: listOf(COUNT),
  given: listOf(COUNT),
  asked: listOf(COUNT),
  hasSpoken: FLAG,
  isAsked: FLAG,
  isCorrected: FLAG,
  isUnhappy: FLAG,
});

/** A user turn in its session. */
export interface HeardTurn {
  /** The signals that count. */
  readonly signals: ReadonlySet<SignalKey>;
  readonly isRepeat: boolean;
  /** True if it brings up a request. */
  readonly bringsUp: boolean;
  /** True if it asks or wishes for something. */
  readonly asks: boolean;
  /** True if it gives what the assistant asked for. */
  readonly givesData: boolean;
  /** True if the assistant's latest turn is an answer or a refusal, and no question. */
  readonly isAnswered: boolean;
}

/** What the assistant did in one session. */
export class Conduct {
  #state: State = {
    stated: [],
    given: [],
    asked: [],
    hasSpoken: false,
    isAsked: false,
    isCorrected: false,
    isUnhappy: false,
  };

  /** True if the session so far ends before a wish of the user is answered, or solved without the assistant. */
  get isUnanswered(): boolean {
    return this.#state.isAsked;
  }

  /** Notes a user turn. Returns the failures that it shows. */
  addUserTurn({ signals, isRepeat, bringsUp, asks, givesData, isAnswered }: HeardTurn): ObservedKey[] {
    const state = this.#state;
    const corrects = [...signals].some((key) => CORRECTIONS.has(key));
    const failures: ObservedKey[] = [];
    if (corrects && state.isCorrected && state.hasSpoken) failures.push('ignores-correction');
    if (isAnswered && isRepeat && signals.has('correction')) failures.push('answers-else');
    if (givesData) state.given = [...state.given, ...state.asked].slice(-MOST_ASKED);
    else if (bringsUp) state.given = [];
    state.asked = [];
    const isUnhappy = isRepeat || [...signals].some((key) => typeOf(key) === 'DSAT');
    state.isCorrected = corrects || (state.isCorrected && !state.hasSpoken);
    state.isUnhappy = isUnhappy || (state.isUnhappy && !state.hasSpoken);
    state.hasSpoken = false;
    state.isAsked = asks || (state.isAsked && !signals.has('problem-solved'));
    return failures;
  }

  /** Notes an assistant turn. Returns the failures that it shows. */
  addAssistantTurn({ sentences }: AssistantAnswer): ObservedKey[] {
    const state = this.#state;
    const failures: ObservedKey[] = [];
    const plain = sentences.filter(({ text }) => text !== '' && !text.includes(HIDDEN));
    const statements = plain.filter(
      ({ act, asksBack, manners, stems }) =>
        act !== 'ask' && !asksBack && manners !== 'all' && stems.size >= LEAST_STATED,
    );
    const stated = statements.map(({ text }) => textHash(lettersOf(text)));
    const all = statements.reduce((sum, { stems }) => sum + stems.size, 0);
    const again = statements.reduce(
      (sum, { stems }, at) => sum + (state.stated.includes(stated[at]!) ? stems.size : 0),
      0,
    );
    if (all > 0 && again >= SAID_BEFORE * all && (state.isCorrected || state.isUnhappy))
      failures.push(state.isCorrected ? 'ignores-correction' : 'repeats-itself');
    const asked = plain
      .filter(({ asksBack, asksToConfirm, stems }) => asksBack && !asksToConfirm && stems.size > 0)
      .map(({ text }) => textHash(lettersOf(text)));
    if (statements.length === 0 && asked.some((question) => state.given.includes(question)))
      failures.push('forgets');
    state.asked = [...state.asked, ...asked].slice(-MOST_ASKED);
    state.stated = [...new Set([...state.stated, ...stated])].slice(-MOST_STATED);
    state.hasSpoken = true;
    state.isAsked = false;
    return failures;
  }

  write(writer: ByteWriter): void {
    STATE.write(writer, this.#state);
  }

  static read(reader: ByteReader): Conduct {
    const conduct = new Conduct();
    conduct.#state = STATE.read(reader);
    return conduct;
  }
}

/** The letters, digits and marks of a sentence, as one word: other spelling of it is the same sentence. */
function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
