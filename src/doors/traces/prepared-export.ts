/**
 * A request of an exporter, written out for the stream. Keeps the invariant that each part is small enough for one
 * entry, if its observations are. Test: test/doors/e2e/otlp-rules.test.ts.
 */
import { inflate } from '../../web/ingest/inflate.ts';
import type { ReceivedBody } from '../../web/ingest/prepared-request.ts';
import type { MessageLimits } from './message-allowance.ts';
import { OLDER_MESSAGE } from './omissions.ts';
import type { Observation } from './observation.ts';
import type { Encoding } from './otlp/decode.ts';
import { readLogs, readTraces } from './otlp/read.ts';

export type ExportSignal = 'traces' | 'logs';

export interface ExportOptions {
  /** Of the inflated body, bytes. */
  readonly limit: number;
  readonly signal: ExportSignal;
  readonly format: Encoding;
  readonly messages: MessageLimits;
}

/** What a request of an exporter says, written out for the stream. Crosses threads. */
export interface PreparedExport {
  /** JSON lists of observations, each small enough for one entry of the stream if its parts are. */
  readonly drafts: readonly Uint8Array<ArrayBuffer>[];
  /** Spans or log records that the request has. */
  readonly spans: number;
  readonly observations: number;
  readonly rejected: number;
  /** How many of the rejected ones would bring more messages than they may. */
  readonly tooMany: number;
  /** In all observations, feedback included; what a call repeats of the conversation before it counts as well. */
  readonly messages: number;
  /** Of the first rejected ones: where, and why. */
  readonly reasons: readonly string[];
  /** Messages that are left out: of a call, only the newest are read. */
  readonly olderMessages: number;
  /** Calls of models whose content was not recorded, and calls with content. */
  readonly lacksContent: number;
  readonly hasContent: number;
  /** How many observations name each instance. */
  readonly instances: readonly (readonly [instanceId: string, observations: number])[];
}

const DRAFT_BYTES = 2 * 1024 * 1024;
const REASONS = 3;

/** Null when the inflated body is larger than the limit. Throws AppError where the request cannot be read. */
export function prepareExport(
  { bytes, encoding }: ReceivedBody,
  options: ExportOptions,
): PreparedExport | null {
  const inflated = inflate(bytes, encoding, options.limit);
  if (inflated === null) return null;
  const read = options.signal === 'traces' ? readTraces : readLogs;
  const exported = read(inflated, options.format, options.messages);
  const { observations, spans, rejected, tooMany, omitted, lacksContent } = exported;
  const instances = new Map<string, number>();
  for (const { instanceId } of observations)
    if (instanceId !== undefined) instances.set(instanceId, (instances.get(instanceId) ?? 0) + 1);
  return {
    drafts: [...draftsOf(observations)],
    spans,
    observations: observations.length,
    messages: observations.reduce(
      (sum, { asked, answered, feedback = [] }) => sum + asked.length + answered.length + feedback.length,
      0,
    ),
    rejected: rejected.length + tooMany,
    tooMany,
    reasons: rejected.slice(0, REASONS).map(({ place, reason }) => `${place} ${reason}`),
    olderMessages: omitted[OLDER_MESSAGE] ?? 0,
    lacksContent,
    hasContent: observations.filter(({ asked, answered }) => asked.length + answered.length > 0).length,
    instances: [...instances],
  };
}

function* draftsOf(observations: readonly Observation[]): Generator<Uint8Array<ArrayBuffer>> {
  let pieces: string[] = [];
  let length = 0;
  for (const observation of observations) {
    const piece = JSON.stringify(observation);
    if (pieces.length > 0 && length + piece.length > DRAFT_BYTES) {
      yield listOf(pieces);
      [pieces, length] = [[], 0];
    }
    pieces.push(piece);
    length += piece.length;
  }
  if (pieces.length > 0) yield listOf(pieces);
}

function listOf(pieces: readonly string[]): Uint8Array<ArrayBuffer> {
  // A copy of its own: a small buffer would share the memory of others, and could not be moved to another thread.
  return new Uint8Array(Buffer.from(`[${pieces.join(',')}]`));
}
