/**
 * The common part of routes that accept messages: they read large bodies and charge messages to the key's budget.
 *
 * Test: test/web/message-budget.test.ts.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { MessageRequest } from './ingest/ingestor.ts';
import type { ReceivedBody } from './ingest/prepared-request.ts';
import { checkMessages, countMessages, giveBackMessages } from './auth.ts';
import type { BodyReader } from './body.ts';
import type { MessageBudget } from './rate-limit.ts';

export interface MessageDoor {
  /** Sets up a scope of the route's own, whose bodies are not parsed on the event loop. `types`: default JSON. */
  readBodies(scope: FastifyInstance, types?: readonly string[]): void;
  /** Returns the request for the ingestor. */
  requestOf(request: FastifyRequest, reply: FastifyReply): MessageRequest;
  /** Refunds messages that were refused in an accepted request. */
  giveBack(request: FastifyRequest, messages: number): void;
}

/** A request is charged its messages, or one for each this many bytes as they are stored, if that is more. */
const BYTES_OF_ONE = 1024;

export function createMessageDoor(bodies: BodyReader, budget: MessageBudget): MessageDoor {
  return {
    readBodies(scope, types) {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
        bodies.read(request.headers, payload, request.held, types),
      );
    },
    requestOf(request, reply) {
      const { projectId, held } = request;
      return {
        projectId,
        caller: held.caller,
        body: request.body as ReceivedBody | undefined,
        abandoned: () => reply.raw.closed,
        mayBegin: () => checkMessages(budget, request, reply),
        onPrepared: ({ messages, bytes }) => {
          countMessages(budget, request, reply, Math.max(messages, Math.ceil(bytes / BYTES_OF_ONE)));
          bodies.exchange(held, bytes);
        },
      };
    },
    giveBack: (request, messages) => giveBackMessages(budget, request, messages),
  };
}
