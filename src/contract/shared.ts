/**
 * The rules for callers with a link to a view. They receive no texts of users and no end users.
 *
 * Test: test/web/links.test.ts.
 */
import { factSourcesOf, type Metric } from '../domain/metrics.ts';
import type { SharedView } from '../domain/shared-views.ts';
import type { ChangesResponse } from '../query/changes/changes-schema.ts';
import type { OverviewResponse } from '../query/overview/overview-schema.ts';
import type { QueryResponse } from '../query/response-schema.ts';
import type { WhyPath, WhyResponse } from '../query/why/why-schema.ts';

/**
 * A route's rules for links. Parameters that identify the view (`instanceId`, `dateRange`, `groupBy`, `ids`, `compare`,
 * `signals`, and the id in the path) must equal those of the link; other parameters must be in `free`.
 */
export interface Shared<Answer = unknown> {
  /** Views that may use the route. */
  readonly views: readonly SharedView[];
  readonly free: readonly string[];
  /** The response also covers the period before: `compare` is required, and both periods must lie in the view. */
  readonly compares?: true;
  /** Removes all texts of users and all end users from a response. */
  readonly redact: (answer: Answer, view: SharedView) => object;
}

/** Groupings that a view lists, or whose entity it shows. */
export const SHARED_GROUPINGS: Readonly<Record<SharedView, readonly string[]>> = {
  overview: ['TOPIC', 'TOPIC_CLUSTER', 'GAP', 'REPEATED_REQUEST', 'CSAT_DSAT', 'LABEL'],
  changes: [],
  topic: ['TOPIC'],
  cluster: ['TOPIC_CLUSTER'],
  gap: ['GAP'],
  repeat: ['REPEATED_REQUEST'],
  signal: ['CSAT_DSAT'],
  label: ['LABEL'],
};

const ENTITIES = ['topic', 'cluster', 'gap', 'repeat', 'signal', 'label'] as const;
const VIEW_OF_PATH = {
  topics: 'topic',
  'topic-clusters': 'cluster',
  gaps: 'gap',
  'repeated-requests': 'repeat',
  labels: 'label',
} as const;

type Dimensions = QueryResponse['elements'][number]['dimensions'];

/** Removes descriptions, because they quote users. */
function redactDimensions({
  topic,
  cluster,
  gap,
  repeatedRequest,
  csatDsatSignal,
  label,
  date,
}: Dimensions): Dimensions {
  return {
    ...(topic && { topic: { id: topic.id, name: topic.name, clusterId: topic.clusterId } }),
    ...(cluster && { cluster: { id: cluster.id, name: cluster.name } }),
    ...(gap && { gap: { id: gap.id, name: gap.name, gapType: gap.gapType, description: '' } }),
    ...(repeatedRequest && {
      repeatedRequest: { id: repeatedRequest.id, name: repeatedRequest.name, description: '' },
    }),
    ...(csatDsatSignal && { csatDsatSignal }),
    ...(label && { label: { id: label.id, name: label.name, description: '' } }),
    ...(date === undefined ? {} : { date }),
  };
}

/** What conversations cost is nobody's business outside. */
function withoutUsage<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([metric, value]) => [
      metric,
      factSourcesOf([metric as Metric]).includes('usage') ? null : value,
    ]),
  ) as Fields;
}

/** Who takes care of it, and what they wrote, is for people of the project. */
function withoutWords(life: WhyResponse['life']): WhyResponse['life'] {
  return life === null ? null : { ...life, owner: null, note: null, link: null };
}

export const SHARED_QUERY: Shared<QueryResponse> = {
  views: ['overview', ...ENTITIES],
  free: ['fields', 'timeGranularity', 'limit', 'sort.field'],
  redact: ({ elements, pagination, lastProcessedAt }) => ({
    elements: elements.map(({ dimensions, fields }) => ({
      dimensions: redactDimensions(dimensions),
      fields: withoutUsage(fields),
    })),
    pagination,
    lastProcessedAt,
  }),
};

export const SHARED_OVERVIEW: Shared<OverviewResponse> = {
  views: ['overview', ...ENTITIES],
  free: ['timeGranularity'],
  redact: ({ fields, trend, languages, outcomes, agreement, lastProcessedAt }, view) => ({
    fields,
    trend,
    languages: view === 'overview' ? languages : [],
    outcomes: view === 'overview' ? outcomes.map((outcome) => ({ ...outcome, costUsd: null })) : [],
    agreement: view === 'overview' ? agreement : null,
    lastProcessedAt,
  }),
};

export const SHARED_CHANGES: Shared<ChangesResponse> = {
  views: ['overview', 'changes', ...ENTITIES],
  free: ['limit'],
  compares: true,
  redact: ({ period, before, changes, lastProcessedAt }, view) => ({
    period,
    before,
    changes:
      view === 'overview' || view === 'changes'
        ? changes.map(({ topic, gap, csatDsatSignal, ...numbers }) => ({
            ...redactDimensions({ topic, gap, csatDsatSignal }),
            ...numbers,
          }))
        : [],
    lastProcessedAt,
  }),
};

/** Rules of the routes of single entities; undefined for end users. */
export function sharedWhy(path: WhyPath): Shared<WhyResponse> | undefined {
  if (path === 'end-users') return undefined;
  return {
    views: [VIEW_OF_PATH[path]],
    free: ['timeGranularity'],
    redact: (answer) => {
      const {
        heir,
        fields: all,
        trend: buckets,
        signals,
        topics,
        gaps,
        repeatedRequests,
        languages,
        checked,
        life,
      } = answer;
      const fields = withoutUsage(all);
      const trend = buckets.map((bucket) => ({ ...bucket, fields: withoutUsage(bucket.fields) }));
      const numbers = { heir, fields, trend, signals, topics, gaps, repeatedRequests, languages, checked };
      return {
        ...redactDimensions(answer),
        ...numbers,
        life: withoutWords(life),
        endUsers: [],
        wordings: { typical: [], newest: [] },
        lastProcessedAt: answer.lastProcessedAt,
      };
    },
  };
}
