import type { Usage } from '../../src/domain/usage.ts';
import { nameOfChoice } from '../../src/domain/attributes.ts';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Assignment, CorrectionRow, MessageFact } from '../../src/domain/facts.ts';
import { FEEDBACK_VALUES, type FeedbackValue, type PlacedFeedback } from '../../src/domain/feedback.ts';
import { derivedId } from '../../src/domain/ids.ts';
import { KINDS, slotOf } from '../../src/domain/kinds.ts';
import {
  COUNTED_SIGNALS,
  isGiven,
  SIGNAL_SOURCES,
  SIGNALS,
  type CountedSignals,
  type SignalSource,
} from '../../src/domain/signal-kinds.ts';
import { dimensionFieldsOf, GROUP_BYS, type GroupBy, GROUPINGS } from '../../src/domain/groupings.ts';
import type { Metric, SortField } from '../../src/domain/metrics.ts';
import { SESSION_OUTCOMES, type SessionOutcome } from '../../src/domain/session-outcomes.ts';
import { formatInstant, GRANULARITIES, parseInstant, type Granularity } from '../../src/domain/time.ts';
import type { QueryParameters } from '../../src/query/parameters.ts';
import type { Batch } from '../../src/store/live/batch.ts';
import { assignment, uuid } from './fold.ts';
import { most } from './laws.ts';
import type { PlainKind, PlainMessage, PlainNames } from './plain-counts.ts';

/**
 * Random histories for the laws of the views. A history is plain JSON, so that a shrunk failure can be kept as
 * it is printed. Numbers are small and per instance: every instance has the same ones, and must not mix them.
 */

export interface HistoryMessage {
  readonly instance: number;
  readonly session: number;
  /** End user; 0: a turn before the session's first user turn, or of nobody. */
  readonly speaker: number;
  /** Event time, ISO 8601. */
  readonly at: string;
  /** Micro-cluster; 0: none. */
  readonly micro: number;
  readonly signals: readonly number[];
  readonly repeatedRequest: number | null;
  readonly gap: number | null;
  /** As of a fact; left out: 0, and false. */
  readonly wait?: number;
  /** Tokens in and out, and billionths of a dollar; 0: not said. Left out: nothing is. */
  readonly usage?: readonly [input: number, output: number, nanos: number];
  readonly isReply?: boolean;
  /** What its caller calls the session from now on: a number; null: nothing any more; left out: what it was. */
  readonly name?: number | null;
  /** An attribute that the session has from now on, by number, and its value: 0 is none any more. */
  readonly attribute?: readonly [attribute: number, value: number];
  /** Messages stand in the stream by rank, then as they arrive: with equal ranks they arrive in stream order. */
  readonly rank: number;
}

/** Topic of each micro-cluster and cluster of each topic (0: none), counted from 1. */
export interface Grouping {
  readonly topics: readonly number[];
  readonly clusters: readonly number[];
  /** Labels of each micro-cluster, a bit for each; left out: none has any. */
  readonly labels?: readonly number[];
  /** Gaps and repeated requests, counted from 1, that merge into others of their kind; one merges but once. */
  readonly merges?: readonly Merge[];
}

export interface Merge {
  readonly kind: MergingKind;
  readonly from: number;
  readonly into: number;
}

type MergingKind = 'gap' | 'repeatedRequest';

/** What the worker does after a batch. `hold`: a reader keeps the picture it has. */
export type BatchAction = 'publish' | 'settle' | 'compact' | 'restart' | 'redeliver' | 'hold';

/** A person's correction of one of the messages that have arrived, counted in the order of the stream. */
export interface HistoryCorrection {
  readonly message: number;
  readonly kind: 'signal' | 'gap' | 'repeatedRequest';
  readonly number: number;
  /** True: it shows this. False: it does not. */
  readonly isThere: boolean;
}

/** Feedback on a message that may never come. */
export interface HistoryFeedback {
  readonly instance: number;
  readonly session: number;
  /** End user; 0: whoever started the session. */
  readonly author: number;
  readonly value: FeedbackValue;
  /** Place in the stream. */
  readonly position: number;
  /** The event time or the position of its message; null: the assistant's newest message before it. */
  readonly on: string | number | null;
}

export interface Step {
  readonly messages: readonly HistoryMessage[];
  /** After the messages. */
  readonly corrections?: readonly HistoryCorrection[];
  /** In no order. */
  readonly feedback?: readonly HistoryFeedback[];
  /** Of each instance, after the step. */
  readonly groupings: readonly Grouping[];
  readonly deeds: readonly BatchAction[];
}

export type History = readonly Step[];

export const INSTANCES = 2;
const SESSIONS = 4;
const USERS = 3;
const MICROS = 5;
const TOPICS = 4;
const CLUSTERS = 2;
const REPEATED_REQUESTS = 3;
const GAPS = 4;
const LABELS = 2;
const NAMES = 2;
/** Signals that the analysis finds. */
const FOUND_SIGNALS = SIGNALS.flatMap(({ source }, signal) => (source === 'GIVEN' ? [] : [signal]));
const ATTRIBUTES = ['plan', 'version', 'handedOver'] as const;
const VALUES = [null, 'free', 'pro', '3.2', 'true'] as const;
const HOUR = 3_600_000_000;
/** Two hours before the end of a month that is no end of a week. */
const ORIGIN = Date.UTC(2026, 0, 30, 22) * 1000;

