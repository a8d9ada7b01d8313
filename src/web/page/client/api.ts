/**
 * The page's client of the API. It uses the sign-in of the reader or the token of a link, and never stores a key.
 *
 * Test: test/web/page/api.test.ts.
 */
import type { LeftOut } from '../../../domain/attributes.ts';
import type { Alert, AlertDetail, NewAlert, NewRule } from '../../../contract/alerts.ts';
import type { ErasureAnswer, ErasureList } from '../../../contract/erasures.ts';
import type { Masking } from '../../../domain/masking.ts';
import type { NewRetention, ProjectRetentionAnswer, RetentionAnswer } from '../../../contract/retention.ts';
import type { ChangesResponse } from '../../../query/changes/changes-schema.ts';
import type { Checked, Verdict } from '../../../domain/checks.ts';
import type { ChecksResponse } from '../../../query/checks/checks-schema.ts';
import type { CurationsResponse } from '../../../query/curations/curations-schema.ts';
import type { AttributesResponse } from '../../../query/attributes-schema.ts';
import type { EffectsResponse } from '../../../query/effects/effects-schema.ts';
import type { DifferencesResponse } from '../../../query/changes/differences-schema.ts';
import type { DraftResponse } from '../../../query/briefs/brief-schema.ts';
import type { OverviewResponse } from '../../../query/overview/overview-schema.ts';
import type { QueryResponse } from '../../../query/response-schema.ts';
import type { TextSearchResponse } from '../../../query/text-search/text-search-schema.ts';
import type { SessionResponse } from '../../../query/session-schema.ts';
import type { WhyResponse } from '../../../query/why/why-schema.ts';
import type { LinkList, MadeLink, OpenedLink } from '../../../contract/links.ts';
import { LINK_HEADER } from '../../../domain/shared-views.ts';
import { PAGE_HEADER, SIGN_IN_PATH } from '../../../domain/page-sign-in.ts';
import { undeceiving } from '../../../domain/printable.ts';
import type { EntityKind } from './state.ts';
import { clockOf, zoneName } from './zone.ts';

export type {
  Alert,
  ChangesResponse,
  ChecksResponse,
  CurationsResponse,
  MadeLink,
  Masking,
  NewAlert,
  OpenedLink,
  AttributesResponse,
  DifferencesResponse,
  EffectsResponse,
  OverviewResponse,
  ProjectRetentionAnswer,
  QueryResponse,
  RetentionAnswer,
  TextSearchResponse,
  SessionResponse,
  WhyResponse,
};
export type Erasure = ErasureAnswer;
/** Single messages cannot be erased on the page. */
export type ErasableKind = Exclude<Erasure['kind'], 'MESSAGES'>;
export type ListedLink = LinkList['elements'][number];
export type Row = QueryResponse['elements'][number];

export interface Instance {
  readonly id: string;
  readonly name: string | null;
  readonly timeZone: string;
  readonly leaveOut: LeftOut;
}

/** What the key may do. `drafts`: the service has a writer. */
export interface Key {
  readonly scopes: readonly string[];
  readonly drafts: boolean;
}

/** A failed request; `status` is 0 if no response arrived. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Sent with every request. Other sites cannot send it, so they cannot use the cookie. */
let fromPage: Readonly<Record<string, string>> = { [PAGE_HEADER]: '1' };

/** Uses the link in place of a sign-in from now on. */
export function showLink(token: string): void {
  fromPage = { [LINK_HEADER]: token };
}

/** Fires `ended` when the sign-in has ended. */
export const signInEvents = new EventTarget();

/** The browser keeps the sign-in in a cookie that this page cannot read. */
export const signIn = {
  /** Throws ApiError. */
  open: async (key: string): Promise<void> => {
    const init = { method: 'POST', headers: { ...fromPage, 'x-api-key': key } };
    await answerOf(await reach(SIGN_IN_PATH, init));
  },
  close: async (): Promise<void> => {
    await reach(SIGN_IN_PATH, { method: 'DELETE', headers: fromPage });
    signInEvents.dispatchEvent(new Event('ended'));
  },
};

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ApiError(0, 'OFFLINE', 'The service cannot be reached.');
  }
}

