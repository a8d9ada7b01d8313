/**
 * Turns the feedback of a conversation into requests. Keeps the invariant that the same feedback is the same request in
 * every import, on a message that the service can tell: by its time, or as the newest of the assistant.
 *
 * Test: test/doors/import/importer.test.ts.
 */
import { createHash } from 'node:crypto';
import { roleOf } from '../../domain/records.ts';
import type { FeedbackBody } from './client.ts';
import type { Conversation } from './mapper.ts';

/** Reason for feedback that is left out. */
export const UNTIMED_FEEDBACK =
  'feedback on a message without a time of its own that is not the last of the assistant';

export interface FeedbackRequest {
  readonly body: FeedbackBody;
  /** Its `Idempotency-Key`. */
  readonly key: string;
}

/**
 * `held`: messages of the session in the service; more than the conversation has if it went on there. `untimed`: pieces
 * of feedback whose message cannot be named.
 */
export function feedbackRequestsOf(
  { messages, feedback }: Conversation,
  ids: { readonly instanceId: string; readonly sessionId: string },
  held: number,
): { readonly requests: readonly FeedbackRequest[]; readonly untimed: number } {
  const isAnswer = (index: number): boolean => roleOf(messages[index]?.role ?? '') === 'assistant';
  const newest = messages.findLastIndex((_, index) => isAnswer(index));
  /** By time, the message that the service takes: the assistant's first one, else the first. */
  const meant = new Map<string, number>();
  for (const [index, { metadata }] of messages.entries()) {
    const at = metadata?.['createdAt'];
    if (typeof at !== 'string') continue;
    const known = meant.get(at);
    if (known === undefined || (!isAnswer(known) && isAnswer(index))) meant.set(at, index);
  }
  const requests: FeedbackRequest[] = [];
  for (const { index, value, rating, userId } of feedback) {
    const createdAt = messages[index]?.metadata?.['createdAt'];
    const at = typeof createdAt === 'string' && meant.get(createdAt) === index ? createdAt : undefined;
    if (at === undefined && (index !== newest || held > messages.length)) continue;
    const body: FeedbackBody = {
      ...ids,
      ...(at === undefined ? {} : { at }),
      value,
      ...(rating === undefined ? {} : { rating }),
      ...(userId === undefined ? {} : { userId }),
    };
    const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
    requests.push({ body, key: `import-${digest}` });
  }
  return { requests, untimed: feedback.length - requests.length };
}
