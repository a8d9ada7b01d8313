import { isGiven, SIGNALS, type CountedSignals } from '../../src/domain/signal-kinds.ts';
import { secondsOfStep } from '../../src/domain/waits.ts';
import { formatInstant } from '../../src/domain/time.ts';
import { plainBucket } from './plain-buckets.ts';
import type { Usage } from '../../src/domain/usage.ts';
import type { GroupBy } from '../../src/domain/groupings.ts';
import type { Metric, SortField } from '../../src/domain/metrics.ts';
import type { SessionOutcome } from '../../src/domain/session-outcomes.ts';
import type { QueryParameters } from '../../src/query/parameters.ts';

/** A message as it finally counts. Numbers as in domain/facts.ts; 0 or null: none. */
export interface PlainMessage {
  readonly position: number;
  readonly session: number;
  readonly user: number | null;
  readonly at: number;
  readonly topic: number | null;
  readonly cluster: number | null;
  readonly signals: readonly number[];
  readonly repeatedRequest: number | null;
  readonly gap: number | null;
  readonly labels: readonly number[];
  readonly wait: number;
  readonly usage?: Usage;
}

export type PlainKind =
  | 'session'
  | 'user'
  | 'topic'
  | 'cluster'
  | 'signal'
  | 'repeatedRequest'
  | 'gap'
  | 'label';

/** What the numbered things of an instance are called. */
export interface PlainNames {
  readonly id: (kind: PlainKind, number: number) => string;
  readonly topic: (topic: number) => { readonly name: string; readonly clusterId: string | null };
  readonly cluster: (cluster: number) => { readonly name: string };
  readonly label: (label: number) => { readonly name: string; readonly description: string };
  readonly repeatedRequest: (number: number) => { readonly name: string; readonly description: string };
  readonly gap: (gap: number) => {
    readonly name: string;
    readonly description: string;
    readonly gapType: 'TOOL' | 'KNOWLEDGE';
  };
  readonly session: (session: number) => {
    readonly title: string | null;
    readonly summary: string | null;
    readonly language: string | null;
    readonly outcome: SessionOutcome | null;
    readonly isUnanswered?: boolean;
    readonly externalId: string | null;
  };
  readonly externalId: (user: number) => string;
  /** Id of a value of an attribute. */
  readonly valueId: (attribute: string, value: string) => string;
  /** Attributes of a session, by name. */
  readonly attributes: (session: number) => ReadonlyMap<string, string>;
  /** Of the id of what has merged, the id of what answers for it. */
  readonly heirs: ReadonlyMap<string, string>;
}

export interface PlainRow {
  readonly dimensions: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, number | string | null>>;
}

type Values = Readonly<Record<SortField, number | null>>;

/**
 * The answer to a query by looking at every message, in the plainest way: the reference for the views.
 * Returns all rows in order; the caller cuts the page.
 */
