/** A request of a session with its answer: its weight, when an answer takes the place of another, how it is stored. */
import type { ByteReader, ByteWriter } from '../domain/byte-codec.ts';
import { contentCount } from '../text/shown/phrase-set.ts';
import { ended } from '../text/shown/shortening.ts';
import type { ScoredAnswer } from '../turns/assistant-answer.ts';
import { kept } from './kept-text.ts';
import { denies, namesOne } from '../turns/said-sentence.ts';

const REQUEST_LENGTH = 140;
export const ANSWER_LENGTH = 180;
/** What says more of a request, before it is answered. */
export const DETAIL_LENGTH = 90;
/** What says no more by itself does not stand for the session, however long it takes. */
export const LEANING = 3;
/** How much a turn counts beside what a request says (at most 15) and coming in the first turn that asks. */
const TURN_WEIGHT = 4;
const FIRST_WEIGHT = 10;
const DONE_WEIGHT = 16;
export const MOST_TURNS = 20;
/** How much less a question beside what is wanted is told, and one without an answer. */
const BESIDE_WEIGHT = 12;
const UNANSWERED_WEIGHT = 14;
/** How much less what is told with another. */
const JOINED_WEIGHT = 8;
/** What says no more than "I have a question" gains nothing by coming first. */
const VAGUE = 5;
/**
 * How much better a later answer must be: it speaks to a further question of the user, to what the user answered or
 * tried again (then it may be worse), or to anything else.
 */
const MARGINS = {
  detour: 0.6,
  answered: -0.25,
  step: 0.1,
  other: 0.1,
  stated: 0.6,
  closing: 9,
  /** The user has confirmed what is to be done. */
  confirmed: -0.25,
  /** The user asks for another one than what was proposed. */
  another: -5,
} as const;
/** What a report names with so few words, the answer before it tells; it must state something, in hundredths. */
const THIN = 5;
const PLAIN = 48;
/** What an assistant turn after the first speaks to. */
export type Bearing = keyof typeof MARGINS;
/** In the order of their numbers. */
export const BEARINGS = Object.keys(MARGINS) as readonly Bearing[];
/** After these a statement takes the place of a refusal. */
const OVERCOMING: readonly Bearing[] = ['other', 'step', 'stated', 'answered', 'confirmed', 'another'];
/** After these a report needs no word of the request. */
export const CONFIRMED: readonly Bearing[] = ['answered', 'confirmed', 'step', 'closing'];

/** A request as a user turn brings it up. */
export type NewRequest = Pick<SessionRequest, 'text' | 'telling'> &
  Partial<Pick<SessionRequest, 'isInformation'>>;

/** A request, and the best answer to it so far. */
export interface SessionRequest {
  readonly text: string;
  /** What the user said more of it before it was answered; '' without. */
  detail: string;
  /** 0 to 15: how well it says by itself what is wanted. */
  readonly telling: number;
  /** It came in the first turn that asked. */
  readonly isFirst: boolean;
  /** It only asks to be told something, so nothing is done for it. */
  isInformation: boolean;
  /** The one before it came in the same turn. */
  isJoined: boolean;
  /** It says more of the request before it, so it is told with that one alone. */
  goesOn: boolean;
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
  /** The answer says that it cannot be done. */
  isRefused: boolean;
  /** The assistant has spoken to it, but nothing of that can be shown. */
  isSpent: boolean;
}

/** As it is before anything is answered to it. */
export function newRequest({ text, telling, isInformation = false }: NewRequest): SessionRequest {
  return {
    text: kept(text, REQUEST_LENGTH),
    detail: '',
    telling,
    isFirst: false,
    isInformation,
    isJoined: false,
    goesOn: false,
    isOpen: false,
    turns: 0,
    answer: '',
    answerScore: 0,
    isDone: false,
    isRefused: false,
    isSpent: false,
  };
}

/** What was answered is none. */
export function forget(request: SessionRequest): void {
  request.answer = '';
  request.answerScore = 0;
  request.isRefused = false;
}

/** Hundredths by which a later answer must be better; a refusal gives way to what is stated after it. */
export function marginOf({ answer, isRefused }: SessionRequest, bearing: Bearing, refuses: boolean): number {
  if (answer === '' && bearing !== 'closing') return -255;
  if (refuses && bearing === 'confirmed') return -255;
  if (refuses && bearing === 'another') return 255;
  const isOvercome = isRefused && !refuses && OVERCOMING.includes(bearing);
  return isOvercome ? -255 : Math.round(MARGINS[bearing] * 60);
}

