/**
 * One request of a session with its answer: its weight, and the rules by which an assistant turn replaces its answer.
 *
 * Test: test/reader/conversations/session-request.test.ts.
 */
import { FLAG, listOf, LINK, oneOf, record, TEXT } from '../../domain/record-codec.ts';
import { contentCount, stemsOf } from '../shortening/phrase-set.ts';
import { ended } from '../shortening/shortening.ts';
import { namesOne } from '../acts/tables/assistant-sentence.ts';
import { denies } from '../acts/scored-sentence.ts';
import type { AskedSentence } from '../acts/asked-sentences.ts';
import { bestAnswer, type AssistantAnswer, type ScoredAnswer } from '../acts/assistant-answer.ts';
import { kept, titleOf } from './title-and-summary.ts';

const ASKED_LENGTH = 140;
export const ANSWER_LENGTH = 180;
/** Longest answer that a summary quotes whole beside two others, UTF-16 units. */
const SHORT_ANSWER = 120;
/** Most sentences of one turn that are told. */
const MOST_ASKED = 2;
const MOST_TURNS = 20;
/** Weights beside `telling`, which is at most 15. */
const WEIGHT = { turn: 4, first: 10, done: 16, beside: 12, unanswered: 14 } as const;
/** A vague request ("I have a question") gains nothing by coming first. */
const VAGUE = 5;
/**
 * A report with at most THIN content words is told after the answer before it, if that answer states something (score
 * of at least PLAIN, hundredths).
 */
const THIN = 5;
const PLAIN = 48;