export function plainAnswer(
  messages: readonly PlainMessage[],
  names: PlainNames,
  parameters: QueryParameters,
): PlainRow[] {
  const { groupBy, granularity, timeZone } = parameters;
  const start = parameters.range.start ?? -Infinity;
  const end = parameters.range.end ?? Infinity;
  const inRange = messages.filter((message) => message.at >= start && message.at < end);
  // Values of the attribute that SEGMENT groups by stand for their place in the list.
  const values = [...new Set(messages.flatMap((message) => valueOf(message, names, parameters) ?? []))];
  const entities = (message: PlainMessage): readonly number[] => {
    if (groupBy !== 'SEGMENT') return entitiesOf(groupBy, message);
    const place = values.indexOf(valueOf(message, names, parameters) ?? '');
    return place < 0 ? [] : [place];
  };
  const groups = new Map<string, { entity: number; bucket: number; date: string; members: PlainMessage[] }>();
  for (const message of inRange) {
    const { start: bucket, name: date } = plainBucket(granularity, message.at, timeZone);
    for (const entity of entities(message)) {
      const key = `${entity}/${bucket}`;
      const group = groups.get(key) ?? { entity, bucket, date, members: [] };
      group.members.push(message);
      groups.set(key, group);
    }
  }
  const inBucket = (bucket: number): PlainMessage[] =>
    inRange.filter(({ at }) => plainBucket(granularity, at, timeZone).start === bucket);
  const rows = [...groups.values()]
    .map((group) => ({
      id:
        groupBy === 'SEGMENT'
          ? names.valueId(parameters.segmentKey ?? '', values[group.entity]!)
          : names.id(KIND_OF[groupBy], group.entity),
      ...group,
      values: valuesOf(parameters, { ...group, all: inBucket(group.bucket) }, messages, names),
    }))
    .filter(
      (row) => chosen(row.entity, row.id, inRange, names, parameters) && withinBounds(row.values, parameters),
    );
  rows.sort((a, b) => compare(a, b, parameters));
  return rows.map((row) => ({
    dimensions: {
      ...(groupBy === 'SEGMENT'
        ? { segment: { id: row.id, attribute: parameters.segmentKey, value: values[row.entity] } }
        : dimensionOf(row.entity, row.values, messages, names, { ...parameters, groupBy })),
      ...(granularity === 'ALL' ? {} : { date: row.date }),
    },
    fields: Object.fromEntries(
      parameters.fields.map((field: Metric) => [
        field,
        field === 'lastActiveAt' ? formatInstant(row.values.lastActiveAt as number) : row.values[field],
      ]),
    ),
  }));
}

/** Topics shown of an end user. */
const TOP_TOPICS = 5;

/** A topic about which nobody decided anything. */
const FOUND = { description: null, isOwn: false, isNamed: false, isHidden: false };
/** Of what nobody checked or tracked. */
const UNTOLD = { checkedSessions: 0, precisionLow: null, precisionHigh: null, life: null };

/** The group's own entity, as docs/api.md has it. */
function dimensionOf(
  entity: number,
  values: Values,
  messages: readonly PlainMessage[],
  names: PlainNames,
  { groupBy, dimensionFields }: Pick<QueryParameters, 'dimensionFields'> & { readonly groupBy: Numbered },
): Readonly<Record<string, unknown>> {
  const id = names.id(KIND_OF[groupBy], entity);
  const wanted = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(members).filter(([name]) => dimensionFields.includes(name)));
  const topics = (): { id: string; name: string }[] =>
    topicsOf(
      messages.filter((message) => entitiesOf(groupBy, message).includes(entity)),
      names,
    );
  switch (groupBy) {
    case 'TOPIC':
      return { topic: { id, ...names.topic(entity), ...wanted({ ...FOUND, ...UNTOLD }) } };
    case 'TOPIC_CLUSTER':
      return { cluster: { id, ...names.cluster(entity), ...wanted({ isNamed: false }) } };
    case 'CSAT_DSAT': {
      const signal = SIGNALS[entity] as (typeof SIGNALS)[number];
      return {
        csatDsatSignal: {
          id,
          name: signal.name,
          signalType: signal.type,
          description: signal.description,
          ...wanted({ source: signal.source, ...UNTOLD }),
        },
      };
    }
    case 'REPEATED_REQUEST':
      return { repeatedRequest: { id, ...names.repeatedRequest(entity), ...wanted(UNTOLD) } };
    case 'GAP':
      return {
        gap: { id, ...names.gap(entity), ...wanted({ isNamed: false, ...UNTOLD }), topics: topics() },
      };
    case 'LABEL':
      return { label: { id, ...names.label(entity), ...wanted(UNTOLD) } };
    case 'SESSION':
      return { session: { id, ...wanted({ ...names.session(entity), topics: topics() }) } };
    case 'END_USER':
      return {
        endUser: {
          id,
          ...wanted({
            externalId: names.externalId(entity),
            topTopics: topics().slice(0, TOP_TOPICS),
            createdAt: formatInstant(values.createdAt as number),
            lastActiveAt: formatInstant(values.lastActiveAt as number),
          }),
        },
      };
    default:
      return groupBy satisfies never;
  }
}

