/** What a thread of the preparer runs: one body after the other. Covered by test/ingest/preparer.test.ts. */
import { parentPort } from 'node:worker_threads';
import { AppError, type ErrorCode, type ErrorDetail } from '../errors.ts';
import {
  createPrepare,
  type PreparedRequest,
  type PrepareOptions,
  type ReceivedBody,
} from './prepared-request.ts';

export interface ThreadRequest {
  readonly body: ReceivedBody;
  readonly options: PrepareOptions;
}

/** `prepared` null: the inflated body is larger than the limit. */
export type ThreadReply =
  | { readonly prepared: PreparedRequest | null }
  | { readonly refusal: { code: ErrorCode; message: string; details: readonly ErrorDetail[] | undefined } }
  | { readonly fault: string };

/** `ready` comes first: the thread has loaded everything. */
export type ThreadMessage = 'ready' | ThreadReply;

if (parentPort !== null) {
  const port = parentPort;
  const prepare = createPrepare();

  const replyTo = ({ body, options }: ThreadRequest): ThreadReply => {
    try {
      return { prepared: prepare(body, options) };
    } catch (error) {
      if (error instanceof AppError) {
        const { code, message, details } = error;
        return { refusal: { code, message, details } };
      }
      return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  };

  port.on('message', (request: ThreadRequest) => {
    const reply = replyTo(request);
    const draft = 'prepared' in reply ? reply.prepared?.draft : undefined;
    port.postMessage(reply, draft === undefined ? [] : [draft.bytes.buffer, draft.untimed.buffer]);
  });
  port.postMessage('ready' satisfies ThreadMessage);
}
