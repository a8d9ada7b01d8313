/** Sends conversations to a service of its own and measures what counting them takes. */
import type { Conversation } from './distinct-texts.ts';
import { request, untilCounted, type MeasuredService, type OwnService } from './service.ts';
import { useBetween, useOf, type MemberUse } from './service-use.ts';

/** Conversations of a request. */
const TOGETHER = 100;
const REQUESTS_AT_ONCE = 4;

/** What it took from the first request until queries counted everything. */
export interface Counting {
  readonly messages: number;
  readonly seconds: number;
  /** By process. */
  readonly use: ReadonlyMap<string, MemberUse>;
}

/** `attributes`: how many each conversation has. */
export async function countConversations(
  service: OwnService,
  instanceId: string,
  conversations: readonly Conversation[],
  attributes = 0,
): Promise<Counting> {
  const before = await useOf(service.dataDir);
  const startedAt = performance.now();
  const position = await sendConversations(service, instanceId, conversations, attributes);
  await untilCounted(service, instanceId, position);
  const seconds = (performance.now() - startedAt) / 1000;
  const use = useBetween(before, await useOf(service.dataDir));
  return { messages: messagesOf(conversations), seconds, use };
}

export function messagesOf(conversations: readonly Conversation[]): number {
  return conversations.reduce((sum, { length }) => sum + length, 0);
}

/** Sends a few requests at a time; returns the position behind them all. */
export async function sendConversations(
  service: MeasuredService,
  instanceId: string,
  conversations: readonly Conversation[],
  attributes = 0,
): Promise<number> {
  let [next, position] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < conversations.length) {
      const lines = conversations.slice(next, (next += TOGETHER)).map((messages, number) =>
        JSON.stringify({
          instanceId,
          ...(attributes === 0 ? {} : { metadata: { session: attributesOf(number, attributes) } }),
          messages: messages.map((message) => ({ ...message, userId: `u${number % 50}` })),
        }),
      );
      const answer = await request(service, 'ingest/batch/', lines.join('\n'), {
        type: 'application/x-ndjson',
      });
      position = Math.max(position, answer.position);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  return position;
}

/** A dozen values of each attribute. */
function attributesOf(conversation: number, attributes: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: attributes }, (_, at) => [`attribute${at}`, `value ${(conversation + at) % 12}`]),
  );
}
