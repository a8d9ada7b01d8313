import type {
  AcceptedErasure,
  Changes,
  ChangesOptions,
  CreatedTopic,
  CurateOptions,
  Curation,
  CurationAnswer,
  Curations,
  CursorOptions,
  Erasure,
  Erasures,
  ErasuresOptions,
  IngestBody,
  Ingested,
  Instance,
  Instances,
  InstancesOptions,
  Key,
  ListedCuration,
  NewErasure,
  NewInstance,
  NewTopic,
  Overview,
  PeriodOptions,
  Said,
  SaidOptions,
  SubjectLine,
  Transcript,
  TranscriptMessage,
  Why,
  WhyGroupBy,
} from './answers.ts';
import type { ExportedLine } from './contract.ts';
import { ingestedIn, positionOf, textIn, unexpected } from './answer-members.ts';
import { sayAway, sayLost } from './console-lines.ts';
import { UndertoneError } from './errors.ts';
import type { DimensionFieldOf, Granularity, GroupBy, MetricOf } from './groupings.ts';
import { linesOf, parsed } from './lines.ts';
import type { UndertoneOptions } from './options.ts';
import { Outbox, tell, type Flushed, type Target } from './outbox.ts';
import {
  parametersOf,
  type CallOptions,
  type Page,
  type Query,
  type ReadOptions,
  type Row,
} from './queries.ts';
import { Session, type SessionOptions } from './session.ts';
import { Transport, type Answer, type Call } from './transport.ts';

/** How long a call has waited and may be tried. */
type Waiting = Pick<Call, 'patienceMs' | 'since' | 'signal'>;

/** Where to ask why. */
const WHY_PATHS: Readonly<Record<WhyGroupBy, string>> = {
  TOPIC: 'topics',
  TOPIC_CLUSTER: 'topic-clusters',
  GAP: 'gaps',
  REPEATED_REQUEST: 'repeated-requests',
  END_USER: 'end-users',
};

/**
 * A client of the HTTP API (docs/client.md). Calls reject with an UndertoneError, or with the reason of their signal;
 * sessions never do.
 */
export class Undertone {
  readonly #options: UndertoneOptions;
  readonly #transport: Transport;
  readonly #outbox: Outbox;
  readonly #patienceMs: number;
  /** The project's default instance, once it is known. */
  #defaultInstance: string | null = null;

