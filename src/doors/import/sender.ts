/**
 * Sends the messages of conversations, many in one request where the service supports it. A repeated request is
 * recognised by its key, because it always takes the same route: as a line of a batch, or as a request of its own to an
 * older service.
 *
 * Test: test/doors/import/importer.test.ts.
 */
import { createHash } from 'node:crypto';
import type { IngestBody, Ingested } from '../client/answers.ts';
import { isRefusal, REFUSES_ALL, type BatchItem } from './client.ts';
import type { ImportTarget } from './contract.ts';
import type { Conversation, IngestMessage } from './mapper.ts';
import { MAX_WHOLE_CHARACTERS, MAX_WHOLE_MESSAGES } from '../../domain/limits.ts';

/** One request with messages of one conversation. */
export interface ConversationRequest extends BatchItem {
  readonly sessionId: string;
  /** Index of its first message in the conversation. */
  readonly offset: number;
  readonly messages: number;
}

/** A request and its result. */
export interface Sent {
  readonly request: ConversationRequest;
  readonly answer: Ingested | Error;
}

/** Receives the requests of a conversation in order, up to the first that failed. */
type OnSent = (index: number, outcome: readonly Sent[]) => void;

/** Limits on one batch; the service accepts 1,000 requests, 10,000 messages and 32 MiB. */
const MOST_TOGETHER = 500;
const MOST_MESSAGES_TOGETHER = 8192;
const MOST_CHARACTERS_TOGETHER = 4 * 1024 * 1024;

/** Cuts the messages of a conversation from `count` on into requests. */
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
    // The body is an upper bound of its texts.
    if (whole.body.length <= MAX_WHOLE_CHARACTERS) return [whole];
  }
  return partsOf(messages, count).map((part) => requestOf(part.offset, part.messages));
}

/** Keeps a request well below the service's default body limit (32 MiB) and the stream's record limit. */
const MAX_PART_BYTES = 8 * 1024 * 1024;

/**
 * Cuts the messages from `offset` on at the sizes that the service returns whole. A repeat continues after the messages
 * that it finds there, so it cuts at the same places.
 */
export function partsOf(
  messages: readonly IngestMessage[],
  offset = 0,
): { offset: number; messages: IngestMessage[] }[] {
  const parts: { offset: number; messages: IngestMessage[] }[] = [];
  let current: { offset: number; messages: IngestMessage[] } | null = null;
  let [bytes, characters] = [0, 0];
  for (let index = offset; index < messages.length; index += 1) {
    const message = messages[index];
    if (message === undefined) break;
    const size = Buffer.byteLength(JSON.stringify(message));
    const full =
      current !== null &&
      (current.messages.length >= MAX_WHOLE_MESSAGES ||
        characters + message.content.length > MAX_WHOLE_CHARACTERS ||
        bytes + size > MAX_PART_BYTES);
    if (current === null || full) {
      current = { offset: index, messages: [] };
      parts.push(current);
      [bytes, characters] = [0, 0];
    }
    current.messages.push(message);
    bytes += size;
    characters += message.content.length;
  }
  return parts;
}

/** A request of a batch; `index` is its conversation's. */
interface Member {
  readonly index: number;
  readonly request: ConversationRequest;
}

/** Sends conversations: short ones together in batches, long ones alone and in order. */
export class Sender {
  readonly #target: Pick<ImportTarget, 'ingest' | 'ingestBatch'>;
  readonly #concurrency: number;
  readonly #singles = new Set<Promise<void>>();

  constructor(target: Pick<ImportTarget, 'ingest' | 'ingestBatch'>, concurrency: number) {
    this.#target = target;
    this.#concurrency = concurrency;
  }

  /** Never rejects: an error is an answer. `isOlder`: the service does not know batches with deduplication ids. */
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
      // The error names no request. A proxy may accept smaller requests only, so the batch is halved.
      if (batch.length > 1 && isRefusal(error) && !REFUSES_ALL.has(error.status)) {
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
