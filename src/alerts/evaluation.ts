/** Decides which alerts have something to say. Covered by test/alerts/evaluation.test.ts. */
import { chanceOf, significant } from '../query/changes/significance.ts';
import { FALSE_ALARMS } from '../query/changes/changes-schema.ts';
import { bucketStart } from '../domain/time.ts';
import type { EntityFigures, Figures } from './figures.ts';
import { messageIdOf } from './outbox.ts';
import type { Condition, Counted, Rule, Window } from './rule.ts';
import { DAY, mostBefore, timeBefore, windowsBetween, type Span } from './windows.ts';

/** What an alert has to say. */
export interface Firing {
  /** The same for the same alert, entity and window. */
  readonly id: string;
  readonly rule: Rule;
  /** Null: of a new topic, which has no end. */
  readonly window: Window | null;
  readonly span: Span;
  /** Whether the window goes on. */
  readonly isOpen: boolean;
  /** Null: it is about the instance as a whole. */
  readonly entity: (EntityFigures & { readonly groupBy: Counted }) | null;
  /** What was measured: conversations, or a share of them. */
  readonly value: number;
  /** What it was measured against. */
  readonly bound: number;
  /** Of a share: all conversations of the window. */
  readonly sessions?: number;
  /** Of what rises: the conversations of the time before, and how many windows it holds. */
  readonly before?: Span & { readonly sessions: number; readonly windows: number };
}

export interface Moment {
  /** What was stored in the stream since then, and up to `until`, was not evaluated. Microseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** Whether a message is known to be in the outbox: then nobody needs to ask again. */
  readonly isKnown: (id: string) => boolean;
  /** Topics that are not new to an alert, by both ids: what was found old is not looked at again. */
  readonly old: Set<string>;
}

type Of<Kind extends Condition['kind']> = Extract<Condition, { readonly kind: Kind }>;

/** A topic is new for so long after its first conversation, in days. */
const NEW_FOR_DAYS = 28;
/** In the first days of an instance, every topic is seen for the first time: none of them is news. */
const LEARNING_DAYS = 7;

/** What these alerts of an instance have to say at a moment, known messages left out. */
export async function evaluate(rules: readonly Rule[], figures: Figures, moment: Moment): Promise<Firing[]> {
  const firings: Firing[] = [];
  for (const rule of rules) {
    const { condition } = rule;
    if (rule.disabled !== null || condition.kind === 'digest') continue;
    if (condition.kind === 'new_topic') firings.push(...(await newTopics(rule, condition, figures, moment)));
    else {
      for (const span of windowsOf(rule, condition.window, moment)) {
        const isOpen = span.end > moment.until;
        const found = await firingsIn(rule, condition, span, figures, moment);
        firings.push(...found.map((one) => ({ ...one, rule, span, isOpen, window: condition.window })));
      }
    }
  }
  return firings;
}

/** A window that was over when the alert was made is none of its business. */
function windowsOf({ createdAt }: Rule, window: Window, { since, until }: Moment): Span[] {
  return windowsBetween(window, Math.max(since, createdAt * 1000), until).filter(
    ({ end }) => end > createdAt * 1000,
  );
}

type Found = Omit<Firing, 'rule' | 'span' | 'isOpen' | 'window'>;

function firingsIn(
  rule: Rule,
  condition: Of<'count' | 'rising' | 'dsat_share'>,
  span: Span,
  figures: Figures,
  moment: Moment,
): Promise<Found[]> {
  switch (condition.kind) {
    case 'count':
      return counted(rule, condition, span, figures, moment);
    case 'rising':
      return rising(rule, condition, span, figures, moment);
    case 'dsat_share':
      return dissatisfied(rule, condition, span, figures, moment);
    default:
      return condition satisfies never;
  }
}

/** The entities in a window that have enough conversations and were not told yet. */
async function candidates(
  rule: Rule,
  { kind, groupBy, window, atLeast, ids, signalType }: Of<'count' | 'rising'>,
  span: Span,
  figures: Figures,
  { isKnown }: Moment,
): Promise<{ readonly id: string; readonly entity: EntityFigures & { readonly groupBy: Counted } }[]> {
  const entities = await figures.entities({ groupBy, span, window, atLeast, ids: ids ?? null });
  return entities
    .filter((entity) => signalType === undefined || entity.signalType === signalType)
    .map((entity) => ({
      id: messageIdOf(rule.id, kind, entity.id, span.start),
      entity: { ...entity, groupBy },
    }))
    .filter(({ id }) => !isKnown(id));
}

async function counted(
  rule: Rule,
  condition: Of<'count'>,
  span: Span,
  figures: Figures,
  moment: Moment,
): Promise<Found[]> {
  const found = await candidates(rule, condition, span, figures, moment);
  return found.map((one) => ({ ...one, value: one.entity.sessions, bound: condition.atLeast }));
}

/**
 * What rises has, in the window so far, `factor` times as many conversations as an average window before it, and its
 * share of all conversations is larger than before by more than chance, as GET /v1/changes decides it.
 */
