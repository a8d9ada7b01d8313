/**
 * The types of the client are those of the service: what differs is an error of the compiler here. The client imports
 * nothing of ours, so they are written twice.
 */
import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { z } from 'zod';
import type * as client from '../../src/client/index.ts';
import {
  dimensionFieldsOf,
  GROUP_BYS,
  type DeclaredGroupings,
  type Filter,
  type GroupBy,
} from '../../src/domain/groupings.ts';
import type { BoundedMetric, metricsSchema } from '../../src/domain/metrics.ts';
import type { Granularity } from '../../src/domain/time.ts';
import type { ErrorCode, ErrorDetail } from '../../src/errors.ts';
import type {
  instanceListSchema,
  instanceSchema,
  keySchema,
  newInstanceSchema,
} from '../../src/contract/instances.ts';
import type { ingestResponseSchema } from '../../src/contract/ingest.ts';
import type { curationSchema, newTopicSchema } from '../../src/ingest/curation-body.ts';
import type { ingestBodySchema } from '../../src/ingest/request-body.ts';
import type { ChangesResponse, changesParameterSchemas } from '../../src/query/changes/changes-schema.ts';
import type {
  CurationsResponse,
  curationsParameterSchemas,
} from '../../src/query/curations/curations-schema.ts';
import type { OverviewResponse, OVERVIEW_METRICS } from '../../src/query/overview/overview-schema.ts';
import type { queryParameterSchemas } from '../../src/query/parameters.ts';
import type { QueryResponse } from '../../src/query/response-schema.ts';
import type { SessionResponse, sessionParameterSchemas } from '../../src/query/session-schema.ts';
import type { WhyGroupBy, WhyResponse, whyParameterSchemas } from '../../src/query/why/why-schema.ts';

/** All members read-only and by themselves; optional ones without `undefined`. */
type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Plain<Exclude<T[K], undefined>> }
    : T;
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : { one: A; other: B };
/** `true` where both are the same to a reader. */
type Equal<A, B> = Same<Plain<A>, Plain<B>>;
type EqualNames<A extends PropertyKey, B extends PropertyKey> = [A, B] extends [B, A] ? true : [A, B];
/** Answers, without what headers say. */
type Body<T, Header extends string = 'waitResult'> = Omit<T, Header>;
/** Options as the names of parameters. */
type ParametersOf<Options> = {
  [N in keyof Options]-?: N extends 'signal' | 'waitFor'
    ? never
    : N extends 'dateRange' | 'sort'
      ? `${N}.${keyof NonNullable<Options[N]> & string}`
      : N;
}[keyof Options];

type Entity<G extends GroupBy> = Exclude<
  QueryResponse['elements'][number]['dimensions'][DeclaredGroupings[G]['name']],
  undefined
>;
type Bounds = `${'min' | 'max'}${Capitalize<BoundedMetric>}`;
type NameOf<Options> = Exclude<keyof Options, 'instanceId' | 'signal' | 'waitFor' | 'idempotencyKey'>;
type ActionOf<T, A> = Extract<T, { action: A }>;

/** By grouping; each is `true`. */
type OfGrouping<G extends GroupBy> = [
  EqualNames<client.MetricOf<G>, DeclaredGroupings[G]['metrics'][number]>,
  EqualNames<client.Groupings[G]['sort'], DeclaredGroupings[G]['sorts'][number]>,
  EqualNames<client.Groupings[G]['filter'], DeclaredGroupings[G]['filters'][number]>,
  EqualNames<client.Groupings[G]['name'], DeclaredGroupings[G]['name']>,
  Equal<client.Groupings[G]['always'] & Partial<client.Groupings[G]['onRequest']>, Entity<G>>,
  EqualNames<ParametersOf<client.Query<G>>, ParametersOfGrouping<G>>,
];
type ParametersOfGrouping<G extends GroupBy> =
  | Exclude<keyof z.input<typeof queryParameterSchemas>, Filter | Bounds>
  | DeclaredGroupings[G]['filters'][number]
  | `${'min' | 'max'}${Capitalize<DeclaredGroupings[G]['metrics'][number] & BoundedMetric>}`;

type AllTrue<T extends readonly true[]> = T;

/** Exported, so that the compiler counts it as used. */
export type Groupings = [
  AllTrue<OfGrouping<'TOPIC'>>,
  AllTrue<OfGrouping<'TOPIC_CLUSTER'>>,
  AllTrue<OfGrouping<'REPEATED_REQUEST'>>,
  AllTrue<OfGrouping<'CSAT_DSAT'>>,
  AllTrue<OfGrouping<'GAP'>>,
  AllTrue<OfGrouping<'SESSION'>>,
  AllTrue<OfGrouping<'END_USER'>>,
];

