/**
 * The filters of conversations and users: their words, and their parameters of the API.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { api, type Parameters, type Row } from './api.ts';
import { languageName, outcomeWords } from './format.ts';
import type { Period } from './period.ts';
import type { EntityKind, FilterName, Mood, Order, PageState } from './state.ts';

export type Filters = PageState['filters'];

interface FilterWords {
  /** Used alone. */
  readonly label: string;
  /** Used within a sentence, before its value. */
  readonly phrase: string;
  /** Parameter of GET /v1/query. */
  readonly parameter: string;
}

export const FILTER_WORDS: Readonly<Record<FilterName, FilterWords>> = {
  topic: { label: 'Topic', phrase: 'the topic', parameter: 'topicIds' },
  cluster: { label: 'Topic cluster', phrase: 'the topic cluster', parameter: 'clusterIds' },
  gap: { label: 'Gap', phrase: 'the gap', parameter: 'gapIds' },
  repeat: { label: 'Asked again', phrase: 'the repeated request', parameter: 'repeatedRequestIds' },
  signal: { label: 'Signal', phrase: 'the signal', parameter: 'signalIds' },
  label: { label: 'Label', phrase: 'the label', parameter: 'labelIds' },
  user: { label: 'User', phrase: 'the user', parameter: 'endUserIds' },
  language: { label: 'Language', phrase: 'the language', parameter: 'language' },
  outcome: { label: 'Outcome', phrase: 'the outcome', parameter: 'outcome' },
  mood: { label: 'Mood', phrase: 'the mood', parameter: 'mood' },
  text: { label: 'Text', phrase: 'the text', parameter: 'textContains' },
  said: { label: 'Said', phrase: 'the words', parameter: 'said' },
};

/** Groupings whose rows are the values of a filter. */
export const FILTER_GROUPINGS: Readonly<Record<EntityKind, string>> = {
  topic: 'TOPIC',
  cluster: 'TOPIC_CLUSTER',
  gap: 'GAP',
  repeat: 'REPEATED_REQUEST',
  signal: 'CSAT_DSAT',
  label: 'LABEL',
  user: 'END_USER',
};

/** Adds the entity of the page to its filters. */
export function filtersOf({ view, id, filters }: PageState): Filters {
  return id === '' ? filters : { ...filters, [view]: id };
}

export function parametersOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) =>
      name === 'mood'
        ? [MOOD_WORDS[value as Mood].parameter, '1']
        : [FILTER_WORDS[name as FilterName].parameter, value],
    ),
  );
}

/** Label of a mood, and the parameter that requires at least one such signal. */
export const MOOD_WORDS: Readonly<Record<Mood, { readonly label: string; readonly parameter: string }>> = {
  satisfied: { label: 'Satisfied', parameter: 'minSat' },
  dissatisfied: { label: 'Dissatisfied', parameter: 'minDsat' },
  repeated: { label: 'Asked again', parameter: 'minRepeatedRequests' },
};

/** Label of an order, and its metric. */
export const ORDER_WORDS: Readonly<
  Record<Exclude<Order, 'usual'>, { readonly label: string; readonly field: string }>
> = {
  worst: { label: 'Most dissatisfied first', field: 'dsat' },
  best: { label: 'Most satisfied first', field: 'sat' },
  longest: { label: 'Most messages first', field: 'messages' },
  repeats: { label: 'Most repeats first', field: 'repeatedRequests' },
};

/** Sorts a list, largest first. `usual`: the default metric; '': the API's own order. */
export function orderParameters(order: Order, usual: string): Record<string, string> {
  const field = order === 'usual' ? usual : ORDER_WORDS[order].field;
  return field === '' ? {} : { 'sort.field': field };
}

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** Returns the entity of a row. */
export function namedOf({ dimensions }: Row): Named {
  const { topic, cluster, gap, repeatedRequest, csatDsatSignal, label, endUser } = dimensions;
  const entity = topic ?? cluster ?? gap ?? repeatedRequest ?? csatDsatSignal ?? label;
  return entity ?? { id: endUser?.id ?? '', name: endUser?.externalId ?? '' };
}

/** Words the value of a filter; '' for an unknown entity. */
export async function nameOf(
  instanceId: string,
  filter: FilterName,
  value: string,
  signal: AbortSignal,
): Promise<string> {
  if (filter === 'mood') return MOOD_WORDS[value as Mood].label.toLowerCase();
  if (filter === 'text' || filter === 'said') return `“${value}”`;
  if (filter === 'language') return languageName(value);
  if (filter === 'outcome') return outcomeWords(value).label;
  const isUser = filter === 'user';
  const { elements } = await api.query(
    {
      instanceId,
      groupBy: FILTER_GROUPINGS[filter],
      fields: 'sessions',
      ids: value,
      ...(isUser ? { dimensionFields: 'externalId' } : {}),
    },
    signal,
  );
  return elements[0] === undefined ? '' : namedOf(elements[0]).name;
}

/**
 * Parameters of the query for the filtered conversations, newest first by default. Omits `said`, which only the search
 * in texts supports.
 */
export function conversationParameters(period: Period, filters: Filters, order: Order = 'usual'): Parameters {
  const { said: _, ...listed } = filters;
  return {
    instanceId: period.instance,
    ...period.range,
    ...period.signals,
    groupBy: 'SESSION',
    fields: 'messages,duration,lastActiveAt,sat,dsat,repeatedRequests',
    dimensionFields: 'title,summary,language,outcome',
    ...orderParameters(order, ''),
    ...parametersOf(listed),
  };
}