const upTo = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
const orNone = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });
const ofLength = <T>(item: fc.Arbitrary<T>, length: number): fc.Arbitrary<T[]> =>
  fc.array(item, { minLength: length, maxLength: length });

/** Null, or with the given chance a value; shrinks to null. */
const maybe = <T>(value: fc.Arbitrary<T>, chance: number): fc.Arbitrary<T | null> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: Math.round(100 - chance * 100), arbitrary: fc.constant(null) },
    { weight: Math.round(chance * 100), arbitrary: value },
  );

/** Near each other, so that ties, cut hours and bucket edges of every granularity occur. */
const instant = fc
  .oneof(
    orNone(8).map((quarter) => ORIGIN + quarter * (HOUR / 4)),
    orNone(5 * 24).map((hour) => ORIGIN + hour * HOUR),
    orNone(4 * HOUR).map((offset) => ORIGIN + offset),
    // Farther than people come back.
    orNone(9).map((day) => ORIGIN + day * 24 * HOUR),
    // Just before a bucket's edge.
    orNone(5).map((hour) => ORIGIN + hour * HOUR - 1),
  )
  .map(formatInstant);

function historyMessage(ranks: number): fc.Arbitrary<HistoryMessage> {
  return fc
    .record({
      instance: upTo(INSTANCES),
      session: upTo(SESSIONS),
      speaker: orNone(USERS),
      at: instant,
      micro: orNone(MICROS),
      signals: fc
        .uniqueArray(fc.constantFrom(...FOUND_SIGNALS), { maxLength: 2 })
        .map((list) => list.toSorted((a, b) => a - b)),
      repeatedRequest: maybe(upTo(REPEATED_REQUESTS), 0.3),
      gap: maybe(upTo(GAPS), 0.3),
      wait: fc.integer({ min: -3, max: 3 }),
      usage: maybe(fc.tuple(orNone(3), orNone(3), orNone(3)), 0.4),
      isReply: fc.boolean(),
      rank: orNone(ranks),
      name: fc.constantFrom<(number | null | undefined)[]>(undefined, undefined, null, 1, NAMES),
      attribute: maybe(fc.tuple(orNone(ATTRIBUTES.length - 1), orNone(VALUES.length - 1)), 0.5),
    })
    .map(({ name, attribute, usage, ...rest }): HistoryMessage => ({
      ...rest,
      ...(usage === null ? {} : { usage }),
      ...(name === undefined ? {} : { name }),
      ...(attribute === null ? {} : { attribute }),
    }));
}

const merge: fc.Arbitrary<Merge> = fc.record({
  kind: fc.constantFrom<MergingKind[]>('gap', 'repeatedRequest'),
  from: upTo(GAPS),
  into: upTo(GAPS),
});

const grouping: fc.Arbitrary<Grouping> = fc.record({
  topics: ofLength(orNone(TOPICS), MICROS),
  clusters: ofLength(orNone(CLUSTERS), TOPICS),
  labels: ofLength(orNone(2 ** LABELS - 1), MICROS),
  merges: fc.array(merge, { maxLength: 2 }),
});

const correction: fc.Arbitrary<HistoryCorrection> = fc.record({
  message: orNone(20),
  kind: fc.constantFrom('signal', 'gap', 'repeatedRequest'),
  number: orNone(3),
  isThere: fc.boolean(),
});

const feedback: fc.Arbitrary<HistoryFeedback> = fc.record({
  instance: upTo(INSTANCES),
  session: upTo(SESSIONS),
  author: orNone(USERS),
  value: fc.constantFrom(...FEEDBACK_VALUES),
  position: orNone(20),
  on: fc.oneof(instant, orNone(20), fc.constant(null)),
});

/**
 * Up to six batches of messages, in the short form four, in stream order or in any; in each the groups may have moved. The deeds between
 * them publish, merge, restart and deliver again at random.
 */
