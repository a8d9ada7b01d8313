/**
 * The options of the client have the names of the service's parameters, and its curations those of the schema: what
 * differs is an error of the compiler here. All other types are made from the declarations (test/generated.test.ts).
 */
import { describe, it } from 'node:test';
import type { z } from 'zod';
import type * as client from '../../../src/doors/client/index.ts';
import type { erasureListParameterSchemas } from '../../../src/contract/erasures.ts';
import type { instanceListParameterSchemas } from '../../../src/contract/instances.ts';
import type { DeclaredGroupings, Filter, GroupBy } from '../../../src/domain/groupings.ts';
import type { BoundedMetric } from '../../../src/domain/metrics.ts';
import type { curationSchema } from '../../../src/web/ingest/curation-body.ts';
import type { newErasureSchema } from '../../../src/web/ingest/erasure-body.ts';
import type { changesParameterSchemas } from '../../../src/query/changes/changes-schema.ts';
import type { briefParameterSchemas } from '../../../src/query/briefs/brief-schema.ts';
import type { effectsParameterSchemas } from '../../../src/query/effects/effects-schema.ts';
import type { differencesParameterSchemas } from '../../../src/query/changes/differences-schema.ts';
import type { curationsParameterSchemas } from '../../../src/query/curations/curations-schema.ts';
import type { queryParameterSchemas } from '../../../src/query/parameters.ts';
import type { sessionParameterSchemas } from '../../../src/query/session-schema.ts';
import type { whyParameterSchemas } from '../../../src/query/why/why-schema.ts';

type EqualNames<A extends PropertyKey, B extends PropertyKey> = [A, B] extends [B, A] ? true : [A, B];
/** Of a union: no member of it names a difference. */
type Each<T extends true> = T;
/** Options as the names of parameters. */
type ParametersOf<Options> = {
  [N in keyof Options]-?: N extends 'signal' | 'waitFor'
    ? never
    : N extends 'dateRange' | 'sort'
      ? `${N}.${keyof NonNullable<Options[N]> & string}`
      : N;
}[keyof Options];
type Bounds<M extends string> = `${'min' | 'max'}${Capitalize<M & BoundedMetric>}`;
type ParametersOfGrouping<G extends GroupBy> =
  | Exclude<keyof z.input<typeof queryParameterSchemas>, Filter | Bounds<BoundedMetric>>
  | DeclaredGroupings[G]['filters'][number]
  | Bounds<DeclaredGroupings[G]['metrics'][number]>;
type OfGrouping<G extends GroupBy> = EqualNames<ParametersOf<client.Query<G>>, ParametersOfGrouping<G>>;

type CurationInput = z.input<typeof curationSchema>;
type KeysOf<T> = T extends unknown ? keyof T : never;
/** With the members of both sides that exclude each other as one object. */
type OfAction<A extends client.Curation['action']> = EqualNames<
  KeysOf<Extract<client.Curation, { action: A }>>,
  Exclude<KeysOf<Extract<CurationInput, { action: A }>>, 'instanceId'>
>;

describe('the options of the client', () => {
  it('are the parameters of the service', () => {
    true satisfies Each<{ [G in GroupBy]: OfGrouping<G> }[GroupBy]>;
    true satisfies EqualNames<ParametersOf<client.PeriodOptions>, keyof z.input<typeof whyParameterSchemas>>;
    true satisfies EqualNames<
      ParametersOf<client.ChangesOptions>,
      keyof z.input<typeof changesParameterSchemas>
    >;
    true satisfies EqualNames<
      ParametersOf<client.DifferencesOptions>,
      keyof z.input<typeof differencesParameterSchemas>
    >;
    true satisfies EqualNames<ParametersOf<client.BriefOptions>, keyof z.input<typeof briefParameterSchemas>>;
    true satisfies EqualNames<
      ParametersOf<client.EffectsOptions>,
      keyof z.input<typeof effectsParameterSchemas>
    >;
    true satisfies EqualNames<
      ParametersOf<client.CursorOptions>,
      keyof z.input<typeof sessionParameterSchemas>
    >;
    true satisfies EqualNames<
      ParametersOf<client.CursorOptions>,
      keyof z.input<typeof curationsParameterSchemas>
    >;
    true satisfies EqualNames<
      ParametersOf<client.InstancesOptions>,
      keyof z.input<typeof instanceListParameterSchemas>
    >;
    true satisfies EqualNames<
      ParametersOf<client.ErasuresOptions>,
      keyof z.input<typeof erasureListParameterSchemas>
    >;
  });

  it('erase what can be erased', () => {
    true satisfies EqualNames<
      KeysOf<client.NewErasure>,
      Exclude<keyof z.input<typeof newErasureSchema>, 'instanceId'>
    >;
  });

  it('decide what can be decided', () => {
    true satisfies EqualNames<client.Curation['action'], CurationInput['action']>;
    true satisfies Each<{ [A in client.Curation['action']]: OfAction<A> }[client.Curation['action']]>;
  });
});
