import { setTimeout as sleep } from 'node:timers/promises';
import { queryResponseSchema, type QueryResponse } from '../../src/query/response-schema.ts';
import { CANCEL, PASSWORD, THANKS } from '../support/conversations.ts';
import { Client, toSearch, type Answer } from '../support/client.ts';
import { noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Random } from './support/random.ts';
import { Stack } from './support/stack.ts';

/** Answers that are compared, at least. */
const ANSWERS = 10_000;
const FEW_ANSWERS = 200;
const ASKERS = 4;
const SESSIONS = ['5', '6', '7'].map((digit) => `10000000-0000-4000-8000-00000000000${digit}`);
const TEXTS = [...CANCEL, ...PASSWORD, THANKS];
const RETRY_MS = 20;

/** Each is answered from rows in memory, but for the one by day. */
const QUESTIONS = [
  { groupBy: 'END_USER', fields: 'messages,sessions', 'sort.field': 'messages', 'sort.order': 'DESC' },
  { groupBy: 'END_USER', fields: 'messages', 'dateRange.start': '2020-01-01T11:22:33Z' },
  { groupBy: 'END_USER', fields: 'messages', timeGranularity: 'DAY' },
  { groupBy: 'SESSION', fields: 'messages' },
  { groupBy: 'TOPIC', fields: 'messages' },
  { groupBy: 'TOPIC', fields: 'messages', timeGranularity: 'DAY' },
] as const;

/**
 * Every request says the same text for two users. So in each answer, whatever it was read from, both have said as much,
 * and every session and topic has an even number of messages; and no answer counts less than one that was there before
 * it was asked for. Meanwhile, kill -9 of worker and web.
 */
export async function answers({ long, rounds, seed, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const stack = given ?? (await Stack.start());
  try {
    const client = new Client(stack.url, await stack.newKey());
    const pairs = new Pairs(client, figures);
    await pairs.begin();
    const least = long ? ANSWERS : FEW_ANSWERS;
    const killing = (async () => {
      for (; figures.rounds < rounds || pairs.compared < least; figures.rounds += 1) {
        const victim = (['worker', 'web'] as const)[(figures.rounds + seed) % 2]!;
        await sleep(random.between(long ? 500 : 100, long ? 3000 : 400));
        await stack.kill(victim);
        figures.kills += 1;
        const killedAt = performance.now();
        const [compared, counted] = [pairs.compared, pairs.counted];
        while (victim === 'web' ? pairs.compared === compared : pairs.counted === counted)
          await sleep(RETRY_MS);
        recovered(figures, victim, performance.now() - killedAt);
      }
      pairs.end();
    })();
    await Promise.all([
      killing,
      pairs.write(),
      ...Array.from({ length: ASKERS }, (_, asker) => pairs.ask(asker)),
    ]);
    figures.accepted = pairs.accepted;
    figures.counted = await pairs.settle();
    say(`${pairs.compared} answers compared`);
    return figures;
  } finally {
    if (given === undefined) await stack.stop();
  }
}

class Pairs {
  /** Answers. */
  compared = 0;
  /** Messages that some answer had. */
  counted = 0;
  accepted = 0;
  readonly #client: Client;
  readonly #figures: Figures;
  #instanceId = '';
  #sent = 0;
  #position = 0;
  #processedAt = '';
  #ended = false;

  constructor(client: Client, figures: Figures) {
    this.#client = client;
    this.#figures = figures;
  }

  /** Makes the instance. */
  async begin(): Promise<void> {
    const { instanceId, position } = await this.#client.ingest({
      sessionId: SESSIONS[0],
      messages: turnsWith(TEXTS[0]!),
    });
    [this.#instanceId, this.#position] = [instanceId, position];
    this.#sent = this.accepted = 2;
    await this.settle();
  }

  end(): void {
    this.#ended = true;
  }

  async write(): Promise<void> {
    for (let turn = 0; !this.#ended; turn += 1) {
      const body = {
        instanceId: this.#instanceId,
        sessionId: SESSIONS[turn % SESSIONS.length],
        messages: turnsWith(TEXTS[turn % TEXTS.length]!),
      };
      this.#sent += 2;
      for (;;) {
        const answer = await this.#sent200(() =>
          this.#client.post(body, { 'idempotency-key': `pair-${turn}` }),
        );
        if (answer === null) continue;
        this.#position = Number(answer.headers.get('x-stream-position'));
        break;
      }
      this.accepted += 2;
    }
  }

  async ask(asker: number): Promise<void> {
    for (let turn = asker; !this.#ended; turn += 1) await this.#compare(QUESTIONS[turn % QUESTIONS.length]!);
  }

  /** What is counted once everything should be. */
  async settle(): Promise<number> {
    for (;;) {
      const total = await this.#compare(QUESTIONS[0], this.#position);
      if (total !== null) return total;
    }
  }

  /** The messages of an answer; null when there was none. */
  async #compare(question: (typeof QUESTIONS)[number], position = 0): Promise<number | null> {
    const [counted, processedAt] = [this.counted, this.#processedAt];
    const path = `/v1/query/?${toSearch({ instanceId: this.#instanceId, limit: 1000, ...question })}`;
    const answer = await this.#sent200(() =>
      this.#client.send(path, { headers: { 'x-wait-for-position': String(position) } }),
    );
    if (answer === null) return null;
    const { elements, lastProcessedAt } = queryResponseSchema.parse(answer.body);
    const total = elements.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0);
    const wrong = (what: string): void => {
      this.#figures.wrong.push(`${path}: ${what}`);
    };
    if (isMixed(question.groupBy, elements)) wrong(`mixed: ${JSON.stringify(elements)}`);
    if ((lastProcessedAt ?? '') < processedAt) wrong(`of ${lastProcessedAt}, after ${processedAt}`);
    if (total > this.#sent) wrong(`${total} of ${this.#sent}`);
    // Messages lose their topic when topics are regrouped.
    if (question.groupBy !== 'TOPIC' && total < counted) wrong(`${total} after ${counted}`);
    this.#processedAt = [this.#processedAt, lastProcessedAt ?? ''].toSorted()[1]!;
    if (question.groupBy !== 'TOPIC') this.counted = Math.max(this.counted, total);
    this.compared += 1;
    return total;
  }

  /** An answer with status 200; null, after a pause, where a process is away. */
  async #sent200(send: () => Promise<Answer>): Promise<Answer | null> {
    let status = 0;
    try {
      const answer = await send();
      if (answer.status === 200) return answer;
      status = answer.status;
    } catch {
      // The link broke, or nobody listens.
    }
    if (status !== 0 && status !== 503) this.#figures.wrong.push(`status ${status}`);
    await sleep(RETRY_MS);
    return null;
  }
}

const turnsWith = (content: string): object[] =>
  ['left', 'right'].map((userId) => ({ role: 'user', userId, content }));

function isMixed(groupBy: string, elements: QueryResponse['elements']): boolean {
  const messages = elements.map(({ fields }) => fields.messages ?? 0);
  if (groupBy !== 'END_USER') return messages.some((count) => count % 2 === 1);
  return messages.length % 2 === 1 || messages.some((count, at) => count !== messages[at ^ 1]);
}
