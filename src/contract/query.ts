/**
 * The routes that read the views of an instance.
 *
 * Test: test/e2e/query-rules.test.ts, test/e2e/session-rules.test.ts, test/e2e/why-rules.test.ts,
 * test/e2e/changes-rules.test.ts, test/e2e/overview-rules.test.ts.
 */
import type { z } from 'zod';
import { GROUPINGS } from '../domain/groupings.ts';
import { attributesParameterSchemas, attributesResponseSchema } from '../query/attributes-schema.ts';
import { changesParameterSchemas, changesResponseSchema } from '../query/changes/changes-schema.ts';
import {
  differencesParameterSchemas,
  differencesResponseSchema,
} from '../query/changes/differences-schema.ts';
import { effectsParameterSchemas, effectsResponseSchema } from '../query/effects/effects-schema.ts';
import {
  briefParameterSchemas,
  briefResponseSchema,
  draftResponseSchema,
} from '../query/briefs/brief-schema.ts';
import { overviewParameterSchemas, overviewResponseSchema } from '../query/overview/overview-schema.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import { queryResponseSchema } from '../query/response-schema.ts';
import {
  textSearchParameterSchemas,
  textSearchResponseSchema,
} from '../query/text-search/text-search-schema.ts';
import { sessionParameterSchemas, sessionResponseSchema } from '../query/session-schema.ts';
import { WHY_PATHS, whyParameterSchemas, whyResponseSchema, type WhyPath } from '../query/why/why-schema.ts';
import { SHARED_CHANGES, SHARED_OVERVIEW, SHARED_QUERY, sharedWhy } from './shared.ts';
import { declare, json, type Content, type Route } from './route.ts';

type Rest<Parameters extends z.ZodType> = Pick<
  Route<Parameters>,
  'path' | 'operationId' | 'summary' | 'description' | 'shared' | 'id' | 'parameters' | 'examples'
>;

export const TEXT = { schema: { type: 'string' } };

/** Declares a route that reads one instance and can wait for a stream position. */
export function reading<Parameters extends z.ZodType>(
  rest: Rest<Parameters>,
  answer: string,
  name: string,
  schema: z.ZodType,
  more: Readonly<Record<string, Content>> = {},
): Route<Parameters> {
  return declare({
    ...rest,
    method: 'GET',
    tag: 'Query',
    scope: 'query',
    instance: 'parameters',
    headers: ['X-Wait-For-Position'],
    answer: { description: answer, headers: ['X-Wait-Result'], content: { ...json(name, schema), ...more } },
    fails: [404],
  });
}

export const QUERY = reading(
  {
    path: '/query',
    operationId: 'query',
    summary: 'Query metrics',
    shared: SHARED_QUERY,
    description: 'Aggregated metrics of the entities that groupBy names, for one instance.',
    parameters: queryParameterSchemas,
    // Values that the documentation page fills in, so that Execute works with the reader's own ids.
    examples: { groupBy: 'SESSION', fields: ['messages', 'sat', 'dsat'] },
  },
  'The rows of the asked-for page.',
  'QueryResponse',
  queryResponseSchema,
  // These formats hold every row, not a page (docs/api.md).
  { 'text/csv': TEXT, 'application/x-ndjson': TEXT },
);

export const SEARCH_TEXTS = reading(
  {
    path: '/sessions',
    operationId: 'findSaid',
    summary: 'Find what was said',
    description:
      'The sessions in which a message contains a text. Texts are read from the stream, the newest first, for about a ' +
      'second: an answer says how far it has looked, and its cursor goes on.',
    parameters: textSearchParameterSchemas,
    examples: { said: 'kettle' },
  },
  'Sessions, and how far the search has looked.',
  'SaidResponse',
  textSearchResponseSchema,
);

export const READ_SESSION = reading(
  {
    path: '/sessions/{sessionId}',
    operationId: 'readSession',
    summary: 'Read a conversation',
    description:
      'The messages of a session in order, with what was found in each. Texts are read from the stream; one ' +
      'that it no longer holds is shown as gone, with the reason.',
    id: 'The session to read.',
    parameters: sessionParameterSchemas,
  },
  'The session, and the asked-for page of its messages.',
  'SessionResponse',
  sessionResponseSchema,
);

/** Name of the entity of each path in WHY_PATHS. */
const WHY_WORDS: Readonly<Record<WhyPath, string>> = {
  topics: 'topic',
  'topic-clusters': 'topic cluster',
  gaps: 'gap',
  'repeated-requests': 'repeated request',
  labels: 'label',
  'end-users': 'end user',
};