/** A report that names little tells as well what was found before it: "The pizzeria Etna has a table. It is booked." */
function reported(
  { answer, answerScore, isDone }: SessionRequest,
  best: ScoredAnswer,
  { text, recap }: Outcome,
): string {
  if (!best.isReport || isDone) return text;
  const isFound = answer !== '' && answerScore >= PLAIN && !denies(answer);
  const before = recap !== '' ? recap : isFound ? answer : '';
  if (before === '') return text;
  const both = `${ended(before)} ${text}`;
  return contentCount(text) <= THIN && !namesOne(text) && both.length <= ANSWER_LENGTH ? both : text;
}

/** What is told first: what was done rather than what was only asked beside it. */
export function rankOf(request: SessionRequest): number {
  const beside = request.isInformation && !request.isFirst ? BESIDE_WEIGHT : 0;
  const unanswered = request.answer === '' ? UNANSWERED_WEIGHT : 0;
  const joined = request.isJoined ? JOINED_WEIGHT : 0;
  return weightOf(request) + (request.isDone ? DONE_WEIGHT : 0) - beside - unanswered - joined;
}

/** What a session came for, and got, stays its main request. */
export function weightOf({ telling, isFirst, turns: all, isDone, isInformation }: SessionRequest): number {
  const turns = (isInformation && !isFirst) || telling <= LEANING ? Math.min(all, 1) : all;
  const first = isDone ? FIRST_WEIGHT + DONE_WEIGHT : FIRST_WEIGHT;
  return telling + turns * TURN_WEIGHT + (isFirst && telling > VAGUE ? first : 0);
}

/** What an assistant turn leaves of a request. */
export interface Outcome {
  /** Without personal data. */
  readonly text: string;
  /** Hundredths. */
  readonly score: number;
  /** What the assistant had asked to confirm; '' without. */
  readonly recap: string;
  readonly isRefused: boolean;
}

/** The request takes an answer. */
export function take(request: SessionRequest, best: ScoredAnswer, outcome: Outcome): void {
  request.answer = kept(reported(request, best, outcome), ANSWER_LENGTH);
  request.isDone = best.isReport;
  request.isRefused = outcome.isRefused && !best.isReport;
  request.answerScore = outcome.score;
}

/** Whether a turn that states something else makes its answer none: that was asked for, or is better than a refusal. */
export function isStale({ isRefused, isDone }: SessionRequest, bearing: Bearing): boolean {
  return !isDone && (isRefused ? OVERCOMING.includes(bearing) : bearing === 'another');
}

/** `isCurrent`: the assistant deals with it. */
export function writeRequest(writer: ByteWriter, request: SessionRequest, isCurrent: boolean): void {
  const { text, telling, isFirst, isDone, isInformation, isOpen, turns, answer, answerScore } = request;
  const { isRefused, goesOn, isSpent, detail } = request;
  writer
    .text(text)
    .byte(telling | (isFirst ? 16 : 0) | (isDone ? 32 : 0) | (isInformation ? 64 : 0) | (isOpen ? 128 : 0))
    .byte(turns | (request.isJoined ? 64 : 0) | (isCurrent ? 128 : 0))
    .text(answer)
    .byte(answerScore)
    .byte((isRefused ? 1 : 0) | (goesOn ? 2 : 0) | (isSpent ? 4 : 0))
    .text(detail);
}

export function readRequest(reader: ByteReader): { request: SessionRequest; isCurrent: boolean } {
  const text = reader.text();
  const flags = reader.byte();
  const turns = reader.byte();
  const answer = reader.text();
  const answerScore = reader.byte();
  const more = reader.byte();
  const request: SessionRequest = {
    text,
    detail: reader.text(),
    telling: flags & 15,
    isFirst: (flags & 16) !== 0,
    isDone: (flags & 32) !== 0,
    isInformation: (flags & 64) !== 0,
    isOpen: (flags & 128) !== 0,
    isJoined: (turns & 64) !== 0,
    turns: turns & 63,
    answer,
    answerScore,
    isRefused: (more & 1) !== 0,
    goesOn: (more & 2) !== 0,
    isSpent: (more & 4) !== 0,
  };
  return { request, isCurrent: turns > 127 };
}
