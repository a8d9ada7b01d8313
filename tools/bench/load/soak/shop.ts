import { setTimeout as sleep } from 'node:timers/promises';
import { isAllowed } from '../attacks/attacker.ts';
import { Ledger } from '../attacks/ledger.ts';
import type { Answered, ConnectionPool } from '../http-load.ts';
import { randomFrom } from '../questions.ts';
import type { Tally } from '../tally.ts';
import { anyQuestion, type Span } from './questions.ts';

const DAY = 86_400e6;
const SPAN_DAYS = 60;
const USERS = 500;

/** An instance with two months of conversations that goes on growing while it is asked everything. */
export class Shop {
  readonly span: Span;
  readonly instanceId: string;
  readonly ledger = new Ledger();
  /** Topics seen so far, to filter by. */
  #topicIds: readonly string[] = [];
  readonly #key: string;
  readonly #conversations: readonly (readonly string[])[];
  readonly #random = randomFrom(7);
  #sent = 0;

  private constructor(key: string, conversations: readonly (readonly string[])[], instanceId: string) {
    this.#key = key;
    this.#conversations = conversations;
    this.instanceId = instanceId;
    const end = Date.now() * 1000;
    this.span = { start: end - SPAN_DAYS * DAY, end };
  }

  static async open(
    pool: ConnectionPool,
    key: string,
    conversations: readonly (readonly string[])[],
  ): Promise<Shop> {
    const answer = await pool.post('/v1/instances/', { 'x-api-key': key }, '{}');
    return new Shop(key, conversations, (JSON.parse(answer.body) as { readonly id: string }).id);
  }

  /** Sends conversations until the end; what is refused is not sent again. */
  async write(pool: ConnectionPool, perSecond: number, tally: Tally, ended: () => boolean): Promise<void> {
    const account = { instanceId: this.instanceId, key: this.#key };
    while (!ended()) {
      const startedAt = performance.now();
      const messages = this.#messages();
      const body = JSON.stringify({ instanceId: this.instanceId, messages });
      const answer = await checked(tally, startedAt, () =>
        pool.post('/v1/ingest/', { 'x-api-key': this.#key }, body),
      );
      const position = Number(answer?.headers.get('x-stream-position') ?? 0);
      if (answer?.status === 200) this.ledger.accepted(account, messages.length, position);
      else if (answer === null || answer.status >= 500) this.ledger.unknown(account, messages.length);
      await sleep(Math.max(0, 1000 / perSecond - (performance.now() - startedAt)));
    }
  }

  /** Asks one question after the other until the end; every one of them is valid. */
  async read(pool: ConnectionPool, random: () => number, tally: Tally, ended: () => boolean): Promise<void> {
    while (!ended()) {
      const question = anyQuestion(random, this.span, this.#topicIds);
      const path = `/v1/query/?${new URLSearchParams({ instanceId: this.instanceId, ...question })}`;
      const answer = await checked(tally, performance.now(), () =>
        pool.get(path, { 'x-api-key': this.#key }),
      );
      if (answer?.status === 400) tally.fault(`400 to ${path}: ${answer.body.slice(0, 300)}`);
      if (answer?.status === 200 && question['groupBy'] === 'TOPIC') {
        const { elements } = JSON.parse(answer.body) as {
          readonly elements: readonly { readonly dimensions: { readonly topic: { readonly id: string } } }[];
        };
        if (elements.length > 0) this.#topicIds = elements.map(({ dimensions }) => dimensions.topic.id);
      }
      if (answer?.status === 503 || answer?.status === 429) await sleep(200);
    }
  }

  #messages(): object[] {
    this.#sent += 1;
    const turns = this.#conversations[this.#sent % this.#conversations.length] ?? [];
    const at = this.span.start + this.#random() * (this.span.end - this.span.start);
    const userId = `user-${Math.floor(this.#random() * USERS)}`;
    return turns.slice(0, 5).map((content, index) => ({
      content,
      createdAt: new Date(at / 1000 + index * 20_000).toISOString(),
      ...(index % 2 === 0 ? { role: 'user', userId } : { role: 'assistant' }),
    }));
  }
}

/** The answer; null when the connection broke, which is a fault as any 5xx is but 503 with Retry-After. */
export async function checked(
  tally: Tally,
  startedAt: number,
  ask: () => Promise<Answered>,
): Promise<Answered | null> {
  try {
    const answer = await ask();
    tally.answered(answer.status, performance.now() - startedAt);
    if (!isAllowed(answer)) tally.fault(`status ${answer.status}: ${answer.body.slice(0, 300)}`);
    return answer;
  } catch (error) {
    tally.fault(error instanceof Error ? error.message : String(error));
    return null;
  }
}
