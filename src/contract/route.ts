/**
 * A route of the HTTP interface, declared once: what checks a request, what the document says of it and where it is
 * registered follow from the declaration. To add a route, declare it in this folder, list it in `routes.ts`, and give
 * `serve` (src/web/serve.ts) what answers it. Covered by test/web/docs.test.ts and test/web/serve.test.ts.
 */
import type { z } from 'zod';
import type { KeyScope } from '../domain/key-scopes.ts';
import type { Shared } from './shared.ts';

/** A schema by the name that the document gives it. */
export interface NamedSchema<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly schema: Schema;
}

/** Headers that only some routes read. */
export type RequestHeader = 'Idempotency-Key' | 'Content-Encoding' | 'X-Wait-For-Position' | 'x-instance-id';
/** Headers of answers that only some routes have. */
export type AnswerHeader = 'X-Stream-Position' | 'X-Wait-Result' | 'X-Warnings' | 'X-Refused-Lines';

/** What is sent or answered in one type of content. */
export interface Content {
  readonly schema: NamedSchema | Readonly<Record<string, unknown>>;
  readonly example?: unknown;
}

export interface BodyDeclaration {
  /** False: the body may be left out. */
  readonly required: boolean;
  /** By content type. */
  readonly content: Readonly<Record<string, Content>>;
}

export interface AnswerDeclaration {
  readonly description: string;
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: readonly AnswerHeader[];
  /** By content type; absent: the answer has no body. */
  readonly content?: Readonly<Record<string, Content>>;
}

/** Where a request names the instance that it is about. */
export type InstancePlace = 'parameters' | 'path' | 'body' | 'own';

export interface Route<Parameters extends z.ZodType = z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /v1, without a slash at the end; at most one name in braces: a UUID unless `idSchema` says otherwise. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: 'Ingest' | 'Query' | 'Steering' | 'Alerts' | 'Erasures' | 'Instances' | 'Links' | 'Keys';
  /** What the key must be allowed to do; null: nothing but to exist. */
  readonly scope: KeyScope | null;
  /**
   * Where a request names its instance; `own`: nowhere, and the answer holds only what the caller sees. Absent: whoever
   * sees some instances only may not use the route.
   */
  readonly instance?: InstancePlace;
  /** How whoever has a link to a view may use it. Absent: not at all. */
  readonly shared?: Shared<never>;
  /** What the name in the path stands for. */
  readonly id?: string;
  /** What it may be. Default: a UUID. */
  readonly idSchema?: z.ZodType<string>;
  /** Of the query string. Absent: none is looked at. */
  readonly parameters?: Parameters;
  /** Of parameters, for whoever tries the route. */
  readonly examples?: Readonly<Record<string, unknown>>;
  readonly headers?: readonly RequestHeader[];
  readonly body?: BodyDeclaration;
  readonly answer: AnswerDeclaration;
  /** The route's answer where it found what another request had made. */
  readonly otherwise?: AnswerDeclaration;
  /** Faults that it can answer besides those of every route. */
  readonly fails: readonly (404 | 409 | 413)[];
  /** Its messages count against the budget of the key. */
  readonly takesMessages?: true;
  /** A content type without a body is no fault. */
  readonly isBodiless?: true;
}

/** The declaration, with the type of its parameters. */
export function declare<Parameters extends z.ZodType = z.ZodType<undefined>>(
  route: Route<Parameters>,
): Route<Parameters> {
  return route;
}

/** A JSON body or answer of a named schema. */
export function json(
  name: string,
  schema: z.ZodType,
  example?: unknown,
): Readonly<Record<'application/json', Content>> {
  return {
    'application/json': { schema: { name, schema }, ...(example === undefined ? {} : { example }) },
  };
}

/** The name in the braces of a path; null: none. */
export function idNameOf({ path }: Pick<Route, 'path'>): string | null {
  const open = path.indexOf('{');
  return open === -1 ? null : path.slice(open + 1, path.indexOf('}', open));
}
