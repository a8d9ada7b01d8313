/**
 * Limits connections: their number, their times and their pipelined requests.
 *
 * Test: test/web/sockets.test.ts.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../logger.ts';
import type { HttpMetrics } from './metrics.ts';

/** Time limits of connections, milliseconds. */
export interface ConnectionTimes {
  /** From the opening, or the first byte of a further request, to the end of the headers. */
  readonly headers: number;
  /** Until the end of the body. */
  readonly request: number;
  /** Between two requests. */
  readonly keepAlive: number;
  /** For computing an answer, exports excepted. */
  readonly answer: number;
  /** Without a byte in either direction; longer than any wait for an answer. */
  readonly silence: number;
  /** For sending the last response when a connection is closed. */
  readonly farewell: number;
  /** Interval of checks of headers and requests. */
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
 * Reason for ending a connection: too many connections, a request or a body that arrives too slowly, a response that is
 * read too slowly, too many pipelined requests.
 */
export type DropReason = 'limit' | 'timeout' | 'slow-body' | 'slow-reader' | 'pipelining';

/** Counts ended connections, and logs them at most once in LOG_EVERY_MS. */
export interface DropLog {
  dropped(reason: DropReason): void;
}

const LOG_EVERY_MS = 10_000;

/** `now`: milliseconds. */
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

/** Limits a server to `max` connections. A full server closes its idle ones. */
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
 * Returns a function that ends connections without a request. The server does not count them as idle, so its close
 * would wait for their header timeout.
 */
export function trackSilent(server: Server): () => void {
  const silent = new Set<Socket>();
  let isEnding = false;
  server.on('connection', (socket: Socket) => {
    // The system had accepted it before the server stopped listening.
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

/** Our clients send a request only after the last answer; some clients send a few at once. */
export const MOST_PIPELINED = 32;

/**
 * Returns a function that counts a connection's requests until their responses end. With more than MOST_PIPELINED it
 * ends the connection and returns false: thousands fit in one packet, and would all start before other clients'
 * requests.
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
 * Sends a last response and ends the connection. A peer that neither reads nor closes would otherwise keep it half-open
 * for good.
 */
export function sayFarewell(socket: Socket, answer: string, farewellMs: number): void {
  socket.setTimeout(farewellMs, () => socket.destroy());
  socket.write(answer);
  socket.destroySoon();
}