/** The routes of single entities, by grouping. */
export const WHY = (Object.keys(WHY_WORDS) as WhyPath[]).map((path) => {
  const words = WHY_WORDS[path];
  const groupBy = WHY_PATHS[path];
  const { name } = GROUPINGS[groupBy];
  const shared = sharedWhy(path);
  const route = reading(
    {
      path: `/${path}/{id}`,
      operationId: `why${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      summary: `Look behind a ${words}`,
      description:
        `The numbers of a ${words} in a range, what occurs together with it, and how it is said. ` +
        'What queries say too, they say alike.',
      ...(shared === undefined ? {} : { shared }),
      id: `The ${words}.`,
      parameters: whyParameterSchemas,
    },
    `What is behind the ${words}.`,
    'WhyResponse',
    whyResponseSchema,
  );
  return { groupBy, route };
});

export const CHANGES = reading(
  {
    path: '/changes',
    operationId: 'readChanges',
    shared: SHARED_CHANGES,
    summary: 'See what changed',
    description:
      'Topics, gaps and signals that are new, rising, falling or gone, against the period before. Only what is ' +
      'not chance is listed.',
    parameters: changesParameterSchemas,
    // These parameters are required here, unlike in queries.
    examples: { 'dateRange.start': '2026-11-01', 'dateRange.end': '2026-11-08' },
  },
  'The two periods and the changes.',
  'ChangesResponse',
  changesResponseSchema,
);

export const OVERVIEW = reading(
  {
    path: '/overview',
    operationId: 'readOverview',
    shared: SHARED_OVERVIEW,
    summary: 'Measure an instance',
    description: 'The metrics of the whole instance in a range, and in each bucket of it.',
    parameters: overviewParameterSchemas,
  },
  'The metrics.',
  'OverviewResponse',
  overviewResponseSchema,
);

export const ATTRIBUTES = reading(
  {
    path: '/attributes',
    operationId: 'listAttributes',
    summary: 'List attributes of sessions',
    description: 'The attributes by which queries choose and group sessions, with their values.',
    parameters: attributesParameterSchemas,
  },
  'The attributes.',
  'AttributesResponse',
  attributesResponseSchema,
);

export const DIFFERENCES = reading(
  {
    path: '/differences',
    operationId: 'readDifferences',
    summary: 'Compare two values of an attribute',
    description:
      'Topics, gaps and signals that sessions of one value of an attribute have more or less often than those of ' +
      'another, such as of two releases, on the days on which both occur. Only what is not chance is listed.',
    parameters: differencesParameterSchemas,
    examples: { segmentKey: 'version', value: '3.2', against: '3.1' },
  },
  'The two values and the differences.',
  'DifferencesResponse',
  differencesResponseSchema,
);

export const EFFECTS = reading(
  {
    path: '/effects',
    operationId: 'readEffects',
    summary: 'See what helped',
    description:
      'Of each gap, topic, repeated request and signal that people said is fixed: its share of sessions in the weeks ' +
      'before and after, and whether they differ by more than chance, weekdays and a trend explain.',
    parameters: effectsParameterSchemas,
  },
  'The effects.',
  'EffectsResponse',
  effectsResponseSchema,
);

export const BRIEF = reading(
  {
    path: '/gaps/{id}/brief',
    operationId: 'readBrief',
    summary: 'Tell what closing a gap takes',
    description:
      'What people asked for where the assistant lacked something, for whoever writes the article or builds the action: ' +
      'the requests, grouped and quoted without personal data, and which kinds of values they hold. As Markdown or CSV ' +
      'it is a file to hand on.',
    id: 'The gap.',
    parameters: briefParameterSchemas,
  },
  'The brief.',
  'BriefResponse',
  briefResponseSchema,
  { 'text/markdown': TEXT, 'text/csv': TEXT },
);

export const DRAFT = declare({
  method: 'POST',
  path: '/gaps/{id}/draft',
  operationId: 'draftForGap',
  summary: 'Draft what closes a gap',
  description:
    'Has the language model of the service (`WRITER_URL`, `WRITER_MODEL`) draft an article for missing knowledge, or a ' +
    'requirement for a missing ability, from the brief of the gap, which has no personal data. Nothing of it is stored. ' +
    'A service without a writer answers 409.',
  tag: 'Query',
  scope: 'query',
  instance: 'parameters',
  isBodiless: true,
  id: 'The gap.',
  parameters: briefParameterSchemas,
  headers: ['X-Wait-For-Position'],
  answer: {
    description: 'The draft.',
    headers: ['X-Wait-Result'],
    content: json('DraftResponse', draftResponseSchema),
  },
  fails: [404, 409],
});