async function rising(
  rule: Rule,
  condition: Of<'rising'>,
  span: Span,
  figures: Figures,
  moment: Moment,
): Promise<Found[]> {
  const { groupBy, window, factor } = condition;
  const found = await candidates(rule, condition, span, figures, moment);
  if (found.length === 0) return [];
  // Most are no more than before: that costs one look at the same entities in the longest time there may be.
  const most = mostBefore(window, span);
  const ids = found.map(({ entity }) => entity.id);
  const earlier = sessionsById(
    await figures.entities({ groupBy, span: most, window: null, atLeast: 1, ids }),
  );
  const average = (id: string, windows: number): number => (earlier.get(id) ?? 0) / windows;
  if (!found.some(({ entity }) => entity.sessions >= factor * average(entity.id, most.windows))) return [];
  const before = timeBefore(window, span, await figures.firstDay(most));
  if (before === null) return [];
  const isReal = await risesByMoreThanChance(groupBy, window, span, before, figures);
  return found.flatMap(({ id, entity }) => {
    const usual = average(entity.id, before.windows);
    if (usual === 0 || entity.sessions < factor * usual || !isReal(entity.id)) return [];
    const sessions = earlier.get(entity.id) ?? 0;
    return [{ id, entity, value: entity.sessions, bound: factor * usual, before: { ...before, sessions } }];
  });
}

async function risesByMoreThanChance(
  groupBy: Counted,
  window: Window,
  span: Span,
  before: Span,
  figures: Figures,
): Promise<(id: string) => boolean> {
  const [now, then, all, allBefore] = await Promise.all([
    figures.entities({ groupBy, span, window, atLeast: 1, ids: null }),
    figures.entities({ groupBy, span: before, window: null, atLeast: 1, ids: null }),
    figures.sessions(span),
    figures.sessions(before),
  ]);
  const [inside, outside] = [sessionsById(now), sessionsById(then)];
  const ids = [...new Set([...inside.keys(), ...outside.keys()])].sort();
  const shares = ids.map((id) => [inside.get(id) ?? 0, outside.get(id) ?? 0] as const);
  const chances = shares.map(([a, b]) => chanceOf({ with: a, of: all }, { with: b, of: allBefore }));
  const isReal = significant(chances, FALSE_ALARMS);
  const rises = new Set(
    ids.filter((_, place) => {
      const [a, b] = shares[place] ?? [0, 0];
      return isReal[place] === true && a * allBefore > b * all;
    }),
  );
  return (id) => rises.has(id);
}

function sessionsById(entities: readonly EntityFigures[]): Map<string, number> {
  return new Map(entities.map(({ id, sessions }) => [id, sessions]));
}

async function dissatisfied(
  rule: Rule,
  { kind, above, minSessions }: Of<'dsat_share'>,
  span: Span,
  figures: Figures,
  { isKnown }: Moment,
): Promise<Found[]> {
  const id = messageIdOf(rule.id, kind, '', span.start);
  if (isKnown(id)) return [];
  const sessions = await figures.sessions(span);
  if (sessions < minSessions) return [];
  const value = (await figures.sessions(span, true)) / sessions;
  return value > above ? [{ id, entity: null, value, bound: above, sessions }] : [];
}

/** Topics without a conversation before the alert was made, and with none that is older than four weeks. */
async function newTopics(
  rule: Rule,
  { kind, atLeast }: Of<'new_topic'>,
  figures: Figures,
  { since, until, isKnown, old }: Moment,
): Promise<Firing[]> {
  const createdAt = rule.createdAt * 1000;
  const idOf = (id: string): string => messageIdOf(rule.id, kind, id, 0);
  const touched = new Set<string>();
  for (const span of windowsBetween('DAY', Math.max(since, createdAt), until)) {
    const active = await figures.entities({ groupBy: 'TOPIC', span, window: 'DAY', atLeast: 1, ids: null });
    for (const { id } of active) if (!isKnown(idOf(id)) && !old.has(`${rule.id} ${id}`)) touched.add(id);
  }
  if (touched.size === 0) return [];
  const start = await learntAt(figures, Math.max(createdAt, bucketStart('DAY', until) - NEW_FOR_DAYS * DAY));
  const ever = { groupBy: 'TOPIC', window: null, ids: [...touched].sort() } as const;
  const before = { start: -Infinity, end: start };
  const seenBefore = await figures.entities({ ...ever, span: before, atLeast: 1 });
  for (const { id } of seenBefore) old.add(`${rule.id} ${id}`);
  const fresh = await figures.entities({ ...ever, span: { start, end: Infinity }, atLeast });
  return fresh
    .filter(({ id }) => !old.has(`${rule.id} ${id}`) && !isKnown(idOf(id)))
    .map((entity) => ({
      id: idOf(entity.id),
      rule,
      window: null,
      span: { start, end: until },
      isOpen: true,
      entity: { ...entity, groupBy: 'TOPIC' },
      value: entity.sessions,
      bound: atLeast,
    }));
}

/** A time, or the end of the first week of the instance if that is later. */
async function learntAt(figures: Figures, at: number): Promise<number> {
  const learning = LEARNING_DAYS * DAY;
  if ((await figures.sessions({ start: -Infinity, end: at - learning })) > 0) return at;
  return Math.max(at, (await figures.firstDay({ start: at - learning, end: Infinity })) + learning);
}
