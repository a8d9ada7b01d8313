import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { latencyAt } from './ratios.ts';

export interface Answered {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Buffer;
  /** Read from the bytes when it is asked for: most callers need no text of a long answer. */
  readonly body: string;
}

class Answer implements Answered {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Buffer;

  constructor({ status, headers }: Head, bytes: Buffer) {
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
  }

  get body(): string {
    return this.bytes.toString('utf8');
  }
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** Where the body begins and ends, bytes from the beginning of the answer. */
  readonly from: number;
  readonly to: number;
}

/** Null while the head has not arrived. Throws for an answer whose end its head does not tell. */
function headOf(buffer: Buffer): Head | null {
  const end = buffer.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [statusLine = '', ...lines] = buffer.toString('latin1', 0, end).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const status = Number(statusLine.split(' ')[1]);
  const length = status === 204 || status === 304 ? 0 : Number(headers.get('content-length') ?? NaN);
  if (!Number.isInteger(length)) throw new Error('answer without content-length');
  return { status, headers, from: end + 4, to: end + 4 + length };
}

/** One keep-alive HTTP/1.1 connection, one request at a time; costs a fraction of what node:http's client does. */
class Connection {
  readonly #socket: Socket;
  #chunks: Buffer[] = [];
  #length = 0;
  #head: Head | null = null;
  #settle: { resolve: (answer: Answered) => void; reject: (error: Error) => void } | null = null;
  dead = false;

  constructor(host: string, port: number) {
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on('data', (chunk) => this.#onData(chunk));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('connection closed')));
  }

  send(request: Buffer): Promise<Answered> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
    this.#fail(new Error('connection closed by the caller'));
  }

  #fail(error: Error): void {
    this.dead = true;
    const settle = this.#settle;
    this.#settle = null;
    settle?.reject(error);
  }

  #onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    try {
      this.#head ??= headOf(this.#joined());
    } catch (error) {
      return this.#fail(error as Error);
    }
    const head = this.#head;
    if (head === null || this.#length < head.to) return;
    const all = this.#joined();
    this.#keep(all.subarray(head.to));
    if (head.headers.get('connection')?.toLowerCase() === 'close') this.dead = true;
    const settle = this.#settle;
    this.#settle = null;
    settle?.resolve(new Answer(head, all.subarray(head.from, head.to)));
  }

  #joined(): Buffer {
    const [first = Buffer.alloc(0)] = this.#chunks;
    const all = this.#chunks.length <= 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    this.#head = null;
  }
}

/** A request that waited for a connection when its caller closed them all. */
export class NotSentError extends Error {
  constructor() {
    super('the request was not sent: its caller ended');
    this.name = 'NotSentError';
  }
}

/** A fixed number of connections to one address; requests wait in line when all are taken. */
export class ConnectionPool {
  readonly #host: string;
  readonly #port: number;
  readonly #free: Connection[] = [];
  readonly #made = new Set<Connection>();
  readonly #waiting: ((connection: Connection | null) => void)[] = [];
  #open = 0;
  #closed = false;
  readonly #limit: number;
  readonly #authority: string;

