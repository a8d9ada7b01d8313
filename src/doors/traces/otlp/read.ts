/**
 * What a request of an exporter says about conversations. Keeps the invariant that what is left out is counted, by its
 * reason. Test: test/doors/traces/otlp/read.test.ts, bounds.test.ts.
 */
import { MAX_CALL_MESSAGES } from '../../../domain/limits.ts';
import { OTHER_PART } from '../content.ts';
import { feedbackIn, isEvaluation } from '../conventions/evaluations.ts';
import { isMessageEvent } from '../conventions/gen-ai-events.ts';
import { observationOf, observationsOfEvents } from '../conventions/observe.ts';
import { isRead } from '../conventions/registry.ts';
import type { Attributes } from '../span.ts';
import { MessageAllowance, type MessageLimits } from '../message-allowance.ts';
import type { Observation, ObservedMessage } from '../observation.ts';
import { OLDER_MESSAGE, OmissionCounts } from '../omissions.ts';
import { decodeLogs, decodeTraces, type Encoding, type Rejection } from './decode.ts';

/** What a request of an exporter says about conversations. */
export interface ReadExport {
  /** One for each span that can be used; of log records, one for each span that they name. */
  readonly observations: readonly Observation[];
  /** How many spans or log records the request has. */
  readonly spans: number;
  /** Spans or log records that cannot be used. Log records without messages are skipped, not rejected. */
  readonly rejected: readonly Rejection[];
  /** More of them: they would bring more messages than an export, or a trace in it, may. */
  readonly tooMany: number;
  /** What is in messages, or beside them, and is no text that a person or the assistant said: how often, by reason. */
  readonly omitted: Readonly<Record<string, number>>;
  /** How many of the observations lack content. */
  readonly lacksContent: number;
}

/** Reads an ExportTraceServiceRequest. Throws AppError where the request as a whole cannot be read. */
export function readTraces(bytes: Uint8Array, encoding: Encoding, limits = NO_LIMITS): ReadExport {
  const { items, count, rejected } = decodeTraces(bytes, encoding, isRead);
  const omitted = new OmissionCounts();
  const read = items.map((span) => observationOf(span, omitted));
  return { spans: count, rejected, ...exported(read, omitted, limits, () => 1) };
}

/** Results of evaluators are skipped, as are all other records. */
function isReadEvent(name: string, attributes: Attributes): boolean {
  return isMessageEvent(name) || (isEvaluation(name) && feedbackIn(attributes, 0) !== null);
}

/** Reads an ExportLogsServiceRequest. Throws AppError where the request as a whole cannot be read. */
export function readLogs(bytes: Uint8Array, encoding: Encoding, limits = NO_LIMITS): ReadExport {
  const { items, count, rejected } = decodeLogs(bytes, encoding, isRead, isReadEvent);
  const omitted = new OmissionCounts();
  const records = Map.groupBy(items, spanOf);
  const read = observationsOfEvents(items, omitted);
  const itemsOf = (observation: Observation): number => records.get(spanOf(observation))?.length ?? 0;
  return { spans: count, rejected, ...exported(read, omitted, limits, itemsOf) };
}

function spanOf({ traceId, spanId }: { readonly traceId: string; readonly spanId: string }): string {
  return `${traceId} ${spanId}`;
}

const NO_LIMITS: MessageLimits = { perExport: Infinity, perTrace: Infinity };

/** `itemsOf`: of how many spans or log records an observation is. */
function exported(
  read: readonly Observation[],
  omitted: OmissionCounts,
  limits: MessageLimits,
  itemsOf: (observation: Observation) => number,
): Omit<ReadExport, 'spans' | 'rejected'> {
  const newest = (messages: readonly ObservedMessage[]): readonly ObservedMessage[] => {
    omitted.add(OLDER_MESSAGE, messages.length - MAX_CALL_MESSAGES);
    return messages.length > MAX_CALL_MESSAGES ? messages.slice(-MAX_CALL_MESSAGES) : messages;
  };
  const allowance = new MessageAllowance(limits);
  const observations: Observation[] = [];
  let tooMany = 0;
  for (const observation of read) {
    const asked = newest(observation.asked);
    const bounded = { ...observation, asked, answered: newest(observation.answered) };
    const mayAdd = allowance.take(bounded);
    if (mayAdd === null) tooMany += itemsOf(observation);
    else observations.push({ ...bounded, mayAdd });
  }
  return {
    observations,
    tooMany,
    omitted: byReason(omitted),
    lacksContent: observations.filter(({ lacksContent }) => lacksContent).length,
  };
}

/** Types of parts are the caller's words: as reasons there would be any number of them. */
function byReason(omitted: OmissionCounts): Record<string, number> {
  const counts = new OmissionCounts();
  for (const [reason, count] of omitted.all)
    counts.add(reason.startsWith(OTHER_PART) ? 'other part' : reason, count);
  return Object.fromEntries(counts.all);
}
