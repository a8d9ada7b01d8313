/** The order of a trace's spans. Covered by test/doors/traces/assembly/spoken-spans.test.ts. */
import type { Observation } from '../observation.ts';

/** Microseconds. Some clocks are no finer, so starts within it do not tell which of two spans came first. */
const SAME_START = 1000;

export function byStart(a: Observation, b: Observation): number {
  return a.startedAt - b.startedAt || (a.spanId < b.spanId ? -1 : 1);
}

/**
 * Sorts spans by their start. If several start in the same millisecond, a span whose history contains the question and
 * the answer of another one comes after that one, and starts no earlier than the other one ends.
 */
export function inOrder(spans: readonly Observation[]): Observation[] {
  const groups = Map.groupBy(spans.toSorted(byStart), ({ startedAt }) => Math.floor(startedAt / SAME_START));
  return [...groups.values()].flatMap(byHistory);
}

/** A span whose history contains exchanges of other spans, which come before it. */
interface Waiting {
  readonly span: Observation;
  /** Its start, or the latest end of the spans whose exchanges it contains. */
  startedAt: number;
  /** Exchanges that have not come as often as the history contains them. */
  missing: number;
}

/** Kahn's algorithm: takes time linear in the messages. */
function byHistory(group: readonly Observation[]): readonly Observation[] {
  if (group.length === 1) return group;
  const outputs = new Map<string, number>();
  for (const span of group) add(outputs, outputOf(span));
  const all = group
    .toSorted(byLength)
    .map((span): Waiting => ({ span, startedAt: span.startedAt, missing: 0 }));
  /** For each exchange, at `n` the spans that wait until it has come `n` times. */
  const waits = new Map<string, Waiting[][]>();
  for (const waiting of all) {
    const own = outputOf(waiting.span);
    for (const [exchange, count] of exchangesIn(waiting.span, outputs)) {
      const times = Math.min(count, (outputs.get(exchange) ?? 0) - (exchange === own ? 1 : 0));
      if (times === 0) continue;
      waiting.missing += 1;
      const ofExchange = waits.get(exchange) ?? [];
      waits.set(exchange, ofExchange);
      (ofExchange[times] ??= []).push(waiting);
    }
  }
  const order = new Set<Waiting>();
  const come = new Map<string, number>();
  // The last one comes next, so that what waits for a span comes right behind it.
  const next = all.filter(({ missing }) => missing === 0).toReversed();
  for (let waiting = next.pop(); waiting !== undefined; waiting = next.pop()) {
    order.add(waiting);
    const { span, startedAt } = waiting;
    const exchange = outputOf(span);
    for (const later of waits.get(exchange)?.[add(come, exchange)]?.toReversed() ?? []) {
      later.startedAt = Math.max(later.startedAt, startedAt, span.endedAt);
      if ((later.missing -= 1) === 0) next.push(later);
    }
  }
  // Histories that contain each other show no order.
  for (const waiting of all) order.add(waiting);
  return [...order].map(({ span, startedAt }) => ({ ...span, startedAt }));
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

/** What a span adds to the histories of later ones: its question with its last answer, or the question alone. */
function outputOf({ asked, answered }: Observation): string {
  const place = asked.findLastIndex(({ role }) => role === 'user');
  const question = asked[place]?.content ?? '';
  const answer = answered.at(-1);
  return answer === undefined ? goneOnWith(place, question) : exchangeOf(question, answer.content);
}

/** How often the history of a span contains each of some exchanges. */
function exchangesIn(span: Observation, among: ReadonlyMap<string, number>): Map<string, number> {
  const found = new Map<string, number>();
  const note = (exchange: string): void => {
    if (among.has(exchange)) add(found, exchange);
  };
  let [place, question] = [-1, ''];
  for (const [index, { role, content }] of span.asked.entries()) {
    if (role === 'user') [place, question] = [index, content];
    else note(exchangeOf(question, content));
  }
  if (span.continues === true) note(goneOnWith(place, question));
  return found;
}

function exchangeOf(question: string, answer: string): string {
  return `${question.trim()}\0${answer.trim()}`;
}

/** A call that uses a tool and says nothing: the next one repeats its messages, with the question at the same place. */
function goneOnWith(place: number, question: string): string {
  return `${question.trim()}\0\0${place}`;
}

/** Counts one more, and returns how many there are now. */
function add(counts: Map<string, number>, name: string): number {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return count;
}
