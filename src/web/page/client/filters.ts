/** What conversations can be filtered by: the words for it, and the parameters of the API. */
import { api, type Row } from './api.ts';
import { languageName, outcomeWords } from './format.ts';
import type { Period } from './period.ts';
import type { EntityKind, FilterName, Mood, Order, PageState } from './state.ts';

export type Filters = PageState['filters'];

interface FilterWords {
  /** As a label. */
  readonly label: string;
  /** In the middle of a sentence, before its value. */
  readonly phrase: string;
  /** The parameter of GET /v1/query. */
  readonly parameter: string;
}

export const FILTER_WORDS: Readonly<Record<FilterName, FilterWords>> = {
  topic: { label: 'Topic', phrase: 'the topic', parameter: 'topicIds' },
  cluster: { label: 'Topic cluster', phrase: 'the topic cluster', parameter: 'clusterIds' },
  gap: { label: 'Gap', phrase: 'the gap', parameter: 'gapIds' },
  repeat: { label: 'Asked again', phrase: 'the repeated request', parameter: 'repeatedRequestIds' },
  signal: { label: 'Signal', phrase: 'the signal', parameter: 'signalIds' },
  user: { label: 'User', phrase: 'the user', parameter: 'endUserIds' },
  language: { label: 'Language', phrase: 'the language', parameter: 'language' },
  outcome: { label: 'Outcome', phrase: 'the outcome', parameter: 'outcome' },
  mood: { label: 'Mood', phrase: 'the mood', parameter: 'mood' },
  text: { label: 'Text', phrase: 'the text', parameter: 'textContains' },
  said: { label: 'Said', phrase: 'the words', parameter: 'said' },
};

/** The grouping whose rows are the values of a filter, and the member that names them. */
export const FILTER_GROUPINGS: Readonly<Record<EntityKind, string>> = {
  topic: 'TOPIC',
  cluster: 'TOPIC_CLUSTER',
  gap: 'GAP',
  repeat: 'REPEATED_REQUEST',
  signal: 'CSAT_DSAT',
  user: 'END_USER',
};

/** The entity of a page filters like any other. */
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

/** What a mood is called, and the parameter that asks for at least one sign of it. */
export const MOOD_WORDS: Readonly<Record<Mood, { readonly label: string; readonly parameter: string }>> = {
  satisfied: { label: 'Satisfied', parameter: 'minSat' },
  dissatisfied: { label: 'Dissatisfied', parameter: 'minDsat' },
  repeated: { label: 'Asked again', parameter: 'minRepeatedRequests' },
};

/** What an order is called, and the metric that it sorts by. */
export const ORDER_WORDS: Readonly<
  Record<Exclude<Order, 'usual'>, { readonly label: string; readonly field: string }>
> = {
  worst: { label: 'Most dissatisfied first', field: 'dsat' },
  best: { label: 'Most satisfied first', field: 'sat' },
  longest: { label: 'Most messages first', field: 'messages' },
  repeats: { label: 'Most repeats first', field: 'repeatedRequests' },
};

/** The order of a list, the largest first. `usual`: the metric where none is chosen; '': the API's own order. */
export function orderParameters(order: Order, usual: string): Record<string, string> {
  const field = order === 'usual' ? usual : ORDER_WORDS[order].field;
  return field === '' ? {} : { 'sort.field': field };
}

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** What a row stands for. */
export function namedOf({ dimensions }: Row): Named {
  const { topic, cluster, gap, repeatedRequest, csatDsatSignal, endUser } = dimensions;
  const entity = topic ?? cluster ?? gap ?? repeatedRequest ?? csatDsatSignal;
  return entity ?? { id: endUser?.id ?? '', name: endUser?.externalId ?? '' };
}

/** The value of a filter in words; of an entity its name, and nothing where there is none. */
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
 * The parameters of a query for the conversations that filters choose, in an order (default: the newest first). What was
 * said chooses none: only a search finds them.
 */
export function conversationParameters(
  period: Period,
  filters: Filters,
  order: Order = 'usual',
): Record<string, string> {
  const { said: _, ...listed } = filters;
  return {
    instanceId: period.instance,
    ...period.range,
    groupBy: 'SESSION',
    fields: 'messages,duration,lastActiveAt,sat,dsat,repeatedRequests',
    dimensionFields: 'title,summary,language,outcome',
    ...orderParameters(order, ''),
    ...parametersOf(listed),
  };
}
