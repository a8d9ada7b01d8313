import { ConnectionPool, paced, type Answered } from '../http-load.ts';
import { sharedMs, SHARED_ORIGIN_MS } from '../clock.ts';
import { exportRequest } from '../../../../test/support/otlp.ts';
import { randomWord } from './attacker.ts';
import { Ledger, type LedgerEntry } from './ledger.ts';
import { totalIn, totalPath, Visibility, type Fresh } from './visibility.ts';
import { Webhooks } from './webhooks.ts';

export interface VictimOptions {
  readonly url: string;
  readonly key: string;
  /** Requests a second: as many ingest requests as queries. */
  readonly perSecond: number;
  /** What the same victim was told before, in the order of its report: it goes on in these instances. */
  readonly known?: readonly LedgerEntry[];
  /** Turns of conversations to send: user and assistant alternate. */
  readonly conversations: readonly (readonly string[])[];
}

/** When a request was due (`sharedMs`), and its milliseconds from then to its answer. */
export interface Timed {
  readonly at: number;
  readonly ms: number;
}

/** All that a victim saw. */
export interface VictimReport {
  readonly ingest: readonly Timed[];
  readonly query: readonly Timed[];
  /** From accepted to visible in a query, for each ingest request. */
  readonly freshness: readonly Fresh[];
  /** The same for complete traces. */
  readonly traces: readonly Fresh[];
  /** Queries that wait for the position of what was just accepted. */
  readonly waits: readonly Timed[];
  /** From a test message that was due to its receiver. */
  readonly alerts: readonly Timed[];
  /** Answers that a victim must not get: any but 200, and numbers that no order of events explains. */
  readonly faults: readonly string[];
  readonly faultCount: number;
  readonly entries: readonly LedgerEntry[];
}

/** What a victim has besides its first instance. */
interface More {
  readonly traced: LedgerEntry;
  readonly webhooks: Webhooks;
}

const TRACES_PER_SECOND = 1;
const WAITS_PER_SECOND = 2;
const ALERTS_PER_SECOND = 1;
const MOST_WAITS = 8;
const LOOKS_AT_TRACES_PER_SECOND = 2;
const CONNECTIONS = 64;
const USERS = 7;
const MOST_FAULTS = 20;

/** What a dashboard asks. */
const QUESTIONS = [
  { groupBy: 'TOPIC', fields: 'sessions,messages,sat,dsat', limit: '20' },
  { groupBy: 'SESSION', fields: 'messages,sat,dsat', dimensionFields: 'title,topics', limit: '20' },
  { groupBy: 'GAP', fields: 'sessions,messages', limit: '20' },
  { groupBy: 'CSAT_DSAT', fields: 'messages', timeGranularity: 'DAY' },
] as const;

/**
 * A caller of a project of its own who sends and asks at a modest pace, whatever becomes of it: each latency counts
 * from when the request was due. What it counts of its messages tells when each of them became visible.
 */
export class Victim {
  readonly #options: VictimOptions;
  readonly #pool: ConnectionPool;
  /** What asks for long delays nothing that is sent. */
  readonly #asking: ConnectionPool;
  readonly #waiting: ConnectionPool;
  /** What both were told before: no request of this victim's. */
  readonly #account: LedgerEntry;
  readonly #traced: LedgerEntry;
  readonly #webhooks: Webhooks;
  readonly #ingest: Timed[] = [];
  readonly #query: Timed[] = [];
  readonly #waits: Timed[] = [];
  readonly #messages = new Visibility();
  readonly #traces = new Visibility();
  readonly #ledger = new Ledger();
  readonly #faults: string[] = [];
  #faultCount = 0;
  #latest = 0;
  #isSending = true;
  #isAsking = true;

  private constructor(options: VictimOptions, pool: ConnectionPool, account: LedgerEntry, more: More) {
    this.#options = options;
    this.#account = account;
    this.#traced = more.traced;
    this.#webhooks = more.webhooks;
    this.#pool = pool;
    this.#ledger.add([this.#account, this.#traced]);
    this.#asking = new ConnectionPool(options.url, CONNECTIONS);
    this.#waiting = new ConnectionPool(options.url, MOST_WAITS);
  }

