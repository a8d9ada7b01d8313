/**
 * The door of OTLP. Keeps the invariant that an export is answered when all that is not rejected is stored durably.
 * Test: test/doors/traces/trace-intake.test.ts, bounds.test.ts.
 */
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../errors.ts';
import { UUID_PATTERN } from '../../domain/ids.ts';
import { DEFAULT_INSTANCE_NAME, MAX_CALL_MESSAGES } from '../../domain/limits.ts';
import { BodyThreads } from '../../web/ingest/body-threads.ts';
import { inflate } from '../../web/ingest/inflate.ts';
import type { MessageRequest } from '../../web/ingest/ingestor.ts';
import { tooLarge, type ReceivedBody } from '../../web/ingest/prepared-request.ts';
import type { Registry } from '../../web/registry/registry.ts';
import { sizeOf, type EncodedRequest } from '../../stream/log/codec.ts';
import type { Publisher } from '../../stream/log/group-commit.ts';
import type { MessageLimits } from './message-allowance.ts';
import type { Encoding } from './otlp/decode.ts';
import {
  prepareExport,
  type ExportOptions,
  type ExportSignal,
  type PreparedExport,
} from './prepared-export.ts';
import type { MaskExport } from './span-masker.ts';
import { encodeTraceEntry, type TraceEntry } from './trace-entry.ts';
import type { WaitingSpans } from './waiting-spans.ts';

/** A request of an exporter as it came. */
export interface ExportRequest extends MessageRequest {
  readonly signal: ExportSignal;
  readonly format: Encoding;
  /** The header `x-instance-id` as sent. */
  readonly instanceId: string | string[] | undefined;
}

/** What was taken, and what was not. */
export interface ExportReceipt {
  readonly spans: number;
  readonly observations: number;
  readonly rejected: number;
  readonly lacksContent: number;
  /** The caller has to be told that content is missing. */
  readonly missesContent: boolean;
  /** For people; '' when there is nothing to say. */
  readonly message: string;
}

/** Takes the spans of exporters in: resolves once all of a request is stored durably. */
export interface TraceIntake {
  /**
   * @throws AppError BAD_REQUEST, VALIDATION_ERROR, PAYLOAD_TOO_LARGE, NOT_FOUND (the instance of the header),
   * RATE_LIMIT_EXCEEDED (so much of the project waits to be assembled), SERVICE_UNAVAILABLE
   */
  receive(request: ExportRequest): Promise<ExportReceipt>;
  close(): Promise<void>;
}

export interface TraceIntakeOptions {
  readonly registry: () => Pick<Registry, 'findInstance' | 'defaultInstance'>;
  /** Of the stream of traces. */
  readonly publisher: () => Publisher;
  /** Masks observations before they are stored. */
  readonly mask: MaskExport;
  /** The largest body, inflated. */
  readonly bodyBytes: number;
  /** What one export may bring. */
  readonly messages: MessageLimits;
  /** What of each project waits to be assembled. */
  readonly waiting: Pick<WaitingSpans, 'check' | 'begin' | 'fullOf'>;
  readonly onThreadLost?: (error: unknown) => void;
  /** Bodies above this size are read on a thread. Default 64 KiB. */
  readonly inlineBytes?: number;
}

const THREAD_FILE = join(import.meta.dirname, 'export-thread.ts');
const INLINE_BYTES = 64 * 1024;
const DEFAULTS_CACHED = 10_000;
/**
 * Of the largest entry that the stream takes, at most so much: what is said in one is stored again with what is known
 * of its conversation, less densely.
 */
const ENTRY_SHARE = 0.6;
/** Each is looked up, and stands in every entry if it is not known. */
const MAX_INSTANCES = 1000;
/** The first of the unknown ones, in the answer. */
const INSTANCES_LISTED = 3;
/** Callers whose messages come as log records: so many are remembered, and for so long. */
const LOGGERS_KNOWN = 10_000;
const LOGGER_KNOWN_MS = 3600 * 1000;

const NO_CONTENT_HINT =
  'came without content, which instrumentations leave out by default. Turn it on: ' +
  'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (OpenTelemetry), TRACELOOP_TRACE_CONTENT=true ' +
  '(OpenLLMetry), OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false (OpenInference), ' +
  'recordInputs and recordOutputs (AI SDK). Where messages are written as log records, export these, too. ' +
  'See docs/otlp.md.';

