/**
 * Tells a user turn that only answers the assistant ("San Jose", "at 7 pm", "the first one") from one that brings
 * something up. Judges by the shape of the conversation alone, so in any language: the assistant has just asked, and
 * the user does not ask back.
 *
 * Test: test/reader/acts/answering-turns.test.ts.
 */

import { fold } from '../document/normalise.ts';
import { asksByMark } from '../document/question-marks.ts';
import { wordCount } from '../document/words.ts';
import { ASKED_DETAILS } from './asked-details.ts';

/**
 * Length of the end of an assistant turn in which a question asks the user, UTF-16 units. Before it there may be code,
 * quotations, questions of others.
 */
const CLOSING_LENGTH = 400;
/** Time after a question within which a turn may answer it, microseconds: one hour. A later turn is a new beginning. */
const ANSWERED_WITHIN = 3_600_000_000;

/** True if a text holds a question, by its marks. */
export function holdsQuestion(text: string): boolean {
  return asksByMark(text);
}

/** True if an assistant turn asks the user something. */
export function asksUser(content: string): boolean {
  return holdsQuestion(content.slice(-CLOSING_LENGTH));
}

/** True if an assistant turn asks for a name, an address, a number or the like, and not for what the user wants. */
export function asksForData(content: string): boolean {
  if (!asksUser(content)) return false;
  const closing = fold(content.slice(-CLOSING_LENGTH));
  return ASKED_DETAILS.details.test(closing) && !ASKED_DETAILS.help.test(closing);
}

/** A bare answer has at most this many words and UTF-16 units. */
const BARE_WORDS = 6;
const BARE_LENGTH = 120;

/** True if a user turn is as short as a name, a date or a number. */
export function isBare(content: string): boolean {
  return content.length <= BARE_LENGTH && wordCount(fold(content)) <= BARE_WORDS;
}

/**
 * True if a user turn at `at` can be no more than the answer to a question of `askedAt` (microseconds of event time;
 * null: nothing was asked).
 */
export function canOnlyAnswer(content: string, at: number, askedAt: number | null): boolean {
  return isAsked(at, askedAt) && !holdsQuestion(content);
}

/** True if a user turn at `at` follows a question of `askedAt` soon enough to be its answer or a question back. */
export function isAsked(at: number, askedAt: number | null): boolean {
  return askedAt !== null && at - askedAt <= ANSWERED_WITHIN;
}
