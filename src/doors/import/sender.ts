/**
 * Sends what conversations have to say: many of them in one request where the service takes that. Covered by
 * test/doors/import/importer.test.ts.
 */
import { createHash } from 'node:crypto';
import type { Ingested } from '../client/answers.ts';
import { isRefusal, type BatchItem, type IngestBody } from './client.ts';
import type { Conversation } from './mapper.ts';
import { partsOf } from './parts.ts';
import { MAX_WHOLE_CHARACTERS, MAX_WHOLE_MESSAGES } from '../../domain/limits.ts';

/** A request of one conversation. */
export interface ConversationRequest extends BatchItem {
  readonly sessionId: string;
  /** Of the conversation's messages, the first that it holds. */
  readonly offset: number;
  readonly messages: number;
}

/** What became of a request. */
export interface Sent {
  readonly request: ConversationRequest;
  readonly answer: Ingested | Error;
}

/** What the sender needs of the service. */
interface Target {
  ingest(body: IngestBody, idempotencyKey: string): Promise<Ingested>;
  ingestBatch(items: readonly BatchItem[]): Promise<(Ingested | Error)[]>;
}

/** Hears what became of a conversation: its requests in order, up to the first that failed. */
type OnSent = (index: number, outcome: readonly Sent[]) => void;

/** Of the requests that go together; the service takes 1,000, 10,000 and 32 MiB. */
const MOST_TOGETHER = 500;
const MOST_MESSAGES_TOGETHER = 8192;
const MOST_CHARACTERS_TOGETHER = 4 * 1024 * 1024;
/** Refusals that a smaller request would get as well. */
const FOR_ALL = new Set([401, 403, 404, 405]);

/** The messages of a conversation from `count` on, as requests. */
export function requestsOf(
  { messages, session }: Conversation,
  ids: { readonly instanceId: string; readonly sessionId: string },
  count: number,
): ConversationRequest[] {
  const requestOf = (offset: number, part: Conversation['messages']): ConversationRequest => {
    const body = JSON.stringify({ ...ids, messages: part, metadata: { session } } satisfies IngestBody);
    const digest = createHash('sha256').update(`[${offset},${body}]`).digest('base64url');
    const { sessionId } = ids;
    return { sessionId, offset, messages: part.length, body, requestKey: `import-${digest}` };
  };
  if (messages.length - count <= MAX_WHOLE_MESSAGES) {
    const whole = requestOf(count, count === 0 ? messages : messages.slice(count));
    // Its texts are shorter still.
    if (whole.body.length <= MAX_WHOLE_CHARACTERS) return [whole];
  }
  return partsOf(messages, count).map((part) => requestOf(part.offset, part.messages));
}

/** One of the requests that go together, and its conversation's place. */
interface Member {
  readonly index: number;
  readonly request: ConversationRequest;
}

/**
 * A request is recognised when it is sent again, be it with others or alone, because it always goes the same way: as
 * lines of batches, or to an older service as requests of its own.
 */
export class Sender {
  readonly #target: Target;
  readonly #concurrency: number;
  readonly #singles = new Set<Promise<void>>();

  constructor(target: Target, concurrency: number) {
    this.#target = target;
    this.#concurrency = concurrency;
  }

  /** Never rejects: what went wrong is an answer. `isOlder`: the service knows no batches with deduplication ids. */
  async send(
    conversations: readonly (readonly ConversationRequest[])[],
    { isOlder }: { readonly isOlder: boolean },
    onSent: OnSent,
  ): Promise<void> {
    const alone: number[] = [];
    const batches: Member[][] = [];
    let [messages, characters] = [Infinity, Infinity];
    for (const [index, requests] of conversations.entries()) {
      const [request] = requests;
      const isLong = request === undefined || requests.length > 1 || isLarge(request);
      if (isLong || isOlder) {
        alone.push(index);
        continue;
      }
      [messages, characters] = [messages + request.messages, characters + request.body.length];
      const last = batches.at(-1);
      const fits = messages <= MOST_MESSAGES_TOGETHER && characters <= MOST_CHARACTERS_TOGETHER;
      if (last !== undefined && fits && last.length < MOST_TOGETHER) last.push({ index, request });
      else {
        batches.push([{ index, request }]);
        [messages, characters] = [request.messages, request.body.length];
      }
    }
    for (const batch of batches) await this.#sendTogether(batch, onSent);
    await Promise.all(
      alone.map((index) => this.#sendAlone(conversations[index] ?? [], index, isOlder, onSent)),
    );
  }

  async #sendTogether(batch: readonly Member[], onSent: OnSent): Promise<void> {
    let answers: readonly (Ingested | Error)[];
    try {
      answers = await this.#target.ingestBatch(batch.map(({ request }) => request));
    } catch (error) {
      // It says nothing of each; what is before the service may take smaller requests only.
      if (batch.length > 1 && isRefusal(error) && !FOR_ALL.has(error.status)) {
        const middle = Math.ceil(batch.length / 2);
        await this.#sendTogether(batch.slice(0, middle), onSent);
        return this.#sendTogether(batch.slice(middle), onSent);
      }
      answers = batch.map(() => asError(error));
    }
    for (const [place, { index, request }] of batch.entries())
      onSent(index, [{ request, answer: answers[place] ?? new Error('a line of the answer is missing') }]);
  }

  async #sendAlone(
    requests: readonly ConversationRequest[],
    index: number,
    isOlder: boolean,
    onSent: OnSent,
  ): Promise<void> {
    while (this.#singles.size >= this.#concurrency) await Promise.race(this.#singles);
    const task = this.#inOrder(requests, isOlder).then((outcome) => {
      this.#singles.delete(task);
      onSent(index, outcome);
    });
    this.#singles.add(task);
    await task;
  }

  async #inOrder(requests: readonly ConversationRequest[], isOlder: boolean): Promise<Sent[]> {
    const sent: Sent[] = [];
    for (const request of requests) {
      const answer = await this.#sendOne(request, isOlder).catch(asError);
      sent.push({ request, answer });
      if (answer instanceof Error) break;
    }
    return sent;
  }

  async #sendOne(request: ConversationRequest, isOlder: boolean): Promise<Ingested | Error> {
    if (isOlder) return this.#target.ingest(JSON.parse(request.body) as IngestBody, request.requestKey);
    const [answer] = await this.#target.ingestBatch([request]);
    return answer ?? new Error('a line of the answer is missing');
  }
}

function isLarge({ messages, body }: ConversationRequest): boolean {
  return messages > MOST_MESSAGES_TOGETHER || body.length > MOST_CHARACTERS_TOGETHER;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
