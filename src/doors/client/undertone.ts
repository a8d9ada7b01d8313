/**
 * The client of the HTTP API (docs/client.md). Calls reject with an UndertoneError or the reason of their signal;
 * logging in sessions never rejects.
 *
 * Test: test/doors/client/undertone.test.ts.
 */
import type {
  AcceptedErasure,
  Changes,
  Attributes,
  AttributesOptions,
  Differences,
  DifferencesOptions,
  Brief,
  BriefOptions,
  Effects,
  EffectsOptions,
  ChangesOptions,
  CreatedTopic,
  SavedLabel,
  CurateOptions,
  Curation,
  CurationAnswer,
  Curations,
  CursorOptions,
  Erasure,
  Erasures,
  ErasuresOptions,
  FeedbackBody,
  Given,
  GivenList,
  IngestBody,
  Ingested,
  Instance,
  Instances,
  InstancesOptions,
  Key,
  ListedCuration,
  NewErasure,
  NewInstance,
  Label,
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

type SendOptions = CallOptions & { readonly idempotencyKey?: string | undefined };

type Waiting = Pick<Call, 'patienceMs' | 'since' | 'signal'>;

/** Path of `why` by grouping. */
const WHY_PATHS: Readonly<Record<WhyGroupBy, string>> = {
  TOPIC: 'topics',
  TOPIC_CLUSTER: 'topic-clusters',
  GAP: 'gaps',
  REPEATED_REQUEST: 'repeated-requests',
  LABEL: 'labels',
  END_USER: 'end-users',
};

/** A client of the HTTP API. */
export class Undertone {
  readonly #options: UndertoneOptions;
  readonly #transport: Transport;
  readonly #outbox: Outbox;
  readonly #patienceMs: number;
  /** The project's default instance; null until known. */
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

  /** Opens a conversation whose messages are sent in the background. Throws a TypeError if its id cannot be derived. */
  session(options: SessionOptions = {}): Session {
    const instanceId = options.instanceId ?? this.#options.instanceId;
    return new Session({ ...options, instanceId }, this.#outbox);
  }

  /** Number of unstored messages. */
  get pending(): number {
    return this.#outbox.size;
  }

  /** Sends waiting messages; resolves when all logged before are stored or lost. */
  flush(): Promise<Flushed> {
    return this.#outbox.flush();
  }

  /** Flushes and accepts nothing more. Messages not stored after `timeoutMs` are lost. */
  close(options: { readonly timeoutMs?: number | undefined } = {}): Promise<Flushed> {
    return this.#outbox.close(options.timeoutMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Stores messages in one request; resolves when they are durable. The default instance is the client's. */
  async ingest(body: IngestBody, options: SendOptions = {}): Promise<Ingested> {
    const instanceId = body.instanceId ?? (await this.#makeInstance());
    return this.#ingest(JSON.stringify({ ...body, instanceId }), options);
  }

  /**
   * Gives an end user's feedback on a message; resolves when it is durable. Later feedback of the same end user on the
   * same message takes its place, and the value 0 takes it back. Of a list of 1 to 100 pieces, all are stored or, if the
   * service refuses one, none.
   */
  feedback(given: FeedbackBody, options?: SendOptions): Promise<Given>;
  feedback(given: readonly FeedbackBody[], options?: SendOptions): Promise<GivenList>;
  async feedback(
    given: FeedbackBody | readonly FeedbackBody[],
    options: SendOptions = {},
  ): Promise<Given | GivenList> {
    const bodyOf = ({ instanceId = this.#options.instanceId, ...rest }: FeedbackBody): object => ({
      instanceId,
      ...rest,
    });
    const list: readonly FeedbackBody[] | null = Array.isArray(given) ? given : null;
    const body = list === null ? bodyOf(given as FeedbackBody) : { feedback: list.map(bodyOf) };
    const answer = await this.#transport.json({
      method: 'POST',
      path: '/v1/feedback',
      body: JSON.stringify(body),
      idempotencyKey: options.idempotencyKey ?? crypto.randomUUID(),
      signal: options.signal,
      patienceMs: this.#patienceMs,
    });
    return { ...answer.json, position: positionOf(answer) } as Given | GivenList;
  }

  /** Returns metrics by group, one page. */
  async query<
    G extends GroupBy,
    F extends MetricOf<G>,
    D extends DimensionFieldOf<G> = never,
    T extends Granularity = 'ALL',
  >(query: Query<G, F, D, T>): Promise<Page<G, F, D, T>> {
    return this.#read('/v1/query', query);
  }

  /** Yields page after page. Each has its own moment: rows may move between pages while messages arrive. */
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

  /** Streams every row, all of one moment; without a limit unless the query has one. */
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

  /** Returns figures of the whole instance. */
  overview(options: PeriodOptions = {}): Promise<Overview> {
    return this.#read('/v1/overview', options);
  }

  /** Returns what sessions of one value of an attribute have more or less often than those of another. */
  differences(options: DifferencesOptions): Promise<Differences> {
    return this.#read('/v1/differences', options);
  }

  /** Returns what people asked for where the assistant lacked something, grouped and quoted. */
  brief(gapId: string, options: BriefOptions = {}): Promise<Brief> {
    return this.#read(`/v1/gaps/${encodeURIComponent(gapId)}/brief`, options);
  }

  /** Tells of what people said is fixed whether it helped. */
  effects(options: EffectsOptions = {}): Promise<Effects> {
    return this.#read('/v1/effects', options);
  }

  /**
   * Returns the attributes of sessions, with their values: what `segment` and `segmentKey` take. Sessions are those of
   * the range, or else of all time.
   */
  attributes(options: AttributesOptions = {}): Promise<Attributes> {
    return this.#read('/v1/attributes', options);
  }

  /** Returns changes of a period against the period before. */
  changes(options: ChangesOptions): Promise<Changes> {
    return this.#read('/v1/changes', options);
  }

  /** Explains the numbers of one topic, topic cluster, gap, repeated request or end user. */
  why<G extends WhyGroupBy>(groupBy: G, id: string, options: PeriodOptions = {}): Promise<Why<G>> {
    return this.#read(`/v1/${WHY_PATHS[groupBy]}/${encodeURIComponent(id)}`, options);
  }

  /** Finds sessions in which a message contains a text: one page, after about a second of searching. */
  said(said: string, options: SaidOptions = {}): Promise<Said> {
    const asked: SaidOptions & { readonly said: string } = { ...options, said };
    return this.#read('/v1/sessions', asked);
  }

  /** Returns a page of a conversation with the findings of each message. */
  transcript(sessionId: string, options: CursorOptions = {}): Promise<Transcript> {
    return this.#read(`/v1/sessions/${encodeURIComponent(sessionId)}`, options);
  }

  /** Yields all messages of a conversation. */
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

  /** Creates a topic from examples. */
  async createTopic(topic: NewTopic, options: CurateOptions = {}): Promise<CreatedTopic> {
    return this.#change<CreatedTopic>('/v1/topics', topic, options);
  }

  /** Makes a label of examples and counterexamples, or changes the one that it names. */
  async saveLabel(label: Label, options: CurateOptions = {}): Promise<SavedLabel> {
    return this.#change<SavedLabel>('/v1/labels', label, options);
  }

  /** Returns a page of curations, newest first. */
  curations(options: CursorOptions = {}): Promise<Curations> {
    return this.#read('/v1/curations', options);
  }

  /** Yields all curations, newest first. */
  async *allCurations(options: CursorOptions = {}): AsyncGenerator<ListedCuration, void, undefined> {
    for (let { cursor } = options; cursor !== null;) {
      const page: Curations = await this.curations({ ...options, cursor });
      yield* listIn(page, 'elements') as readonly ListedCuration[];
      cursor = nextOf(page, cursor);
    }
  }

  /**
   * Erases a session, an end user, messages or a whole instance for good. It happens later: `erasure` returns its
   * state.
   */
  erase(erasure: NewErasure, options: CurateOptions = {}): Promise<AcceptedErasure> {
    return this.#change('/v1/erasures', erasure, options);
  }

  /** Returns the state of an erasure and the counts of erased data. */
  erasure(id: string, options: CallOptions = {}): Promise<Erasure> {
    const path = `/v1/erasures/${encodeURIComponent(id)}`;
    return this.#call<Erasure>({ method: 'GET', path, ...options });
  }

  /** Returns a page of the erasures of the key's project, newest first. */
  erasures(options: ErasuresOptions = {}): Promise<Erasures> {
    return this.#list('/v1/erasures', options);
  }

  /**
   * Exports all data of an end user, by the userId of their messages: the end user, the sessions and their messages.
   * Throws an UndertoneError when the export is cut off.
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

  /** Returns a page of the instances of the key's project, oldest first. */
  instances(options: InstancesOptions = {}): Promise<Instances> {
    return this.#list('/v1/instances', options);
  }

  /** Creates an instance; with `default`, returns the project's default instance and creates it if missing. */
  createInstance(instance: NewInstance = {}, options: SendOptions = {}): Promise<Instance> {
    return this.#call<Instance>({
      method: 'POST',
      path: '/v1/instances',
      body: JSON.stringify(instance),
      idempotencyKey: options.idempotencyKey ?? crypto.randomUUID(),
      signal: options.signal,
    });
  }

  /** Renames an instance; null removes the name. */
  renameInstance(id: string, name: string | null, options: CallOptions = {}): Promise<Instance> {
    const path = `/v1/instances/${encodeURIComponent(id)}`;
    return this.#call<Instance>({ method: 'PATCH', path, body: JSON.stringify({ name }), ...options });
  }

  /** Returns the scopes of the client's key. */
  key(options: CallOptions = {}): Promise<Key> {
    return this.#call<Key>({ method: 'GET', path: '/v1/key', ...options });
  }

  /** Returns the client's instance, or the project's default one; creates none. */
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

  /** As `#findInstance` for sending: creates the default instance if missing. */
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

  /** Reads a list of the key's project. */
  async #list<T>(path: string, options: CallOptions): Promise<T> {
    return this.#call({ method: 'GET', path, parameters: parametersOf(options), signal: options.signal });
  }

  async #call<T>(call: Omit<Call, 'patienceMs'>): Promise<T> {
    return (await this.#transport.json({ ...call, patienceMs: this.#patienceMs })).json as T;
  }
}

/** Serialises the members of a body besides the messages; only a session's metadata can fail. */
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

/** Returns the cursor of the next page, or null after the last. Throws if the cursor does not advance. */
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
