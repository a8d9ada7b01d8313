/**
 * The order of a trace's spans. Keeps the invariant that a span whose history ends with what another one said comes
 * behind that one, if both start in the same millisecond. Test: test/doors/traces/assembly/spoken-spans.test.ts.
 */
import type { Observation } from '../observation.ts';

/** Microseconds. Some clocks are no finer, so starts within it do not tell which of two spans came first. */
const SAME_START = 1000;

export function byStart(a: Observation, b: Observation): number {
  return a.startedAt - b.startedAt || (a.spanId < b.spanId ? -1 : 1);
}

/**
 * Sorts spans by their start. If several start in the same millisecond, their histories tell the order, and a span
 * starts no earlier than the one before it ends.
 */
export function inOrder(spans: readonly Observation[]): Observation[] {
  const groups = Map.groupBy(spans.toSorted(byStart), ({ startedAt }) => Math.floor(startedAt / SAME_START));
  return [...groups.values()].flatMap((group) => (group.length === 1 ? group : byHistory(group)));
}

/** Puts each span behind the one that its history ends with, in linear time. */
function byHistory(group: readonly Observation[]): Observation[] {
  const before = spansBefore(group);
  const order = new Map<Observation, Observation>();
  for (const start of group.toSorted(byLength)) {
    const path = new Set<Observation>();
    let span: Observation | undefined = start;
    // Histories that end with each other show no order.
    while (span !== undefined && !order.has(span) && !path.has(span)) {
      path.add(span);
      span = before.get(span);
    }
    for (const next of [...path].toReversed()) {
      const last = order.get(before.get(next) as Observation);
      const { startedAt } = next;
      const from = last === undefined ? startedAt : Math.max(startedAt, last.startedAt, last.endedAt);
      order.set(next, { ...next, startedAt: from });
    }
  }
  return [...order.values()];
}

/**
 * Finds for each span the one whose question and answer its history ends with: the longest of those that are no longer
 * than it, because words may repeat, else any, because applications cut histories.
 */
function spansBefore(group: readonly Observation[]): ReadonlyMap<Observation, Observation> {
  const before = new Map<Observation, Observation>();
  const saying = new Map<string, Observation>();
  const note = (span: Observation): void => {
    const last = saying.get(lastExchangeOf(span) ?? '');
    if (last !== undefined && last !== span && !before.has(span)) before.set(span, last);
  };
  for (const span of group.toSorted((a, b) => a.asked.length - b.asked.length || byLength(a, b))) {
    note(span);
    saying.set(exchangeOf(span), span);
  }
  for (const span of group) note(span);
  return before;
}

/**
 * Behind the call that asks a question come those that go on with it, behind a short history longer ones, and behind
 * calls that only use a tool the one that answers.
 */
function byLength(a: Observation, b: Observation): number {
  return (
    a.startedAt - b.startedAt ||
    Number(a.continues === true) - Number(b.continues === true) ||
    a.asked.length - b.asked.length ||
    Math.sign(a.answered.length) - Math.sign(b.answered.length) ||
    byStart(a, b)
  );
}

/** What a span adds to the histories of later ones: its question with its last answer, or the question at its place. */
function exchangeOf({ asked, answered }: Observation): string {
  const place = asked.findLastIndex(({ role }) => role === 'user');
  return nameOf(asked[place]?.content ?? '', answered.at(-1)?.content ?? place);
}

/** What the history of a span ends with; undefined: it has none. */
function lastExchangeOf({ asked, continues }: Observation): string | undefined {
  const question = asked.findLastIndex(({ role }) => role === 'user');
  const answer = asked.findLastIndex(({ role }) => role === 'assistant');
  // A call that uses a tool may say nothing: the next one repeats its messages.
  if (continues === true && answer < question) return nameOf(asked[question]?.content ?? '', question);
  if (answer < 0) return undefined;
  const asking = asked.slice(0, answer).findLast(({ role }) => role === 'user');
  return nameOf(asking?.content ?? '', asked[answer]?.content ?? '');
}

function nameOf(question: string, end: string | number): string {
  return JSON.stringify([question.trim(), typeof end === 'string' ? end.trim() : end]);
}
