/**
 * The connection to NATS. It reconnects by itself until it is closed.
 *
 * Test: test/stream/connection.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import {
  AuthorizationError,
  ClosedConnectionError,
  connect,
  NoRespondersError,
  RequestError,
  TimeoutError,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
  type Authenticator,
  type NatsConnection,
} from '@nats-io/transport-node';
import { SetupError } from '../errors.ts';
import { faultOfServerVersion } from './server/version.ts';
import type { ServerAddress } from './server/server.ts';

/** A change of the connection. `closed` is the last one. */
export type ConnectionState = 'disconnected' | 'reconnected' | 'closed';

/** The connection that all parts of `stream` share. Other code only passes it on. */
export interface StreamConnection {
  /** The vendor's connection, for `stream` alone. */
  readonly nats: NatsConnection;
  /** False while the server is away; the connection comes back by itself. */
  readonly connected: boolean;
  readonly serverVersion: string;
  /** Largest message that the server accepts, bytes. */
  readonly maxPayload: number;
  /** Returns a function that removes the listener. */
  onStateChange(listener: (state: ConnectionState) => void): () => void;
  /** Resolves to true once connected, to false after `timeoutMs` or when the connection is closed. */
  whenConnected(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

export interface ConnectOptions extends ServerAddress {
  /** Name in the server's monitoring. */
  readonly name: string;
  /** Time to try to reach the server at first, milliseconds; later attempts never end. Default 60 s. */
  readonly giveUpAfterMs?: number;
  /** Called once for each reason for which an attempt failed, where others follow. */
  readonly onWaiting?: (sentence: string) => void;
}

/** Refusals of a server after which it is believed; the first may come from another server that is about to end. */
const REFUSALS_BELIEVED = 3;

/**
 * Connects, and tries again until the server answers. Throws SetupError, with a remedy, when the server cannot be
 * reached in time, refuses the token, is too old, or has no JetStream.
 */
export async function openConnection(options: ConnectOptions): Promise<StreamConnection> {
  const deadline = performance.now() + (options.giveUpAfterMs ?? 60_000);
  const servers = options.url.split(',').map((url) => url.trim());
  const address = servers.map(withoutCredentials).join(', ');
  let refusals = 0;
  let pause = 50;
  const reported = new Set<string>();
  for (;;) {
    let nats: NatsConnection | undefined;
    let fault: unknown;
    try {
      nats = await connect({
        servers: servers.map(withoutCredentials),
        authenticator: authenticators(servers, options.token),
        name: options.name,
        timeout: 5000,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 100,
        reconnectJitter: 100,
        ignoreAuthErrorAbort: true,
        pingInterval: 5000,
        maxPingOut: 2,
        noAsyncTraces: true,
      });
      const version = nats.info?.version ?? '0';
      const fault = faultOfServerVersion(version);
      if (fault !== null) {
        throw new SetupError(
          `The NATS server at ${address} is version ${version}; ${fault}. Use another one.`,
        );
      }
      await askForJetStream(nats, address);
      return new Link(nats, version);
    } catch (error) {
      await nats?.close();
      if (error instanceof SetupError) throw error;
      if (error instanceof AuthorizationError && ++refusals >= REFUSALS_BELIEVED) {
        throw new SetupError(
          `The NATS server at ${address} refuses our token. Set NATS_TOKEN (or user and password in NATS_URL); ` +
            'if it should be the server that we start, another one has its port.',
          { cause: error },
        );
      }
      fault = error;
    }
    if (performance.now() + pause > deadline) {
      throw new SetupError(
        `NATS at ${address} cannot be reached (${(fault as Error).message}). Start it with npm start, set ` +
          'NATS_PORT as npm start had it, or set NATS_URL to a running server.',
        { cause: fault },
      );
    }
    const why = (fault as Error).message;
    if (!reported.has(why)) options.onWaiting?.(`waiting for NATS at ${address} (${why})`);
    reported.add(why);
    await sleep(pause);
    pause = Math.min(pause * 1.5, 1000);
  }
}

/**
 * Waits for JetStream: a server that has just started may still load its streams. Throws SetupError when the server has
 * none, and another error while its cluster has no leader.
 */
async function askForJetStream(nats: NatsConnection, address: string): Promise<void> {
  const deadline = performance.now() + 5000;
  for (;;) {
    try {
      const manager = await jetstreamManager(nats, { timeout: 5000, checkAPI: false });
      await manager.getAccountInfo();
      return;
    } catch (error) {
      if (error instanceof TimeoutError || isLeaderless(error))
        throw new Error('JetStream does not answer: has the cluster a leader?', { cause: error });
      if (nats.isClosed() || performance.now() > deadline) {
        throw new SetupError(
          `The NATS server at ${address} does not offer JetStream (${(error as Error).message}). Start it with ` +
            'JetStream enabled.',
          { cause: error },
        );
      }
      await sleep(100);
    }
  }
}

class Link implements StreamConnection {
  readonly nats: NatsConnection;
  readonly serverVersion: string;
  connected = true;
  #closed = false;
  readonly #listeners = new Set<(state: ConnectionState) => void>();

  constructor(nats: NatsConnection, serverVersion: string) {
    this.nats = nats;
    this.serverVersion = serverVersion;
    void this.#follow();
  }

  get maxPayload(): number {
    return this.nats.info?.max_payload ?? 1024 * 1024;
  }

  async #follow(): Promise<void> {
    for await (const status of this.nats.status()) {
      if (status.type === 'disconnect' && this.connected) this.#enter('disconnected');
      if (status.type === 'reconnect' && !this.connected) this.#enter('reconnected');
    }
    this.#enter('closed');
  }

  #enter(state: ConnectionState): void {
    if (this.#closed) return;
    this.connected = state === 'reconnected';
    this.#closed = state === 'closed';
    for (const listener of this.#listeners) listener(state);
  }

  onStateChange(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async whenConnected(timeoutMs: number): Promise<boolean> {
    if (this.connected || this.#closed) return this.connected;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), timeoutMs);
    const stop = this.onStateChange((state) => resolve(state === 'reconnected'));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      stop();
    }
  }

  async close(): Promise<void> {
    if (!this.#closed) await this.nats.close();
    this.#enter('closed');
  }
}

/**
 * Runs one request, and rejects as soon as the connection breaks, before the timeout of the request. Then it is unknown
 * whether the server has done it.
 */
export async function whileConnected<T>(connection: StreamConnection, request: () => Promise<T>): Promise<T> {
  const broken = Promise.withResolvers<never>();
  const stop = connection.onStateChange((state) => broken.reject(new LinkBrokenError(state)));
  try {
    return await Promise.race([request(), broken.promise]);
  } finally {
    stop();
  }
}

/** The connection broke while a request waited for its answer. */
class LinkBrokenError extends Error {
  constructor(state: ConnectionState) {
    super(`the link to NATS was ${state}`);
    this.name = 'LinkBrokenError';
  }
}

/** Returns true for the error of a request that no server answered: it is unknown whether it was done. */
function isUnanswered(error: unknown): boolean {
  return [TimeoutError, NoRespondersError, RequestError, ClosedConnectionError, LinkBrokenError].some(
    (kind) => error instanceof kind,
  );
}

/** JetStream error codes: no leader now, this server is not it, not enough servers of the cluster run. */
const LEADERLESS: ReadonlySet<number> = new Set([10008, 10009, 10005]);

function isLeaderless(error: unknown): boolean {
  return error instanceof JetStreamApiError && LEADERLESS.has(error.code);
}

/** A cluster did not answer, or could not do what it was asked, for as long as one waits for it. */
class AwayError extends SetupError {
  constructor(cause: unknown) {
    super(
      `NATS could not do for ${PATIENCE_MS / 1000} s what it was asked (${(cause as Error).message}). See that the ` +
        'servers of its cluster run and have space, and that STREAM_REPLICAS is not more than there are.',
      { cause },
    );
  }
}

/** Returns true for the error of a request that may succeed when it is repeated: the server cannot answer it now. */
export function isAway(error: unknown): boolean {
  return isUnanswered(error) || isLeaderless(error) || error instanceof AwayError;
}

/** How long a server that is connected may say that it cannot answer, milliseconds. */
const PATIENCE_MS = 60_000;
const AGAIN_MS = 100;

/**
 * Repeats a request that does no harm when it is done twice, while the server cannot answer it: without a connection for
 * as long as that takes, with one for a minute. Rejects when the connection is closed.
 *
 * @throws SetupError for which `isAway` holds, after that minute
 */
export async function untilAnswered<T>(connection: StreamConnection, ask: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (connection.nats.isClosed()) throw error;
      if (connection.connected) {
        if (!isAway(error)) throw error;
        if (performance.now() > giveUpAt) throw new AwayError(error);
      }
      await connection.whenConnected(1000);
      await sleep(AGAIN_MS);
    }
  }
}

function withoutCredentials(url: string): string {
  return url.replace(/^([a-z]+:\/\/)?[^@/]*@/i, '$1');
}

/** Reads `user:password@` or `token@` from a URL; else uses the given token. */
function authenticators(servers: readonly string[], token: () => string | undefined): Authenticator {
  for (const server of servers) {
    const credentials = /^(?:[a-z]+:\/\/)?([^@/:]*)(?::([^@/]*))?@/i.exec(server);
    if (credentials === null) continue;
    const [user, password] = credentials.slice(1, 3).map((part) => decodeURIComponent(part ?? ''));
    return password === '' || password === undefined
      ? tokenAuthenticator(user ?? '')
      : usernamePasswordAuthenticator(user ?? '', password);
  }
  return tokenAuthenticator(() => token() ?? '');
}
