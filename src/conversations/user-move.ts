/** How a user turn takes what the assistant said, and what its sentences bring up beside what was asked before. */
import { PhraseSet, shownWordsOf } from '../text/shown/phrase-set.ts';
import { beginsWithReply, type AskedSentence } from '../turns/asked-sentences.ts';
import { isUnmarkedQuestion } from '../turns/said-sentence.ts';
import { LEANING } from './session-request.ts';

const REJECTIONS = PhraseSet.of('rejections');
/** Words of a turn that say whether what was proposed is taken. */
const TAKING_WORDS = 24;

/** What is added and names more is a matter of its own, even if it speaks of what was said before. */
const ADDED = 2;
/** How much less a later request tells that speaks of what was said before. */
const REFERENCE = 8;

/** How a user takes what the assistant proposed. */
export type Taking = 'none' | 'rejects' | 'another';

/** What the assistant said before. */
interface Proposed {
  /** It answered a request that is spoken of. */
  readonly isAnswered: boolean;
  /** It asked whether something that it named is right or would do. */
  readonly asks: boolean;
}

/** Whether the user takes what was proposed or recapped, turns it down or asks for another one. */
export function takingOf(
  content: string,
  sentences: readonly AskedSentence[],
  { isAnswered, asks }: Proposed,
): Taking {
  if (!isAnswered && !asks) return 'none';
  if (isAnswered && sentences.some(({ other }) => other === 'asks')) return 'another';
  if (REJECTIONS.firstIn(content, shownWordsOf(content, TAKING_WORDS)) >= 0) return 'rejects';
  return asks && beginsWithReply(content, true) ? 'rejects' : 'none';
}

/** A later request that speaks of what was said before does not stand for the conversation. */
export function withoutReference(asked: AskedSentence): AskedSentence {
  return asked.refers
    ? { ...asked, telling: Math.max(0, Math.min(LEANING, asked.telling - REFERENCE)) }
    : asked;
}

/** What says more of a request never stands for the conversation. */
export function asMore(asked: AskedSentence): AskedSentence {
  return { ...asked, telling: Math.min(LEANING, asked.telling) };
}

/** A question without its mark: "is there a pool". */
export function asksUnmarked({ text, isInformation, isMarked, content }: AskedSentence): boolean {
  return isInformation && !isMarked && content > 1 && isUnmarkedQuestion(shownWordsOf(text));
}

/** Whether a sentence of an answer asks for something of its own; `opens`: nothing was asked before. */
export function bringsUp({ adds, refers, asks, content }: AskedSentence, opens: boolean): boolean {
  return (adds && (!refers || content > ADDED)) || (opens && asks === 'question');
}
