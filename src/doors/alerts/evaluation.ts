/**
 * Decides which alerts fire. Keeps the invariant that a firing of the same alert, entity and window has the same id in
 * every evaluation, so that it is sent once.
 *
 * Test: test/doors/alerts/evaluation.test.ts.
 */
import { localBucketAt, weeksEarlier } from '../../domain/local-time.ts';
import { cameBack } from './came-back.ts';
import type { EntityFigures, Figures, FixedFigures, Listed } from './figures.ts';
import { newValues, type ValueFiring } from './new-values.ts';
import { messageIdOf } from './outbox.ts';
import { segmentChoices } from './segment.ts';
import type { Condition, Counted, Rule, Window } from './rule.ts';
import { LEARNING_WEEKS, NEW_FOR_WEEKS, timeBefore, windowsBetween, type Span } from './windows.ts';

/** A firing of an alert. */
export interface Firing {
  /** Equal for the same alert, entity and window. */
  readonly id: string;
  readonly rule: Rule;
  /** Null for a new topic or value and for what came back, which have no window. */
  readonly window: Window | null;
  readonly span: Span;
  /** True while the window is not over. */
  readonly isOpen: boolean;
  /** Null if the firing concerns the whole instance. */
  readonly entity: Named | null;
  /** The measured value: conversations, or a share of them. */
  readonly value: number;
  /** The bound that the value reached. */
  readonly bound: number;
  /** All conversations of the window, or of the weeks in which something came back; set for a share. */
  readonly sessions?: number;
  /** Conversations of the time before and its number of windows; set for a rise. */
  readonly before?: Span & { readonly sessions: number; readonly windows: number };
  /**
   * Set for a summary: the entities that got no firing of their own in this window, those with the most conversations
   * first.
   */
  readonly heldBack?: readonly Named[];
  /** Set for a new value: what it is compared with, and what differs. */
  readonly compared?: ValueFiring;
  /** Set for what came back. */
  readonly fixed?: FixedFigures;
}

/** An entity that an alert counts. */
type Named = EntityFigures & { readonly groupBy: Listed };

/** The state in which alerts are evaluated. */
export interface Moment {
  /** Entries stored in the stream from `since` to `until` are to be evaluated, microseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** Returns true if a message with this id is known to be in the outbox. */
  readonly isKnown: (id: string) => boolean;
  /** Cache of what an alert need not look at again: topics that are not new to it, and looks at values. */
  readonly old: Set<string>;
}

export type Of<Kind extends Condition['kind']> = Extract<Condition, { readonly kind: Kind }>;

/** Maximum number of firings of an alert in a window, besides the summary of the rest. */
export const MOST_IN_WINDOW = 20;

/** Evaluates the alerts of an instance at a moment; leaves out firings already in the outbox. */
export async function evaluate(rules: readonly Rule[], all: Figures, moment: Moment): Promise<Firing[]> {
  const firings: Firing[] = [];
  for (const rule of rules) {
    const { condition } = rule;
    if (rule.disabled !== null || condition.kind === 'digest') continue;
    const figures = all.of(segmentChoices(condition.segment));
    if (condition.kind === 'new_topic') firings.push(...(await newTopics(rule, condition, figures, moment)));
    else if (condition.kind === 'came_back') firings.push(...(await cameBack(rule, figures, moment)));
    else if (condition.kind === 'new_value')
      firings.push(...(await newValues(rule, condition, figures, moment)));
    else {
      for (const span of windowsOf(rule, condition.window, moment)) {
        const heldId = heldIdOf(rule, span.start);
        if (moment.isKnown(heldId)) continue;
        const isOpen = span.end > moment.until;
        const { found, fired } = await (condition.kind === 'dsat_share'
          ? dissatisfied({ rule, condition, span, figures, moment })
          : frequent({ rule, condition, span, figures, moment }));
        const common = { rule, span, isOpen, window: condition.window };
        firings.push(...bounded(heldId, found, fired).map((one) => ({ ...one, ...common })));
      }
    }
  }
  return firings;
}

