/**
 * The API routes that the tools read, in this process or over HTTP.
 *
 * Test: test/doors/mcp/http-door.test.ts.
 */
import type { ChangesResponse } from '../../query/changes/changes-schema.ts';
import type { EffectsResponse } from '../../query/effects/effects-schema.ts';
import type { OverviewResponse } from '../../query/overview/overview-schema.ts';
import type { QueryResponse } from '../../query/response-schema.ts';
import type { TextSearchResponse } from '../../query/text-search/text-search-schema.ts';
import type { SessionResponse } from '../../query/session-schema.ts';
import type { WhyPath, WhyResponse } from '../../query/why/why-schema.ts';

/** Parameters of a query string. */
export type QueryString = Readonly<Record<string, string | string[]>>;

/** Access to the reading routes with one key. */
export interface ReadingDoor {
  /**
   * Returns the answer of GET /v1`path`.
   *
   * @throws AppError with the code and message of the route
   */
  get(path: string, parameters: QueryString): Promise<unknown>;
}

export interface InstanceName {
  readonly id: string;
  readonly name: string | null;
}

interface InstanceList {
  readonly elements: readonly InstanceName[];
  readonly pagination: { readonly total: number };
}

/** The routes with the types of their answers. */
export class Reading {
  readonly #door: ReadingDoor;

  constructor(door: ReadingDoor) {
    this.#door = door;
  }

  query(parameters: QueryString): Promise<QueryResponse> {
    return this.#get('/query', parameters);
  }

  overview(parameters: QueryString): Promise<OverviewResponse> {
    return this.#get('/overview', parameters);
  }

  changes(parameters: QueryString): Promise<ChangesResponse> {
    return this.#get('/changes', parameters);
  }

  effects(parameters: QueryString): Promise<EffectsResponse> {
    return this.#get('/effects', parameters);
  }

  why(path: WhyPath, id: string, parameters: QueryString): Promise<WhyResponse> {
    return this.#get(`/${path}/${id}`, parameters);
  }

  textSearch(parameters: QueryString): Promise<TextSearchResponse> {
    return this.#get('/sessions', parameters);
  }

  session(id: string, parameters: QueryString): Promise<SessionResponse> {
    return this.#get(`/sessions/${id}`, parameters);
  }

  instances(parameters: QueryString): Promise<InstanceList> {
    return this.#get('/instances', parameters);
  }

  async #get<Answer>(path: string, parameters: QueryString): Promise<Answer> {
    return (await this.#door.get(path, parameters)) as Answer;
  }
}
