/**
 * Writers and readers of webs that answer for the same views. Each request is repeated, at one web after the other and
 * with its Idempotency-Key, until it is accepted: the ledger has what was sent and accepted, apart from the service.
 * Readers hold each web to it all the time.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ingestResponseSchema } from '../../../src/contract/ingest.ts';
import type { RecordedRequest } from '../../../src/domain/records.ts';
import { queryResponseSchema, type QueryResponse } from '../../../src/query/response-schema.ts';
import { toSearch } from '../../support/client.ts';
import { requestsOf } from '../../support/replays.ts';
import { Random } from './random.ts';

const WRITERS = 3;
const WRITE_EVERY_MS = 700;
const READ_EVERY_MS = 700;
const PROBE_EVERY_MS = 300;
const RETRY_MS = 60;
const INGEST_MS = 15_000;
const QUERY_MS = 20_000;
/** A balancer waits so long for one web. */
const TRY_MS = 700;
const LIMIT = 10_000;
const LATEST = 6;
/** Microseconds. */
const UNWANTED_AT = Date.UTC(2026, 0, 5, 9) * 1000;

export const INSTANCES = 24;

/** What is known of an instance. */
interface Ledger {
  /** Messages of requests that were begun, without erased ones: the most that may be counted. */
  sent: number;
  /** Messages of requests that were answered with 200, without those that somebody wants erased. */
  accepted: number;
  /** Messages that somebody wanted erased so far, and those of them that no web counts any more. */
  unwanted: number;
  erased: number;
  /** The latest position among them. */
  position: number;
  /** How the latest of them were accepted, for whoever looks for a fault. */
  readonly latest: string[];
}

/** A web, by the name of its machine. */
export interface Web {
  readonly name: string;
  readonly url: string;
}

/** A session that somebody wants erased. */
export interface Unwanted {
  readonly instance: string;
  readonly session: string;
  readonly messages: number;
  /** Id of the erasure. */
  readonly erasure: string;
}

type SentRequest = Pick<RecordedRequest, 'requestId' | 'instanceId' | 'sessionId' | 'messages'>;

interface Reply {
  /** 0: nobody answered. */
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers | null;
}

interface Counted {
  readonly total: number;
  /** Ids of the sessions. */
  readonly sessions: ReadonlySet<string>;
  /** True if the position that was waited for is contained. */
  readonly isReached: boolean;
}

const QUESTION = { groupBy: 'SESSION', fields: 'messages', limit: LIMIT } as const;

export class SharedLoad {
  /** Answers that no order of events explains. */
  readonly wrong: string[] = [];
  readonly statuses: Record<string, number> = {};
  queries = 0;
  readonly #webs: readonly Web[];
  readonly #key: string;
  readonly #random: Random;
  readonly #slowness: number;
  readonly #ledger: ReadonlyMap<string, Ledger>;
  /** The most that each web has counted of each instance. */
  readonly #seen = new Map<string, number>();
  /** Times until the balancer had an answer, milliseconds, since they were last taken. */
  #probes: number[] = [];
  /** Sessions that no web shows any more. */
  readonly #gone = new Set<string>();
  #lap = 0;
  #requests: RecordedRequest[] = [];
  #isWriting = true;
  #isReading = true;
  #writing: Promise<unknown> = Promise.resolve();
  #reading: Promise<unknown> = Promise.resolve();
  /** The web that the balancer asks first. */
  #first = 0;