type IngestSchema = ReturnType<typeof ingestBodySchema>;
type CurationInput = z.input<typeof curationSchema>;
type OverviewMetric = (typeof OVERVIEW_METRICS)[number];
type OfWhy<G extends WhyGroupBy> = Equal<
  Body<client.Why<G>>,
  Omit<WhyResponse, DeclaredGroupings[GroupBy]['name']> & {
    [N in DeclaredGroupings[G]['name'] & keyof WhyResponse]: client.WholeEntityOf<G>;
  }
>;
/** With the members of both sides that exclude each other as one object. */
type OfAction<A extends client.Curation['action']> = EqualNames<
  KeysOf<ActionOf<client.Curation, A>>,
  Exclude<KeysOf<ActionOf<CurationInput, A>>, 'instanceId'>
>;
type KeysOf<T> = T extends unknown ? keyof T : never;

export type Bodies = AllTrue<
  [
    EqualNames<client.GroupBy, GroupBy>,
    EqualNames<client.Granularity, Granularity>,
    EqualNames<client.ServiceErrorCode, ErrorCode>,
    Equal<client.ErrorDetail, ErrorDetail>,
    Equal<client.MetricValues, Required<z.output<typeof metricsSchema>>>,
    Equal<client.IngestBody, z.input<IngestSchema>>,
    Equal<Body<client.Ingested, 'position' | 'warnings'>, z.output<typeof ingestResponseSchema>>,
    Equal<Body<client.Transcript>, SessionResponse>,
    EqualNames<NameOf<client.CursorOptions>, NameOf<z.input<typeof sessionParameterSchemas>>>,
    EqualNames<NameOf<client.CursorOptions>, NameOf<z.input<typeof curationsParameterSchemas>>>,
    Equal<Body<client.Curations>, CurationsResponse>,
    Equal<Body<client.Changes>, ChangesResponse>,
    EqualNames<ParametersOf<client.ChangesOptions>, keyof z.input<typeof changesParameterSchemas>>,
    Equal<Body<client.Overview>, OverviewOf<OverviewMetric>>,
    EqualNames<ParametersOf<client.PeriodOptions>, keyof z.input<typeof whyParameterSchemas>>,
    OfWhy<'TOPIC'>,
    OfWhy<'TOPIC_CLUSTER'>,
    OfWhy<'GAP'>,
    OfWhy<'REPEATED_REQUEST'>,
    OfWhy<'END_USER'>,
    EqualNames<client.WhyGroupBy, WhyGroupBy>,
    EqualNames<client.Curation['action'], CurationInput['action']>,
    OfAction<'RENAME'>,
    OfAction<'PIN'>,
    OfAction<'MERGE'>,
    OfAction<'MOVE'>,
    OfAction<'HIDE'>,
    OfAction<'UNDO'>,
    Equal<client.NewTopic, Omit<z.input<typeof newTopicSchema>, 'instanceId'>>,
    Equal<client.NewInstance, z.input<typeof newInstanceSchema>>,
    Equal<client.Instance, z.output<typeof instanceSchema>>,
    Equal<client.Instances, z.output<typeof instanceListSchema>>,
    Equal<client.Key, z.output<typeof keySchema>>,
    Equal<Pages['pagination'], QueryResponse['pagination']>,
    EqualNames<keyof Body<Pages>, keyof QueryResponse>,
  ]
>;
type Pages = client.Page<'TOPIC', 'sessions'>;
/** Every metric of an overview is there. */
type OverviewOf<M extends OverviewMetric> = Omit<OverviewResponse, 'fields' | 'trend'> & {
  fields: Required<Pick<Plain<OverviewResponse['fields']>, M>>;
  trend: { date: string; fields: Required<Pick<Plain<OverviewResponse['fields']>, M>> }[];
};

/** Which members only `dimensionFields` brings is no matter of types there: these are all that the types name. */
const DIMENSION_FIELDS: { readonly [G in GroupBy]: Readonly<Record<client.DimensionFieldOf<G>, true>> } = {
  TOPIC: { description: true, isOwn: true, isNamed: true, isHidden: true },
  TOPIC_CLUSTER: { isNamed: true },
  REPEATED_REQUEST: {},
  CSAT_DSAT: {},
  GAP: { isNamed: true },
  SESSION: { title: true, summary: true, topics: true, language: true, outcome: true, externalId: true },
  END_USER: { externalId: true, topTopics: true, createdAt: true, lastActiveAt: true },
};

describe('the types of the client', () => {
  it('name the dimension fields of each grouping', () => {
    for (const groupBy of GROUP_BYS)
      deepEqual(Object.keys(DIMENSION_FIELDS[groupBy]), dimensionFieldsOf(groupBy), groupBy);
  });
});
