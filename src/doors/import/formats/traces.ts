/**
 * Rebuilds conversations from traces of language models, where each call repeats the history. A repeated message is
 * added once.
 *
 * Test: test/doors/import/formats/traces.test.ts.
 */
import { parseTime } from '../../../domain/time.ts';
import type { GivenFeedback } from '../../traces/given-feedback.ts';
import { messagesOf, type Message } from '../../traces/messages.ts';
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { attributesOf, boundedAttributes } from '../../traces/conventions/attributes.ts';
import type { ObservedAttributes } from '../../traces/observation.ts';
import type { AttributeValue } from '../../traces/span.ts';
import type { PlacedRow, Reading, RowFormat, Turn } from './format.ts';

/** One step of a trace: a call of a model, or all that an application did for one message. */
export interface Span {
  readonly id: string;
  readonly trace: string;
  /** True if the span has no parent in its trace. */
  readonly isRoot: boolean;
  readonly isCall: boolean;
  readonly startedAt?: string | number | undefined;
  readonly endedAt?: string | number | undefined;
  readonly userId?: string | undefined;
  readonly attributes?: ObservedAttributes | undefined;
  readonly input: unknown;
  readonly output: unknown;
  /** What an end user gave on what the trace answered. */
  readonly feedback?: readonly GivenFeedback[] | undefined;
}

/** Feedback that an export keeps apart from the spans of its trace. */
export interface Score {
  readonly trace: string;
  readonly score: GivenFeedback;
}

/** Time of rows whose place among the others does not matter; without one, the others would not be sorted. */
const ANYWHERE = 0;

/** Reads attributes as those of spans are read. `named`: values by the names of a convention. */
export function attributesIn(
  named: Readonly<Record<string, unknown>>,
  isCall: boolean,
): ObservedAttributes | undefined {
  const attributes = new Map(Object.entries(named) as [string, AttributeValue][]);
  return attributesOf(attributes, new Map(), isCall ? 'chat' : 'other');
}

/** Declares a format whose entries are spans. `place` says what an entry with an id is, and of which conversation. */
export function spansFormat({
  place,
  ...named
}: Pick<RowFormat, 'name' | 'title' | 'recognise'> & {
  place(
    value: Record<string, unknown>,
    id: string,
  ):
    | { readonly span: Span; readonly conversation: string | undefined }
    | Score
    | { readonly leftOut: string };
}): RowFormat {
  return {
    kind: 'rows',
    joins: true,
    ...named,
    place(value) {
      if (!isObject(value)) return { fault: 'not a JSON object' };
      const id = textOf(value['id']);
      if (id === undefined) return { fault: 'id: missing' };
      const placed = place(value, id);
      if ('leftOut' in placed) return placed;
      if ('score' in placed)
        return { conversation: null, part: placed.trace, at: ANYWHERE, kept: placed } satisfies PlacedRow;
      const { span, conversation = null } = placed;
      const { startedAt, trace: part } = span;
      const at = typeof startedAt === 'string' ? parseTime(startedAt) : null;
      return { conversation, part, at, kept: span } satisfies PlacedRow;
    },
    assemble: (conversation, rows) =>
      conversationOfSpans(conversation, named.name, rows as readonly (Span | Score)[]),
  };
}

/** Joins the spans of a conversation; `spans` are in order of start. */
export function conversationOfSpans(id: string, source: string, rows: readonly (Span | Score)[]): Reading {
  const spans = rows.flatMap((row) => ('score' in row ? [] : [row]));
  const scores = Map.groupBy(
    rows.flatMap((row) => ('score' in row ? [row] : [])),
    ({ trace }) => trace,
  );
  if (spans.length === 0) return { leftOut: 'feedback on a trace that is not there' };
  const omitted = new OmissionCounts();
  const turns = new Turns();
  const seen = new Set<string>();
  const traces = Map.groupBy(
    spans.filter((span) => !seen.has(span.id) && seen.add(span.id)),
    ({ trace }) => trace,
  );
  for (const [name, trace] of traces) {
    const chosen = chosenOf(trace);
    if (chosen.length === 0) omitted.add('trace without messages');
    let answer: number | null = null;
    for (const [index, call] of chosen.entries())
      answer = addCall(turns, call, index === 0, omitted) ?? answer;
    const userId = trace.find((span) => span.userId !== undefined)?.userId;
    const feedback = [
      ...trace.flatMap((span) => span.feedback ?? []),
      ...(scores.get(name) ?? []).map(({ score }) => score),
    ];
    if (answer !== null) turns.rate(answer, feedback, userId);
    else omitted.add('feedback without an answer', feedback.length);
  }
  const told = spans.flatMap(({ attributes = {} }) => Object.entries(attributes));
  const metadata = told.length === 0 ? undefined : boundedAttributes(new Map(told));
  return { line: { id, source, turns: turns.all, metadata }, omitted: omitted.all };
}