/** A list is a parameter that is given several times. */
export type Parameters = Readonly<Record<string, string | number | readonly string[] | undefined>>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface Sent {
  readonly parameters?: Parameters;
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

async function send(
  method: Method,
  path: string,
  { parameters = {}, body, headers, signal }: Sent = {},
): Promise<Response> {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(
    given.flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  );
  const response = await reach(`/v1/${path}?${search}`, {
    method,
    headers: {
      accept: 'application/json',
      ...headers,
      ...fromPage,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'POST' ? { 'idempotency-key': onceKey() } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  if (response.status === 401) signInEvents.dispatchEvent(new Event('ended'));
  return response;
}

async function call<Answer>(method: Method, path: string, sent?: Sent): Promise<Answer> {
  return answerOf<Answer>(await send(method, path, sent));
}

function ask<Answer>(path: string, parameters: Parameters, signal?: AbortSignal): Promise<Answer> {
  return call('GET', path, { parameters, signal });
}

async function remove(path: string, parameters: Parameters = {}): Promise<void> {
  const response = await send('DELETE', path, { parameters });
  if (!response.ok) await answerOf(response);
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  const body = parsed(await response.text().catch(() => '')) as
    | (Answer & { error?: { code: string; message: string } })
    | null;
  if (response.ok && body !== null) return body;
  throw new ApiError(response.status, body?.error?.code ?? '', body?.error?.message ?? response.statusText);
}

/**
 * Parses JSON for display; null if it is invalid. Escapes direction marks, so that no name can reverse the text beside
 * it.
 */
function parsed(text: string): unknown {
  try {
    const isPlain = undeceiving(text) === text && !text.includes('\\u');
    if (isPlain && zoneName() === 'UTC') return JSON.parse(text);
    return JSON.parse(text, (name, value: unknown) => {
      if (typeof value !== 'string') return value;
      // Buckets are shown in local time.
      return name === 'date' ? clockOf(value) : undeceiving(value);
    });
  } catch {
    return null;
  }
}

/** Makes an idempotency key. */
function onceKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join('-');
}

/** The body of POST /v1/curations, without the instance. */
export type Curation =
  | { readonly action: 'RENAME'; readonly name: string; readonly [target: string]: string }
  | {
      readonly action: 'PIN' | 'HIDE' | 'MERGE' | 'MOVE' | 'ROUTE' | 'UNDO';
      readonly [target: string]: string;
    }
  | { readonly action: 'ASSIGN' | 'EXCLUDE'; readonly [target: string]: string | number }
  | {
      readonly action: 'TRACK';
      readonly [member: string]: string | { readonly name: string; readonly value: string };
    };

/** The body of POST /v1/topics, without the instance. */
export interface NewTopic {
  readonly name: string;
  readonly description?: string;
  readonly examples: readonly string[];
  readonly fromBeginning: boolean;
  readonly fromTopicId?: string;
}

/** The body of POST /v1/labels, without the instance. */
export interface SavedLabel {
  readonly labelId?: string;
  readonly name: string;
  readonly description?: string;
  readonly examples: readonly string[];
  readonly counterexamples: readonly string[];
}

/** The body of POST /v1/checks, without the instance. */
export interface NewCheck {
  readonly of: Checked;
  readonly id: string;
  readonly sessionId: string;
  readonly verdict: Verdict;
}

/** The subject of POST /v1/erasures. */
export type ErasureTarget =
  | { readonly sessionId: string }
  | { readonly externalId: string }
  | { readonly everything: true };

/** The messages and sessions that an erasure would remove, over the whole history. */
export interface ErasableCount {
  readonly target: ErasureTarget;
  readonly messages: number;
  readonly sessions: number;
}

/** The ids of a write, and its position in the stream. */
export interface Written {
  readonly curationId: string;
  readonly topicId?: string;
  readonly position: string;
}

async function write(path: 'checks' | 'curations' | 'labels' | 'topics', body: object): Promise<Written> {
  const response = await send('POST', path, { body });
  const answer = await answerOf<Omit<Written, 'position'>>(response);
  return { ...answer, position: response.headers.get('x-stream-position') ?? '0' };
}

/** Reads the exact userId of an end user: `parsed` escapes some of its characters. */
async function erasableUser(instanceId: string, ids: string, signal?: AbortSignal): Promise<ErasableCount> {
  const fields = { fields: 'sessions,messages', dimensionFields: 'externalId' };
  const parameters = { instanceId, groupBy: 'END_USER', ids, ...fields };
  const response = await send('GET', 'query', { parameters, signal });
  if (!response.ok) return answerOf<never>(response);
  const row = ((await response.json()) as QueryResponse).elements[0];
  const externalId = row?.dimensions.endUser?.externalId ?? null;
  if (externalId === null) throw new ApiError(404, 'NOT_FOUND', 'Nothing of this user is left.');
  return { target: { externalId }, messages: row?.fields.messages ?? 0, sessions: row?.fields.sessions ?? 0 };
}

const WHY_PATHS: Readonly<Record<Exclude<EntityKind, 'signal'>, string>> = {
  topic: 'topics',
  cluster: 'topic-clusters',
  gap: 'gaps',
  repeat: 'repeated-requests',
  label: 'labels',
  user: 'end-users',
};

export const api = {
  instances: (signal?: AbortSignal) =>
    ask<{ elements: readonly Instance[] }>('instances', { limit: 1000 }, signal),
  /** Sets the default time zone of queries on the instance. */
  setTimeZone: (instance: string, timeZone: string) =>
    call<Instance>('PATCH', `instances/${instance}`, { body: { timeZone } }),
  overview: (parameters: Parameters, signal?: AbortSignal) =>
    ask<OverviewResponse>('overview', parameters, signal),
  attributes: (parameters: Parameters, signal?: AbortSignal) =>
    ask<AttributesResponse>('attributes', parameters, signal),
  differences: (parameters: Parameters, signal?: AbortSignal) =>
    ask<DifferencesResponse>('differences', parameters, signal),
  effects: (parameters: Parameters, signal?: AbortSignal) =>
    ask<EffectsResponse>('effects', parameters, signal),
  changes: (parameters: Parameters, signal?: AbortSignal) =>
    ask<ChangesResponse>('changes', parameters, signal),
  query: (parameters: Parameters, signal?: AbortSignal) => ask<QueryResponse>('query', parameters, signal),
  key: (signal?: AbortSignal) => ask<Key>('key', {}, signal),
  curations: (parameters: Parameters, signal?: AbortSignal) =>
    ask<CurationsResponse>('curations', parameters, signal),
  curate: (instanceId: string, curation: Curation) => write('curations', { instanceId, ...curation }),
  checks: (parameters: Parameters, signal?: AbortSignal) => ask<ChecksResponse>('checks', parameters, signal),
  check: (instanceId: string, check: NewCheck) => write('checks', { instanceId, ...check }),
  makeTopic: (instanceId: string, topic: NewTopic) => write('topics', { instanceId, ...topic }),
  saveLabel: (instanceId: string, label: SavedLabel) => write('labels', { instanceId, ...label }),
  /** Waits a few seconds at most for answers to contain a stream position; returns true if they do. */
  settle: async (instanceId: string, position: string): Promise<boolean> => {
    const parameters = { instanceId, groupBy: 'CSAT_DSAT', fields: 'messages', limit: 1 };
    const headers = { 'x-wait-for-position': position };
    const response = await send('GET', 'query', { parameters, headers });
    return response.headers.get('x-wait-result') !== 'timeout';
  },
  /** Returns last week's digest as an HTML page; `week`: its first day. */
  digest: async (instanceId: string): Promise<{ readonly page: Blob; readonly week: string }> => {
    const headers = { accept: 'text/html' };
    const response = await send('GET', 'digest', { parameters: { instanceId }, headers });
    if (!response.ok) return answerOf<never>(response);
    const [week = ''] = /\d{4}-\d\d-\d\d/.exec(response.headers.get('content-disposition') ?? '') ?? [];
    return { page: await response.blob(), week };
  },
  /** Returns what closing a gap takes, as a file. */
  brief: async (id: string, parameters: Parameters, type: 'text/markdown' | 'text/csv'): Promise<Blob> => {
    const response = await send('GET', `gaps/${id}/brief`, { parameters, headers: { accept: type } });
    return response.ok ? response.blob() : answerOf<never>(response);
  },
  /** Has the writer draft what closes a gap. */
  draft: (id: string, parameters: Parameters, signal: AbortSignal) =>
    call<DraftResponse>('POST', `gaps/${id}/draft`, { parameters, body: {}, signal }),
  /** Returns every row of a query as a file. */
  csv: async (parameters: Parameters): Promise<Blob> => {
    const response = await send('GET', 'query', { parameters, headers: { accept: 'text/csv' } });
    if (response.ok) return response.blob();
    throw new ApiError(response.status, '', 'The file could not be made.');
  },
  why: (kind: Exclude<EntityKind, 'signal'>, id: string, parameters: Parameters, signal?: AbortSignal) =>
    ask<WhyResponse>(`${WHY_PATHS[kind]}/${id}`, parameters, signal),
  textSearch: (parameters: Parameters, signal?: AbortSignal) =>
    ask<TextSearchResponse>('sessions', parameters, signal),
  session: (id: string, parameters: Parameters, signal?: AbortSignal) =>
    ask<SessionResponse>(`sessions/${id}`, parameters, signal),
  /** Returns the link that the page uses. */
  link: (signal?: AbortSignal) => ask<OpenedLink>('link', {}, signal),
  links: (signal?: AbortSignal) => ask<LinkList>('links', {}, signal),
  makeLink: (instanceId: string, view: string, days: number) =>
    call<MadeLink>('POST', 'links', { body: { instanceId, view, days } }),
  revokeLink: (id: string) => remove(`links/${id}`),
  erasable: async (
    instanceId: string,
    kind: ErasableKind,
    id: string,
    signal?: AbortSignal,
  ): Promise<ErasableCount> => {
    if (kind === 'END_USER') return erasableUser(instanceId, id, signal);
    if (kind === 'SESSION') {
      const { session } = await api.session(id, { instanceId, limit: 1 }, signal);
      return { target: { sessionId: id }, messages: session.messages, sessions: 1 };
    }
    const { fields } = await api.overview({ instanceId, timeGranularity: 'MONTH' }, signal);
    return { target: { everything: true }, messages: fields.messages ?? 0, sessions: fields.sessions ?? 0 };
  },
  /** `reason`: '' for none. */
  erase: (instanceId: string, target: ErasureTarget, reason: string) =>
    call<Erasure>('POST', 'erasures', {
      body: { instanceId, ...target, ...(reason === '' ? {} : { reason }) },
    }),
  erasure: (id: string, signal?: AbortSignal) => ask<Erasure>(`erasures/${id}`, {}, signal),
  /** Erasures of the project, newest first. */
  erasures: (limit: number, signal?: AbortSignal) => ask<ErasureList>('erasures', { limit }, signal),
  retention: (instanceId: string, signal?: AbortSignal) =>
    ask<RetentionAnswer>(`instances/${instanceId}/retention`, {}, signal),
  setRetention: (instanceId: string, retention: NewRetention) =>
    call<RetentionAnswer>('PUT', `instances/${instanceId}/retention`, { body: retention }),
  /** Gives up the instance's own days, so that the project's hold. */
  resetRetention: (instanceId: string) =>
    call<RetentionAnswer>('DELETE', `instances/${instanceId}/retention`),
  projectRetention: (signal?: AbortSignal) => ask<ProjectRetentionAnswer>('retention', {}, signal),
  setProjectRetention: (retention: NewRetention) =>
    call<ProjectRetentionAnswer>('PUT', 'retention', { body: retention }),
  masking: (instanceId: string, signal?: AbortSignal) =>
    ask<Masking>(`instances/${instanceId}/masking`, {}, signal),
  setMasking: (instanceId: string, masking: Masking) =>
    call<Masking>('PUT', `instances/${instanceId}/masking`, { body: masking }),
  alerts: (instanceId: string, signal?: AbortSignal) =>
    ask<{ elements: readonly Alert[] }>('alerts', { instanceId }, signal),
  alert: ({ id, instanceId }: Alert, signal?: AbortSignal) =>
    ask<AlertDetail>(`alerts/${id}`, { instanceId }, signal),
  makeAlert: (alert: NewRule) => call<NewAlert>('POST', 'alerts', { body: alert }),
  testAlert: ({ id, instanceId }: Alert) =>
    call<{ deliveryId: string }>('POST', `alerts/${id}/test`, { parameters: { instanceId }, body: {} }),
  removeAlert: ({ id, instanceId }: Alert) => remove(`alerts/${id}`, { instanceId }),
};
