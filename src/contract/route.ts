/**
 * The declaration of an HTTP route. Validation, the OpenAPI document and the registration follow from it. To add a
 * route, declare it in this folder, list it in `routes.ts`, and give `serve` (src/web/serve.ts) its handler.
 *
 * Test: test/web/docs.test.ts, test/web/serve.test.ts.
 */
import type { z } from 'zod';
import type { KeyScope } from '../domain/key-scopes.ts';
import type { Shared } from './shared.ts';

/** A schema with its name in the OpenAPI document. */
export interface NamedSchema<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly schema: Schema;
}

/** Request headers that only some routes read. */
export type RequestHeader = 'Idempotency-Key' | 'Content-Encoding' | 'X-Wait-For-Position' | 'x-instance-id';
/** Response headers that only some routes send. */
export type AnswerHeader = 'X-Stream-Position' | 'X-Wait-Result' | 'X-Warnings' | 'X-Refused-Lines';

/** A body of one content type. */
export interface Content {
  readonly schema: NamedSchema | Readonly<Record<string, unknown>>;
  readonly example?: unknown;
}

export interface BodyDeclaration {
  /** False: the body may be omitted. */
  readonly required: boolean;
  /** By content type. */
  readonly content: Readonly<Record<string, Content>>;
}

export interface AnswerDeclaration {
  readonly description: string;
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: readonly AnswerHeader[];
  /** By content type; absent: the response has no body. */
  readonly content?: Readonly<Record<string, Content>>;
}

/** The part of a request that names its instance. */
export type InstancePlace = 'parameters' | 'path' | 'body' | 'own';

export interface Route<Parameters extends z.ZodType = z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * Path below /v1, without a trailing slash. It has at most one name in braces: a UUID unless `idSchema` says
   * otherwise.
   */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: 'Ingest' | 'Query' | 'Steering' | 'Alerts' | 'Erasures' | 'Instances' | 'Links' | 'Keys';
  /** Scope that the key needs; null: any key. */
  readonly scope: KeyScope | null;
  /**
   * The part of a request that names its instance. `own`: none does, and the response covers only what the caller may
   * see. Absent: callers limited to some instances may not use the route.
   */
  readonly instance?: InstancePlace;
  /** Rules for callers with a link to a view. Absent: they may not use the route. */
  readonly shared?: Shared<never>;
  /** Describes the name in the path. */
  readonly id?: string;
  /** Schema of the name in the path. Default: a UUID. */
  readonly idSchema?: z.ZodType<string>;
  /** Schema of the query string. Absent: the query string is ignored. */
  readonly parameters?: Parameters;
  /** Example values of parameters. */
  readonly examples?: Readonly<Record<string, unknown>>;
  readonly headers?: readonly RequestHeader[];
  readonly body?: BodyDeclaration;
  readonly answer: AnswerDeclaration;
  /** The response if an earlier request had created the resource. */
  readonly otherwise?: AnswerDeclaration;
  /** Error statuses besides those of every route. */
  readonly fails: readonly (404 | 409 | 413)[];
  /** Its messages count against the budget of the key. */
  readonly takesMessages?: true;
  /** Accepts a content type without a body. */
  readonly isBodiless?: true;
}

/** Returns the declaration with the type of its parameters. */
export function declare<Parameters extends z.ZodType = z.ZodType<undefined>>(
  route: Route<Parameters>,
): Route<Parameters> {
  return route;
}

export function json(
  name: string,
  schema: z.ZodType,
  example?: unknown,
): Readonly<Record<'application/json', Content>> {
  return {
    'application/json': { schema: { name, schema }, ...(example === undefined ? {} : { example }) },
  };
}

/** Returns the name in the braces of a path, or null. */
export function idNameOf({ path }: Pick<Route, 'path'>): string | null {
  const open = path.indexOf('{');
  return open === -1 ? null : path.slice(open + 1, path.indexOf('}', open));
}
