/**
 * The routes that read one instance, besides GET /v1/query/.
 *
 * Test: test/e2e/session-rules.test.ts, test/e2e/why-rules.test.ts, test/e2e/changes-rules.test.ts,
 * test/e2e/overview-rules.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import {
  ATTRIBUTES,
  CHANGES,
  DIFFERENCES,
  EFFECTS,
  SEARCH_TEXTS,
  OVERVIEW,
  READ_SESSION,
  WHY,
} from '../../contract/query.ts';
import { idNameOf, type Route } from '../../contract/route.ts';
import { CHECKS, CURATIONS } from '../../contract/steering.ts';
import { inTime } from '../answer-time.ts';
import type { HttpDependencies, Reader, Reading } from '../dependencies.ts';
import { enterInstance, readId, readParameters } from '../instance-request.ts';
import { sendJson } from '../json-answer.ts';
import { serve } from '../serve.ts';

type Readers = NonNullable<HttpDependencies['query']>;

interface OfInstance {
  readonly instanceId: string;
}
type Answer<Parameters> = (parameters: Parameters, id: string, caller: string) => Promise<object>;

/** A route and its handler. */
export interface ReadingRoute {
  readonly route: Route;
  readonly answer: Answer<OfInstance>;
}

export function readingRoutes(readers: Readers): readonly ReadingRoute[] {
  return [
    plain(SEARCH_TEXTS, readers.textSearch),
    reading(READ_SESSION, (parameters, id, caller) => readers.sessions.read(id, parameters, caller)),
    ...WHY.map(({ groupBy, route }) =>
      reading(route, (parameters, id, caller) => readers.why.read(groupBy, id, parameters, caller)),
    ),
    plain(OVERVIEW, readers.overview),
    plain(ATTRIBUTES, readers.attributes),
    plain(DIFFERENCES, readers.differences),
    plain(EFFECTS, readers.effects),
    plain(CURATIONS, readers.curations),
    plain(CHECKS, readers.checks),
    plain(CHANGES, readers.changes),
  ];
}

/** A route whose parameters alone say what is read. */
function plain<Parameters extends z.ZodType<OfInstance>>(
  route: Route<Parameters>,
  reader: Reader<z.output<Parameters>, object>,
): ReadingRoute {
  return reading(route, (parameters, _, caller) => reader.read(parameters, caller));
}

/** Checks that parameters and answer have matching types, before a list erases them. */
function reading<Parameters extends z.ZodType<OfInstance>>(
  route: Route<Parameters>,
  answer: Answer<z.output<Parameters>>,
): ReadingRoute {
  return { route, answer } as unknown as ReadingRoute;
}

export function registerReadingRoutes(scope: FastifyInstance, readers: Reading): void {
  for (const { route, answer } of readingRoutes(readers)) {
    serve(scope, route, async ({ request, reply, id, parameters }) => {
      const asked = parameters as OfInstance;
      await enterInstance(request, reply, asked.instanceId, readers);
      return sendJson(reply, await inTime(answer(asked, id, request.projectId), readers.answerMs));
    });
  }
}

/** Parses a call from within this process. Throws AppError VALIDATION_ERROR. */
export function readQuestion(
  { route, answer }: ReadingRoute,
  query: unknown,
  givenId: string,
): OfInstance & { answer(caller: string): Promise<object> } {
  const idName = idNameOf(route);
  const id = idName === null ? '' : readId(idName, givenId);
  const parameters = readParameters(route.parameters as z.ZodType<OfInstance>, query);
  return { instanceId: parameters.instanceId, answer: (caller) => answer(parameters, id, caller) };
}
