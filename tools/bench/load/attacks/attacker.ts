import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { NotSentError, ConnectionPool, paced, type Answered } from '../http-load.ts';
import { Tally } from '../tally.ts';
import { Ledger, type Account } from './ledger.ts';

/**
 * `whole`: as large as it was when it did harm. `short`: as large as shows its harm in seconds, and is counted in
 * seconds. `small`: every request of its kind, with little in it.
 */
export type Size = 'whole' | 'short' | 'small';

/** What an attack sends, and how often. */
export interface Attack {
  /** For the command line: words with hyphens. */
  readonly name: string;
  /** One line: what one salvo is. */
  readonly what: string;
  /** Whose keys and instances it uses: attacks of the same project share them. Default: a project of its own. */
  readonly project?: string;
  /** How many keys of the project it uses, in turns (default: 1). */
  readonly keys?: number;
  /** From the beginning of a salvo to the next, milliseconds; a longer salvo has no pause behind it. */
  readonly everyMs: number;
  /** Salvos in all: for what makes something that stays (default: no bound). */
  readonly salvos?: number;
  /** How many seconds it lasts, at least alone and exactly among all, where its harm comes late. */
  readonly lasts?: { readonly alone: number; readonly among: number };
  /** Makes what it needs, before anybody measures; what it gives sends one salvo. */
  readonly prepare: (attacker: Attacker) => Promise<() => Promise<void>>;
}

export interface AttackerOptions {
  readonly url: string;
  readonly keys: readonly string[];
  readonly size: Size;
  /** What attacks of one project make once. */
  readonly shared: Map<string, Promise<unknown>>;
}

export interface Sent {
  readonly path: string;
  /** Default: GET without a body. */
  readonly body?: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: none. Default: the project's, in turns. */
  readonly key?: string | null;
}

/** One caller who means harm, or whose harm is an accident: what it sends is counted, and what it is answered. */
export class Attacker {
  readonly url: string;
  readonly size: Size;
  readonly keys: readonly string[];
  tally = new Tally();
  readonly ledger = new Ledger();
  readonly #shared: AttackerOptions['shared'];
  readonly #pools: ConnectionPool[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #servers: Server[] = [];
  #until = Infinity;
  #isClosed = false;
  #turn = 0;

  constructor({ url, keys, size, shared }: AttackerOptions) {
    this.url = url;
    this.keys = keys;
    this.size = size;
    this.#shared = shared;
  }

  /** Everything is prepared: what it was answered so far is forgotten. It ends at that time (performance.now()). */
  beginUntil(until: number): void {
    this.tally = new Tally();
    this.#until = until;
  }

  /** What is of its size. */
  sized<T>(whole: T, short: T, small: T): T {
    return { whole, short, small }[this.size];
  }

  get ended(): boolean {
    return performance.now() >= this.#until;
  }