/** Topics of the messages, the most discussed first, ties by id. */
function topicsOf(messages: readonly PlainMessage[], names: PlainNames): { id: string; name: string }[] {
  const counts = new Map<number, number>();
  for (const { topic } of messages) if (topic !== null) counts.set(topic, (counts.get(topic) ?? 0) + 1);
  return [...counts]
    .map(([topic, count]) => ({ id: names.id('topic', topic), name: names.topic(topic).name, count }))
    .toSorted((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1))
    .map(({ id, name }) => ({ id, name }));
}

/** Groupings by what has a number. */
type Numbered = Exclude<GroupBy, 'SEGMENT'>;

function valueOf(
  { session }: PlainMessage,
  names: PlainNames,
  { segmentKey }: QueryParameters,
): string | undefined {
  return segmentKey === null ? undefined : names.attributes(session).get(segmentKey);
}

const KIND_OF: Readonly<Record<Numbered, PlainKind>> = {
  TOPIC: 'topic',
  TOPIC_CLUSTER: 'cluster',
  CSAT_DSAT: 'signal',
  REPEATED_REQUEST: 'repeatedRequest',
  GAP: 'gap',
  LABEL: 'label',
  SESSION: 'session',
  END_USER: 'user',
};

function entitiesOf(groupBy: Numbered, message: PlainMessage): readonly number[] {
  const one = (value: number | null): number[] => (value === null ? [] : [value]);
  switch (groupBy) {
    case 'TOPIC':
      return one(message.topic);
    case 'TOPIC_CLUSTER':
      return one(message.cluster);
    case 'CSAT_DSAT':
      return message.signals;
    case 'REPEATED_REQUEST':
      return one(message.repeatedRequest);
    case 'GAP':
      return one(message.gap);
    case 'LABEL':
      return message.labels;
    case 'SESSION':
      return [message.session];
    case 'END_USER':
      return one(message.user);
    default:
      return groupBy satisfies never;
  }
}

function signalsOf(message: PlainMessage, type: 'SAT' | 'DSAT', counted: CountedSignals): number {
  return message.signals.filter(
    (signal) =>
      (counted === 'all' || isGiven(signal) === (counted === 'given')) &&
      SIGNALS[signal]?.source !== 'OBSERVED' &&
      SIGNALS[signal]?.type === type,
  ).length;
}

