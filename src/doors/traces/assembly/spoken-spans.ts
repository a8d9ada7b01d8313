/**
 * The spans of a trace as a tree: which of them count, and what each inherits. Keeps the invariant that each span is
 * looked at once, however deep it is and whatever ring its parents make. Test:
 * test/doors/traces/assembly/spoken-spans.test.ts.
 */
import { MAX_CALL_MESSAGES } from '../../../domain/limits.ts';
import type { Observation, SpanIds } from '../observation.ts';
import { byStart, inOrder } from './span-order.ts';

/** A span with its events, and the ids that it has from itself or from others of its trace. */
export interface PlacedSpan extends Pick<
  Observation,
  'spanId' | 'parentSpanId' | 'startedAt' | 'endedAt' | 'asked' | 'answered' | 'continues'
> {
  readonly ids: SpanIds;
}

/** What was seen of a trace before, and let go. */
export interface SeenSpan {
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** Its messages were counted: what is below it is its inner work. */
  readonly counted: boolean;
  /** Its usage was counted: that of what is above and below it is not. */
  readonly spent?: boolean;
}

/** The spans of a trace, each once, in order of their start, with the messages of their events. */
export function spansOf(observations: readonly Observation[]): Observation[] {
  const spans = new Map<string, Observation>();
  // Feedback alone says nothing of its span.
  const events = observations.filter(
    (one) => one.kind === 'event' && (one.feedback === undefined || hasContent(one)),
  );
  for (const observation of observations)
    if (observation.kind !== 'event' && !spans.has(observation.spanId))
      spans.set(observation.spanId, observation);
  for (const [spanId, records] of Map.groupBy(events, (record) => record.spanId)) {
    const joined = joinedEvents(records);
    const span = spans.get(spanId);
    // Who records content on the span as well says the same twice.
    if (span === undefined) spans.set(spanId, { ...joined, kind: 'event' });
    else if (span.asked.length === 0 && span.answered.length === 0) {
      const { asked, answered } = joined;
      spans.set(spanId, { ...joined, ...withoutUndefined(span), kind: 'chat', asked, answered });
    }
  }
  return [...spans.values()].toSorted(byStart);
}

/** Log records of one span; a record that was exported twice is there once. */
function joinedEvents(records: readonly Observation[]): Observation {
  const unique = new Map(
    records.map((record) => [
      JSON.stringify([record.startedAt, record.asked, record.answered, record.continues === true]),
      record,
    ]),
  );
  const sorted = [...unique]
    .toSorted(([a, one], [b, other]) => one.startedAt - other.startedAt || (a < b ? -1 : 1))
    .map(([, record]) => record);
  const [first] = sorted as [Observation, ...Observation[]];
  const all: Partial<Observation> = {};
  for (const record of sorted) Object.assign(all, withoutUndefined(record));
  return {
    ...first,
    ...all,
    kind: 'chat',
    startedAt: first.startedAt,
    endedAt: sorted.reduce((latest, record) => Math.max(latest, record.endedAt), first.endedAt),
    asked: sorted.flatMap(({ asked }) => asked).slice(-MAX_CALL_MESSAGES),
    answered: sorted.flatMap(({ answered }) => answered).slice(-MAX_CALL_MESSAGES),
    continues: sorted.some(({ continues }) => continues === true),
  };
}

function withoutUndefined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Partial<T>;
}

/** Spans of a trace that were seen before, by id. */
export type Seen = ReadonlyMap<string, SeenSpan>;

/**
 * Chooses the spans of a trace that say what a person and the assistant said. Of the tree only the topmost with both a
 * question and an answer count: what is below an agent says the same, or is its inner work. Where nothing below a span
 * has more, a span with one of the two counts. In the order in which they speak.
 */
export function chosenOf(tree: Tree): Observation[] {
  const { spans, seen } = tree;
  /** `isInner`: something above it counts. `hides`: the same of what is below it. */
  const placeOf = tree.fromAbove<{ depth: number; isInner: boolean; hides: boolean }>((id, above) => {
    const span = tree.spanOf(id);
    const isInner = above?.hides === true;
    const counts = (span !== undefined && hasBoth(span)) || seen.get(id)?.counted === true;
    return { depth: (above?.depth ?? -1) + 1, isInner, hides: isInner || counts };
  });
  const placed = spans.map((span) => ({ span, ...placeOf(span.spanId) }));
  /** Spans that have, or have below them, something that counts. */
  const telling = new Set<string>();
  const chosen: Observation[] = [];
  for (const { span, isInner } of placed.toSorted((a, b) => b.depth - a.depth)) {
    if (isInner) continue;
    const parent = tree.parentOf(span.spanId);
    const counts = hasBoth(span) || (hasContent(span) && !telling.has(span.spanId));
    if (counts) chosen.push(span);
    if (parent !== undefined && (counts || telling.has(span.spanId))) telling.add(parent);
  }
  return inOrder(chosen);
}

