/** Covered by test/web/sockets.test.ts. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../logger.ts';
import type { HttpMetrics } from './metrics.ts';

/** How long connections may take, milliseconds. */
export interface ConnectionTimes {
  /** From the opening (or the first byte of a further request) to the end of the headers. */
  readonly headers: number;
  /** To the end of the body. */
  readonly request: number;
  /** Between two requests. */
  readonly keepAlive: number;
  /** For an answer to be made, of what is no export. */
  readonly answer: number;
  /** Without a byte in either direction; above every wait for an answer. */
  readonly silence: number;
  /** For the last answer to leave, when a connection is closed. */
  readonly farewell: number;
  /** How often headers and requests are looked at. */
  readonly check: number;
}

export const CONNECTION_TIMES: ConnectionTimes = {
  headers: 10_000,
  request: 120_000,
  keepAlive: 72_000,
  answer: 90_000,
  silence: 150_000,
  farewell: 2000,
  check: 1000,
};

/**
 * Why a connection was ended by us: too many, a request that did not arrive in time, a body that came too slowly, an
 * answer that is read too slowly, too many requests at once.
 */
export type DropReason = 'limit' | 'timeout' | 'slow-body' | 'slow-reader' | 'pipelining';

/** Counts connections that were ended by us, and says so in the log, at most once in LOG_EVERY_MS. */
export interface DropLog {
  dropped(reason: DropReason): void;
}

const LOG_EVERY_MS = 10_000;

/** The clock gives milliseconds. */
export function createDropLog(
  metrics: Pick<HttpMetrics, 'dropped'>,
  log: Logger,
  now: () => number,
): DropLog {
  let since: Partial<Record<DropReason, number>> = {};
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    dropped(reason) {
      metrics.dropped(reason);
      since[reason] = (since[reason] ?? 0) + 1;
      const at = now();
      if (at >= loggedAt && at - loggedAt < LOG_EVERY_MS) return;
      log.warn({ event: 'connections_dropped', ...since }, 'connections were dropped');
      since = {};
      loggedAt = at;
    },
  };
}

/** Holds a server to so many connections. When it is full, those between two requests make room. */
export function limitConnections(server: Server, max: number, drops: DropLog, now: () => number): void {
  let clearedAt = Number.NEGATIVE_INFINITY;
  server.maxConnections = max;
  server.on('drop', () => {
    drops.dropped('limit');
    const at = now();
    if (at >= clearedAt && at - clearedAt < CLEAR_EVERY_MS) return;
    clearedAt = at;
    server.closeIdleConnections();
  });
}

const CLEAR_EVERY_MS = 1000;

/**
 * Gives a function that ends the connections that have not begun a request: to the server they are not idle, so its
 * close would wait for them until their headers are overdue.
 */
export function trackSilent(server: Server): () => void {
  const silent = new Set<Socket>();
  let isEnding = false;
  server.on('connection', (socket: Socket) => {
    // It was accepted by the system before we stopped to listen.
    if (isEnding) {
      socket.destroy();
      return;
    }
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }: { readonly socket: Socket }) => silent.delete(socket));
  return () => {
    isEnding = true;
    for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
  };
}

/** No client of ours sends a request before it has the answer to the last; some send a few. */
export const MOST_PIPELINED = 32;

/**
 * Gives a function that counts a request of a connection until its answer has ended. On a connection with more than
 * MOST_PIPELINED it is false, and the connection is ended: thousands come in one packet, and all of them would be
 * begun before anybody else's.
 */
export function countPipelined(drops: DropLog): (answer: ServerResponse) => boolean {
  const counts = new WeakMap<Socket, number>();
  return (answer) => {
    const { socket } = answer.req;
    if (socket.destroyed) return false;
    const count = (counts.get(socket) ?? 0) + 1;
    counts.set(socket, count);
    answer.once('close', () => counts.set(socket, (counts.get(socket) ?? 1) - 1));
    if (count <= MOST_PIPELINED) return true;
    drops.dropped('pipelining');
    socket.destroy();
    return false;
  };
}

/**
 * Ends a connection for good after a last answer. A peer that neither reads nor closes would otherwise keep its
 * half of it open for ever.
 */
export function sayFarewell(socket: Socket, answer: string, farewellMs: number): void {
  socket.setTimeout(farewellMs, () => socket.destroy());
  socket.write(answer);
  socket.destroySoon();
}
