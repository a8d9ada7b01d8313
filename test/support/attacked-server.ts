import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** A request as it came in, its body inflated. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: Buffer;
}

/** What a request is answered in place of what the service would. */
export interface Instead {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether its messages are stored all the same. */
  readonly isStored?: boolean;
}

interface Stored {
  readonly instanceId?: string;
  readonly messages: readonly unknown[];
}

/**
 * Answers as the service does, and keeps what it was sent: the other side of an attack. It knows no key that looks as
 * ours do.
 */
export class AttackedServer {
  readonly url: string;
  readonly received: Received[] = [];
  /** Messages that are stored, by instance. */
  readonly counts = new Map<string, number>();
  /** Asked before each answer; null: as the service would. */
  instead: (request: Received) => Instead | 'broken' | 'silent' | null = () => null;
  readonly #server: Server;
  #instances = 0;
  #position = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<AttackedServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new AttackedServer(server);
    server.on('request', (request, response) => void started.#answer(request, response));
    return started;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = await receivedOf(request);
    if (received === null) return;
    this.received.push(received);
    const instead = this.instead(received);
    if (instead === 'broken') response.destroy();
    if (instead === 'broken' || instead === 'silent') return;
    if (instead !== null && instead.isStored !== true) return send(response, { ...instead, text: '{}' });
    const usual = this.#usual(received);
    send(response, instead === null ? usual : { ...instead, text: '{}' });
  }

  #usual({ method, path, key, body }: Received): Answered {
    const [route = ''] = path.split('?');
    if (key?.startsWith('ut_') === true) return { status: 401, text: '{}' };
    if (body.length > MOST_BYTES) return { status: 413, text: '{}' };
    if (method === 'POST' && route === '/v1/instances/')
      return { status: 201, text: JSON.stringify({ id: this.#newInstance() }) };
    if (route === '/v1/ingest/') {
      const stored = this.#store(JSON.parse(body.toString()) as Stored);
      return {
        status: 200,
        headers: { 'x-stream-position': String(stored.position) },
        text: JSON.stringify(stored),
      };
    }
    if (route === '/v1/ingest/batch/') {
      const lines = body.toString().trimEnd().split('\n');
      const answered = lines.map((line) => ({ status: 200, ...this.#store(JSON.parse(line) as Stored) }));
      return { status: 200, text: answered.map((line) => `${JSON.stringify(line)}\n`).join('') };
    }
    if (route === '/v1/alerts/') return { status: 201, text: '{"alert":{"id":"an-alert"}}' };
    if (route === '/v1/traces') return { status: 200, text: '' };
    if (route === '/v1/overview') {
      const messages = this.counts.get(new URLSearchParams(path.split('?')[1]).get('instanceId') ?? '') ?? 0;
      return { status: 200, text: JSON.stringify({ fields: { messages } }) };
    }
    return { status: 200, headers: { 'x-wait-result': 'reached' }, text: '{"elements":[]}' };
  }

  #newInstance(): string {
    this.#instances += 1;
    return `00000000-0000-4000-8000-${String(this.#instances).padStart(12, '0')}`;
  }

  #store({ instanceId = this.#newInstance(), messages }: Stored): {
    readonly instanceId: string;
    readonly position: number;
  } {
    this.#position += 1;
    this.counts.set(instanceId, (this.counts.get(instanceId) ?? 0) + messages.length);
    return { instanceId, position: this.#position };
  }
}

/** What is larger is refused unread. */
const MOST_BYTES = 500_000;

interface Answered {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

function send(response: ServerResponse, { status, headers = {}, text }: Answered): void {
  response.writeHead(status, { 'content-length': String(Buffer.byteLength(text)), ...headers }).end(text);
}

/** Null: it broke off. */
async function receivedOf(request: IncomingMessage): Promise<Received | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  const sent = Buffer.concat(chunks);
  const encoding = request.headers['content-encoding'];
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    key: (request.headers['x-api-key'] as string | undefined) ?? null,
    body: encoding === 'gzip' ? gunzipSync(sent) : encoding === 'zstd' ? zstdDecompressSync(sent) : sent,
  };
}