/** The result so far: nothing yet, an answer that cannot be shown, a statement, a refusal, a report that it is done. */
export const OUTCOMES = ['open', 'spent', 'answered', 'refused', 'done'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The requests of one user turn, as one. */
export interface SessionRequest {
  title: string;
  /** Its sentences. */
  asked: string[];
  /** Score of how well it alone tells the wish, 0 to 15. */
  telling: number;
  /** True if it came in the first turn that asked. */
  isFirst: boolean;
  /** True if it only asks for information: nothing is to be done. */
  isInformation: boolean;
  /** Number of assistant turns that dealt with it. */
  turns: number;
  outcome: Outcome;
  /** '' if there is none. */
  answer: string;
  /** Score of the answer, hundredths. */
  score: number;
}

export const SESSION_REQUEST = record<SessionRequest>({
  title: TEXT,
  asked: listOf(TEXT),
  telling: LINK,
  isFirst: FLAG,
  isInformation: FLAG,
  turns: LINK,
  outcome: oneOf(OUTCOMES),
  answer: TEXT,
  score: LINK,
});

/** The move of the user's latest turn; the assistant's next turn responds to it. */
export const MOVES = ['asks', 'answers', 'confirms', 'asksBeside', 'goesOn', 'says', 'closes'] as const;
export type Move = (typeof MOVES)[number];

/**
 * Lead, in hundredths, that a later answer needs to replace an earlier one. After a user's answer it may even be worse.
 */
const MARGINS: Readonly<Record<Move, number>> = {
  asks: 6,
  answers: -15,
  confirms: -15,
  asksBeside: 36,
  goesOn: 6,
  says: 6,
  closes: Infinity,
};

/** Makes one request of a turn's sentences; the most telling one gives the title. */
export function newRequest(sentences: readonly AskedSentence[], isFirst: boolean): SessionRequest {
  const main = sentences.reduce((one, other) => (other.telling > one.telling ? other : one));
  const chosen = sentences
    .filter((one) => one === main)
    .concat(sentences.filter((one) => one !== main))
    .slice(0, MOST_ASKED);
  return {
    title: titleOf(main.text),
    asked: sentences.filter((one) => chosen.includes(one)).map(({ text }) => kept(text, ASKED_LENGTH)),
    telling: main.telling,
    isFirst,
    isInformation: sentences.every(({ isInformation }) => isInformation),
    turns: 0,
    outcome: 'open',
    answer: '',
    score: 0,
  };
}

/** Weight of a request. The heaviest one gives the title; the three heaviest are told. */
export function weightOf({ telling, turns, isFirst, isInformation, outcome }: SessionRequest): number {
  const isBeside = isInformation && !isFirst;
  const first = isFirst && telling > VAGUE ? WEIGHT.first + (outcome === 'done' ? WEIGHT.done : 0) : 0;
  return telling + WEIGHT.turn * (isBeside ? Math.min(turns, 1) : turns) + first;
}

/** Rank of a request in the summary; prefers requests with an answer, and those that were done. */
export function rankOf(request: SessionRequest): number {
  const { outcome, answer, isInformation, isFirst } = request;
  const done = outcome === 'done' ? WEIGHT.done : answer === '' ? -WEIGHT.unanswered : 0;
  return weightOf(request) + done - (isInformation && !isFirst ? WEIGHT.beside : 0);
}

/** Discards a statement as answer; the request is open again. */
export function forget(request: SessionRequest): void {
  if (request.outcome === 'answered') Object.assign(request, { answer: '', score: 0, outcome: 'open' });
}

/** An assistant turn in relation to a request. */
export interface Reply {
  readonly answer: AssistantAnswer;
  readonly move: Move;
  readonly isRefused: boolean;
  /** The text that the assistant had asked to confirm; '' if none. */
  readonly recap: string;
  readonly redact: (text: string) => string;
}

/** Applies an assistant turn to a request: counts it, and takes its answer if that is better. */
export function answerRequest(request: SessionRequest, reply: Reply): void {
  request.turns = Math.min(request.turns + (reply.move === 'asksBeside' ? 0 : 1), MOST_TURNS);
  const isConfirmed = !request.isInformation && ['answers', 'confirms', 'closes'].includes(reply.move);
  const found = request.asked.flatMap(
    (text) =>
      bestAnswer(reply.answer, stemsOf(text), {
        isConfirmed,
        isInformation: request.isInformation,
      }) ?? [],
  );
  if (found.length === 0) {
    passOver(request, reply);
    return;
  }
  const best = found.reduce((one, other) => (other.score > one.score ? other : one));
  if (!takes(request, best, reply)) return;
  const content = contentOf(found);
  request.answer = kept(
    best.isReport ? withFound(request, content, reply) : reply.redact(content),
    ANSWER_LENGTH,
  );
  request.outcome = best.isReport ? 'done' : reply.isRefused ? 'refused' : 'answered';
  request.score = hundredths(best);
}

/** Applies an assistant turn that holds no answer to the request. */
function passOver(request: SessionRequest, { answer, move, isRefused }: Reply): void {
  const statesSomething = answer.states !== 'nothing';
  // The refused wish was met after all, in words that are not shown.
  if (request.outcome === 'refused' && statesSomething && !isRefused && move !== 'closes')
    Object.assign(request, { answer: '', score: 0, outcome: 'spent' });
  // "Is there a train at noon?" – "From where?": there is something to do.
  if (answer.asksBack && request.isFirst) request.isInformation = false;
  else if (request.outcome === 'open' && (!answer.asksBack || statesSomething)) request.outcome = 'spent';
}

/** Joins the texts of answers. Leaves out a text that another one contains. */
function contentOf(found: readonly ScoredAnswer[]): string {
  const texts = [...new Set(found.map(({ text }) => text))];
  return texts.filter((text) => !texts.some((other) => other !== text && other.includes(text))).join(' ');
}

/** Puts the earlier finding before a thin report: "The pizzeria Etna has a table. It is booked." */
function withFound(request: SessionRequest, report: string, { recap, redact }: Reply): string {
  const text = redact(report);
  const found =
    request.outcome === 'answered' && request.score >= PLAIN && !denies(request.answer) ? request.answer : '';
  const before = recap !== '' ? recap : found;
  if (before === '' || contentCount(text) > THIN || namesOne(text)) return text;
  const both = `${ended(before)} ${text}`;
  return both.length <= SHORT_ANSWER ? both : text;
}

function takes(request: SessionRequest, best: ScoredAnswer, { move, isRefused }: Reply): boolean {
  const { outcome, answer, score } = request;
  const margin = MARGINS[move];
  if (outcome === 'done') return best.isReport && hundredths(best) > score + margin;
  if (best.isReport) return true;
  if (move === 'closes') return false;
  if (answer === '' || (isRefused && move === 'confirms')) return true;
  if (outcome === 'refused' && !isRefused) return move !== 'asksBeside';
  return hundredths(best) > score + margin;
}

function hundredths({ score }: ScoredAnswer): number {
  return Math.max(0, Math.round(score * 60));
}
