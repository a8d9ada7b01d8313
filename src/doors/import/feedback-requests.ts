/**
 * Turns the feedback of conversations into requests of lists. Keeps the invariant that the same feedback is the same
 * request in every import, on a message that the service can tell: by its time, or as the newest of the assistant.
 *
 * Test: test/doors/import/importer.test.ts, test/doors/import/feedback-requests.test.ts.
 */
import { createHash } from 'node:crypto';
import { MOST_FEEDBACK } from '../../domain/feedback.ts';
import { roleOf } from '../../domain/records.ts';
import type { FeedbackBody } from '../client/answers.ts';
import { isRefusal, REFUSES_ALL } from './client.ts';
import type { ImportTarget } from './contract.ts';
import type { Conversation } from './mapper.ts';

/** Reason for feedback that is left out. */
export const UNTIMED_FEEDBACK =
  'feedback on a message without a time of its own that is not the last of the assistant';

export interface FeedbackPiece {
  readonly body: FeedbackBody;
  /** Index of its message in the conversation. */
  readonly index: number;
}

/**
 * `held`: messages of the session in the service; more than the conversation has if it went on there. `untimed`: pieces
 * of feedback whose message cannot be named.
 */
export function feedbackPiecesOf(
  { messages, feedback }: Conversation,
  ids: { readonly instanceId: string; readonly sessionId: string },
  held: number,
): { readonly pieces: readonly FeedbackPiece[]; readonly untimed: number } {
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
  const pieces: FeedbackPiece[] = [];
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
    pieces.push({ body, index });
  }
  return { pieces, untimed: feedback.length - pieces.length };
}

/** Why the service refuses a piece. `path`: what of its message is wrong, such as `feedback.userId`. */
export interface FeedbackFault {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

/** Receives what became of the pieces. */
export interface FeedbackOutcomes<Piece> {
  /** Called for each list that is stored. `position`: of the last record of the list. */
  stored(pieces: readonly Piece[], position: number | null): void;
  /** Called for each piece that is refused. */
  refused(piece: Piece, fault: FeedbackFault): void;
  /** True if no further list is to be sent. */
  isEnded(): boolean;
}

/**
 * Sends pieces in their order, as many in a list as the service takes. The service stores a list as a whole: one with
 * wrong pieces is sent again without those that the refusal names; if it names none, its halves are sent. Throws errors
 * that concern all pieces.
 */
export async function sendFeedback<Piece extends FeedbackPiece>(
  target: Pick<ImportTarget, 'giveFeedback'>,
  pieces: readonly Piece[],
  outcomes: FeedbackOutcomes<Piece>,
): Promise<void> {
  for (let next = 0; next < pieces.length; next += MOST_FEEDBACK)
    await sendList(target, pieces.slice(next, next + MOST_FEEDBACK), outcomes);
}

async function sendList<Piece extends FeedbackPiece>(
  target: Pick<ImportTarget, 'giveFeedback'>,
  pieces: readonly Piece[],
  outcomes: FeedbackOutcomes<Piece>,
): Promise<void> {
  if (pieces.length === 0 || outcomes.isEnded()) return;
  const bodies = pieces.map(({ body }) => body);
  const digest = createHash('sha256').update(JSON.stringify(bodies)).digest('base64url');
  let position: number | null;
  try {
    ({ position } = await target.giveFeedback(bodies, `import-${digest}`));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { code, status } = error;
    const faults = new Map<number, FeedbackFault>();
    for (const { path, message } of error.details) {
      const [, index, member = ''] = /^feedback\.(\d+)(.*)$/.exec(path) ?? [];
      if (index !== undefined && !faults.has(Number(index)))
        faults.set(Number(index), { code, path: `feedback${member}`, message });
    }
    if (faults.size === 0 && REFUSES_ALL.has(status)) throw error;
    // A single piece is what is wrong, whatever the refusal names.
    if (pieces.length === 1 && !faults.has(0))
      faults.set(0, { code, path: 'feedback', message: error.message });
    const left = pieces.filter((piece, index) => {
      const fault = faults.get(index);
      if (fault !== undefined) outcomes.refused(piece, fault);
      return fault === undefined;
    });
    if (left.length < pieces.length) return sendList(target, left, outcomes);
    const middle = Math.ceil(pieces.length / 2);
    await sendList(target, pieces.slice(0, middle), outcomes);
    return sendList(target, pieces.slice(middle), outcomes);
  }
  outcomes.stored(pieces, position);
}
