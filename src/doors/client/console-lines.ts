/**
 * Writes to the console where the caller set no hooks. Message content is never written.
 *
 * Test: test/doors/client/undertone.test.ts.
 */
import type { UndertoneError } from './errors.ts';
import type { Lost } from './outbox.ts';
import type { Retry } from './transport.ts';

const SILENCE_MS = 60_000;
/** Tries before the first warning; a restart of the service needs fewer. */
const QUIET_TRIES = 5;

/** Returns a hook that reports lost messages on the console, at most once a minute. */
export function sayLost(): (error: UndertoneError, lost: Lost) => void {
  let unreported = 0;
  let silentUntil = 0;
  return ({ code, message }, { messages }) => {
    unreported += Math.max(1, messages.length);
    if (Date.now() < silentUntil) return;
    silentUntil = Date.now() + SILENCE_MS;
    // Without content: more people read logs than conversations.
    const lost = unreported === 1 ? '1 message was lost' : `${unreported} messages were lost`;
    console.error(`undertone: ${lost}. ${code}: ${message}`);
    unreported = 0;
  };
}

/** Returns a hook that reports an unavailable service on the console, at most once a minute. */
export function sayAway(): (error: UndertoneError, retry: Retry) => void {
  let silentUntil = 0;
  return ({ code, message }, { tries }) => {
    if (tries < QUIET_TRIES || Date.now() < silentUntil) return;
    silentUntil = Date.now() + SILENCE_MS;
    console.warn(`undertone: no success after ${tries} tries, trying again. ${code}: ${message}`);
  };
}