export function history(order: 'stream' | 'any'): fc.Arbitrary<History> {
  return fc.array(
    fc.record({
      messages: fc.array(historyMessage(order === 'stream' ? 0 : 9), { maxLength: most(9, 6), size: 'max' }),
      groupings: ofLength(grouping, INSTANCES),
      corrections: fc.array(correction, { maxLength: 2 }),
      feedback: fc.array(feedback, { maxLength: 4 }),
      deeds: fc.array(
        fc.constantFrom<BatchAction[]>(
          'publish',
          'publish',
          'settle',
          'compact',
          'restart',
          'redeliver',
          'hold',
        ),
        { maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: most(6, 4), size: 'max' },
  );
}

/** A batch of a history, as the worker would commit it. */
export interface HistoryBatch {
  readonly work: Assignment;
  readonly sessionNames: Batch['sessionNames'];
  readonly attributes: Batch['attributes'];
  readonly feedback: Batch['feedback'];
  readonly sequence: number;
  /** The last sequence with a message of the instance. */
  readonly lastSequenceOf: (instance: number) => number;
  readonly deeds: readonly BatchAction[];
}

export interface ReadHistory {
  /** The batches one by one. */
  readonly batches: readonly HistoryBatch[];
  /** All of them as one batch, in stream order, with the final groups. */
  readonly whole: HistoryBatch;
  /** The messages of an instance as they finally count. */
  messagesOf(instance: number): readonly PlainMessage[];
  namesOf(instance: number): PlainNames;
  /** True for an instance with messages or feedback. */
  isKnown(instance: number): boolean;
}

/** Numbers that the shard gives out are apart for each instance. */
const inShard = (instance: number, number: number): number => instance * 10 + number;

/** Ids that do not sort as the numbers do. */
const entityId = (kind: number, instance: number, number: number): string =>
  uuid(kind, instance * 100 + 99 - number);

const KIND_NUMBERS = { topic: 5, cluster: 6, signal: 7, repeatedRequest: 8, gap: 4, label: 9 } as const;

/** Texts of a session depend on how many of its messages have arrived, as those that assign derives. */
const textsOf = (session: number, arrived: number) => ({
  title: arrived < 2 ? null : `session ${session}`,
  summary: `${arrived} messages`,
  language: arrived < 2 ? null : session % 2 === 0 ? 'en' : 'de',
  outcome: arrived < 2 ? null : SESSION_OUTCOMES[(session + arrived) % SESSION_OUTCOMES.length]!,
  isUnanswered: (session + arrived) % 3 === 1,
});

const userName = (user: number): string => `user-${user}`;

const externalName = (name: number): string => `ticket-${name}`;

/** As the statement of a query makes it. */
function valueId(instanceId: string, attribute: string, value: string): string {
  const digest = createHash('md5').update([instanceId, attribute, value].join('\u001F')).digest('hex');
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-8$3-a$4-$5');
}

type Attribute = Batch['attributes'][number];

const rowsOfNames = (names: ReadonlyMap<number, string | null>): Batch['sessionNames'] =>
  [...names].map(([session, externalId]) => ({ session, externalId }));

const gapTypeOf = (gap: number): 'TOOL' | 'KNOWLEDGE' => (gap === 1 ? 'TOOL' : 'KNOWLEDGE');

/** What a gap or repeated request merged into, and in which step. */
interface Heir {
  readonly heir: number;
  readonly since: number;
}

/** By kind and number. */
type Heirs = ReadonlyMap<string, Heir>;

const mergingKey = (kind: MergingKind, number: number): string => `${kind} ${number}`;

/** The heirs of an instance after each step: only what lives merges, into what lives, and gaps of one type. */
function heirsAfter(steps: History, instance: number): Heirs[] {
  const heirs = new Map<string, Heir>();
  return steps.map(({ groupings }, step) => {
    for (const { kind, from, into } of groupings[instance - 1]?.merges ?? []) {
      const most = kind === 'gap' ? GAPS : REPEATED_REQUESTS;
      const heir = heirs.get(mergingKey(kind, into))?.heir ?? into;
      const isFit = kind !== 'gap' || gapTypeOf(from) === gapTypeOf(heir);
      if (Math.max(from, into) > most || heirs.has(mergingKey(kind, from)) || heir === from || !isFit)
        continue;
      for (const [key, one] of heirs)
        if (key.startsWith(kind) && one.heir === from) heirs.set(key, { ...one, heir });
      heirs.set(mergingKey(kind, from), { heir, since: step + 1 });
    }
    return new Map(heirs);
  });
}

const heirIn = (heirs: Heirs | undefined, kind: MergingKind, number: number): Heir | null =>
  heirs?.get(mergingKey(kind, number)) ?? null;

/** A message of a step counts for what lives when the step begins. */
function livingGroups(fact: MessageFact, heirs: Heirs | undefined): MessageFact {
  const living = (kind: MergingKind, number: number | null): number | null =>
    number === null ? null : (heirIn(heirs, kind, number)?.heir ?? number);
  return {
    ...fact,
    repeatedRequest: living('repeatedRequest', fact.repeatedRequest),
    gap: living('gap', fact.gap),
  };
}
/** A topic is renamed when it moves. */
const topicName = (topic: number, cluster: number): string => `topic ${topic} of cluster ${cluster}`;

interface Owner {
  readonly user: number;
  readonly beforePosition: number;
}

/** Turns a history into what the worker would commit, and into what should come of it. */
export function readHistory(steps: History): ReadHistory {
  const arrivals = steps.flatMap((step, index) => step.messages.map((message) => ({ message, step: index })));
  const heirs = Array.from({ length: INSTANCES }, (_, index) => heirsAfter(steps, index + 1));
  const finalHeirs = heirs.map((after) => after.at(-1) ?? new Map<string, Heir>());
  const inStream = arrivals
    .map((arrival, place) => ({ ...arrival, place }))
    .toSorted((a, b) => a.message.rank - b.message.rank || a.place - b.place)
    .map(({ message, step }, index) => ({
      step,
      fact: livingGroups(factOf(message, index + 1), heirs[message.instance - 1]?.[step - 1]),
      name: message.name,
      attribute: message.attribute,
    }));
  /** Of each step, its messages as they are at its end, and the rows of corrections of earlier ones. */
  const correctedIn = steps.map((step, index) => {
    const corrections = (step.corrections ?? []).flatMap((one): CorrectionRow[] => {
      const rows = inStream.filter((row) => row.step <= index);
      const row = rows[one.message % Math.max(1, rows.length)];
      if (row === undefined) return [];
      const before = heirs[row.fact.instance - 1]?.[index - 1];
      const known = livingGroups(row.fact, before);
      const fact = correctedFact(known, one, before);
      row.fact = fact;
      return row.step < index ? changedSlots(known, fact) : [];
    });
    const messages = inStream.filter((row) => row.step === index).map((row) => row.fact);
    return { messages, corrections: new Map(corrections.map((row) => [`${row.position} ${row.slot}`, row])) };
  });
  /** The names that a step's messages give, the last of each session. */
  const namesGiven = (step: number): Map<number, string | null> =>
    new Map(
      inStream.flatMap((row) =>
        row.step === step && row.name !== undefined
          ? [[row.fact.session, row.name === null ? null : externalName(row.name)] as const]
          : [],
      ),
    );
  const finalNames = new Map(steps.flatMap((_, step) => [...namesGiven(step)]));
  /** The same of attributes, by session and name. */
  const attributesGiven = (step: number): Map<string, Attribute> =>
    new Map(
      inStream.flatMap(({ fact: { instance, session }, step: arrivedIn, attribute }) => {
        if (arrivedIn !== step || attribute === undefined) return [];
        const row = { instance, session, name: ATTRIBUTES[attribute[0]]!, value: VALUES[attribute[1]]! };
        return [[`${session} ${row.name}`, row] as const];
      }),
    );
  const finalAttributes = new Map(steps.flatMap((_, step) => [...attributesGiven(step)]));
  // A session's end user is its first user turn's. Turns before that one get theirs with the batch in which the
  // last of them has arrived: in stream order, the batch of the first user turn.
  const owners = new Map<number, Owner & { readonly step: number }>();
  const openings = new Map<number, number>();
  for (const { fact, step } of inStream) {
    const { session, user, position } = fact;
    if (owners.has(session)) continue;
    const latest = Math.max(step, openings.get(session) ?? 0);
    if (user === null) openings.set(session, latest);
    else owners.set(session, { user, beforePosition: position, step: latest });
  }
  const given = steps.flatMap((step, index) =>
    (step.feedback ?? []).map((one, place) => ({
      step: index,
      row: placedFeedback(one, index * 100 + place),
    })),
  );
  const final = steps.at(-1)?.groupings ?? [];
  const arrived = new Map<number, number>();
  const batches = steps.map((step, index): HistoryBatch => {
    const { messages, corrections } = correctedIn[index]!;
    for (const { session } of messages) arrived.set(session, (arrived.get(session) ?? 0) + 1);
    const owned = [...owners].filter(([, owner]) => owner.step === index);
    const sessions = new Set([...messages.map((fact) => fact.session), ...owned.map(([session]) => session)]);
    return {
      sequence: index + 1,
      lastSequenceOf: () => index + 1,
      deeds: step.deeds,
      sessionNames: rowsOfNames(namesGiven(index)),
      attributes: [...attributesGiven(index).values()],
      feedback: given.filter((one) => one.step === index).map(({ row }) => row),
      work: assignment({
        messages,
        openingAuthors: owned.map(([session, owner]) => openingAuthor(session, owner)),
        sessions: [...sessions].map((session) =>
          sessionRow(session, ownerBy(owners.get(session), index), arrived.get(session) ?? 0),
        ),
        ...groupRows(steps[index - 1]?.groupings ?? null, step.groupings),
        corrections: [...corrections.values()],
        ...(index === 0 ? descriptions() : {}),
        ...mergingRows(
          index === 0 ? null : heirs.map((after) => after[index - 1]!),
          heirs.map((after) => after[index]!),
        ),
      }),
    };
  });
  const facts = inStream.map((row) => row.fact);
  const whole: HistoryBatch = {
    sequence: steps.length,
    lastSequenceOf: (instance) =>
      Math.max(
        ...inStream.filter((one) => one.fact.instance === instance).map(({ step }) => step + 1),
        ...given.filter(({ row }) => row.instance === instance).map(({ step }) => step + 1),
      ),
    deeds: [],
    sessionNames: rowsOfNames(finalNames),
    attributes: [...finalAttributes.values()],
    feedback: given.map(({ row }) => row),
    work: assignment({
      messages: facts,
      openingAuthors: [...owners].map(([session, owner]) => openingAuthor(session, owner)),
      sessions: [...arrived].map(([session, count]) =>
        sessionRow(session, owners.get(session)?.user ?? null, count),
      ),
      ...groupRows(null, final),
      ...descriptions(),
      ...mergingRows(null, finalHeirs),
    }),
  };
  return {
    batches,
    whole,
    messagesOf: (instance) =>
      facts
        .filter((fact) => fact.instance === instance)
        .map((fact) => livingGroups(fact, finalHeirs[instance - 1]))
        .map((fact) => plainMessage(fact, owners.get(fact.session), final))
        .map((message) => ({
          ...message,
          signals: [
            ...message.signals,
            ...thumbsOf(
              message,
              facts.filter(({ session }) => session === message.session),
              given
                .map(({ row }) => row)
                .filter(({ sessionId }) => sessionId === sessionUuid(message.session)),
              owners.get(message.session)?.user ?? null,
            ),
          ],
        })),
    isKnown: (instance) =>
      [...facts, ...given.map(({ row }) => row)].some((one) => one.instance === instance),
    namesOf: (instance) => ({
      ...namesOf(instance, final[instance - 1], arrived, finalNames),
      valueId: (attribute, value) => valueId(uuid(1, instance), attribute, value),
      attributes: (session) =>
        new Map(
          [...finalAttributes.values()].flatMap((row) =>
            row.session === session && row.value !== null ? [[row.name, row.value] as const] : [],
          ),
        ),
      heirs: heirIds(instance, finalHeirs[instance - 1]!),
    }),
  };
}

const sessionUuid = (session: number): string => uuid(3, 999 - session);

function placedFeedback(
  { instance, session, author, value, position, on }: HistoryFeedback,
  place: number,
): PlacedFeedback {
  return {
    position,
    place,
    instance,
    instanceId: uuid(1, instance),
    sessionId: sessionUuid(inShard(instance, session)),
    author: author === 0 ? null : uuid(2, inShard(instance, author)),
    value,
    at: typeof on === 'string' ? microsOf(on) : null,
    target: typeof on === 'number' ? on : null,
    rating: null,
    givenAt: 0,
  };
}

/** What end users gave on a message, by looking at all feedback on its session. `starter`: who started the session. */
function thumbsOf(
  { position }: Pick<PlainMessage, 'position'>,
  ofSession: readonly MessageFact[],
  given: readonly PlacedFeedback[],
  starter: number | null,
): number[] {
  const isOn = (one: PlacedFeedback): boolean => {
    const replies = ofSession.filter(({ isReply }) => isReply === true);
    if (one.target !== null) return one.target === position;
    if (one.at === null)
      return replies.findLast((reply) => reply.position < one.position)?.position === position;
    const then = (fact: MessageFact): boolean => fact.at === one.at;
    return (replies.find(then) ?? ofSession.find(then))?.position === position;
  };
  const last = new Map<string | null, FeedbackValue>();
  for (const one of given.filter(isOn).toSorted((a, b) => a.position - b.position || a.place - b.place))
    last.set(one.author ?? (starter === null ? null : uuid(2, starter)), one.value);
  const values = [...last.values()];
  return SIGNALS.flatMap(({ source, type }, signal) =>
    source === 'GIVEN' && values.includes(type === 'SAT' ? 1 : -1) ? [signal] : [],
  );
}

function correctedFact(
  fact: MessageFact,
  { kind, number, isThere }: HistoryCorrection,
  heirs: Heirs | undefined,
): MessageFact {
  if (kind === 'signal') {
    const others = fact.signals.filter((signal) => signal !== number);
    return { ...fact, signals: isThere ? [...others, number].toSorted((a, b) => a - b) : others };
  }
  const most = kind === 'gap' ? GAPS : REPEATED_REQUESTS;
  const given = 1 + (number % most);
  const living = heirIn(heirs, kind, given)?.heir ?? given;
  if (isThere) return { ...fact, [kind]: living };
  return fact[kind] === living ? { ...fact, [kind]: null } : fact;
}

/** The slots in which two versions of a message differ. */
function changedSlots(before: MessageFact, after: MessageFact): CorrectionRow[] {
  const { position } = after;
  const rows = FOUND_SIGNALS.flatMap((signal): CorrectionRow[] => {
    const isThere = after.signals.includes(signal);
    if (isThere === before.signals.includes(signal)) return [];
    const slot = slotOf(KINDS.signal, signal);
    return [{ position, kind: KINDS.signal, slot, entity: isThere ? signal : null }];
  });
  for (const kind of ['gap', 'repeatedRequest'] as const)
    if (before[kind] !== after[kind])
      rows.push({ position, kind: KINDS[kind], slot: slotOf(KINDS[kind], 0), entity: after[kind] });
  return rows;
}

function saidOf([input, output, nanos]: NonNullable<HistoryMessage['usage']>): Usage {
  return { inputTokens: input || null, outputTokens: output || null, costNanos: nanos || null };
}

function factOf(message: HistoryMessage, position: number): MessageFact {
  const { instance, speaker, micro, signals, repeatedRequest, gap, wait = 0 } = message;
  return {
    position,
    instance,
    session: inShard(instance, message.session),
    user: speaker === 0 ? null : inShard(instance, speaker),
    at: microsOf(message.at),
    micro: micro === 0 ? null : micro,
    signals,
    repeatedRequest,
    gap,
    wait,
    ...(message.isReply === true ? { isReply: true } : {}),
    ...(message.usage === undefined ? {} : { usage: saidOf(message.usage) }),
  };
}

function microsOf(text: string): number {
  const at = parseInstant(text);
  if (at === null) throw new Error(`not an instant: ${text}`);
  return at;
}

const instanceOf = (numberInShard: number): number => Math.floor(numberInShard / 10);

const openingAuthor = (session: number, { user, beforePosition }: Owner) => ({
  instance: instanceOf(session),
  session,
  user,
  beforePosition,
});

const ownerBy = (owner: { user: number; step: number } | undefined, step: number): number | null =>
  owner === undefined || owner.step > step ? null : owner.user;

const sessionRow = (session: number, user: number | null, arrived: number) => ({
  instance: instanceOf(session),
  session,
  id: sessionUuid(session),
  user,
  ...textsOf(session, arrived),
});

const labelNames = (label: number) => ({ name: `label ${label}`, description: 'of people' });

/** The labels of a micro-cluster, counted from 0. */
function labelsOf(grouping: Grouping | undefined, micro: number): number[] {
  const bits = grouping?.labels?.[micro - 1] ?? 0;
  return Array.from({ length: LABELS }, (_, label) => label).filter((label) => (bits & (1 << label)) !== 0);
}

/** The rows of micro-clusters and topics that differ from what they were. */
function groupRows(
  before: readonly Grouping[] | null,
  after: readonly Grouping[],
): Pick<Assignment, 'micros' | 'topics' | 'labelMicros'> {
  const none = (value: number | undefined): number | null =>
    value === 0 || value === undefined ? null : value;
  return {
    micros: after.flatMap(({ topics }, at) =>
      topics
        .map((topic, index) => ({ instance: at + 1, micro: index + 1, topic: none(topic) }))
        .filter((_, index) => before?.[at]?.topics[index] !== topics[index]),
    ),
    labelMicros: after.flatMap((grouping, at) =>
      grouping.topics.flatMap((_, index) => {
        const was = labelsOf(before?.[at], index + 1);
        const are = labelsOf(grouping, index + 1);
        return [...new Set([...was, ...are])]
          .filter((label) => was.includes(label) !== are.includes(label))
          .map((label) => ({ instance: at + 1, label, micro: index + 1, holds: are.includes(label) }));
      }),
    ),
    topics: after.flatMap(({ clusters }, at) =>
      clusters
        .map((cluster, index) => ({
          instance: at + 1,
          topic: index + 1,
          id: entityId(KIND_NUMBERS.topic, at + 1, index + 1),
          name: topicName(index + 1, cluster),
          cluster: none(cluster),
          heir: null,
          since: null,
        }))
        .filter((_, index) => before?.[at]?.clusters[index] !== clusters[index]),
    ),
  };
}

/** What never changes of the entities. */
function descriptions(): Pick<Assignment, 'clusters' | 'signals' | 'labels'> {
  return {
    labels: each(LABELS, (instance, number) => ({
      instance,
      label: number - 1,
      id: entityId(KIND_NUMBERS.label, instance, number - 1),
      ...labelNames(number - 1),
      isGone: false,
    })),
    clusters: each(CLUSTERS, (instance, cluster) => ({
      instance,
      cluster,
      id: entityId(KIND_NUMBERS.cluster, instance, cluster),
      name: `cluster ${cluster}`,
    })),
    signals: each(FOUND_SIGNALS.length, (instance, number) => {
      const signal = FOUND_SIGNALS[number - 1]!;
      const { name, type, source, description } = SIGNALS[signal]!;
      const id = entityId(KIND_NUMBERS.signal, instance, signal);
      return { instance, signal, id, name, signalType: type, source, description };
    }),
  };
}

function each<T>(count: number, row: (instance: number, number: number) => T): T[] {
  return Array.from({ length: INSTANCES * count }, (_, index) =>
    row(1 + Math.floor(index / count), 1 + (index % count)),
  );
}

/** The rows of gaps and repeated requests whose heir differs from what it was; at first all of them. */
function mergingRows(
  before: readonly Heirs[] | null,
  after: readonly Heirs[],
): Pick<Assignment, 'repeatedRequests' | 'gaps'> {
  const changed = (kind: MergingKind, instance: number, number: number): boolean =>
    before === null ||
    heirIn(before[instance - 1], kind, number)?.heir !== heirIn(after[instance - 1], kind, number)?.heir;
  const merged = (kind: MergingKind, instance: number, number: number) =>
    heirIn(after[instance - 1], kind, number) ?? { heir: null, since: null };
  return {
    repeatedRequests: each(REPEATED_REQUESTS, (instance, repeatedRequest) => ({
      instance,
      repeatedRequest,
      id: entityId(KIND_NUMBERS.repeatedRequest, instance, repeatedRequest),
      name: `repeat ${repeatedRequest}`,
      description: 'again',
      ...merged('repeatedRequest', instance, repeatedRequest),
    })).filter(({ instance, repeatedRequest }) => changed('repeatedRequest', instance, repeatedRequest)),
    gaps: each(GAPS, (instance, gap) => ({
      instance,
      gap,
      id: entityId(KIND_NUMBERS.gap, instance, gap),
      name: `gap ${gap}`,
      description: 'missing',
      gapType: gapTypeOf(gap),
      ...merged('gap', instance, gap),
    })).filter(({ instance, gap }) => changed('gap', instance, gap)),
  };
}

function heirIds(instance: number, heirs: Heirs): ReadonlyMap<string, string> {
  const idOf = (kind: MergingKind, number: number): string => entityId(KIND_NUMBERS[kind], instance, number);
  return new Map(
    [...heirs].map(([key, { heir }]) => {
      const [kind, number] = key.split(' ') as [MergingKind, string];
      return [idOf(kind, Number(number)), idOf(kind, heir)];
    }),
  );
}

function plainMessage(
  fact: MessageFact,
  owner: Owner | undefined,
  groupings: readonly Grouping[],
): PlainMessage {
  const grouping = groupings[fact.instance - 1];
  const topic = fact.micro === null ? 0 : (grouping?.topics[fact.micro - 1] ?? 0);
  const cluster = topic === 0 ? 0 : (grouping?.clusters[topic - 1] ?? 0);
  return {
    ...fact,
    user: fact.user ?? (owner !== undefined && fact.position < owner.beforePosition ? owner.user : null),
    topic: topic === 0 ? null : topic,
    cluster: cluster === 0 ? null : cluster,
    labels: fact.micro === null ? [] : labelsOf(grouping, fact.micro),
  };
}

function namesOf(
  instance: number,
  final: Grouping | undefined,
  arrived: ReadonlyMap<number, number>,
  externalNames: ReadonlyMap<number, string | null>,
): Omit<PlainNames, 'heirs' | 'attributes' | 'valueId'> {
  const id = (kind: PlainKind, number: number): string =>
    kind === 'session'
      ? uuid(3, 999 - number)
      : kind === 'user'
        ? uuid(2, number)
        : kind === 'signal' && isGiven(number)
          ? derivedId(uuid(1, instance), 'signal', SIGNALS[number]!.key)
          : entityId(KIND_NUMBERS[kind], instance, number);
  return {
    id,
    topic: (topic) => {
      const cluster = final?.clusters[topic - 1] ?? 0;
      return {
        name: topicName(topic, cluster),
        clusterId: cluster === 0 ? null : id('cluster', cluster),
      };
    },
    cluster: (cluster) => ({ name: `cluster ${cluster}` }),
    label: labelNames,
    repeatedRequest: (number) => ({ name: `repeat ${number}`, description: 'again' }),
    gap: (gap) => ({ name: `gap ${gap}`, description: 'missing', gapType: gapTypeOf(gap) }),
    session: (session) => ({
      ...textsOf(session, arrived.get(session) ?? 0),
      externalId: externalNames.get(session) ?? null,
    }),
    externalId: userName,
  };
}

/** A query in the numbers of a history. A number that nothing has stands for an id that nothing has. */
export interface Question {
  readonly instance: number;
  readonly groupBy: GroupBy;
  readonly start: string | null;
  readonly end: string | null;
  readonly granularity: Granularity;
  readonly timeZone: string | null;
  readonly fields: readonly Metric[];
  readonly dimensionFields: readonly string[];
  readonly ids: readonly number[] | null;
  readonly topics: readonly number[] | null;
  readonly clusters: readonly number[] | null;
  readonly users: readonly number[] | null;
  readonly signals: readonly number[] | null;
  readonly repeatedRequests: readonly number[] | null;
  readonly gaps: readonly number[] | null;
  /** Left out: null. */
  readonly labels?: readonly number[] | null;
  readonly gapType: 'TOOL' | 'KNOWLEDGE' | null;
  /** Left out: null. */
  readonly signalSource?: SignalSource | null;
  /** What SAT and DSAT count; left out: null. */
  readonly counted?: CountedSignals | null;
  readonly language: string | null;
  readonly outcome: readonly SessionOutcome[] | null;
  readonly externalId: number | null;
  readonly segment: QueryParameters['segment'];
  /** Of SEGMENT. */
  readonly segmentKey: string | null;
  readonly titleContains: string | null;
  readonly textContains: string | null;
  readonly sort: { readonly field: SortField; readonly order: 'ASC' | 'DESC' } | null;
  readonly bounds: readonly {
    readonly metric: Metric;
    readonly min: number | null;
    readonly max: number | null;
  }[];
  readonly pageSize: number;
}

/** A question as it is kept: what is left out filters nothing, and asks for everything. */
export type KeptQuestion = Pick<Question, 'groupBy'> & Partial<Question>;

function complete(kept: KeptQuestion): Question {
  return {
    instance: 1,
    start: null,
    end: null,
    granularity: 'ALL',
    timeZone: null,
    fields: GROUPINGS[kept.groupBy].metrics,
    dimensionFields: dimensionFieldsOf(kept.groupBy),
    ids: null,
    topics: null,
    clusters: null,
    users: null,
    signals: null,
    repeatedRequests: null,
    gaps: null,
    labels: null,
    gapType: null,
    signalSource: null,
    counted: null,
    language: null,
    outcome: null,
    externalId: null,
    segment: [],
    segmentKey: kept.groupBy === 'SEGMENT' ? ATTRIBUTES[0] : null,
    titleContains: null,
    textContains: null,
    sort: null,
    bounds: [],
    pageSize: 2,
    ...kept,
  };
}

const KIND_OF: Readonly<Record<Exclude<GroupBy, 'SEGMENT'>, PlainKind>> = {
  TOPIC: 'topic',
  TOPIC_CLUSTER: 'cluster',
  REPEATED_REQUEST: 'repeatedRequest',
  CSAT_DSAT: 'signal',
  GAP: 'gap',
  LABEL: 'label',
  SESSION: 'session',
  END_USER: 'user',
};

/** Metrics that `min…` and `max…` bound. */
const BOUNDED: readonly Metric[] = ['sessions', 'messages', 'sat', 'dsat', 'repeatedRequests'];

const none = fc.constant(null);

/** A moment that messages stand at, or just beside it. */
const edge = fc
  .tuple(instant, fc.constantFrom(0, 0, 1, -1))
  .map(([at, beside]) => formatInstant(microsOf(at) + beside));

const segment: fc.Arbitrary<QueryParameters['segment']> = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.uniqueArray(
      fc
        .record({
          name: fc.constantFrom(...ATTRIBUTES),
          values: fc.subarray(['3.2', 'free', 'pro', 'unheard'], { minLength: 1, maxLength: 2 }),
          isLeftOut: fc.constantFrom(undefined, undefined, true as const),
        })
        .map(({ isLeftOut, ...choice }) => (isLeftOut === undefined ? choice : { ...choice, isLeftOut })),
      { minLength: 1, maxLength: 2, selector: nameOfChoice },
    ),
  },
);

/** Any question that the API allows. */
export const question: fc.Arbitrary<Question> = fc.constantFrom(...GROUP_BYS).chain((groupBy) => {
  const metrics = GROUPINGS[groupBy].metrics;
  const ofSession = groupBy === 'SESSION';
  const some = (max: number, min = 1): fc.Arbitrary<readonly number[] | null> =>
    maybe(fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }), 0.35);
  return fc
    .record({
      instance: upTo(INSTANCES),
      edges: fc.tuple(maybe(edge, 0.7), maybe(edge, 0.7)),
      granularity: fc.constantFrom(...GRANULARITIES),
      timeZone: maybe(fc.constantFrom('Europe/Berlin', 'America/Havana', 'Asia/Kolkata'), 0.4),
      fields: fc.oneof(
        { weight: 2, arbitrary: fc.constant(metrics) },
        { weight: 1, arbitrary: fc.shuffledSubarray([...metrics], { minLength: 1 }) },
      ),
      dimensionFields: fc.subarray([...dimensionFieldsOf(groupBy)]),
      ids:
        groupBy === 'SEGMENT'
          ? none
          : some({ session: 5, user: 4, signal: 13 }[KIND_OF[groupBy] as string] ?? 5),
      topics: ofSession || groupBy === 'END_USER' ? some(TOPICS + 1) : none,
      clusters: ofSession || groupBy === 'END_USER' ? some(CLUSTERS + 1) : none,
      users: ofSession ? some(USERS + 1) : none,
      signals: ofSession ? some(SIGNALS.length, 0) : none,
      repeatedRequests: ofSession ? some(REPEATED_REQUESTS + 1) : none,
      gaps: ofSession ? some(GAPS + 1) : none,
      labels: ofSession ? some(LABELS, 0) : none,
      signalSource: groupBy === 'CSAT_DSAT' ? fc.constantFrom(...SIGNAL_SOURCES, null) : none,
      counted: metrics.includes('sat') ? maybe(fc.constantFrom(...COUNTED_SIGNALS), 0.4) : none,
      gapType: groupBy === 'GAP' ? fc.constantFrom('TOOL' as const, 'KNOWLEDGE' as const, null) : none,
      language: ofSession ? maybe(fc.constantFrom('en', 'de', 'fr'), 0.3) : none,
      outcome: ofSession
        ? maybe(fc.subarray([...SESSION_OUTCOMES], { minLength: 1, maxLength: 3 }), 0.3)
        : none,
      externalId: ofSession || groupBy === 'END_USER' ? maybe(upTo(NAMES + 1), 0.2) : none,
      segment,
      segmentKey: groupBy === 'SEGMENT' ? fc.constantFrom(...ATTRIBUTES) : none,
      titleContains: ofSession ? maybe(fc.constantFrom('session', 'ION 1', '2', 'nothing'), 0.2) : none,
      textContains: ofSession ? maybe(fc.constantFrom('session', '3 MESSAGES', '2', 'nothing'), 0.2) : none,
      sort: maybe(
        fc.record({
          field: fc.constantFrom(...metrics, ...GROUPINGS[groupBy].sorts),
          order: fc.constantFrom('ASC' as const, 'DESC' as const),
        }),
        0.8,
      ),
      bounded: fc.subarray(
        BOUNDED.filter((metric) => metrics.includes(metric)),
        { maxLength: 2 },
      ),
      limits: ofLength(fc.tuple(maybe(orNone(3), 0.6), maybe(orNone(6), 0.6)), 2),
      pageSize: upTo(9),
    })
    .map(({ edges: [a, b], bounded, limits, ...rest }): Question => {
      const [start, end] = a !== null && b !== null && microsOf(a) > microsOf(b) ? [b, a] : [a, b];
      return {
        ...rest,
        groupBy,
        start,
        end: start !== null && start === end ? formatInstant(microsOf(end) + 1) : end,
        bounds: bounded
          .map((metric, index) => ({
            metric,
            min: limits[index]?.[0] ?? null,
            max: limits[index]?.[1] ?? null,
          }))
          .filter(({ min, max }) => min !== null || max !== null),
      };
    });
});