/** Turns with an index by role and content: a conversation may have a hundred thousand turns. */
class Turns {
  readonly all: Turn[] = [];
  /** Role → content → indices of turns, ascending. */
  readonly #places = new Map<string, Map<string, number[]>>();

  add(turn: Turn): void {
    let ofRole = this.#places.get(turn.role);
    if (ofRole === undefined) this.#places.set(turn.role, (ofRole = new Map<string, number[]>()));
    const places = ofRole.get(turn.content);
    if (places === undefined) ofRole.set(turn.content, [this.all.length]);
    else places.push(this.all.length);
    this.all.push(turn);
  }

  /** Adds feedback to a turn. `userId`: whose it is if it does not say so. */
  rate(index: number, feedback: readonly GivenFeedback[], userId: string | undefined): void {
    const turn = this.all[index];
    if (turn === undefined || feedback.length === 0) return;
    const given = feedback.map((one) => (userId === undefined ? one : { userId, ...one }));
    this.all[index] = { ...turn, feedback: [...(turn.feedback ?? []), ...given] };
  }

  /** Returns the first index of an equal message in `from` to `to` − 1, or −1. */
  find({ role, content }: Message, from: number, to: number): number {
    const places = this.#places.get(role)?.get(content) ?? [];
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((places[middle] as number) < from) low = middle + 1;
      else high = middle;
    }
    const place = places[low] ?? to;
    return place < to ? place : -1;
  }
}

interface Call {
  readonly span: Span;
  readonly asked: readonly Message[];
  readonly answered: readonly Message[];
}

/**
 * Prefers roots, which show what the user saw. Calls below them may be internal and count only where the roots contain
 * no messages.
 */
function chosenOf(trace: readonly Span[]): Call[] {
  const calls = trace.map((span): Call => ({
    span,
    asked: messagesIn(span.input, 'user'),
    answered: messagesIn(span.output, 'assistant'),
  }));
  const roots = calls.filter(({ span, asked }) => span.isRoot && asked.some(({ role }) => role === 'user'));
  if (roots.some(({ answered }) => answered.some(({ role }) => role === 'assistant'))) return roots;
  const models = calls.filter(({ span, asked }) => span.isCall && asked.length > 0);
  return models.length > 0 ? models : roots;
}

function messagesIn(value: unknown, role: 'user' | 'assistant'): Message[] {
  return (messagesOf(value, role) ?? []).map(({ role: whose, content }) => ({ role: whose, content }));
}

/**
 * Adds the new messages of a call. Messages before its last question are history, already known unless the conversation
 * began elsewhere. The question of the first call of a trace is new even if the same was asked before. Returns the index
 * of its answer; null: it has none.
 */
function addCall(
  turns: Turns,
  { span, asked, answered }: Call,
  isFirst: boolean,
  omitted: OmissionCounts,
): number | null {
  const spoken = asked.filter(isSpoken);
  omitted.add('system prompt', asked.filter(({ role }) => role === 'system').length);
  omitted.add('tool result', [...asked, ...answered].filter(({ role }) => role === 'tool').length);
  const at = timed(span.startedAt);
  const lastAnswer = spoken.findLastIndex(({ role }) => role === 'assistant');
  const history = isFirst ? spoken.slice(0, lastAnswer + 1) : spoken;
  const questions = isFirst ? spoken.slice(lastAnswer + 1) : [];
  const userOf = ({ role }: Message): { userId?: string } =>
    role === 'user' && span.userId !== undefined ? { userId: span.userId } : {};
  addUnknown(turns, history, (message) => ({ ...message, ...at, ...userOf(message) }));
  const last = turns.all.at(-1);
  for (const [index, message] of questions.entries()) {
    // A retried call asks a question that is still unanswered.
    const isRetry = index === 0 && last?.role === 'user' && last.content === message.content;
    if (!isRetry) turns.add({ ...message, ...at, ...userOf(message) });
  }
  const end = timed(span.endedAt ?? span.startedAt);
  return addUnknown(
    turns,
    answered.filter(isSpoken),
    (message) => ({ ...message, ...end }),
    isFirst ? turns.all.length : 0,
  );
}

/**
 * Adds the messages that do not occur, in this order, among the turns from `from` on. Returns the index of the last of
 * them; null: there is none.
 */
function addUnknown(
  turns: Turns,
  messages: readonly Message[],
  turnOf: (message: Message) => Turn,
  from = 0,
): number | null {
  // An answer of several messages may repeat the whole conversation, so its search starts at 0.
  let next = messages.length > 1 ? 0 : from;
  const known = turns.all.length;
  let last: number | null = null;
  for (const message of messages) {
    const found = turns.find(message, next, known);
    if (found === -1) turns.add(turnOf(message));
    else next = found + 1;
    last = found === -1 ? turns.all.length - 1 : found;
  }
  return last;
}

function isSpoken({ role, content }: Message): boolean {
  return (role === 'user' || role === 'assistant') && content.trim() !== '';
}

function timed(createdAt: string | number | undefined): { createdAt?: string | number } {
  return createdAt === undefined ? {} : { createdAt };
}
