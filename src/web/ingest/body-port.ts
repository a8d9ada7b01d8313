/** Covered by test/web/ingest/preparer.test.ts. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { AppError, refusalOf } from '../../errors.ts';
import type { ThreadMessage, ThreadReply, ThreadRequest } from './body-threads.ts';
import type { ReceivedBody } from './prepared-request.ts';

/** As the worker: what answers requests goes first. */
const PRIORITY = 5;

/**
 * In a thread of `BodyThreads`: answers each body with what `prepare` makes of it. `movable`: what need not be copied.
 */
export function serveBodies<Options, Prepared>(
  prepare: (body: ReceivedBody, options: Options) => Prepared | null | Promise<Prepared | null>,
  movable: (prepared: Prepared) => ArrayBuffer[],
): void {
  if (parentPort === null) return;
  const port = parentPort;
  // Elsewhere a priority is that of the whole process.
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
