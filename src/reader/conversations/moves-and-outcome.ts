/**
 * A state machine over the turns of a session: the move of each user turn, and the session's outcome so far. Its
 * transitions are tables of rules; the first that holds applies, and each is reachable.
 *
 * Test: test/reader/acts/tables/act-tables.test.ts, test/reader/conversations/session-text.test.ts.
 */
import type { SessionOutcome } from '../../domain/session-outcomes.ts';
import { INFERRED_SIGNALS, type SignalKey } from '../../domain/signal-kinds.ts';
import { firstRule, type ActRule } from '../acts/tables/act-table.ts';
import type { AskedSentence } from '../acts/asked-sentences.ts';
import type { AssistantAnswer, Awaited } from '../acts/assistant-answer.ts';
import type { Move } from './session-request.ts';

const signalsOf = (wanted: 'SAT' | 'DSAT'): ReadonlySet<SignalKey> =>
  new Set(INFERRED_SIGNALS.flatMap(({ key, type }) => (type === wanted ? [key] : [])));
const SAT = signalsOf('SAT');
const DSAT = signalsOf('DSAT');

/** The properties of a user turn that decide its move. */
export interface MovingTurn {
  /** True if it brings up a request of its own. */
  readonly bringsUp: boolean;
  /** True if it can only answer the assistant's question. */
  readonly isAnswer: boolean;
  /** True if it is another try at an earlier request. */
  readonly isRepeated: boolean;
  readonly isReply: boolean;
  readonly asked: readonly Pick<AskedSentence, 'asks' | 'isInformation' | 'isAnother'>[];
  readonly signals: readonly SignalKey[];
  readonly awaited: Awaited;
  /** The text that the assistant asked to confirm; '' if none. */
  readonly recap: string;
}

/** Exported for its test; use `moveOf`. */
export const MOVE_RULES: readonly ActRule<MovingTurn, Move, Partial<MovingTurn>>[] = [
  { act: 'asks', when: ({ bringsUp }) => bringsUp, example: { bringsUp: true, isAnswer: true } },
  {
    act: 'confirms',
    when: ({ isAnswer, awaited, recap }) => isAnswer && awaited === 'confirmation' && recap !== '',
    example: { isAnswer: true, awaited: 'confirmation', recap: 'A berth for two nights.' },
  },
  {
    act: 'answers',
    when: ({ isAnswer, isRepeated }) => isAnswer || isRepeated,
    example: { isAnswer: true, awaited: 'answer' },
  },
  {
    act: 'asksBeside',
    when: ({ asked }) =>
      asked.some(({ asks, isInformation, isAnother }) => asks === 'question' && isInformation && !isAnother),
    example: { asked: [{ asks: 'question', isInformation: true, isAnother: false }] },
  },
  { act: 'goesOn', when: ({ isReply }) => !isReply, example: {} },
  {
    act: 'closes',
    when: ({ signals }) => isLiking(signals),
    example: { isReply: true, signals: ['gratitude'] },
  },
  { act: 'says', example: { isReply: true } },
];

export function moveOf(turn: MovingTurn): Move {
  return firstRule(MOVE_RULES, turn).act;
}

/** The state at a transition. `isDone`: the wish is fulfilled and nobody contradicts. */
interface Ending {
  readonly outcome: SessionOutcome;
  readonly isDone: boolean;
  readonly move: Move;
}

export interface UserEnding extends Ending {
  readonly signals: readonly SignalKey[];
  readonly isRequest: boolean;
  readonly isRepeated: boolean;
  /** True if the turn holds a question. */
  readonly asks: boolean;
  /** True if the assistant has dealt with the current request. */
  readonly isAnswered: boolean;
}

/** `same` keeps the outcome. */
type Next = SessionOutcome | 'same';