/** Returns the windows to evaluate; those that ended before the alert was created are left out. */
function windowsOf({ createdAt, timeZone }: Rule, window: Window, { since, until }: Moment): Span[] {
  return windowsBetween(window, timeZone, Math.max(since, createdAt * 1000), until).filter(
    ({ end }) => end > createdAt * 1000,
  );
}

/** An alert and a window in which its condition is evaluated. */
interface Question<Asked extends Condition> {
  readonly rule: Rule;
  readonly condition: Asked;
  readonly span: Span;
  readonly figures: Figures;
  readonly moment: Moment;
}

type Found = Omit<Firing, 'rule' | 'span' | 'isOpen' | 'window'>;

/** Firings in a window, and the number of entities that already have one. */
interface FoundIn {
  readonly found: readonly Found[];
  readonly fired: number;
}

/** Id of the summary of a window, which is sent once. */
function heldIdOf({ id, condition }: Rule, start: number): string {
  return messageIdOf(id, `${condition.kind} held back`, '', start);
}

/** Limits the firings of a window that already has `fired`; the rest becomes one summary. */
function bounded(heldId: string, found: readonly Found[], fired: number): readonly Found[] {
  const room = Math.max(0, MOST_IN_WINDOW - fired);
  if (found.length <= room) return found;
  const heldBack = found.slice(room).flatMap(({ entity }) => entity ?? []);
  const rest = { id: heldId, entity: null, value: heldBack.length, bound: MOST_IN_WINDOW, heldBack };
  return [...found.slice(0, room), rest];
}

/** Finds the entities with enough conversations in the window, of an alert for rises those that rise. */
async function frequent(question: Question<Of<'count' | 'rising'>>): Promise<FoundIn> {
  const { rule, condition, span, figures, moment } = question;
  const { kind, groupBy, window, atLeast, ids, signalType } = condition;
  const entities = await figures.entities({ groupBy, span, window, atLeast, ids: ids ?? null });
  const all = entities
    .filter((entity) => signalType === undefined || entity.signalType === signalType)
    .map((entity) => ({
      id: messageIdOf(rule.id, kind, entity.id, span.start),
      entity: { ...entity, groupBy },
      value: entity.sessions,
    }));
  const fresh = all.filter(({ id }) => !moment.isKnown(id));
  const fired = all.length - fresh.length;
  if (kind === 'count') return { found: fresh.map((one) => ({ ...one, bound: atLeast })), fired };
  const { timeZone } = rule;
  const risen = await risingOf(
    fresh.map(({ entity }) => entity),
    { ...condition, span, timeZone, figures },
  );
  const found = fresh.flatMap((one) => {
    const rise = risen.get(one.entity.id);
    return rise === undefined ? [] : { ...one, ...rise };
  });
  return { found, fired };
}

/** A window and the comparison for rises in it. */
export interface RisingWindow {
  readonly groupBy: Counted;
  readonly window: Window;
  readonly span: Span;
  readonly timeZone: string;
  readonly factor: number;
  readonly figures: Figures;
}

/**
 * Returns the entities that rise, by id: they have at least `factor` times the conversations of an average window
 * before, and their share of all rises by more than chance, by the rule of GET /v1/changes.
 */
export async function risingOf(
  entities: readonly EntityFigures[],
  { groupBy, window, span, timeZone, factor, figures }: RisingWindow,
): Promise<ReadonlyMap<string, Required<Pick<Firing, 'bound' | 'before'>>>> {
  const most = timeBefore(window, timeZone, span);
  if (entities.length === 0 || most === null) return new Map();
  const now = new Map(entities.map(({ id, sessions }) => [id, sessions]));
  const choice = { groupBy, span: most, window: null, atLeast: 1, ids: [...now.keys()] };
  const earlier = await figures.entities(choice);
  const manifold = (windows: number): readonly EntityFigures[] =>
    earlier.filter(({ id, sessions }) => (now.get(id) ?? 0) >= (factor * sessions) / windows);
  // Most entities do not rise; then no more is read.
  if (manifold(most.windows).length === 0) return new Map();
  const before = timeBefore(window, timeZone, span, await figures.firstDay(most));
  if (before === null) return new Map();
  const changes = await figures.changes(span, before);
  const rising = new Set(changes.flatMap(({ id, rises }) => (rises ? [id] : [])));
  return new Map(
    manifold(before.windows)
      .filter(({ id }) => rising.has(id))
      .map(({ id, sessions }) => {
        const bound = (factor * sessions) / before.windows;
        return [id, { bound, before: { ...before, sessions } }];
      }),
  );
}

