import { deepEqual, equal, ok } from 'node:assert/strict';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { ingestResponseSchema } from '../../src/contract/ingest.ts';
import { sessionResponseSchema, type SessionResponse } from '../../src/query/session-schema.ts';
import { queryResponseSchema, type QueryResponse } from '../../src/query/response-schema.ts';

/** An answer whose body was read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface Ids {
  readonly instanceId: string;
  readonly sessionId: string;
  readonly position: number;
}

export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[] | undefined;
}

export type Parameters = Readonly<Record<string, string | number>>;
export type Row = QueryResponse['elements'][number];

/** For a position, each some seconds long. */
const MOST_WAITS = 12;

/** Calls the service with one key as any HTTP client would, and checks the shape of every answer. */
export class Client {
  readonly url: string;
  readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  /** Sends as it is; answers under `/v1` must carry the rate-limit headers, errors the envelope. */
  async send(path: string, init: RequestInit = {}): Promise<Answer> {
    const headers = new Headers(init.headers);
    if (!headers.has('x-api-key')) headers.set('x-api-key', this.key);
    const response = await fetch(`${this.url}${path}`, { ...init, headers });
    const text = await response.text();
    const body: unknown = text === '' ? null : JSON.parse(text);
    const answer = { status: response.status, headers: response.headers, body };
    checkAnswer(path, answer);
    return answer;
  }

  post(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send('/v1/ingest/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  get(parameters: Parameters, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send(`/v1/query/?${toSearch(parameters)}`, { headers });
  }

  /** Ingests what must be accepted. */
  async ingest(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Ids> {
    return idsOf(await this.post(body, headers));
  }

  /** Queries what must be answered; waits for the position first, when one is given. */
  async query(parameters: Parameters, position?: number): Promise<QueryResponse> {
    const headers = position === undefined ? {} : { 'x-wait-for-position': String(position) };
    const answer = await waited(() => this.get(parameters, headers));
    equal(answer.status, 200, JSON.stringify(answer.body));
    const response = queryResponseSchema.parse(answer.body);
    checkRows(parameters, response);
    return response;
  }

  /** Asks for a session, by whatever parameters. */
  getSession(
    sessionId: string,
    parameters: Parameters,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    return this.send(`/v1/sessions/${sessionId}?${toSearch(parameters)}`, { headers });
  }

  /** Reads a session that must be there; waits for the position first, when one is given. */
  async session(sessionId: string, parameters: Parameters, position?: number): Promise<SessionResponse> {
    const headers = position === undefined ? {} : { 'x-wait-for-position': String(position) };
    const answer = await waited(() => this.getSession(sessionId, parameters, headers));
    equal(answer.status, 200, JSON.stringify(answer.body));
    return sessionResponseSchema.parse(answer.body);
  }

  /** The rows of `query`. */
  async rows(parameters: Parameters, position?: number): Promise<Row[]> {
    return (await this.query(parameters, position)).elements;
  }
}

/** An answer that has waited for its position: a busy machine may need more than one wait. */
async function waited(ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask();
  for (let waits = 1; waits < MOST_WAITS && answer.headers.get('x-wait-result') === 'timeout'; waits += 1)
    answer = await ask();
  return answer;
}

export function toSearch(parameters: Parameters): string {
  return new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
}

export function idsOf(answer: Answer): Ids {
  equal(answer.status, 200, JSON.stringify(answer.body));
  const ids = ingestResponseSchema.parse(answer.body);
  const position = answer.headers.get('x-stream-position') ?? '';
  ok(/^[1-9]\d*$/.test(position), `X-Stream-Position is ${position}`);
  return { ...ids, position: Number(position) };
}

/** The error of an answer that must be one, with its status and code. */
export function faultOf(answer: Answer, status: number, code: string): Fault {
  const { error } = errorEnvelopeSchema.parse(answer.body);
  deepEqual({ status: answer.status, code: error.code }, { status, code }, JSON.stringify(answer.body));
  return error;
}

/** The paths of an error's details. */
export function pathsOf(fault: Fault): string[] {
  return (fault.details ?? []).map(({ path }) => path);
}

function checkAnswer(path: string, { status, headers, body }: Answer): void {
  if (/^\/v1(?:[/?]|$)/.test(path)) {
    for (const name of ['limit', 'remaining', 'reset']) {
      ok(/^\d+$/.test(headers.get(`x-ratelimit-${name}`) ?? ''), `${status} of ${path} lacks ${name}`);
    }
  }
  if (status >= 400 && body !== null) errorEnvelopeSchema.parse(body);
}

/** What holds for every answer: exactly the metrics asked for, the page asked for, `date` with buckets only. */
function checkRows(parameters: Parameters, { elements, pagination }: QueryResponse): void {
  const fields = [...new Set(String(parameters['fields']).split(','))].sort();
  const buckets = (parameters['timeGranularity'] ?? 'ALL') !== 'ALL';
  equal(pagination.limit, Number(parameters['limit'] ?? 50));
  equal(pagination.offset, Number(parameters['offset'] ?? 0));
  ok(elements.length <= pagination.limit && elements.length <= pagination.total);
  for (const element of elements) {
    deepEqual(Object.keys(element.fields).sort(), fields);
    equal(element.dimensions.date !== undefined, buckets);
    equal(Object.keys(element.dimensions).length, buckets ? 2 : 1);
  }
}
