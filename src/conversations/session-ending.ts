/** How a session ended, as far as a user turn says. Covered by test/conversations/session-text.test.ts. */
import { SIGNALS, type SignalKey } from '../domain/signal-kinds.ts';
import type { Ending } from '../text/shown/lexicon.ts';

const SAT: ReadonlySet<SignalKey> = signalsOf('SAT');
const DSAT: ReadonlySet<SignalKey> = signalsOf('DSAT');

function signalsOf(wanted: 'SAT' | 'DSAT'): ReadonlySet<SignalKey> {
  return new Set(SIGNALS.flatMap(({ key, type }) => (type === wanted ? [key] : [])));
}

/** Whether a turn says that something is liked, and nothing against it. */
export function isLiking(signals: readonly SignalKey[]): boolean {
  return signals.some((key) => SAT.has(key)) && !signals.some((key) => DSAT.has(key));
}

/** What is known of a user turn, and of the session before it. */
interface Closing {
  /** It asks for something new, or again. */
  readonly asks: boolean;
  /** It asks nothing and answers nothing. */
  readonly isReply: boolean;
  readonly isAsking: boolean;
  /** The assistant has stated something since the latest request. */
  readonly isAnswered: boolean;
  /** The assistant has stated something that is no refusal and no "no". */
  readonly isMet: boolean;
  /** The latest request is reported as done; some request is. */
  readonly isDone: boolean;
  readonly hasDone: boolean;
  readonly signals: readonly SignalKey[];
}

/** The ending after a user turn; `before`: the one before it. */
export function endingAfterUser(before: Ending | null, closing: Closing): Ending | null {
  const { asks, isAsking, isAnswered, signals } = closing;
  if (signals.includes('gives-up') && !isAsking && (isAnswered || !asks)) {
    // "I'm done here" of what is done is no giving up.
    const stays = before === 'handedOver' || before === 'refused' || closing.hasDone;
    return stays ? before : 'givenUp';
  }
  // "Can I speak to a person?"
  if (asks || (isAsking && signals.includes('gives-up'))) return 'open';
  if (isLiking(signals) && isAnswered) {
    const stays = before === 'refused' || before === 'handedOver' || before === 'givenUp';
    if (signals.includes('problem-solved')) return 'solved';
    return stays ? before : closing.isMet ? 'solved' : null;
  }
  const isClosed =
    closing.isReply && before === null && closing.isDone && !signals.some((key) => DSAT.has(key));
  if (isClosed) return 'solved';
  return before === 'solved' ? null : before;
}
