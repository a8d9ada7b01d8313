/** How long the test messages of a project's alerts take to reach its receiver. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sharedMs } from '../clock.ts';
import type { Answered, ConnectionPool } from '../http-load.ts';
import type { Account } from './ledger.ts';

/** Alerts may be posted to receivers of the benchmark. */
export const WEBHOOKS_ENV = { WEBHOOK_ALLOW_PRIVATE: 'true' };

/** When a message was asked for (`sharedMs`), and milliseconds until it came. Infinity: it never did. */
interface Delivered {
  readonly at: number;
  readonly ms: number;
}

/** An alert sends one test message at a time. */
const ALERTS = 10;

/** Makes an alert that posts to a URL; its id, or null where the answer is no 201. */
export async function newAlert(
  post: (path: string, body: string) => Promise<Answered | null>,
  instanceId: string,
  url: string,
): Promise<string | null> {
  const body = { instanceId, name: 'a test', condition: { kind: 'digest' }, delivery: { url } };
  const answer = await post('/v1/alerts/', JSON.stringify(body));
  if (answer?.status !== 201) return null;
  return (JSON.parse(answer.body) as { readonly alert: { readonly id: string } }).alert.id;
}

/** Where a test message of an alert is asked for. */
export function testPath(id: string, instanceId: string): string {
  return `/v1/alerts/${id}/test/?instanceId=${instanceId}`;
}

/** A receiver that answers at once, and alerts that post to it. */
export class Webhooks {
  readonly #pool: ConnectionPool;
  readonly #account: Account;
  readonly #server: Server;
  readonly #alerts: string[] = [];
  /** When the message that an alert waits for was asked for. */
  readonly #pending = new Map<string, number>();
  readonly #delivered: Delivered[] = [];
  #turn = 0;

  private constructor(pool: ConnectionPool, account: Account, server: Server) {
    this.#pool = pool;
    this.#account = account;
    this.#server = server;
  }

  static async open(pool: ConnectionPool, account: Account): Promise<Webhooks> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const opened = new Webhooks(pool, account, server);
    server.on('request', (request, response) => {
      request.resume();
      response.writeHead(204).end();
      opened.#came((request.url ?? '').slice(1));
    });
    const headers = { 'x-api-key': account.key };
    for (let made = 0; made < ALERTS; made += 1) {
      const url = `http://127.0.0.1:${port}/${made}`;
      const id = await newAlert((path, body) => pool.post(path, headers, body), account.instanceId, url);
      if (id === null) throw new Error('no alert was made');
      opened.#alerts.push(id);
    }
    return opened;
  }

  /** Everything that was asked for has come. */
  get isComplete(): boolean {
    return this.#pending.size === 0;
  }

  /** Asks for a test message of the next alert; an alert whose last one has not come is passed over. */
  async test(dueAt: number): Promise<Answered | null> {
    const number = String((this.#turn += 1) % ALERTS);
    const id = this.#alerts[Number(number)] ?? '';
    if (this.#pending.has(number)) return null;
    const { instanceId, key } = this.#account;
    this.#pending.set(number, dueAt);
    const answer = await this.#pool.post(testPath(id, instanceId), { 'x-api-key': key }, '');
    if (answer.status >= 400) this.#pending.delete(number);
    return answer;
  }

  delivered(): Delivered[] {
    return [...this.#delivered, ...[...this.#pending.values()].map((at) => ({ at, ms: Infinity }))];
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #came(number: string): void {
    const at = this.#pending.get(number);
    if (at === undefined) return;
    this.#pending.delete(number);
    this.#delivered.push({ at, ms: sharedMs() - at });
  }
}
