/**
 * Requests from one process to another, with JSON answers.
 *
 * Test: test/cli/backup.test.ts.
 */
import { NoRespondersError, RequestError } from '@nats-io/transport-node';
import type { StreamConnection } from './connection.ts';

interface Reply {
  readonly answer?: unknown;
  readonly error?: string;
}

/** Answers requests on a subject, one after the other. Returns a function that unsubscribes. */
export function answerRequests(
  connection: StreamConnection,
  subject: string,
  answer: () => Promise<unknown>,
): () => void {
  let last: Promise<void> = Promise.resolve();
  const subscription = connection.nats.subscribe(subject, {
    callback: (fault, message) => {
      if (fault !== null) return;
      last = last.then(async () => {
        let reply: Reply;
        try {
          reply = { answer: await answer() };
        } catch (error) {
          reply = { error: error instanceof Error ? error.message : String(error) };
        }
        message.respond(JSON.stringify(reply));
      });
    },
  });
  return () => {
    if (!connection.nats.isClosed()) subscription.unsubscribe();
  };
}

/** Sends a request on a subject; null if no process answers there. Rejects with the other side's reason. */
export async function requestAnswer(
  connection: StreamConnection,
  subject: string,
  timeoutMs: number,
): Promise<unknown> {
  let reply: Reply;
  try {
    reply = (await connection.nats.request(subject, '', { timeout: timeoutMs })).json();
  } catch (error) {
    const nobody =
      error instanceof NoRespondersError ||
      (error instanceof RequestError && error.cause instanceof NoRespondersError);
    if (nobody) return null;
    throw error;
  }
  if (reply.error !== undefined) throw new Error(reply.error);
  return reply.answer ?? null;
}