/** Exported for its test; use `afterUser`. `isDone`: as before the turn. */
export const AFTER_USER: readonly ActRule<UserEnding, Next, Partial<UserEnding>>[] = [
  // "Can I speak to a person?"
  {
    act: 'open',
    when: ({ signals, isRequest, asks }) => signals.includes('gives-up') && isRequest && asks,
    example: { signals: ['gives-up'], isRequest: true, asks: true },
  },
  // "Never mind then" accepts a refusal; "I'm done here" accepts what was done.
  {
    act: 'same',
    when: ({ signals, outcome, isDone }) =>
      signals.includes('gives-up') &&
      (outcome === 'handed_over' || (signals.length === 1 && (outcome === 'not_possible' || isDone))),
    example: { signals: ['gives-up'], outcome: 'not_possible' },
  },
  {
    act: 'gave_up',
    when: ({ signals }) => signals.includes('gives-up'),
    example: { signals: ['gives-up'] },
  },
  {
    act: 'solved',
    when: ({ signals }) => isSolved(signals),
    example: { signals: ['problem-solved'], outcome: 'not_possible' },
  },
  // Thanks alone accept a refusal.
  {
    act: 'same',
    when: (turn) =>
      isLikedAnswer(turn) &&
      isSettled(turn) &&
      (turn.outcome !== 'not_possible' || turn.signals.every((key) => key === 'gratitude')),
    example: { signals: ['gratitude'], outcome: 'not_possible' },
  },
  {
    act: 'solved',
    when: (turn) => isLikedAnswer(turn) && staysDone(turn),
    example: { signals: ['gratitude'], isDone: true },
  },
  { act: 'thanked', when: isLikedAnswer, example: { signals: ['praise'], outcome: 'not_possible' } },
  {
    act: 'same',
    when: (turn) =>
      isSettled(turn) && turn.outcome !== 'gave_up' && turn.move !== 'asks' && !isDisliked(turn.signals),
    example: { outcome: 'handed_over' },
  },
  {
    act: 'same',
    when: ({ outcome, signals, isRequest }) =>
      outcome === 'not_possible' && isDisliked(signals) && !isRequest,
    example: { outcome: 'not_possible', signals: ['frustration'] },
  },
  {
    act: 'open',
    when: (turn) => asksOn(turn) && (turn.move === 'asks' || !staysDone(turn)),
    example: { outcome: 'thanked', move: 'asks' },
  },
  { act: 'same', example: { outcome: 'solved', isDone: true, move: 'asksBeside' } },
];

/** Returns the outcome after a user turn, and whether the wish is still fulfilled. */
export function afterUser(turn: UserEnding): Pick<Ending, 'outcome' | 'isDone'> {
  const { act } = firstRule(AFTER_USER, turn);
  const isDone = turn.signals.includes('gives-up') ? turn.isDone : staysDone(turn) || isSolved(turn.signals);
  return { outcome: act === 'same' ? turn.outcome : act, isDone };
}

function isSettled({ outcome }: Ending): boolean {
  return outcome === 'handed_over' || outcome === 'not_possible' || outcome === 'gave_up';
}

function isSolved(signals: readonly SignalKey[]): boolean {
  return signals.includes('problem-solved') && isLiking(signals);
}

function isLikedAnswer({ signals, isAnswered }: UserEnding): boolean {
  return isLiking(signals) && isAnswered;
}

/** A wish is no longer fulfilled if the user tries again or is dissatisfied. */
function staysDone({ isDone, isRepeated, signals }: UserEnding): boolean {
  return isDone && !isRepeated && !isDisliked(signals);
}

function asksOn({ move, isRepeated, signals }: UserEnding): boolean {
  return move === 'asks' || move === 'asksBeside' || isRepeated || signals.length > 0;
}

/** True if a turn is satisfied and not dissatisfied. */
function isLiking(signals: readonly SignalKey[]): boolean {
  return signals.some((key) => SAT.has(key)) && !isDisliked(signals);
}

function isDisliked(signals: readonly SignalKey[]): boolean {
  return signals.some((key) => DSAT.has(key));
}

export interface AssistantEnding extends Ending {
  readonly handsOver: boolean;
  readonly states: AssistantAnswer['states'];
  readonly isRefused: boolean;
  /** True if something was refused before. */
  readonly wasRefused: boolean;
}

/** Exported for its test; use `afterAssistant`. `isDone`: including what the turn reports. */
export const AFTER_ASSISTANT: readonly ActRule<AssistantEnding, Next, Partial<AssistantEnding>>[] = [
  { act: 'handed_over', when: ({ handsOver }) => handsOver, example: { handsOver: true, isDone: true } },
  {
    act: 'same',
    when: ({ outcome }) => outcome === 'handed_over' || outcome === 'gave_up',
    example: { outcome: 'gave_up', isRefused: true },
  },
  { act: 'solved', when: ({ isDone }) => isDone, example: { isDone: true } },
  // "No, only your own", after a refusal.
  {
    act: 'not_possible',
    when: ({ isRefused, states, wasRefused }) => isRefused || (states === 'no' && wasRefused),
    example: { states: 'no', wasRefused: true },
  },
  {
    act: 'open',
    when: ({ outcome, states, move }) =>
      outcome === 'not_possible' && states !== 'nothing' && move !== 'says' && move !== 'closes',
    example: { outcome: 'not_possible', states: 'something', move: 'asks' },
  },
  { act: 'same', example: { outcome: 'thanked', states: 'something' } },
];

/** Returns the outcome after an assistant turn. */
export function afterAssistant(turn: AssistantEnding): SessionOutcome {
  const { act } = firstRule(AFTER_ASSISTANT, turn);
  return act === 'same' ? turn.outcome : act;
}
