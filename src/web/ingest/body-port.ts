/**
 * The worker-thread side of `BodyThreads`: prepares bodies and posts the results back.
 *
 * Test: test/web/ingest/preparer.test.ts.
 */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { AppError, refusalOf } from '../../errors.ts';
import type { ThreadMessage, ThreadReply, ThreadRequest } from './body-threads.ts';
import type { ReceivedBody } from './prepared-request.ts';

/** As for the worker: request handlers have a higher priority. */
const PRIORITY = 5;

/**
 * Replies to each body with the result of `prepare`. `movable` lists the buffers that are transferred instead of
 * copied.
 */
export function serveBodies<Options, Prepared>(
  prepare: (body: ReceivedBody, options: Options) => Prepared | null | Promise<Prepared | null>,
  movable: (prepared: Prepared) => ArrayBuffer[],
): void {
  if (parentPort === null) return;
  const port = parentPort;
  // On other platforms the priority applies to the whole process.
  if (process.platform === 'linux') setPriority(PRIORITY);

  const replyTo = async ({ body, options }: ThreadRequest<Options>): Promise<ThreadReply<Prepared>> => {
    try {
      return { prepared: await prepare(body, options) };
    } catch (error) {
      if (error instanceof AppError) return { refusal: refusalOf(error) };
      return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  };

  port.on('message', (request: ThreadRequest<Options>) => {
    void replyTo(request).then((reply) => {
      const prepared = 'prepared' in reply ? reply.prepared : null;
      port.postMessage(reply, prepared === null ? [] : movable(prepared));
    });
  });
  port.postMessage('ready' satisfies ThreadMessage<Prepared>);
}