export function createTraceIntake(options: TraceIntakeOptions): TraceIntake {
  const { bodyBytes, messages, waiting } = options;
  const inlineBytes = Math.min(options.inlineBytes ?? INLINE_BYTES, bodyBytes);
  const threads = new BodyThreads<ExportOptions, PreparedExport>({ threadFile: THREAD_FILE, ...options });
  const defaults = new LRUCache<string, string>({ max: DEFAULTS_CACHED });
  // Their spans have no content, and miss none.
  const loggers = new LRUCache<string, true>({ max: LOGGERS_KNOWN, ttl: LOGGER_KNOWN_MS });

  async function prepare(body: ReceivedBody, request: ExportRequest): Promise<PreparedExport> {
    const { signal, format, projectId } = request;
    const how = {
      limit: bodyBytes,
      signal,
      format,
      messages: { ...messages, full: waiting.fullOf(projectId) },
    };
    const small = body.bytes.length > inlineBytes ? null : inflate(body.bytes, body.encoding, inlineBytes);
    const prepared =
      small === null
        ? await threads.run({ body, options: how }, request)
        : prepareExport({ bytes: small, encoding: 'identity' }, how);
    if (prepared === null) throw tooLarge(bodyBytes);
    return prepared;
  }

  async function defaultOf(projectId: string): Promise<string> {
    const known = defaults.get(projectId);
    if (known !== undefined) return known;
    const { instance } = await options.registry().defaultInstance({ projectId, name: DEFAULT_INSTANCE_NAME });
    defaults.set(projectId, instance.id);
    return instance.id;
  }

  const isOurs = async (projectId: string, id: string): Promise<boolean> =>
    UUID_PATTERN.test(id) && (await options.registry().findInstance(id))?.projectId === projectId;

  /** The instance that the header names. */
  async function named({ projectId, instanceId: header }: ExportRequest): Promise<string | null> {
    if (header === undefined) return null;
    if (typeof header === 'string' && (await isOurs(projectId, header))) return header.toLowerCase();
    throw new AppError(
      'NOT_FOUND',
      `There is no instance ${String(header)}. Correct x-instance-id, or leave it out.`,
    );
  }

  async function store(
    { projectId }: ExportRequest,
    { observations }: PreparedExport,
    entries: readonly EncodedRequest[],
  ): Promise<void> {
    const publisher = options.publisher();
    for (const entry of entries) await publisher.check(entry, ENTRY_SHARE);
    const stored = waiting.begin(projectId, observations);
    try {
      stored(Math.max(...(await Promise.all(entries.map((entry) => publisher.publish(entry))))));
    } catch (error) {
      // Some of it may be stored: the request comes again, and what is known then is told by who assembles.
      stored(null);
      throw error;
    }
  }

  return {
    async receive(request) {
      const { projectId, body } = request;
      const instanceId = await named(request);
      if (body === undefined || body.bytes.length === 0) return NOTHING;
      waiting.check(projectId);
      const prepared = await prepare(body, request);
      if (prepared.instances.length > MAX_INSTANCES) throw tooManyInstances();
      const unknown: (readonly [string, number])[] = [];
      if (instanceId === null) {
        for (const [id, count] of prepared.instances)
          if (!(await isOurs(projectId, id))) unknown.push([id, count]);
      }
      if (prepared.drafts.length > 0) {
        const head: Omit<TraceEntry, 'observations'> = {
          projectId,
          instanceId,
          defaultInstanceId: instanceId ?? (await defaultOf(projectId)),
          unknownInstanceIds: unknown.map(([id]) => id),
        };
        const entriesOf = (drafts: PreparedExport['drafts']): EncodedRequest[] =>
          drafts.map((draft) => encodeTraceEntry(head, draft));
        const bytes = entriesOf(prepared.drafts).reduce((sum, entry) => sum + sizeOf(entry), 0);
        request.onPrepared({ messages: prepared.messages, bytes });
        const context = { caller: projectId, abandoned: request.abandoned, mayBegin: () => undefined };
        const drafts = await options.mask(prepared, { projectId, instanceId }, context);
        await store(request, prepared, entriesOf(drafts));
      }
      const { caller, signal } = request;
      if (signal === 'logs' && prepared.hasContent > 0) loggers.set(caller, true);
      return receiptOf(prepared, unknown, loggers.has(caller), messages);
    },
    close: () => threads.close(),
  };
}

function tooManyInstances(): AppError {
  const fault = `A request names at most ${MAX_INSTANCES} instances (undertone.instance.id).`;
  return new AppError('PAYLOAD_TOO_LARGE', `${fault} Send fewer spans or log records at a time.`);
}

function tooManyMessages(count: number, { perExport, perTrace }: MessageLimits): string {
  return (
    `${count} ${count === 1 ? 'is' : 'are'} left out: an export may bring ${perExport} messages ` +
    `(TRACE_EXPORT_MESSAGES), and ${perTrace} of one trace (TRACE_MESSAGES), also in several exports. ` +
    'The history that calls of a trace repeat counts once, answers count each time. Export fewer spans at a time, or begin another trace'
  );
}

const NOTHING: ExportReceipt = {
  spans: 0,
  observations: 0,
  rejected: 0,
  lacksContent: 0,
  missesContent: false,
  message: '',
};

function receiptOf(
  prepared: PreparedExport,
  unknown: readonly (readonly [string, number])[],
  isLogger: boolean,
  limits: MessageLimits,
): ExportReceipt {
  const { spans, observations, rejected, tooMany, reasons, olderMessages, lacksContent, hasContent } =
    prepared;
  const missesContent = lacksContent > 0 && hasContent === 0 && !isLogger;
  const refused = unknown.reduce((sum, [, count]) => sum + count, 0);
  const words = [
    ...reasons,
    ...(rejected - tooMany > reasons.length ? [`${rejected - tooMany - reasons.length} more`] : []),
    ...(tooMany > 0 ? [tooManyMessages(tooMany, limits)] : []),
    ...unknown
      .slice(0, INSTANCES_LISTED)
      .map(([id, count]) => `${count} name the instance ${id}, which does not exist`),
    ...(unknown.length > INSTANCES_LISTED ? [`${unknown.length - INSTANCES_LISTED} more do not exist`] : []),
    ...(olderMessages > 0
      ? [`${olderMessages} messages are left out: of one call, the newest ${MAX_CALL_MESSAGES} count`]
      : []),
    ...(missesContent
      ? [`${lacksContent} ${lacksContent === 1 ? 'call of a model' : 'calls of models'} ${NO_CONTENT_HINT}`]
      : []),
  ];
  return {
    spans,
    observations: observations - refused,
    rejected: rejected + refused,
    lacksContent,
    missesContent,
    message: words.join('; '),
  };
}