function valuesOf(
  { groupBy, signals }: Pick<QueryParameters, 'groupBy' | 'signals'>,
  /** `all`: messages of the bucket, of the group or not. */
  group: { entity: number; members: readonly PlainMessage[]; all: readonly PlainMessage[] },
  all: readonly PlainMessage[],
  names: PlainNames,
): Values {
  const { members } = group;
  const ofGroup = [...new Set(members.map((message) => message.session))];
  const sessions = ofGroup.length;
  const isOfSessions = ['CSAT_DSAT', 'GAP', 'REPEATED_REQUEST'].includes(groupBy);
  const paid = isOfSessions ? group.all.filter(({ session }) => ofGroup.includes(session)) : members;
  const usageOf = (part: keyof Usage): number | null => {
    const said = paid.flatMap(({ usage }) => usage?.[part] ?? []);
    return said.length === 0 ? null : said.reduce((sum, value) => sum + value, 0);
  };
  const nanos = usageOf('costNanos');
  const ended = (...outcomes: readonly (SessionOutcome | null)[]): number =>
    ofGroup.filter((session) => outcomes.includes(names.session(session).outcome)).length;
  const isDissatisfied = ofGroup.map((session) => dissatisfiedIn(group.all).has(session));
  const sat = members.reduce((sum, message) => sum + signalsOf(message, 'SAT', signals ?? 'inferred'), 0);
  const dsat = members.reduce((sum, message) => sum + signalsOf(message, 'DSAT', signals ?? 'inferred'), 0);
  const times = members.map((message) => message.at);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const own =
    groupBy === 'END_USER'
      ? all.filter((message) => message.user === group.entity).map((message) => message.at)
      : times;
  return {
    sessions,
    users: new Set(members.flatMap((message) => (message.user === null ? [] : [message.user]))).size,
    messages: members.length,
    avgMessagesPerSession: members.length / sessions,
    sat,
    dsat,
    netSat: ((sat - dsat) * 100) / members.length,
    duration: members.length < 2 ? null : (last - first) / 1e6,
    repeatedRequests: members.filter((message) => message.repeatedRequest !== null).length,
    waitSeconds: waitOf(groupBy, members, 0.5),
    waitSecondsP95: waitOf(groupBy, members, 0.95),
    handedOver: ofGroup.filter(
      (session) =>
        names.session(session).outcome === 'handed_over' ||
        names.attributes(session).get('handedOver') === 'true',
    ).length,
    droppedOff: ofGroup.filter((session) => names.session(session).isUnanswered === true).length,
    dissatisfied: isDissatisfied.filter(Boolean).length,
    excessDissatisfied:
      Math.round(
        (isDissatisfied.filter(Boolean).length -
          ofGroup.length *
            (dissatisfiedIn(group.all).size / new Set(group.all.map((one) => one.session)).size)) *
          1000,
      ) /
        1000 +
      0,
    resolvedAtLeast: ended('solved'),
    resolvedAtMost: ended('solved', 'thanked', 'open'),
    inputTokens: usageOf('inputTokens'),
    outputTokens: usageOf('outputTokens'),
    costUsd: nanos === null ? null : nanos / 1e9,
    cameBack: ofGroup.filter((session) => cameBack(session, groupBy, group.entity, all)).length,
    createdAt: Math.min(...own),
    lastActiveAt: Math.max(...own),
  };
}

/** The sessions of messages with a signal of dissatisfaction in their texts. */
function dissatisfiedIn(messages: readonly PlainMessage[]): ReadonlySet<number> {
  return new Set(
    messages.flatMap((message) => (signalsOf(message, 'DSAT', 'inferred') > 0 ? [message.session] : [])),
  );
}

const WEEK = 7 * 86_400e6;

/** True if the same person began another session about the same matter later, within a week of the last word on it. */
function cameBack(session: number, groupBy: GroupBy, entity: number, all: readonly PlainMessage[]): boolean {
  const of = (message: PlainMessage): number | null =>
    groupBy === 'TOPIC_CLUSTER' ? message.cluster : message.topic;
  const isOfTopics = groupBy === 'TOPIC' || groupBy === 'TOPIC_CLUSTER';
  const own = all.filter((message) => message.session === session);
  const matters = isOfTopics ? [entity] : new Set(own.flatMap((message) => of(message) ?? []));
  return [...matters].some((matter) => {
    const about = all.filter((message) => of(message) === matter);
    const users = groupBy === 'END_USER' ? [entity] : new Set(own.flatMap(({ user }) => user ?? []));
    return [...users].some((user) => {
      const times = new Map<number, number[]>();
      for (const message of about)
        if (message.user === user)
          times.set(message.session, [...(times.get(message.session) ?? []), message.at]);
      const here = times.get(session);
      if (here === undefined) return false;
      return [...times.values()].some(
        (there) => Math.min(...there) > Math.min(...here) && Math.min(...there) <= Math.max(...here) + WEEK,
      );
    });
  });
}

/** A quantile, of replies; where users' turns are grouped, of the replies that they come after. */
function waitOf(groupBy: GroupBy, members: readonly PlainMessage[], quantile: number): number | null {
  const isOfUsers = groupBy === 'CSAT_DSAT' || groupBy === 'REPEATED_REQUEST';
  const waits = members
    .map(({ wait }) => (isOfUsers ? Math.abs(wait) : Math.max(wait, 0)))
    .filter((wait) => wait > 0)
    .sort((a, b) => a - b);
  return waits.length === 0 ? null : secondsOfStep(waits[Math.ceil(waits.length * quantile) - 1]!);
}

