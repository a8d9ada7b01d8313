/** Covered by test/web/serve.test.ts. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { idNameOf, type Route } from '../contract/route.ts';
import { readId, readName, readParameters } from './instance-request.ts';

/** A request to a declared route, checked as far as its declaration says. */
export interface Call<Parameters> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The id in the path, in lower case where it is a UUID; '' where the path has none. */
  readonly id: string;
  readonly parameters: Parameters;
}

/** How the server knows a declared route; its prefix is /v1. */
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
      ...(hasTimeZone(parameters) ? { hasTimeZone: true } : {}),
    },
  };
}

/**
 * Registers a declared route. What `answer` resolves with is sent under the status of the declaration. A request whose
 * address the declaration does not allow is answered with VALIDATION_ERROR, and `answer` not asked.
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
      const values = parameters === undefined ? undefined : readParameters(parameters, request.query);
      reply.code(route.answer.status ?? 200);
      return answer({ request, reply, id, parameters: values as z.output<Parameters> });
    },
  });
}

/** Whether a route takes the parameter `timeZone`. */
function hasTimeZone(parameters: z.ZodType | undefined): boolean {
  return (
    parameters !== undefined && 'shape' in parameters && Object.hasOwn(parameters.shape as object, 'timeZone')
  );
}
