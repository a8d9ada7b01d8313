import { MAX_CALL_MESSAGES } from '../../domain/limits.ts';
import { OTHER_PART } from '../content.ts';
import { isMessageEvent } from '../conventions/gen-ai-events.ts';
import { observationOf, observationsOfEvents } from '../conventions/observe.ts';
import { isRead } from '../conventions/registry.ts';
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
  /** What is in messages, or beside them, and is no text that a person or the assistant said: how often, by reason. */
  readonly omitted: Readonly<Record<string, number>>;
  /** How many of the observations lack content. */
  readonly lacksContent: number;
}

/** Reads an ExportTraceServiceRequest. Throws AppError where the request as a whole cannot be read. */
export function readTraces(bytes: Uint8Array, encoding: Encoding): ReadExport {
  const { items, count, rejected } = decodeTraces(bytes, encoding, isRead);
  const omitted = new OmissionCounts();
  const observations = items.map((span) => observationOf(span, omitted));
  return exported(observations, count, rejected, omitted);
}

/** Reads an ExportLogsServiceRequest. Throws AppError where the request as a whole cannot be read. */
export function readLogs(bytes: Uint8Array, encoding: Encoding): ReadExport {
  const { items, count, rejected } = decodeLogs(bytes, encoding, isRead, isMessageEvent);
  const omitted = new OmissionCounts();
  return exported(observationsOfEvents(items, omitted), count, rejected, omitted);
}

function exported(
  observations: readonly Observation[],
  spans: number,
  rejected: readonly Rejection[],
  omitted: OmissionCounts,
): ReadExport {
  const newest = (messages: readonly ObservedMessage[]): readonly ObservedMessage[] => {
    omitted.add(OLDER_MESSAGE, messages.length - MAX_CALL_MESSAGES);
    return messages.length > MAX_CALL_MESSAGES ? messages.slice(-MAX_CALL_MESSAGES) : messages;
  };
  return {
    observations: observations.map((observation) => ({
      ...observation,
      asked: newest(observation.asked),
      answered: newest(observation.answered),
    })),
    spans,
    rejected,
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
