/**
 * The types of the client that follow from what the service declares: `npm run generate` writes them to
 * src/doors/client/contract.ts, and test/generated.test.ts watches it.
 */
import type { z } from 'zod';
import { erasureListSchema, erasureSchema } from '../../src/contract/erasures.ts';
import { feedbackSchema } from '../../src/web/ingest/feedback-body.ts';
import { ingestResponseSchema } from '../../src/contract/ingest.ts';
import { instanceListSchema, keySchema, newInstanceSchema } from '../../src/contract/instances.ts';
import { curatedSchema, labelAnswerSchema, newTopicAnswerSchema } from '../../src/contract/steering.ts';
import { FILTERS, GROUP_BYS, GROUPINGS, sessionOutcome } from '../../src/domain/groupings.ts';
import { lifeSchema } from '../../src/domain/life-schema.ts';
import { BOUNDED_METRICS, metricsSchema, type Metric } from '../../src/domain/metrics.ts';
import { GRANULARITIES } from '../../src/domain/time.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { schemaOf } from '../../src/web/openapi-parts.ts';
import { labelSchema, newTopicSchema } from '../../src/web/ingest/curation-body.ts';
import { ingestBodySchema } from '../../src/web/ingest/request-body.ts';
import { changesResponseSchema } from '../../src/query/changes/changes-schema.ts';
import { estimateSchema } from '../../src/query/checks/checks-schema.ts';
import { curationsResponseSchema } from '../../src/query/curations/curations-schema.ts';
import { OVERVIEW_METRICS, overviewResponseSchema } from '../../src/query/overview/overview-schema.ts';
import { attributesResponseSchema } from '../../src/query/attributes-schema.ts';
import { briefResponseSchema } from '../../src/query/briefs/brief-schema.ts';
import { effectSideSchema, effectsResponseSchema } from '../../src/query/effects/effects-schema.ts';
import { differencesResponseSchema } from '../../src/query/changes/differences-schema.ts';
import { queryParameterSchemas } from '../../src/query/parameters.ts';
import { queryResponseSchema } from '../../src/query/response-schema.ts';
import { textSearchResponseSchema } from '../../src/query/text-search/text-search-schema.ts';
import { sessionResponseSchema } from '../../src/query/session-schema.ts';
import { subjectLineSchema } from '../../src/query/subject-schema.ts';
import { WHY_PATHS, whyResponseSchema } from '../../src/query/why/why-schema.ts';

/** As much of JSON Schema as our schemas use. */
interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | false;
}

/** Types that have a name, by what they are. */
const named = new Map<string, string>();

/** A declaration, whose name stands for it in those that follow. */
function declare(name: string, type: string): string {
  named.set(type, name);
  return type.startsWith('{') ? `export interface ${name} ${type}` : `export type ${name} = ${type};`;
}

/** The same for a part of answers, which is not exported. */
function declarePart(name: string, schema: z.ZodType): string {
  return declare(name, typeOf(answer(schema))).replace('export ', '');
}

function typeOf(schema: JsonSchema): string {
  const type = plainTypeOf(schema);
  return named.get(type) ?? type;
}

function plainTypeOf(schema: JsonSchema): string {
  const { type, enum: values, anyOf, items } = schema;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values !== undefined) return union(values);
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ');
  if (typeof type === 'object') return type.map((one) => typeOf({ ...schema, type: one })).join(' | ');
  if (type === 'array') return `readonly (${typeOf(items ?? {})})[]`;
  if (type === 'integer') return 'number';
  return type === 'object' ? objectOf(schema) : (type ?? 'unknown');
}

function objectOf({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const members = membersOf(Object.entries(properties), (name) => required.includes(name));
  if (typeof additionalProperties !== 'object') return members;
  return members === '{ }' ? 'Metadata' : `(Metadata & ${members})`;
}

function membersOf(
  members: readonly (readonly [string, JsonSchema])[],
  isRequired: (name: string) => boolean = () => true,
): string {
  const lines = members.map(([name, schema]) =>
    isRequired(name)
      ? `readonly ${name}: ${typeOf(schema)};`
      : `readonly ${name}?: ${typeOf(schema)} | undefined;`,
  );
  return `{ ${lines.join(' ')} }`.replace('{  }', '{ }');
}

function union(values: readonly unknown[]): string {
  return values.length === 0 ? 'never' : values.map((value) => JSON.stringify(value)).join(' | ');
}

const answer = (schema: z.ZodType): JsonSchema => schemaOf(schema, 'output');
const body = (schema: z.ZodType): JsonSchema => schemaOf(schema, 'input');

function without(schema: JsonSchema, ...names: readonly string[]): JsonSchema {
  const entries = Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(entries) };
}

/** The metrics that all entities with counts of their own have. */
const ENTITY_METRICS = GROUPINGS.GAP.metrics;

/** A union of metrics, with those of `EntityMetric` under that name. */
function metricsOf(metrics: readonly Metric[]): string {
  if (!ENTITY_METRICS.every((metric) => metrics.includes(metric))) return union(metrics);
  const more = metrics.filter((metric) => !(ENTITY_METRICS as readonly Metric[]).includes(metric));
  return ['EntityMetric', ...(more.length === 0 ? [] : [union(more)])].join(' | ');
}

