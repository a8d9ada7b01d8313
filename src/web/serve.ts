/**
 * Registers declared routes (src/contract/route.ts). A handler gets only requests whose path and query string match the
 * declaration.
 *
 * Test: test/web/serve.test.ts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { idNameOf, type Route } from '../contract/route.ts';
import { readId, readName, readParameters } from './instance-request.ts';

/** A request with its checked id and parameters. */
export interface Call<Parameters> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The id in the path, in lower case if it is a UUID; '' without one. */
  readonly id: string;
  readonly parameters: Parameters;
}

/** Returns the declaration in fastify's terms; the prefix is /v1. */
export function registrationOf(route: Route) {
  const { method, path, scope, instance, shared, takesMessages, isBodiless, parameters } = route;
  return {
    method,
    url: path.replace('{', ':').replace('}', ''),
    config: {
      scope,
      ...(instance === undefined ? {} : { instance }),
      ...(shared === undefined ? {} : { shared }),
      ...(takesMessages === undefined ? {} : { takesMessages }),
      ...(isBodiless === undefined ? {} : { isBodiless }),
      ...(takes(parameters, 'timeZone') ? { hasTimeZone: true } : {}),
      ...(takes(parameters, 'segment') ? { hasSegment: true } : {}),
    },
  };
}

/**
 * Registers a declared route and its handler, whose result is sent with the declared status. A mismatch with the
 * declaration is answered with VALIDATION_ERROR.
 */
export function serve<Parameters extends z.ZodType>(
  scope: FastifyInstance,
  route: Route<Parameters>,
  answer: (call: Call<z.output<Parameters>>) => Promise<unknown>,
): void {
  const { parameters, idSchema } = route;
  const idName = idNameOf(route);
  scope.route<{ Params: Readonly<Record<string, string>> }>({
    ...registrationOf(route),
    handler: async (request, reply) => {
      const given = idName === null ? '' : (request.params[idName] ?? '');
      const id =
        idName === null
          ? ''
          : idSchema === undefined
            ? readId(idName, given)
            : readName(idName, given, idSchema);
      const types = Object.keys(route.answer.content ?? {});
      const values = parameters === undefined ? undefined : readParameters(parameters, request.query, types);
      reply.code(route.answer.status ?? 200);
      return answer({ request, reply, id, parameters: values as z.output<Parameters> });
    },
  });
}

/** Returns true if a route takes a parameter. */
function takes(parameters: z.ZodType | undefined, name: string): boolean {
  return parameters !== undefined && 'shape' in parameters && Object.hasOwn(parameters.shape as object, name);
}
