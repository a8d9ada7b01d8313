/**
 * Notices between the processes of a service. They are not stored: a process that does not listen misses them.
 *
 * Test: test/stream/notices.test.ts.
 */
import type { StreamConnection } from './connection.ts';

/** Publishes a notice to all processes that listen now. Does nothing while the server is away. */
export function sendNotice(connection: StreamConnection, subject: string, value: object): void {
  if (connection.connected && !connection.nats.isClosed())
    connection.nats.publish(subject, JSON.stringify(value));
}

/** Calls `hear` for each notice on a subject; skips values that are not JSON. Returns a function that unsubscribes. */
export function hearNotices(
  connection: StreamConnection,
  subject: string,
  hear: (value: unknown) => void,
): () => void {
  const subscription = connection.nats.subscribe(subject, {
    callback: (fault, message) => {
      if (fault !== null) return;
      let value: unknown;
      try {
        value = message.json();
      } catch {
        return;
      }
      hear(value);
    },
  });
  return () => {
    if (!connection.nats.isClosed()) subscription.unsubscribe();
  };
}