  /** `slowness`: how many times the usual pause is between two requests. */
  constructor(
    webs: readonly Web[],
    key: string,
    instances: readonly string[],
    { seed, slowness }: { readonly seed: number; readonly slowness: number },
  ) {
    this.#slowness = slowness;
    this.#webs = webs;
    this.#key = key;
    this.#random = new Random(seed ^ 0x10ad);
    this.#ledger = new Map(
      instances.map((id) => [id, { sent: 0, accepted: 0, unwanted: 0, erased: 0, position: 0, latest: [] }]),
    );
  }

  start(): void {
    this.#writing = Promise.all(Array.from({ length: WRITERS }, () => this.#write()));
    this.#reading = Promise.all([...this.#webs.map((web) => this.#read(web)), this.#probe()]);
    for (const work of [this.#writing, this.#reading]) work.catch(() => undefined);
  }

  get instances(): readonly string[] {
    return [...this.#ledger.keys()];
  }

  get accepted(): number {
    return [...this.#ledger.values()].reduce((sum, { accepted }) => sum + accepted, 0);
  }

  acceptedOf(instance: string): number {
    return this.#of(instance).accepted;
  }

  /** Times until the balancer had an answer since the last call, milliseconds. */
  takeProbes(): number[] {
    return this.#probes.splice(0);
  }

  /** Ends writing once all that was begun is accepted. Readers go on. */
  async stopWriting(): Promise<void> {
    this.#isWriting = false;
    await this.#writing;
  }

  async stopReading(): Promise<void> {
    this.#isReading = false;
    await this.#reading;
  }

  /** Sends a message to an instance now. Resolves once any web counts it. */
  async counted(instance: string): Promise<void> {
    await this.#accept(await this.#next(instance));
    const { accepted } = this.#of(instance);
    for (;;) {
      const all = await Promise.all(this.#webs.map((web) => this.#count(web, instance, 0, TRY_MS * 3)));
      if (all.some((counted) => (counted?.total ?? 0) >= accepted)) return;
      await sleep(RETRY_MS);
    }
  }

  /** Sends a conversation with a word in each of its messages, and asks for its erasure. */
  async wantErased(instance: string, word: string): Promise<Unwanted> {
    const session = randomUUID();
    const ledger = this.#of(instance);
    let messages = 0;
    for (const content of [`Where is parcel ${word}?`, `Can ${word} come on Friday?`]) {
      const turns = [
        { role: 'user', content, at: UNWANTED_AT, userId: `${word}@example.com` },
        { role: 'assistant', content: `${word} is on its way.`, at: UNWANTED_AT },
      ];
      const request = { requestId: randomUUID(), instanceId: instance, sessionId: session, messages: turns };
      await this.#accept(request);
      messages += turns.length;
    }
    ledger.unwanted += messages;
    ledger.accepted -= messages;
    for (const { name } of this.#webs) {
      const key = `${name} ${instance}`;
      this.#seen.set(key, Math.max(0, (this.#seen.get(key) ?? 0) - messages));
    }
    const body = JSON.stringify({ instanceId: instance, sessionId: session });
    const headers = { 'x-wait-for-position': String(ledger.position) };
    const erasure = await this.#ask('/v1/erasures/', { method: 'POST', body, headers });
    return { instance, session, messages, erasure: String(erasure['id']) };
  }

  /** Waits until an erasure is done and no web shows the session. Returns what is wrong. */
  async erased({ instance, session, messages, erasure }: Unwanted, withinMs: number): Promise<string[]> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const { state, fault } = await this.#ask(`/v1/erasures/${erasure}`, {});
      if (state === 'DONE') break;
      if (performance.now() > deadline) return [`erasure ${erasure}: ${String(state)}, ${String(fault)}`];
      await sleep(RETRY_MS);
    }
    for (const web of this.#webs)
      for (;;) {
        const counted = await this.#count(web, instance, 0);
        if (counted?.sessions.has(session) === false) break;
        if (performance.now() > deadline)
          return [`${web.name} shows ${session} of ${instance}, which is erased`];
        await sleep(RETRY_MS);
      }
    const ledger = this.#of(instance);
    ledger.sent -= messages;
    ledger.erased += messages;
    this.#gone.add(session);
    return [];
  }

  /** Waits until each web counts all that is accepted by now. Returns what is missing after some time. */
  async caughtUp(withinMs: number): Promise<string[]> {
    const deadline = performance.now() + withinMs;
    const due = [...this.#ledger].map(([id, { accepted, position }]) => ({ id, accepted, position }));
    const missing = this.#webs.map(async (web) => {
      for (const { id, accepted, position } of due)
        for (;;) {
          const counted = await this.#count(web, id, position);
          if ((counted?.total ?? -1) >= accepted) break;
          if (performance.now() > deadline)
            return [`${web.name} counts ${counted?.total ?? 'nothing'} of ${accepted} of ${id}`];
          await sleep(RETRY_MS);
        }
      return [];
    });
    return (await Promise.all(missing)).flat();
  }

  /** Counts exactly; null while the web does not answer. */
  async totalOf(web: Web, instance: string): Promise<number | null> {
    return (await this.#count(web, instance, this.#of(instance).position))?.total ?? null;
  }

  /** An answer in full; rejects without one. */
  async answer(web: Web, parameters: Readonly<Record<string, string | number>>): Promise<QueryResponse> {
    const { status, body } = await this.#fetch(
      web,
      `/v1/query/?${toSearch({ ...parameters, limit: LIMIT })}`,
      {},
      60_000,
    );
    if (status !== 200) throw new Error(`${web.name} answers ${status}: ${JSON.stringify(body)}`);
    return queryResponseSchema.parse(body);
  }

  #of(instance: string): Ledger {
    const ledger = this.#ledger.get(instance);
    if (ledger === undefined) throw new Error(`no instance ${instance}`);
    return ledger;
  }

  async #write(): Promise<void> {
    while (this.#isWriting) {
      await this.#accept(await this.#next());
      await sleep(WRITE_EVERY_MS * this.#slowness);
    }
  }

  /** The next request, of an instance if one is given: conversations without end. */
  async #next(instance?: string): Promise<RecordedRequest> {
    for (;;) {
      const place =
        instance === undefined ? 0 : this.#requests.findIndex((request) => request.instanceId === instance);
      const [request] = place < 0 ? [] : this.#requests.splice(place, 1);
      if (request !== undefined) return request;
      this.#lap += 1;
      this.#requests.push(...requestsOf({ instances: INSTANCES, messages: 8, seed: `lap ${this.#lap} ` }));
    }
  }

  /** Asks one web after the other until one answers with 2xx. */
  async #ask(path: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> {
    const key = randomUUID();
    for (let turn = this.#random.between(0, this.#webs.length - 1); ; turn += 1) {
      const web = this.#webs[turn % this.#webs.length] as Web;
      const headers = { ...init.headers, 'content-type': 'application/json', 'idempotency-key': key };
      const { status, body } = await this.#fetch(web, path, { ...init, headers }, INGEST_MS);
      if (status >= 200 && status < 300) return body as Readonly<Record<string, unknown>>;
      if (status !== 0 && status !== 503)
        this.#tell(`${web.name}: ${path}: ${status} ${JSON.stringify(body)}`);
      await sleep(RETRY_MS);
    }
  }

  async #accept(request: SentRequest): Promise<void> {
    const { instanceId, sessionId, requestId, messages } = request;
    const ledger = this.#of(instanceId);
    ledger.sent += messages.length;
    const body = JSON.stringify({
      instanceId,
      sessionId,
      messages: messages.map(({ role, content, userId, at }) => ({
        role,
        content,
        ...(userId === undefined ? {} : { userId }),
        metadata: { createdAt: new Date((at ?? 0) / 1000).toISOString() },
      })),
    });
    const tries: string[] = [];
    for (let turn = this.#random.between(0, this.#webs.length - 1); ; turn += 1) {
      const web = this.#webs[turn % this.#webs.length] as Web;
      const { name } = web;
      const reply = await this.#fetch(
        web,
        '/v1/ingest/',
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': requestId },
          body,
        },
        INGEST_MS,
      );
      this.statuses[reply.status] = (this.statuses[reply.status] ?? 0) + 1;
      if (reply.status === 200) {
        const ids = ingestResponseSchema.parse(reply.body);
        if (ids.instanceId !== instanceId || ids.sessionId !== sessionId)
          this.wrong.push(`ingest answered ${JSON.stringify(ids)} for ${instanceId} ${sessionId}`);
        ledger.accepted += messages.length;
        const position = Number(reply.headers?.get('x-stream-position'));
        if (!(position > 0)) this.#tell(`${name} accepted ${requestId} of ${instanceId} at no position`);
        ledger.position = Math.max(ledger.position, position);
        tries.push(`${messages.length} messages at ${position} by ${name}, ${new Date().toISOString()}`);
        ledger.latest.push(`${requestId}: ${tries.join(', ')}`);
        if (ledger.latest.length > LATEST) ledger.latest.shift();
        return;
      }
      tries.push(`${reply.status} of ${name}`);
      if (reply.status !== 0 && reply.status !== 503)
        this.wrong.push(`ingest: ${reply.status} ${JSON.stringify(reply.body)}`);
      await sleep(RETRY_MS);
    }
  }

  async #read(web: Web): Promise<void> {
    for (let turn = 0; this.#isReading; turn += 1) {
      const instance = this.#random.pick(this.instances);
      await this.#count(web, instance, turn % 4 === 0 ? this.#of(instance).position : 0);
      await sleep(READ_EVERY_MS * this.#slowness);
    }
  }

  /** Asks as a balancer does: a web that does not answer soon is passed over, and the next one is asked. */
  async #probe(): Promise<void> {
    while (this.#isReading) {
      const startedAt = performance.now();
      const instance = this.#random.pick(this.instances);
      while (this.#isReading) {
        const web = this.#webs[this.#first % this.#webs.length] as Web;
        if ((await this.#count(web, instance, 0, TRY_MS)) !== null) break;
        this.#first += 1;
      }
      this.#probes.push(performance.now() - startedAt);
      await sleep(PROBE_EVERY_MS);
    }
  }

  /**
   * The messages that a web counts of an instance, once the position is reached or after some seconds; null: it does not
   * answer. What it says is held against the ledger and against what it said before.
   */
  async #count(web: Web, instance: string, position: number, withinMs = QUERY_MS): Promise<Counted | null> {
    const name = `${web.name} ${instance}`;
    const ledger = this.#of(instance);
    // Read before the question: what comes meanwhile may be counted or not.
    const least = this.#seen.get(name) ?? 0;
    const { accepted, unwanted, erased } = ledger;
    const gone = [...this.#gone];
    const due = position >= ledger.position && position > 0 ? accepted : 0;
    const { status, body, headers } = await this.#fetch(
      web,
      `/v1/query/?${toSearch({ instanceId: instance, ...QUESTION })}`,
      { headers: position === 0 ? {} : { 'x-wait-for-position': String(position) } },
      withinMs,
    );
    if (status === 0 || status === 503) return null;
    if (status !== 200) {
      this.#tell(`${web.name}: query: ${status} ${JSON.stringify(body)}`);
      return null;
    }
    this.queries += 1;
    const { elements } = queryResponseSchema.parse(body);
    const total = elements.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0);
    const sessions = new Set(elements.flatMap(({ dimensions }) => dimensions.session?.id ?? []));
    const isReached = headers?.get('x-wait-result') === 'reached';
    // What is wanted erased may be counted or not, from before the question until no web shows it.
    const wanted = ledger.unwanted - unwanted;
    const most = ledger.sent + ledger.erased - erased;
    if (total > most) this.#tell(`${name}: ${total} counted of ${most} sent`);
    if (total < least - wanted) this.#tell(`${name}: ${total} counted after ${least} had been`);
    if (isReached && total < due - wanted)
      this.#tell(
        `${name}: ${total} counted at position ${position}, of ${due} accepted\n${ledger.latest.join('\n')}`,
      );
    for (const session of gone) if (sessions.has(session)) this.#tell(`${name}: ${session} is back`);
    this.#seen.set(name, Math.max(total - (ledger.unwanted - erased), this.#seen.get(name) ?? 0));
    return { total, sessions, isReached };
  }

  #tell(sentence: string): void {
    this.wrong.push(`${new Date().toISOString()} ${sentence}`);
  }

  async #fetch(web: Web, path: string, init: RequestInit, withinMs: number): Promise<Reply> {
    try {
      const headers = new Headers(init.headers);
      headers.set('x-api-key', this.#key);
      const response = await fetch(`${web.url}${path}`, {
        ...init,
        headers,
        signal: AbortSignal.timeout(withinMs),
      });
      const text = await response.text();
      return { status: response.status, body: JSON.parse(text), headers: response.headers };
    } catch {
      return { status: 0, body: null, headers: null };
    }
  }
}
