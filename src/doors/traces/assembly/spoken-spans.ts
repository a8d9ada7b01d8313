import { MAX_CALL_MESSAGES } from '../../../domain/limits.ts';
import type { Observation, ObservedMessage } from '../observation.ts';
import { byStart, inOrder } from './span-order.ts';

/** A span with its events, and the ids that it has from itself or from others of its trace. */
export interface PlacedSpan {
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly asked: readonly ObservedMessage[];
  readonly answered: readonly ObservedMessage[];
  readonly continues: boolean;
  readonly ids: SpanIds;
}

export interface SpanIds {
  readonly conversationId?: string | undefined;
  readonly userId?: string | undefined;
  readonly instanceId?: string | undefined;
}

/** What was seen of a trace before, and let go. */
export interface SeenSpan {
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** Its messages were counted: what is below it is its inner work. */
  readonly counted: boolean;
}

/** The spans of a trace, each once, in order of their start, with the messages of their events. */
export function spansOf(observations: readonly Observation[]): Observation[] {
  const spans = new Map<string, Observation>();
  const events = observations.filter(({ kind }) => kind === 'event');
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

/**
 * Which spans of a trace say what a person and the assistant said. Of the tree only the topmost with both a question
 * and an answer count: what is below an agent says the same, or is its inner work. Where nothing below a span has more,
 * a span with one of the two counts. In the order in which they speak.
 */
export function chosenOf(spans: readonly Observation[], seen: ReadonlyMap<string, SeenSpan>): Observation[] {
  const tree = treeOf(spans, seen);
  const isBelowCounted = belowCounted(seen);
  /** What is below a span that counts, or that was counted before. */
  const inner = new Set<string>();
  for (const { span, parent } of tree) {
    const isInner =
      parent === undefined
        ? isBelowCounted(parentOf(span, seen))
        : inner.has(parent.spanId) || hasBoth(parent);
    if (isInner) inner.add(span.spanId);
  }
  /** Spans that have, or have below them, something that counts. */
  const telling = new Set<string>();
  const chosen: Observation[] = [];
  for (const { span, parent } of tree.toReversed()) {
    if (inner.has(span.spanId)) continue;
    const counts = hasBoth(span) || (hasContent(span) && !telling.has(span.spanId));
    if (counts) chosen.push(span);
    if (parent !== undefined && (counts || telling.has(span.spanId))) telling.add(parent.spanId);
  }
  return inOrder(chosen);
}

interface Branch {
  readonly span: Observation;
  readonly parent: Observation | undefined;
  readonly depth: number;
}

/** The spans with what is above them, parents first. A ring of parents is cut where it is entered. */
function treeOf(spans: readonly Observation[], seen: ReadonlyMap<string, SeenSpan>): Branch[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const branches = new Map<string, Branch>();
  for (const start of spans) {
    const path: Observation[] = [];
    const onPath = new Set<string>();
    let current: Observation | undefined = start;
    while (current !== undefined && !branches.has(current.spanId) && !onPath.has(current.spanId)) {
      path.push(current);
      onPath.add(current.spanId);
      current = byId.get(parentOf(current, seen) ?? '');
    }
    let parent = current === undefined ? undefined : branches.get(current.spanId);
    for (const span of path.toReversed()) {
      const branch: Branch = { span, parent: parent?.span, depth: (parent?.depth ?? -1) + 1 };
      branches.set(span.spanId, branch);
      parent = branch;
    }
  }
  return [...branches.values()].toSorted((a, b) => a.depth - b.depth);
}

function parentOf(
  { parentSpanId, spanId }: Observation,
  seen: ReadonlyMap<string, SeenSpan>,
): string | undefined {
  return parentSpanId ?? seen.get(spanId)?.parentSpanId;
}

function hasBoth({ asked, answered }: Observation): boolean {
  return asked.some(({ role }) => role === 'user') && answered.some(({ role }) => role === 'assistant');
}

function hasContent({ asked, answered }: Observation): boolean {
  return asked.length > 0 || answered.length > 0;
}

/** Makes what says whether a span that was seen before, or one above it, was counted. Each is looked at once. */
function belowCounted(seen: ReadonlyMap<string, SeenSpan>): (spanId: string | undefined) => boolean {
  const known = new Map<string, boolean>();
  return (spanId) => {
    const path: string[] = [];
    let id = spanId;
    for (; id !== undefined && !known.has(id); id = seen.get(id)?.parentSpanId) {
      known.set(id, seen.get(id)?.counted === true);
      path.push(id);
      if (known.get(id) === true) break;
    }
    const isCounted = id !== undefined && known.get(id) === true;
    for (const below of path) known.set(below, isCounted);
    return isCounted;
  };
}

/** Whether the way from every span to the top of the trace is known: nothing that is above any of them is missing. */
export function isComplete(spans: readonly Observation[], seen: ReadonlyMap<string, SeenSpan>): boolean {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const complete = new Set<string>();
  return spans.every((span) => {
    const path = new Set([span.spanId]);
    let current: Observation | SeenSpan | undefined = span;
    while (current !== undefined && !complete.has(current.spanId)) {
      // Of a log record nobody knows what is above it.
      if ('kind' in current && current.kind === 'event' && !seen.has(current.spanId)) return false;
      const parent: string | undefined = current.parentSpanId ?? seen.get(current.spanId)?.parentSpanId;
      if (parent === undefined || path.has(parent)) break;
      path.add(parent);
      current = byId.get(parent) ?? seen.get(parent);
    }
    if (current === undefined) return false;
    for (const id of path) complete.add(id);
    return true;
  });
}

/** Makes what gives a span the ids that it lacks: those of the nearest span above it, else of any of its trace. */
export function placing(
  spans: readonly Observation[],
  seen: ReadonlyMap<string, SeenSpan>,
  ofTrace: SpanIds,
): (span: Observation) => PlacedSpan {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const any: SpanIds = { ...ofTrace, ...idsOf(spans) };
  const inherited = new Map<string, SpanIds>();
  return (span) => ({
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    startedAt: span.startedAt,
    endedAt: Math.max(span.endedAt, span.startedAt),
    asked: span.asked,
    answered: span.answered,
    continues: span.continues === true,
    ids: idsOf([inheritedIds(span.spanId, byId, seen, inherited), any]),
  });
}

/** The ids of a span, else of the nearest one above it that has them. Each span is looked at once. */
function inheritedIds(
  spanId: string,
  byId: ReadonlyMap<string, Observation>,
  seen: ReadonlyMap<string, SeenSpan>,
  inherited: Map<string, SpanIds>,
): SpanIds {
  const path = new Set<string>();
  let id: string | undefined = spanId;
  while (id !== undefined && !inherited.has(id) && !path.has(id)) {
    path.add(id);
    id = byId.get(id)?.parentSpanId ?? seen.get(id)?.parentSpanId;
  }
  let ids: SpanIds = inherited.get(id ?? '') ?? {};
  for (const below of [...path].toReversed()) {
    ids = idsOf([byId.get(below) ?? {}, ids]);
    inherited.set(below, ids);
  }
  return ids;
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

/** What was seen of a trace, with the spans that came now. `conversations`: where those are that count. */
export function seenSpans(
  seen: ReadonlyMap<string, SeenSpan>,
  spans: readonly Observation[],
  conversations: ReadonlyMap<string, unknown>,
): SeenSpan[] {
  const all = new Map(seen);
  for (const { spanId, parentSpanId, kind } of spans) {
    if (kind === 'event' && !all.has(spanId)) continue;
    const { parentSpanId: known, counted = false } = all.get(spanId) ?? ({} as Partial<SeenSpan>);
    all.set(spanId, { spanId, parentSpanId: parentSpanId ?? known, counted });
  }
  return [...all.values()].map((span) => ({
    ...span,
    counted: span.counted || conversations.has(span.spanId),
  }));
}
