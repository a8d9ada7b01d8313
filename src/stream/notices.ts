/** Covered by test/stream/notices.test.ts. */
import type { StreamConnection } from './connection.ts';

/** Tells all processes that listen now; nothing is kept, and nothing is told while the server is away. */
export function sendNotice(connection: StreamConnection, subject: string, value: object): void {
  if (connection.connected && !connection.nats.isClosed())
    connection.nats.publish(subject, JSON.stringify(value));
}

/** Hears what is told on a subject; what is not JSON is passed over. Returns what ends it. */
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
