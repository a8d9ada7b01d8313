/** What the tools read: routes of the HTTP API, in this process or over HTTP. It has types and no logic to test. */
import type { ChangesResponse } from '../../query/changes/changes-schema.ts';
import type { OverviewResponse } from '../../query/overview/overview-schema.ts';
import type { QueryResponse } from '../../query/response-schema.ts';
import type { SaidResponse } from '../../query/said/said-schema.ts';
import type { SessionResponse } from '../../query/session-schema.ts';
import type { WhyPath, WhyResponse } from '../../query/why/why-schema.ts';

/** Parameters as the query string of a URL has them. */
export type QueryString = Readonly<Record<string, string>>;

/** A way to the routes that read. */
export interface ReadingDoor {
  /**
   * The answer of GET /v1`path`, for one key.
   *
   * @throws AppError with the code and message that the route answers with
   */
  get(path: string, parameters: QueryString): Promise<unknown>;
}

/** An instance of the key's project. */
export interface InstanceName {
  readonly id: string;
  readonly name: string | null;
}

interface InstanceList {
  readonly elements: readonly InstanceName[];
  readonly pagination: { readonly total: number };
}

/** The routes that the tools use, with the types of their answers. */
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

  why(path: WhyPath, id: string, parameters: QueryString): Promise<WhyResponse> {
    return this.#get(`/${path}/${id}`, parameters);
  }

  said(parameters: QueryString): Promise<SaidResponse> {
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
