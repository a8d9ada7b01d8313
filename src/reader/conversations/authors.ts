/**
 * Attributes messages to end users. A turn belongs to the end user of the latest user turn before it; turns before a
 * session's first user turn belong to that turn's end user. Keeps the invariant that opening turns end up with an
 * author: those of the same batch are corrected in place, those of earlier batches by an `OpeningAuthor`.
 *
 * Test: test/reader/threads/assigner.test.ts.
 */
import type { OpeningAuthor, Turn } from '../../domain/facts.ts';
import type { SessionState } from './session-state.ts';

/** The end user of a turn, as far as it is known at that turn. */
export function authorOf({ role, user }: Turn, session: SessionState): number | null {
  if (role !== 'user') return session.hasUserTurn ? session.author : null;
  session.author = user;
  return user;
}

/** The opening turns of one batch. */
export class OpeningTurns {
  readonly #authors: OpeningAuthor[] = [];
  /** Messages that wait for their session's first user turn. */
  readonly #waiting = new Map<SessionState, { user: number | null }[]>();

  /** Call for every turn, in order. `message` gets its end user as soon as it is known. */
  add(
    { instance, session, role, user, position }: Turn,
    state: SessionState,
    message: { user: number | null },
  ): void {
    if (state.hasUserTurn) return;
    if (role !== 'user') {
      const waiting = this.#waiting.get(state);
      if (waiting === undefined) this.#waiting.set(state, [message]);
      else waiting.push(message);
      return;
    }
    state.hasUserTurn = true;
    state.user = user;
    for (const opening of this.#waiting.get(state) ?? []) opening.user = user;
    if (state.hasOpening && user !== null)
      this.#authors.push({ instance, session, user, beforePosition: position });
    state.hasOpening = false;
  }

  /** Ends the batch and returns the corrections for messages of earlier batches. */
  finish(): OpeningAuthor[] {
    for (const state of this.#waiting.keys()) if (!state.hasUserTurn) state.hasOpening = true;
    return this.#authors;
  }
}