  constructor(url: string, connections: number) {
    const { hostname, port, host } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port || 80);
    this.#authority = host;
    this.#limit = connections;
  }

  post(path: string, headers: Readonly<Record<string, string>>, body: string | Buffer): Promise<Answered> {
    return this.#send(
      'POST',
      path,
      { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers },
      body,
    );
  }

  get(path: string, headers: Readonly<Record<string, string>>): Promise<Answered> {
    return this.#send('GET', path, headers, '');
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer,
  ): Promise<Answered> {
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = Buffer.concat([
      Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: ${this.#authority}\r\n${head.join('')}\r\n`),
      Buffer.from(body),
    ]);
    const connection = await this.#take();
    if (connection === null) throw new NotSentError();
    try {
      return await connection.send(request);
    } finally {
      this.#give(connection);
    }
  }

  /** Breaks off what is under way, too, and what waits. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#made) connection.close();
    for (const waiting of this.#waiting.splice(0)) waiting(null);
  }

  /** Null: the pool is closed. */
  #take(): Promise<Connection | null> {
    if (this.#closed) return Promise.resolve(null);
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) {
      if (!free.dead) return Promise.resolve(free);
      this.#open -= 1;
    }
    if (this.#open < this.#limit) {
      this.#open += 1;
      return Promise.resolve(this.#connect());
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #connect(): Connection {
    for (const connection of this.#made) if (connection.dead) this.#made.delete(connection);
    const made = new Connection(this.#host, this.#port);
    this.#made.add(made);
    return made;
  }

  #give(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(connection);
    else next(connection.dead ? this.#connect() : connection);
  }
}

/** Latencies in milliseconds and what went wrong. */
export class Measurements {
  readonly #latencies: number[] = [];
  readonly errors = new Map<string, number>();

  add(ms: number): void {
    this.#latencies.push(ms);
  }

  fail(reason: string): void {
    this.errors.set(reason, (this.errors.get(reason) ?? 0) + 1);
  }

  get count(): number {
    return this.#latencies.length;
  }

  /** The latency that `share` (0 to 1) of the requests did not exceed; 0 without any. */
  quantile(share: number): number {
    return latencyAt(this.#latencies, share);
  }

  /** `p50 1.2 ms, p99 4.5 ms, max 9.0 ms`. */
  describe(): string {
    const ms = (share: number): string => `${this.quantile(share).toFixed(1)} ms`;
    const errors = [...this.errors].map(([reason, count]) => `${count} × ${reason}`).join(', ') || 'none';
    return `p50 ${ms(0.5)}, p95 ${ms(0.95)}, p99 ${ms(0.99)}, max ${ms(1)}; errors: ${errors}`;
  }
}

/**
 * Open loop: request i is due at i / rate seconds whatever became of those before it; `send` is told when that is
 * (performance.now()), so that a latency can count from then. Beyond `most` in flight, what is due is left out: how
 * many were is returned, once all others are done. `ended` is told how many were due.
 */
export async function paced(
  { rate, ended, most = Infinity }: PaceOptions,
  send: (dueAt: number, number: number) => Promise<void>,
): Promise<number> {
  const inFlight = new Set<Promise<void>>();
  const startedAt = performance.now() + 20;
  const dueAt = (number: number): number => startedAt + (number * 1000) / rate;
  let next = 0;
  let leftOut = 0;
  while (!ended(next)) {
    while (!ended(next) && dueAt(next) <= performance.now()) {
      const number = next;
      next += 1;
      if (inFlight.size >= most) {
        leftOut += 1;
        continue;
      }
      const task: Promise<void> = send(dueAt(number), number).finally(() => inFlight.delete(task));
      inFlight.add(task);
    }
    const waitMs = Math.min(LOOK_FOR_END_MS, dueAt(next) - performance.now());
    if (!ended(next)) await new Promise((resolve) => setTimeout(resolve, Math.max(1, waitMs)));
  }
  await Promise.all(inFlight);
  return leftOut;
}

export interface PaceOptions {
  /** Requests a second. */
  readonly rate: number;
  readonly ended: (due: number) => boolean;
  readonly most?: number;
}

const LOOK_FOR_END_MS = 50;

/** Open loop for a while: a stall is seen by every request that it delayed (no coordinated omission). */
export async function openLoop(
  rate: number,
  seconds: number,
  send: () => Promise<void>,
): Promise<Measurements> {
  const measurements = new Measurements();
  const total = Math.round(rate * seconds);
  await paced({ rate, ended: (due) => due >= total }, (dueAt) => timed(measurements, dueAt, send));
  return measurements;
}

/** Closed loop: `clients` callers who each send the next request when the last one was answered. */
export async function closedLoop(
  clients: number,
  seconds: number,
  send: () => Promise<void>,
): Promise<{ measurements: Measurements; perSecond: number }> {
  const measurements = new Measurements();
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) await timed(measurements, performance.now(), send);
    }),
  );
  return { measurements, perSecond: measurements.count / ((performance.now() - startedAt) / 1000) };
}

async function timed(measurements: Measurements, dueAt: number, send: () => Promise<void>): Promise<void> {
  try {
    await send();
    measurements.add(performance.now() - dueAt);
  } catch (error) {
    measurements.fail(error instanceof Error ? error.message : String(error));
  }
}
