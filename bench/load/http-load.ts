import { connect } from 'node:net';
import type { Socket } from 'node:net';

export interface Answered {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** One keep-alive HTTP/1.1 connection, one request at a time; costs a fraction of what node:http's client does. */
class Connection {
  readonly #socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
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
    this.dead = true;
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.dead = true;
    const settle = this.#settle;
    this.#settle = null;
    settle?.reject(error);
  }

  #onData(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    const headEnd = this.#buffer.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const [statusLine = '', ...lines] = this.#buffer.toString('latin1', 0, headEnd).split('\r\n');
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const length = Number(headers.get('content-length'));
    if (!Number.isInteger(length)) return this.#fail(new Error('answer without content-length'));
    const end = headEnd + 4 + length;
    if (this.#buffer.length < end) return;
    const body = this.#buffer.toString('utf8', headEnd + 4, end);
    this.#buffer = this.#buffer.subarray(end);
    const settle = this.#settle;
    this.#settle = null;
    settle?.resolve({ status: Number(statusLine.split(' ')[1]), headers, body });
  }
}

/** A fixed number of connections to one address; requests wait in line when all are taken. */
export class ConnectionPool {
  readonly #host: string;
  readonly #port: number;
  readonly #free: Connection[] = [];
  readonly #made = new Set<Connection>();
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #open = 0;
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
    try {
      return await connection.send(request);
    } finally {
      this.#give(connection);
    }
  }

  /** Breaks off what is under way, too. */
  close(): void {
    for (const connection of this.#made) connection.close();
  }

  #take(): Promise<Connection> {
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
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  }

  /** `p50 1.2 ms, p99 4.5 ms, max 9.0 ms`. */
  describe(): string {
    const ms = (share: number): string => `${this.quantile(share).toFixed(1)} ms`;
    const errors = [...this.errors].map(([reason, count]) => `${count} × ${reason}`).join(', ') || 'none';
    return `p50 ${ms(0.5)}, p95 ${ms(0.95)}, p99 ${ms(0.99)}, max ${ms(1)}; errors: ${errors}`;
  }
}

/**
 * Open loop: request i is due at i / rate seconds whatever became of those before it, and its latency
 * counts from when it was due, so a stall is seen by every request that it delayed (no coordinated omission).
 */
export async function openLoop(
  rate: number,
  seconds: number,
  send: () => Promise<void>,
): Promise<Measurements> {
  const measurements = new Measurements();
  const total = Math.round(rate * seconds);
  const inFlight = new Set<Promise<void>>();
  const startedAt = performance.now() + 20;
  let next = 0;
  while (next < total) {
    const now = performance.now();
    while (next < total && startedAt + (next * 1000) / rate <= now) {
      const dueAt = startedAt + (next * 1000) / rate;
      next += 1;
      const task: Promise<void> = timed(measurements, dueAt, send).finally(() => inFlight.delete(task));
      inFlight.add(task);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(inFlight);
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