/** Tells whether the way from every span to the top of the trace is known: nothing above any of them is missing. */
export function isComplete(tree: Tree): boolean {
  const isKnown = tree.fromAbove<boolean>((id, above) => {
    const span = tree.spanOf(id);
    // Of a log record nobody knows what is above it.
    const isPlaced = span === undefined || span.kind === 'event' ? tree.seen.has(id) : true;
    return isPlaced && (above ?? true);
  });
  return tree.spans.every(({ spanId }) => isKnown(spanId));
}

/** Makes what gives a span the ids that it lacks: those of the nearest span above it, else of any of its trace. */
export function placing(tree: Tree, ofTrace: SpanIds): (span: Observation) => PlacedSpan {
  const any: SpanIds = { ...ofTrace, ...idsOf(tree.spans) };
  const inherited = inheriting(tree);
  return (span) => ({
    ...span,
    endedAt: Math.max(span.endedAt, span.startedAt),
    ids: idsOf([inherited(span.spanId), any]),
  });
}

/** Makes what gives a span, by its id, its own ids, else those of the nearest span above it. */
export function inheriting(tree: Tree): (spanId: string) => SpanIds {
  return tree.fromAbove<SpanIds>((id, above = {}) => idsOf([tree.spanOf(id) ?? {}, above]));
}

/** The spans of a trace, those that came and those that were seen before. */
export class Tree {
  readonly spans: readonly Observation[];
  readonly seen: Seen;
  readonly #byId = new Map<string, Observation>();

  constructor(spans: readonly Observation[], seen: Seen) {
    this.spans = spans;
    this.seen = seen;
    for (const span of spans)
      if (span.kind !== 'event' || !this.#byId.has(span.spanId)) this.#byId.set(span.spanId, span);
  }

  /** The span, if it came. */
  spanOf(id: string): Observation | undefined {
    return this.#byId.get(id);
  }

  parentOf(id: string): string | undefined {
    return this.#byId.get(id)?.parentSpanId ?? this.seen.get(id)?.parentSpanId;
  }

  /**
   * Makes a function of spans whose value follows from that of the span above. `above` is undefined at the top, and
   * where a ring of parents is entered. Each span is looked at once.
   */
  fromAbove<Value>(valueOf: (id: string, above: Value | undefined) => Value): (id: string) => Value {
    const known = new Map<string, Value>();
    return (start) => {
      const path = new Set<string>();
      let id: string | undefined = start;
      while (id !== undefined && !known.has(id) && !path.has(id)) {
        path.add(id);
        id = this.parentOf(id);
      }
      let value = known.get(id ?? '');
      for (const below of [...path].toReversed()) {
        value = valueOf(below, value);
        known.set(below, value);
      }
      return known.get(start) as Value;
    };
  }
}

/** Visits the spans above one, the nearest first, until `mark` returns false: it was there before. */
export function markAbove(tree: Tree, start: string, mark: (id: string) => boolean): void {
  let id = tree.parentOf(start);
  while (id !== undefined && id !== start && mark(id)) id = tree.parentOf(id);
}

function hasBoth({ asked, answered }: Observation): boolean {
  return asked.some(({ role }) => role === 'user') && answered.some(({ role }) => role === 'assistant');
}

function hasContent({ asked, answered }: Observation): boolean {
  return asked.length > 0 || answered.length > 0;
}

/** Of each kind the id of the first that has one. */
export function idsOf(spans: readonly SpanIds[]): SpanIds {
  const ids: { conversationId?: string; userId?: string; instanceId?: string } = {};
  for (const { conversationId, userId, instanceId } of spans) {
    if (conversationId !== undefined) ids.conversationId ??= conversationId;
    if (userId !== undefined) ids.userId ??= userId;
    if (instanceId !== undefined) ids.instanceId ??= instanceId;
  }
  return ids;
}

/**
 * What was seen of a trace, with the spans that came now. `conversations`: where those are that count. `spent`: those
 * whose usage counts.
 */
export function seenSpans(
  { seen, spans }: Tree,
  conversations: ReadonlyMap<string, unknown>,
  spent: ReadonlySet<string>,
): SeenSpan[] {
  const all = new Map(seen);
  for (const { spanId, parentSpanId, kind } of spans) {
    if (kind === 'event' && !all.has(spanId)) continue;
    const { parentSpanId: known, ...before } = all.get(spanId) ?? { counted: false };
    all.set(spanId, { ...before, spanId, parentSpanId: parentSpanId ?? known });
  }
  return [...all.values()].map((span) => ({
    ...span,
    counted: span.counted || conversations.has(span.spanId),
    spent: span.spent === true || spent.has(span.spanId),
  }));
}
