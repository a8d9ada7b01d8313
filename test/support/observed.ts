import { observationOf } from '../../src/doors/traces/conventions/observe.ts';
import { isRead } from '../../src/doors/traces/conventions/registry.ts';
import type { Observation } from '../../src/doors/traces/observation.ts';
import { OmissionCounts } from '../../src/doors/traces/omissions.ts';
import type { AttributeValue, Span } from '../../src/doors/traces/span.ts';

/** Of a span: what it says, without ids of trace and span and times; what is left out, if anything is. */
export type Observed = Partial<Observation> & { readonly omitted?: Readonly<Record<string, number>> };

type Values = Readonly<Record<string, AttributeValue>>;

/** A span with these attributes, as it comes from the wire: those that no convention reads are gone. */
export function spanWith(attributes: Values, more: Partial<Span> & { readonly process?: Values } = {}): Span {
  const { process = {}, ...rest } = more;
  const read = (values: Values): Map<string, AttributeValue> =>
    new Map(Object.entries(values).filter(([name]) => isRead(name)));
  return {
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: 'eee19b7ec3c1b174',
    name: 'a span',
    startedAt: 1_772_357_400_000_000,
    endedAt: 1_772_357_401_000_000,
    attributes: read(attributes),
    events: [],
    resource: read(process),
    ...rest,
  };
}

export function observed(attributes: Values, more: Parameters<typeof spanWith>[1] = {}): Observed {
  const omitted = new OmissionCounts();
  const { traceId, spanId, parentSpanId, startedAt, endedAt, lacksContent, ...members } = observationOf(
    spanWith(attributes, more),
    omitted,
  );
  void [traceId, spanId, parentSpanId, startedAt, endedAt];
  return {
    ...members,
    ...(lacksContent ? { lacksContent } : {}),
    ...(omitted.all.size === 0 ? {} : { omitted: Object.fromEntries(omitted.all) }),
  };
}

export const user = (content: string): { role: 'user'; content: string } => ({ role: 'user', content });
export const assistant = (content: string): { role: 'assistant'; content: string } => ({
  role: 'assistant',
  content,
});
