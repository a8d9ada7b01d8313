/** Covered by session-rules, why-rules, changes-rules and overview-rules in test/e2e. */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { changesParameterSchemas } from '../query/changes/changes-schema.ts';
import { curationsParameterSchemas } from '../query/curations/curations-schema.ts';
import { overviewParameterSchemas } from '../query/overview/overview-schema.ts';
import { sessionParameterSchemas } from '../query/session-schema.ts';
import { WHY_PATHS, whyParameterSchemas, type WhyPath } from '../query/why/why-schema.ts';
import { inTime } from './answer-time.ts';
import type { HttpDependencies } from './dependencies.ts';
import { enterInstance, readId, readParameters } from './instance-request.ts';
import { sendJson } from './json-answer.ts';

type Reading = NonNullable<HttpDependencies['query']> & {
  readonly waitMs: number;
  /** For an answer to be made, milliseconds. */
  readonly answerMs: number;
};

/** A question that was read, before anybody is asked. */
interface Question {
  readonly instanceId: string;
  answer(caller: string): Promise<object>;
}

/** GET `path`, or with an id behind it. */
export interface ReadingRoute {
  readonly path: string;
  /** The name of the UUID behind the path; null: none. */
  readonly id: string | null;
  /** `query`: a parsed query string. Throws AppError VALIDATION_ERROR. */
  read(query: unknown, id: string): Question;
}

/** The routes that read the views of one instance, besides GET /v1/query/. */
export function readingRoutes(reading: NonNullable<HttpDependencies['query']>): readonly ReadingRoute[] {
  const { sessions, why, changes, overview, curations } = reading;
  return [
    route('/sessions', 'sessionId', sessionParameterSchemas, (parameters, id, caller) =>
      sessions.read(id, parameters, caller),
    ),
    ...(Object.keys(WHY_PATHS) as WhyPath[]).map((path) =>
      route(`/${path}`, 'id', whyParameterSchemas, (parameters, id, caller) =>
        why.read(WHY_PATHS[path], id, parameters, caller),
      ),
    ),
    route('/overview', null, overviewParameterSchemas, (parameters, _, caller) =>
      overview.read(parameters, caller),
    ),
    route('/curations', null, curationsParameterSchemas, (parameters, _, caller) =>
      curations.read(parameters, caller),
    ),
    route('/changes', null, changesParameterSchemas, (parameters, _, caller) =>
      changes.read(parameters, caller),
    ),
  ];
}

export function registerReadingRoutes(scope: FastifyInstance, reading: Reading): void {
  const config = { scope: 'query' } as const;
  for (const { path, id, read } of readingRoutes(reading)) {
    const url = id === null ? path : `${path}/:${id}`;
    scope.get<{ Params: Readonly<Record<string, string>> }>(url, { config }, async (request, reply) => {
      const question = read(request.query, id === null ? '' : (request.params[id] ?? ''));
      await enterInstance(request, reply, question.instanceId, reading);
      return sendJson(reply, await inTime(question.answer(request.projectId), reading.answerMs));
    });
  }
}

function route<Schema extends z.ZodType<{ readonly instanceId: string }>>(
  path: string,
  idName: string | null,
  schema: Schema,
  answer: (parameters: z.output<Schema>, id: string, caller: string) => Promise<object>,
): ReadingRoute {
  return {
    path,
    id: idName,
    read(query, given) {
      const id = idName === null ? '' : readId(idName, given);
      const parameters = readParameters(schema, query);
      return {
        instanceId: parameters.instanceId,
        answer: (caller) => answer(parameters, id, caller),
      };
    },
  };
}