function chosen(
  entity: number,
  id: string,
  inRange: readonly PlainMessage[],
  names: PlainNames,
  parameters: QueryParameters,
): boolean {
  const { groupBy } = parameters;
  const means = (ids: readonly string[], one: string): boolean =>
    ids.some((each) => (names.heirs.get(each) ?? each) === one);
  if (parameters.ids !== null && !means(parameters.ids, id)) return false;
  if (parameters.signalSource !== null && SIGNALS[entity]?.source !== parameters.signalSource) return false;
  const isListed = parameters.ids !== null || parameters.signalSource !== null;
  if (groupBy === 'CSAT_DSAT' && !isListed && SIGNALS[entity]?.source === 'OBSERVED') return false;
  if (parameters.gapType !== null && names.gap(entity).gapType !== parameters.gapType) return false;
  if (
    parameters.language !== null &&
    names.session(entity).language?.toLowerCase() !== parameters.language.toLowerCase()
  )
    return false;
  const { outcome } = parameters;
  if (outcome !== null && !outcome.some((each) => each === names.session(entity).outcome)) return false;
  const externalId = groupBy === 'SESSION' ? names.session(entity).externalId : names.externalId(entity);
  if (parameters.externalId !== null && externalId !== parameters.externalId) return false;
  const { titleContains, textContains } = parameters;
  const { title, summary } = groupBy === 'SESSION' ? names.session(entity) : { title: '', summary: '' };
  const contains = (texts: readonly (string | null)[], text: string): boolean =>
    texts.some((each) => each?.toLowerCase().includes(text.toLowerCase()) === true);
  if (titleContains !== null && !contains([title], titleContains)) return false;
  if (textContains !== null && !contains([title, summary], textContains)) return false;
  const own = inRange.filter(
    (message) => (groupBy === 'SESSION' ? message.session : message.user) === entity,
  );
  const has = (
    ids: readonly string[] | null,
    kind: Exclude<PlainKind, 'session'>,
    of: (message: PlainMessage) => readonly number[],
  ): boolean =>
    ids === null || own.some((message) => of(message).some((number) => means(ids, names.id(kind, number))));
  return (
    has(parameters.topicIds, 'topic', (message) => entitiesOf('TOPIC', message)) &&
    has(parameters.clusterIds, 'cluster', (message) => entitiesOf('TOPIC_CLUSTER', message)) &&
    has(parameters.endUserIds, 'user', (message) => entitiesOf('END_USER', message)) &&
    has(parameters.signalIds, 'signal', (message) => message.signals) &&
    has(parameters.repeatedRequestIds, 'repeatedRequest', (message) =>
      entitiesOf('REPEATED_REQUEST', message),
    ) &&
    has(parameters.gapIds, 'gap', (message) => entitiesOf('GAP', message)) &&
    has(parameters.labelIds, 'label', (message) => message.labels)
  );
}

function withinBounds(values: Values, parameters: QueryParameters): boolean {
  return parameters.bounds.every(({ metric, min, max }) => {
    const value = values[metric];
    return value !== null && (min === null || value >= min) && (max === null || value <= max);
  });
}

interface Ordered {
  readonly id: string;
  readonly bucket: number;
  readonly values: Values;
}

function compare(a: Ordered, b: Ordered, { sort, groupBy }: QueryParameters): number {
  const byId = a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
  const byDate = a.bucket === b.bucket ? 0 : a.bucket - b.bucket;
  const by = (field: SortField, order: 'ASC' | 'DESC'): number => {
    const [left, right] = [a.values[field], b.values[field]];
    if (left === right) return 0;
    if (left === null) return 1;
    if (right === null) return -1;
    return order === 'ASC' ? left - right : right - left;
  };
  if (sort !== null) return by(sort.field, sort.order) || byDate || byId;
  return (
    byDate ||
    by(groupBy === 'SESSION' || groupBy === 'END_USER' ? 'lastActiveAt' : 'messages', 'DESC') ||
    byId
  );
}