async function dissatisfied(question: Question<Of<'dsat_share'>>): Promise<FoundIn> {
  const { rule, condition, span, figures, moment } = question;
  const { kind, above, minSessions } = condition;
  const nothing = { found: [], fired: 0 };
  const id = messageIdOf(rule.id, kind, '', span.start);
  if (moment.isKnown(id)) return nothing;
  const sessions = await figures.sessions(span);
  if (sessions < minSessions) return nothing;
  const value = (await figures.sessions(span, true)) / sessions;
  return value > above ? { found: [{ id, entity: null, value, bound: above, sessions }], fired: 0 } : nothing;
}

/** Finds topics whose first conversation came after the alert was created and within the last four weeks. */
async function newTopics(
  rule: Rule,
  { kind, atLeast }: Of<'new_topic'>,
  figures: Figures,
  { since, until, isKnown, old }: Moment,
): Promise<Firing[]> {
  const { timeZone } = rule;
  const createdAt = rule.createdAt * 1000;
  const today = localBucketAt('DAY', timeZone, until).start;
  const heldId = heldIdOf(rule, today);
  if (isKnown(heldId)) return [];
  const idOf = (id: string): string => messageIdOf(rule.id, kind, id, 0);
  const touched = new Set<string>();
  const known = new Set<string>();
  for (const span of windowsBetween('DAY', timeZone, Math.max(since, createdAt), until)) {
    const active = await figures.entities({ groupBy: 'TOPIC', span, window: 'DAY', atLeast: 1, ids: null });
    for (const { id } of active) {
      if (isKnown(idOf(id))) known.add(id);
      else if (!old.has(`${rule.id} ${id}`)) touched.add(id);
    }
  }
  if (touched.size === 0) return [];
  const start = await learntAt(
    figures,
    Math.max(createdAt, weeksEarlier(today, NEW_FOR_WEEKS, timeZone)),
    timeZone,
  );
  const ever = { groupBy: 'TOPIC', window: null, ids: [...touched].sort() } as const;
  const before = { start: -Infinity, end: start };
  const seenBefore = await figures.entities({ ...ever, span: before, atLeast: 1 });
  for (const { id } of seenBefore) old.add(`${rule.id} ${id}`);
  const fresh = await figures.entities({ ...ever, span: { start, end: Infinity }, atLeast });
  const found = fresh
    .filter(({ id }) => !old.has(`${rule.id} ${id}`) && !isKnown(idOf(id)))
    .map((entity): Found => ({
      id: idOf(entity.id),
      entity: { ...entity, groupBy: 'TOPIC' },
      value: entity.sessions,
      bound: atLeast,
    }));
  const fired = found.length === 0 ? 0 : await firstSeenFrom(today, [...known].sort(), figures);
  const common = { rule, window: null, span: { start, end: until }, isOpen: true };
  return bounded(heldId, found, fired).map((one) => ({ ...one, ...common }));
}

/** Counts the topics without a conversation before a time. */
async function firstSeenFrom(at: number, ids: readonly string[], figures: Figures): Promise<number> {
  if (ids.length === 0) return 0;
  const span = { start: -Infinity, end: at };
  const before = await figures.entities({ groupBy: 'TOPIC', window: null, ids, span, atLeast: 1 });
  return ids.length - before.length;
}

/** Returns `at`, or the end of the instance's first week if that is later. */
async function learntAt(figures: Figures, at: number, timeZone: string): Promise<number> {
  const start = weeksEarlier(at, LEARNING_WEEKS, timeZone);
  if ((await figures.sessions({ start: -Infinity, end: start })) > 0) return at;
  const firstDay = await figures.firstDay({ start, end: Infinity });
  return firstDay === Infinity ? Infinity : Math.max(at, weeksEarlier(firstDay, -LEARNING_WEEKS, timeZone));
}