  constructor(options: UndertoneOptions) {
    this.#options = options;
    this.#patienceMs = options.callPatienceMs ?? 30_000;
    const { onRetry = sayAway() } = options;
    this.#transport = new Transport({
      ...options,
      onRetry: (error, retry) => tell(() => onRetry(error, retry)),
    });
    this.#outbox = new Outbox({
      batchMs: options.batchMs ?? 500,
      batchMessages: options.batchMessages ?? 200,
      maxMessages: options.maxMessages ?? 10_000,
      maxUnits: options.maxUnits ?? 16_000_000,
      concurrency: options.concurrency ?? 8,
      whenFull: options.whenFull ?? 'wait',
      onLost: options.onError ?? sayLost(),
      send: (target, messages, since, signal) => this.#send(target, messages, since, signal),
      now: () => performance.now(),
    });
  }

  /** A conversation whose messages are sent in the background. Throws a TypeError where its id cannot be known. */
  session(options: SessionOptions = {}): Session {
    const instanceId = options.instanceId ?? this.#options.instanceId;
    return new Session({ ...options, instanceId }, this.#outbox);
  }

  /** Messages that are not stored yet. */
  get pending(): number {
    return this.#outbox.size;
  }

  /** Sends what waits; resolves when all that was logged before is stored or given up. */
  flush(): Promise<Flushed> {
    return this.#outbox.flush();
  }

  /** Flushes and takes nothing more. What is not stored after `timeoutMs` is given up. */
  close(options: { readonly timeoutMs?: number | undefined } = {}): Promise<Flushed> {
    return this.#outbox.close(options.timeoutMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Stores messages in one request and answers when they are durable; without an instance, in the client's. */
  async ingest(
    body: IngestBody,
    options: CallOptions & { readonly idempotencyKey?: string | undefined } = {},
  ): Promise<Ingested> {
    const instanceId = body.instanceId ?? (await this.#makeInstance());
    return this.#ingest(JSON.stringify({ ...body, instanceId }), options);
  }

  /** Metrics by group: one page. */
  async query<
    G extends GroupBy,
    F extends MetricOf<G>,
    D extends DimensionFieldOf<G> = never,
    T extends Granularity = 'ALL',
  >(query: Query<G, F, D, T>): Promise<Page<G, F, D, T>> {
    return this.#read('/v1/query', query);
  }

  /** Page after page. Each is of its own moment: while messages arrive, rows may move between pages. */
  async *pages<
    G extends GroupBy,
    F extends MetricOf<G>,
    D extends DimensionFieldOf<G> = never,
    T extends Granularity = 'ALL',
  >(query: Query<G, F, D, T>): AsyncGenerator<Page<G, F, D, T>, void, undefined> {
    for (let offset = query.offset ?? 0; ;) {
      const page = await this.query<G, F, D, T>({ ...query, offset });
      const count = listIn(page, 'elements').length;
      yield page;
      offset += count;
      if (count === 0 || !(offset < totalOf(page))) return;
    }
  }

  /** Every row, all of one moment, as the service sends them; without a limit unless the query has one. */
  async *rows<
    G extends GroupBy,
    F extends MetricOf<G>,
    D extends DimensionFieldOf<G> = never,
    T extends Granularity = 'ALL',
  >(query: Query<G, F, D, T>): AsyncGenerator<Row<G, F, D, T>, void, undefined> {
    const body = await this.#transport.stream({
      ...(await this.#reading('/v1/query', query)),
      accept: 'application/x-ndjson',
    });
    const { limits } = this.#transport;
    for await (const line of linesOf(body, { ...limits, signal: query.signal }))
      yield parsed(line) as Row<G, F, D, T>;
  }

  /** The instance as a whole. */
  overview(options: PeriodOptions = {}): Promise<Overview> {
    return this.#read('/v1/overview', options);
  }

  /** What changed in a period, against the period before. */
  changes(options: ChangesOptions): Promise<Changes> {
    return this.#read('/v1/changes', options);
  }

  /** What is behind the numbers of one topic, topic cluster, gap, repeated request or end user. */
  why<G extends WhyGroupBy>(groupBy: G, id: string, options: PeriodOptions = {}): Promise<Why<G>> {
    return this.#read(`/v1/${WHY_PATHS[groupBy]}/${encodeURIComponent(id)}`, options);
  }

  /** Sessions in which a message contains a text: a page of them, after about a second of looking. */
  said(said: string, options: SaidOptions = {}): Promise<Said> {
    const asked: SaidOptions & { readonly said: string } = { ...options, said };
    return this.#read('/v1/sessions', asked);
  }

  /** A page of a conversation, with what was found in each message. */
  transcript(sessionId: string, options: CursorOptions = {}): Promise<Transcript> {
    return this.#read(`/v1/sessions/${encodeURIComponent(sessionId)}`, options);
  }

  /** All messages of a conversation. */
  async *messages(
    sessionId: string,
    options: CursorOptions = {},
  ): AsyncGenerator<TranscriptMessage, void, undefined> {
    for (let { cursor } = options; cursor !== null;) {
      const page: Transcript = await this.transcript(sessionId, { ...options, cursor });
      yield* listIn(page, 'messages') as readonly TranscriptMessage[];
      cursor = nextOf(page, cursor);
    }
  }

  /** Renames, pins, merges, moves or hides, or undoes such a decision. */
  async curate(curation: Curation, options: CurateOptions = {}): Promise<CurationAnswer> {
    return this.#change<CurationAnswer>('/v1/curations', curation, options);
  }

  /** Makes a topic of your own from examples. */
  async createTopic(topic: NewTopic, options: CurateOptions = {}): Promise<CreatedTopic> {
    return this.#change<CreatedTopic>('/v1/topics', topic, options);
  }

  /** A page of decisions, newest first. */
  curations(options: CursorOptions = {}): Promise<Curations> {
    return this.#read('/v1/curations', options);
  }

  /** All decisions, newest first. */
  async *allCurations(options: CursorOptions = {}): AsyncGenerator<ListedCuration, void, undefined> {
    for (let { cursor } = options; cursor !== null;) {
      const page: Curations = await this.curations({ ...options, cursor });
      yield* listIn(page, 'elements') as readonly ListedCuration[];
      cursor = nextOf(page, cursor);
    }
  }

  /** Erases a session, an end user or a whole instance for good. It is done later: `erasure` says when. */
  erase(erasure: NewErasure, options: CurateOptions = {}): Promise<AcceptedErasure> {
    return this.#change('/v1/erasures', erasure, options);
  }

  /** How far an erasure is, and what went. */
  erasure(id: string, options: CallOptions = {}): Promise<Erasure> {
    const path = `/v1/erasures/${encodeURIComponent(id)}`;
    return this.#call<Erasure>({ method: 'GET', path, ...options });
  }

  /** A page of the erasures of the key's project, newest first. */
  erasures({ signal, limit, cursor }: ErasuresOptions = {}): Promise<Erasures> {
    const parameters: Record<string, string> = {};
    if (limit !== undefined) parameters['limit'] = String(limit);
    if (cursor !== undefined && cursor !== null) parameters['cursor'] = cursor;
    return this.#call<Erasures>({ method: 'GET', path: '/v1/erasures', parameters, signal });
  }

  /**
   * Everything that is held of an end user, by the userId of their messages: them, their sessions and the messages of
   * these. Throws an UndertoneError when it is cut off.
   */
  async *exportSubject(
    externalId: string,
    options: ReadOptions = {},
  ): AsyncGenerator<SubjectLine, void, undefined> {
    const path = `/v1/subjects/${encodeURIComponent(externalId)}/export`;
    const body = await this.#transport.stream(await this.#reading(path, options));
    const { limits } = this.#transport;
    let lines = 0;
    for await (const text of linesOf(body, { ...limits, signal: options.signal })) {
      const line = parsed(text) as ExportedLine;
      if (line.kind === 'END' && line.lines === lines) return;
      if (line.kind === 'END') break;
      lines += 1;
      yield line;
    }
    throw new UndertoneError('UNREACHABLE', `The export was cut off after ${lines} lines.`);
  }

  /** A page of the instances of the key's project, oldest first. */
  async instances(options: InstancesOptions = {}): Promise<Instances> {
    const { signal, limit, offset } = options;
    const parameters: Record<string, string> = options.default === true ? { default: 'true' } : {};
    if (limit !== undefined) parameters['limit'] = String(limit);
    if (offset !== undefined) parameters['offset'] = String(offset);
    return this.#call<Instances>({ method: 'GET', path: '/v1/instances', parameters, signal });
  }

  /** Makes an instance; with `default` it answers the project's default one, which is made when there is none. */
  createInstance(
    instance: NewInstance = {},
    options: CallOptions & { readonly idempotencyKey?: string | undefined } = {},
  ): Promise<Instance> {
    return this.#call<Instance>({
      method: 'POST',
      path: '/v1/instances',
      body: JSON.stringify(instance),
      idempotencyKey: options.idempotencyKey ?? crypto.randomUUID(),
      signal: options.signal,
    });
  }

  /** Null removes the name. */
  renameInstance(id: string, name: string | null, options: CallOptions = {}): Promise<Instance> {
    const path = `/v1/instances/${encodeURIComponent(id)}`;
    return this.#call<Instance>({ method: 'PATCH', path, body: JSON.stringify({ name }), ...options });
  }

  /** What the client's key may do. */
  key(options: CallOptions = {}): Promise<Key> {
    return this.#call<Key>({ method: 'GET', path: '/v1/key', ...options });
  }

  /** The client's instance: of its options, else the project's default one. Makes nothing. */
  async #findInstance(signal?: AbortSignal): Promise<string> {
    const known = this.#options.instanceId ?? this.#defaultInstance;
    if (known !== null) return known;
    const [found] = listIn(await this.instances({ default: true, signal }), 'elements');
    if (found !== undefined) return (this.#defaultInstance = textIn(found as Answer['json'], 'id'));
    throw new UndertoneError(
      'NOT_FOUND',
      'The project of the key has no default instance yet: nothing was sent to it. Send something, or set instanceId.',
    );
  }

  /** The same, for what is sent: the default instance is made where there is none. */
  async #makeInstance(waiting?: Waiting): Promise<string> {
    const known = this.#options.instanceId ?? this.#defaultInstance;
    if (known !== null) return known;
    const body = '{"default":true,"name":"default"}';
    const { json } = await this.#transport.json({
      method: 'POST',
      path: '/v1/instances',
      body,
      ...(waiting ?? { patienceMs: this.#patienceMs }),
    });
    return (this.#defaultInstance = textIn(json, 'id'));
  }

  /** Stores logged messages. */
  async #send(
    target: Target,
    messages: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<Ingested> {
    const { sessionId, metadata } = target;
    const waiting = { since, signal, patienceMs: this.#options.patienceMs ?? 300_000 };
    const instanceId = target.instanceId ?? (await this.#makeInstance(waiting));
    const rest = restOf({ instanceId, sessionId, metadata });
    const ingested = await this.#ingest(`{"messages":[${messages.join(',')}],${rest}`, waiting);
    const { warnings } = ingested;
    if (warnings !== null) tell(() => this.#options.onWarning?.(warnings, sessionId));
    return ingested;
  }

  async #ingest(
    body: string,
    options: Partial<Waiting> & { readonly idempotencyKey?: string | undefined },
  ): Promise<Ingested> {
    const { idempotencyKey = crypto.randomUUID(), patienceMs = this.#patienceMs, since, signal } = options;
    const answer = await this.#transport.json({
      method: 'POST',
      path: '/v1/ingest',
      body,
      idempotencyKey,
      hasMessages: true,
      patienceMs,
      since,
      signal,
    });
    return ingestedIn(answer.json, {
      position: positionOf(answer),
      warnings: answer.headers.get('x-warnings'),
    });
  }

  async #reading(path: string, options: ReadOptions): Promise<Call> {
    const { signal, waitFor } = options;
    const instanceId = options.instanceId ?? (await this.#findInstance(signal));
    const parameters = parametersOf(options, instanceId);
    return { method: 'GET', path, parameters, signal, waitFor, patienceMs: this.#patienceMs };
  }

  async #read<T>(path: string, options: ReadOptions): Promise<T> {
    const { json, headers } = await this.#transport.json(await this.#reading(path, options));
    return { ...json, waitResult: headers.get('x-wait-result') } as T;
  }

  async #change<T>(path: string, change: object, options: CurateOptions): Promise<T> {
    const instanceId = options.instanceId ?? (await this.#findInstance(options.signal));
    const answer = await this.#transport.json({
      method: 'POST',
      path,
      body: JSON.stringify({ instanceId, ...change }),
      idempotencyKey: options.idempotencyKey ?? crypto.randomUUID(),
      waitFor: options.waitFor,
      signal: options.signal,
      patienceMs: this.#patienceMs,
    });
    return { ...answer.json, position: positionOf(answer) } as T;
  }

  async #call<T>(call: Omit<Call, 'patienceMs'>): Promise<T> {
    return (await this.#transport.json({ ...call, patienceMs: this.#patienceMs })).json as T;
  }
}

/** A body's members besides the messages. What cannot be written as JSON came with the session. */
function restOf(members: object): string {
  try {
    return JSON.stringify(members).slice(1);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UndertoneError('INVALID_MESSAGE', `metadata: ${reason}`, { cause });
  }
}

function listIn(page: object, member: string): readonly unknown[] {
  const value = (page as Answer['json'])[member];
  if (Array.isArray(value)) return value;
  throw unexpected(member);
}

/** Where the next page begins; null: this was the last. One that begins where it did itself has no end. */
function nextOf(
  { pagination }: Pick<Transcript, 'pagination'>,
  cursor: string | null | undefined,
): string | null {
  const next: unknown = (pagination as Partial<Transcript['pagination']> | undefined)?.next;
  if (next === null || (typeof next === 'string' && next !== '' && next !== cursor)) return next;
  throw unexpected('next page');
}

function totalOf({ pagination }: { readonly pagination: { readonly total: number } }): number {
  const { total } = (pagination ?? {}) as { readonly total?: unknown };
  if (typeof total === 'number') return total;
  throw unexpected('total');
}