  /** Makes its instances and alerts. */
  static async open(options: VictimOptions): Promise<Victim> {
    const { url, key, known = [] } = options;
    const pool = new ConnectionPool(url, CONNECTIONS);
    const make = async (): Promise<LedgerEntry> => {
      const answer = await pool.post('/v1/instances/', { 'x-api-key': key }, '{}');
      if (answer.status !== 201) throw new Error(`no instance was made: ${answer.status} ${answer.body}`);
      const { id: instanceId } = JSON.parse(answer.body) as { readonly id: string };
      return { instanceId, key, accepted: 0, unknown: 0, position: 0 };
    };
    const webhooks = await Webhooks.open(pool, await make());
    // Where nobody knows what is stored, a total would not tell what it counts.
    const [account = await make(), traced = await make()] = known.every(({ unknown }) => unknown === 0)
      ? known
      : [];
    return new Victim(options, pool, account, { traced, webhooks });
  }

  /** Goes on until `rest` and `stop`. */
  async run(): Promise<void> {
    const { perSecond } = this.#options;
    const sending = (): boolean => !this.#isSending;
    const asking = (): boolean => !this.#isAsking;
    await Promise.all([
      paced({ rate: perSecond, ended: sending }, (dueAt, number) => this.#send(dueAt, number)),
      paced({ rate: TRACES_PER_SECOND, ended: sending }, () => this.#trace()),
      paced({ rate: WAITS_PER_SECOND, ended: sending, most: MOST_WAITS }, (dueAt) => this.#wait(dueAt)),
      paced({ rate: ALERTS_PER_SECOND, ended: sending }, (dueAt) => this.#test(dueAt)),
      paced({ rate: perSecond / 2, ended: asking }, (dueAt) => this.#count(dueAt)),
      paced({ rate: perSecond / 2, ended: asking }, (dueAt, number) => this.#ask(dueAt, number)),
      paced({ rate: LOOKS_AT_TRACES_PER_SECOND, ended: asking }, () => this.#countTraces()),
    ]);
  }

  /** Sends nothing more, and asks on. */
  rest(): void {
    this.#isSending = false;
  }

  /** Everything that was accepted was seen in a query. */
  get isVisible(): boolean {
    return this.#messages.isComplete && this.#traces.isComplete && this.#webhooks.isComplete;
  }

  /** Ends; what has no answer by then is a fault. */
  stop(): void {
    this.#isSending = false;
    this.#isAsking = false;
  }

  close(): void {
    this.#pool.close();
    this.#asking.close();
    this.#waiting.close();
    this.#webhooks.close();
  }

  report(): VictimReport {
    for (const fault of [...this.#messages.faults(), ...this.#traces.faults()]) this.#fault(fault);
    return {
      ingest: this.#ingest,
      query: this.#query,
      freshness: this.#messages.freshness(),
      traces: this.#traces.freshness(),
      waits: this.#waits,
      alerts: this.#webhooks.delivered(),
      faults: this.#faults,
      faultCount: this.#faultCount,
      entries: this.#ledger.entries(),
    };
  }

  async #send(dueAt: number, number: number): Promise<void> {
    const { conversations } = this.#options;
    const turns = conversations[number % conversations.length] ?? ['Where is my parcel?'];
    // As many as no two neighbours have: a total then tells which requests it counts.
    const newTurns = turns.slice(0, 1 + (number % 4));
    const messages = newTurns.map((content, index) =>
      index % 2 === 0
        ? { role: 'user', userId: `v-${number % USERS}`, content }
        : { role: 'assistant', content },
    );
    const { instanceId } = this.#account;
    const answer = await this.#timed(this.#ingest, dueAt, 'ingest', () =>
      this.#pool.post('/v1/ingest/', this.#headers(), JSON.stringify({ instanceId, messages })),
    );
    if (answer?.status !== 200) {
      this.#ledger.unknown(this.#account, messages.length);
      this.#messages.unknown();
      return;
    }
    const position = Number(answer.headers.get('x-stream-position'));
    this.#ledger.accepted(this.#account, messages.length, position);
    this.#messages.accepted({ at: sharedMs(), position, messages: messages.length });
    this.#latest = Math.max(this.#latest, position);
  }

  /** A complete trace of one call. */
  async #trace(): Promise<void> {
    const name = randomWord();
    const endedAt = Date.now();
    const { headers, body } = exportRequest([
      {
        trace: name,
        span: name,
        operation: 'chat',
        startedAt: endedAt - 900,
        endedAt,
        conversationId: name,
        userId: `v-${endedAt % USERS}`,
        asked: [{ role: 'user', content: 'Where is my parcel?' }],
        answered: [{ role: 'assistant', content: 'It arrives tomorrow.' }],
      },
    ]);
    const all = { ...(headers as Record<string, string>), 'x-instance-id': this.#traced.instanceId };
    const answer = await this.#timed([], performance.now(), 'traces', () =>
      this.#pool.post('/v1/traces', this.#headers(all), Buffer.from(body as Uint8Array)),
    );
    if (answer?.status !== 200) {
      this.#ledger.unknown(this.#traced, 2);
      this.#traces.unknown();
      return;
    }
    this.#ledger.accepted(this.#traced, 2);
    this.#traces.accepted({ at: sharedMs(), position: this.#traces.count, messages: 2 });
  }

  async #test(dueAt: number): Promise<void> {
    try {
      const answer = await this.#webhooks.test(dueAt + SHARED_ORIGIN_MS);
      // 409: the one before has come, and the service is about to know it.
      if (answer !== null && answer.status >= 400 && answer.status !== 409)
        this.#fault(`alerts: status ${answer.status}: ${answer.body.slice(0, 200)}`);
    } catch (error) {
      this.#fault(`alerts: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #count(dueAt: number): Promise<void> {
    const askedAt = sharedMs();
    const total = await this.#totalOf(this.#account, this.#query, dueAt);
    if (total !== null) this.#messages.seen({ askedAt, at: sharedMs(), total });
  }

  async #countTraces(): Promise<void> {
    if (this.#traces.count === 0) return;
    const askedAt = sharedMs();
    const total = await this.#totalOf(this.#traced, [], performance.now());
    if (total !== null) this.#traces.seen({ askedAt, at: sharedMs(), total });
  }

  /** What is counted of this victim's: all messages of an instance belong to its few users. */
  async #totalOf(
    { instanceId, accepted }: LedgerEntry,
    times: Timed[],
    dueAt: number,
  ): Promise<number | null> {
    const answer = await this.#timed(times, dueAt, 'query', () =>
      this.#asking.get(totalPath(instanceId), this.#headers()),
    );
    return answer?.status === 200 ? totalIn(answer.body) - accepted : null;
  }

  async #ask(dueAt: number, number: number): Promise<void> {
    const question = QUESTIONS[number % QUESTIONS.length] ?? QUESTIONS[0];
    const query = new URLSearchParams({ instanceId: this.#account.instanceId, ...question });
    await this.#timed(this.#query, dueAt, 'query', () =>
      this.#asking.get(`/v1/query/?${query}`, this.#headers()),
    );
  }

  /** Reads what was just written. */
  async #wait(dueAt: number): Promise<void> {
    if (this.#latest === 0) return;
    const { instanceId } = this.#account;
    const query = new URLSearchParams({ instanceId, groupBy: 'TOPIC', fields: 'messages', limit: '1' });
    const headers = this.#headers({ 'x-wait-for-position': String(this.#latest) });
    let answer: Answered | null;
    do {
      answer = await this.#timed([], dueAt, 'a query that waits', () =>
        this.#waiting.get(`/v1/query/?${query}`, headers),
      );
    } while (this.#isAsking && answer?.status === 200 && answer.headers.get('x-wait-result') === 'timeout');
    if (answer?.status === 200)
      this.#waits.push({ at: dueAt + SHARED_ORIGIN_MS, ms: performance.now() - dueAt });
  }

  /** Keeps how long it took. Whatever is no 200 is a fault. */
  async #timed(
    times: Timed[],
    dueAt: number,
    what: string,
    ask: () => Promise<Answered>,
  ): Promise<Answered | null> {
    try {
      const answer = await ask();
      times.push({ at: dueAt + SHARED_ORIGIN_MS, ms: performance.now() - dueAt });
      if (answer.status !== 200)
        this.#fault(`${what}: status ${answer.status}: ${answer.body.slice(0, 200)}`);
      return answer;
    } catch (error) {
      times.push({ at: dueAt + SHARED_ORIGIN_MS, ms: Infinity });
      this.#fault(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }

  #fault(what: string): void {
    this.#faultCount += 1;
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(what);
  }

  #headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { 'x-api-key': this.#options.key, ...more };
  }
}
