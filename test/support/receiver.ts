import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { eventually } from './processes.ts';

/** A message as a receiver got it. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly id: string;
}

/** Receives webhooks on a port of its own, as a customer's server would. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** How the next messages are answered. Default: 204. */
  answer: (response: ServerResponse, message: Received) => void;
  /** Waits until so many messages to a path have come. */
  until(path: string, count: number): Promise<Received[]>;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { headers, url: path = '' } = request;
      const message = { path, headers, body, id: String(headers['webhook-id']) };
      received.push(message);
      receiver.answer(response, message);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const to = (path: string): Received[] => received.filter((message) => message.path === path);
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (response) => response.writeHead(204).end(),
    async until(path, count) {
      await eventually(
        async () => to(path).length >= count,
        () => `${to(path).length} messages came to ${path}`,
      );
      return to(path);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** The JSON of a message whose signature is right; throws when it is not. */
export function verified(secret: string, { headers, body }: Received): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}