  /** The project's keys in turns. */
  nextKey(): string {
    this.#turn += 1;
    return this.keys[this.#turn % this.keys.length] ?? '';
  }

  pool(connections: number): ConnectionPool {
    const made = new ConnectionPool(this.url, connections);
    this.#pools.push(made);
    return made;
  }

  /** A bare connection, for what is no whole request or no whole answer. */
  connect(): Socket {
    const { hostname, port } = new URL(this.url);
    const socket = connect({ host: hostname, port: Number(port) });
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  /** A server that takes connections and never answers; gives its port. */
  async listen(): Promise<number> {
    const server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket));
    });
    this.#servers.push(server);
    await once(server.listen(0), 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Breaks off what is under way. */
  close(): void {
    this.#isClosed = true;
    for (const server of this.#servers) server.close();
    for (const pool of this.#pools) pool.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Until the time is over or the attack is. */
  async wait(ms: number): Promise<void> {
    const left = Math.min(ms, this.#until - performance.now());
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }

  /** What the attacks of this project share under a name: made by the first who asks. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#shared.get(name) as Promise<T> | undefined) ?? make();
    this.#shared.set(name, made);
    return made;
  }

  /**
   * Null: there was no whole answer. That is a fault, and so is a 5xx but 503 with Retry-After: all that an attacker
   * may hear is 2xx, 4xx and 503.
   */
  async send(pool: ConnectionPool, { path, body, headers = {}, key }: Sent): Promise<Answered | null> {
    const startedAt = performance.now();
    const used = key === undefined ? this.nextKey() : key;
    const all = { ...(used === null ? {} : { 'x-api-key': used }), ...headers };
    try {
      const answer = await (body === undefined ? pool.get(path, all) : pool.post(path, all, body));
      this.tally.answered(answer.status, performance.now() - startedAt);
      if (!isAllowed(answer))
        this.tally.fault(`${path}: status ${answer.status}: ${answer.body.slice(0, 200)}`);
      return answer;
    } catch (error) {
      // Whoever ends has no fault to find in what was still to be sent, or is hung up on early.
      if (error instanceof NotSentError || (this.#isClosed && this.size === 'short')) return null;
      this.tally.fault(`${path}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }

  /** The beginning of an answer on a connection of the attack's own; gives its status. */
  answeredRaw(chunk: Buffer, ms: number): number {
    const head = chunk.toString('latin1', 0, 2000);
    const status = Number(head.split(' ')[1]);
    this.tally.answered(status, ms);
    const headers = new Map(/^retry-after:/im.test(head) ? [['retry-after', '']] : []);
    if (!isAllowed({ status, headers })) this.tally.fault(`status ${head.slice(0, 200)}`);
    return status;
  }

  /** POST /v1/ingest/, with its messages in the ledger. `instanceId`: null makes an instance of its own. */
  async ingest(
    pool: ConnectionPool,
    request: Omit<Sent, 'path'>,
    { instanceId, messages }: { readonly instanceId: string | null; readonly messages: number },
  ): Promise<Answered | null> {
    const key = request.key ?? this.nextKey();
    const answer = await this.send(pool, { path: '/v1/ingest/', ...request, key });
    if (answer?.status === 200) {
      const stored = JSON.parse(answer.body) as { readonly instanceId: string };
      const position = Number(answer.headers.get('x-stream-position'));
      this.ledger.accepted({ instanceId: stored.instanceId, key }, messages, position);
    } else if (instanceId !== null && !isRefusal(answer)) {
      this.ledger.unknown({ instanceId, key }, messages);
    }
    return answer;
  }

  /** An instance of the project. */
  async newInstance(pool: ConnectionPool): Promise<Account> {
    const key = this.nextKey();
    const answer = await this.send(pool, { path: '/v1/instances/', body: '{}', key });
    if (answer?.status !== 201) throw new Error(`no instance was made: ${answer?.status} ${answer?.body}`);
    return { instanceId: (JSON.parse(answer.body) as { readonly id: string }).id, key };
  }
}

/** Runs an attack until it is to end, and what is under way then to its end. */
export async function runAttack(
  { everyMs, salvos = Infinity }: Attack,
  attacker: Attacker,
  salvo: () => Promise<void>,
) {
  for (let done = 0; done < salvos && !attacker.ended; done += 1) {
    const startedAt = performance.now();
    await salvo().catch((error: unknown) => attacker.tally.fault(String(error)));
    if (done + 1 < salvos) await attacker.wait(startedAt + everyMs - performance.now());
  }
}

/** Sends at a rate until the attack ends; what is small sends a few. */
export async function flood(
  attacker: Attacker,
  { perSecond, most }: { readonly perSecond: number; readonly most: number },
  send: (number: number) => Promise<unknown>,
): Promise<void> {
  const enough = attacker.size === 'small' ? 4 : Infinity;
  const ended = (due: number): boolean => attacker.ended || due >= enough;
  await paced({ rate: perSecond, most, ended }, async (_dueAt, number) => {
    await send(number);
  });
}

/** Whether nothing of it was stored: any 4xx. A 503 may come after the stream has it. */
export function isRefusal(answer: Answered | null): boolean {
  return answer !== null && answer.status >= 400 && answer.status < 500;
}

/** True for all that a caller may hear: 2xx, 4xx, and 503 with Retry-After. */
export function isAllowed({ status, headers }: Pick<Answered, 'status' | 'headers'>): boolean {
  return status < 500 || (status === 503 && headers.has('retry-after'));
}

/** A word that no request had before. */
export function randomWord(): string {
  return randomBytes(6).toString('hex');
}
