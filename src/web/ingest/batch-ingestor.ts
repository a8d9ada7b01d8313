/**
 * Accepts the lines of POST /v1/ingest/batch/, each by itself. Lines of one session are stored in their order.
 *
 * Test: test/web/ingest/batch-ingestor.test.ts.
 */
import { Turns } from '../../domain/turns.ts';
import { AppError } from '../../errors.ts';
import type { Accepted, Acceptor } from './acceptor.ts';
import { emptyBody } from './json.ts';
import type { PreparedLine } from './prepared-batch.ts';
import type { MessageRequest } from './ingestor.ts';
import type { Preparer } from './preparer.ts';
import type { IngestWarnings } from './warnings.ts';

export type LineOutcome = {
  readonly line: number;
  /** Number of messages that were parsed. */
  readonly messages: number;
} & ({ readonly accepted: Accepted; readonly warnings: IngestWarnings } | { readonly refusal: AppError });

/** See `Ingestor.ingestBatch`. */
export type IngestBatch = (request: MessageRequest) => Promise<readonly LineOutcome[]>;

/** Lines of all batches that are accepted concurrently: a single request waits behind at most this many. */
const LINES_AT_A_TIME = 64;

export function createIngestBatch(
  { prepareBatch }: Pick<Preparer, 'prepareBatch'>,
  { accept }: Acceptor,
): IngestBatch {
  const turns = new Turns({ most: LINES_AT_A_TIME });

  async function outcomeOf(line: PreparedLine, request: MessageRequest): Promise<LineOutcome> {
    const { projectId, caller, abandoned } = request;
    if ('refusal' in line) {
      const refusal = new AppError(line.refusal.code, line.refusal.message, line.refusal);
      return { line: line.line, messages: refusal.messagesRead, refusal };
    }
    const { request: body, idempotencyKey, deduplicationId } = line;
    const { messages } = body;
    try {
      const accepted = await turns.run(caller, async () => {
        if (abandoned()) throw new AppError('BAD_REQUEST', 'The caller closed the connection.');
        return accept({ projectId, body, idempotencyKey, deduplicationId });
      });
      return { line: line.line, messages, accepted, warnings: body.warnings };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { line: line.line, messages, refusal: error };
    }
  }

  return async (request) => {
    const { body, onPrepared } = request;
    if (body === undefined) throw emptyBody();
    const lines = await prepareBatch(body, request).catch(countingRead(onPrepared));
    const requests = lines.flatMap((line) => ('request' in line ? [line.request] : []));
    onPrepared({
      messages: lines.reduce((sum, line) => sum + messagesOf(line), 0),
      bytes: requests.reduce((sum, { draft }) => sum + draft.bytes.length, 0),
    });
    const settled = await Promise.allSettled(inOrderOfSessions(lines, (line) => outcomeOf(line, request)));
    const outcomes = settled.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
    refuseWhenAway(outcomes);
    return outcomes;
  };
}

/**
 * Starts all lines at once, except that each line of a session waits for the one before it. If that one is refused as
 * unavailable, the line is refused too, because it would be stored first.
 */
function inOrderOfSessions(
  lines: readonly PreparedLine[],
  work: (line: PreparedLine) => Promise<LineOutcome>,
): Promise<LineOutcome>[] {
  const last = new Map<string, Promise<LineOutcome>>();
  return lines.map((line) => {
    const sessionId = 'request' in line ? line.request.sessionId : undefined;
    if (sessionId === undefined) return work(line);
    const before = last.get(sessionId);
    const outcome =
      before === undefined
        ? work(line)
        : before.then((earlier) => (isUnavailable(earlier) ? refusedAs(earlier, line) : work(line)));
    last.set(sessionId, outcome);
    return outcome;
  });
}

function refusedAs(earlier: LineOutcome, line: PreparedLine): LineOutcome {
  return { ...earlier, line: line.line, messages: messagesOf(line) };
}

function messagesOf(line: PreparedLine): number {
  return 'request' in line ? line.request.messages : line.refusal.messagesRead;
}

function isUnavailable(outcome: LineOutcome): boolean {
  return 'refusal' in outcome && outcome.refusal.code === 'SERVICE_UNAVAILABLE';
}

/** Throws if the service was unavailable for every line, so that the client retries the whole request. */
function refuseWhenAway(outcomes: readonly LineOutcome[]): void {
  const [first] = outcomes;
  if (first !== undefined && 'refusal' in first && outcomes.every(isUnavailable)) throw first.refusal;
}

/** Reports the messages that were parsed before the body was refused. */
export function countingRead(onPrepared: MessageRequest['onPrepared']): (error: unknown) => never {
  return (error) => {
    if (error instanceof AppError && error.messagesRead > 0)
      onPrepared({ messages: error.messagesRead, bytes: 0 });
    throw error;
  };
}