/** The question as the query side knows it. */
export function parametersOf(kept: KeptQuestion, names: PlainNames): QueryParameters {
  const question = complete(kept);
  const {
    instance,
    groupBy,
    granularity,
    timeZone,
    fields,
    dimensionFields,
    gapType,
    language,
    sort,
    bounds,
  } = question;
  const { externalId, titleContains, textContains } = question;
  const ids = (kind: PlainKind, numbers: readonly number[] | null): readonly string[] | null =>
    numbers === null
      ? null
      : numbers.map((number) =>
          names.id(kind, kind === 'session' || kind === 'user' ? inShard(instance, number) : number),
        );
  const micros = (text: string | null): number | null => (text === null ? null : microsOf(text));
  return {
    instanceId: uuid(1, instance),
    groupBy,
    range: { start: micros(question.start), end: micros(question.end) },
    granularity,
    timeZone,
    fields,
    dimensionFields,
    ids: groupBy === 'SEGMENT' ? null : ids(KIND_OF[groupBy], question.ids),
    topicIds: ids('topic', question.topics),
    clusterIds: ids('cluster', question.clusters),
    endUserIds: ids('user', question.users),
    signalIds: ids('signal', question.signals),
    repeatedRequestIds: ids('repeatedRequest', question.repeatedRequests),
    gapIds: ids('gap', question.gaps),
    labelIds: ids('label', question.labels ?? null),
    gapType,
    signalSource: question.signalSource ?? null,
    lifeStates: null,
    signals: question.counted ?? null,
    language: language?.toLowerCase() ?? null,
    outcome: question.outcome,
    externalId:
      externalId === null
        ? null
        : groupBy === 'SESSION'
          ? externalName(externalId)
          : userName(inShard(instance, externalId)),
    segment: question.segment,
    segmentKey: question.segmentKey,
    titleContains,
    textContains,
    limit: 1000,
    offset: 0,
    sort,
    bounds,
  };
}