/** What each grouping has. */
function groupings(): string {
  const dimensions = answer(queryResponseSchema.shape.elements.element.shape.dimensions).properties ?? {};
  const rows = GROUP_BYS.map((groupBy) => {
    const { name, metrics, sorts, filters, members } = GROUPINGS[groupBy];
    const { properties = {}, required } = dimensions[name] ?? {};
    const isAsked = (member: string): boolean => members[member]?.onRequest === true;
    const entries = Object.entries(properties);
    const always = entries.filter(([member]) => !isAsked(member));
    const asked = entries.filter(([member]) => isAsked(member));
    const alwaysType = membersOf(always, (member) => required?.includes(member) === true);
    const askedType = asked.length === 0 ? 'Readonly<Record<never, never>>' : membersOf(asked);
    return (
      `${groupBy}: { name: ${JSON.stringify(name)}; metric: ${metricsOf(metrics)}; sort: ${union(sorts)}; ` +
      `filter: ${union(filters)}; always: ${alwaysType}; onRequest: ${askedType} };`
    );
  });
  // In answers that are of no one grouping, what is only there on request is optional.
  for (const groupBy of GROUP_BYS)
    named.set(plainTypeOf(dimensions[GROUPINGS[groupBy].name] ?? {}), `AnyEntity<'${groupBy}'>`);
  return `export interface Groupings { ${rows.join(' ')} }`;
}

/** The file. `npm run generate` lays it out. */
export function clientTypes(): string {
  named.clear();
  const metrics = answer(metricsSchema).properties ?? {};
  const values = membersOf(Object.entries(metrics));
  const filters = FILTERS.map((name) => [name, answer(queryParameterSchemas.shape[name])] as const);
  const parts = [
    '/** Types that follow from what the service declares, written by `npm run generate`. */',
    declare('Metadata', 'Readonly<Record<string, unknown>>'),
    '/** Codes of the service (docs/errors.md). */',
    declare('ServiceErrorCode', union(Object.keys(ERROR_CODES))),
    '/** A topic, gap or other thing with a name. */',
    declare('Named', '{ readonly id: string; readonly name: string; }'),
    '/** How a session ended. */',
    declare('SessionOutcome', union(sessionOutcome.unwrap().options)),
    declarePart('LifeState', lifeSchema.unwrap().shape.state),
    declarePart('Life', lifeSchema.unwrap()),
    declarePart('GapType', whyResponseSchema.shape.gaps.element.shape.gapType),
    declarePart('SignalType', whyResponseSchema.shape.signals.element.shape.signalType),
    declarePart('EffectSide', effectSideSchema),
    declarePart('Wording', whyResponseSchema.shape.wordings.shape.typical.element),
    declarePart('VerdictCounts', estimateSchema.shape.found),
    declarePart('NextPage', sessionResponseSchema.shape.pagination),
    declare('Granularity', union(GRANULARITIES)),
    '/** The value of each metric. Instants are ISO 8601 in UTC, durations seconds, `netSat` is in percent. */',
    `export interface MetricValues ${values}`,
    declare('BoundedMetric', union(BOUNDED_METRICS)),
    declare('OverviewMetric', union(OVERVIEW_METRICS)),
    `type EntityMetric = ${union(ENTITY_METRICS)};`,
    '/** The values of filters. */',
    `export interface FilterValues ${membersOf(filters)}`,
    '/** By grouping: the member of `dimensions`, what it always holds, and what only `dimensionFields` brings. */',
    groupings(),
    "type AnyEntity<G extends keyof Groupings> = Groupings[G]['always'] & Partial<Groupings[G]['onRequest']>;",
    `type Fields = Partial<MetricValues>;`,
  ];
  named.set(typeOf(answer(metricsSchema)), 'Fields');
  parts.push(
    declare('Pagination', typeOf(answer(queryResponseSchema.shape.pagination))),
    '/** The body of an ingest request. */',
    declare('IngestBody', typeOf(body(ingestBodySchema(Date.now)))),
    declare('FeedbackBody', typeOf(body(feedbackSchema))),
    declare('IngestIds', typeOf(answer(ingestResponseSchema))),
    declare('DifferencesAnswer', typeOf(answer(differencesResponseSchema))),
    declare('EffectsAnswer', typeOf(answer(effectsResponseSchema))),
    declare('BriefAnswer', typeOf(answer(briefResponseSchema))),
    declare('AttributesAnswer', typeOf(answer(attributesResponseSchema))),
    declare('OverviewAnswer', typeOf(without(answer(overviewResponseSchema), 'fields', 'trend'))),
    declare('ChangesAnswer', typeOf(answer(changesResponseSchema))),
    declare('WhyGroupBy', union(Object.values(WHY_PATHS))),
    declare(
      'WhyAnswer',
      typeOf(without(answer(whyResponseSchema), ...GROUP_BYS.map((groupBy) => GROUPINGS[groupBy].name))),
    ),
    declare('SaidAnswer', typeOf(answer(textSearchResponseSchema))),
    declare('TranscriptAnswer', typeOf(answer(sessionResponseSchema))),
    declare('NewTopic', typeOf(without(body(newTopicSchema), 'instanceId'))),
    declare('NewTopicAnswer', typeOf(answer(newTopicAnswerSchema))),
    declare('Label', typeOf(without(body(labelSchema), 'instanceId'))),
    declare('LabelAnswer', typeOf(answer(labelAnswerSchema))),
    declare('CuratedAnswer', typeOf(answer(curatedSchema))),
    declare('CurationsAnswer', typeOf(answer(curationsResponseSchema))),
    declare('Erasure', typeOf(answer(erasureSchema))),
    declare('Erasures', typeOf(answer(erasureListSchema))),
    '/** A line of what is held of an end user. */',
    `export type ExportedLine = ${typeOf(answer(subjectLineSchema))};`,
    declare('NewInstance', typeOf(body(newInstanceSchema))),
    declare('Instances', typeOf(answer(instanceListSchema))),
    declare('Key', typeOf(answer(keySchema))),
  );
  return `${parts.join('\n')}\n`;
}
