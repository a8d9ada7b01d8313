/**
 * Turns for the registry writes that precede storing a request.
 *
 * Test: test/web/ingest/curator.test.ts, test/web/instances-route.test.ts.
 */
import { Turns } from '../../domain/turns.ts';
import { unavailable, type AppError } from '../../errors.ts';

/** Concurrent synced writes to the registry; one project has at most half of them. */
const AT_A_TIME = 128;
/** Limit of a project's waiting writes. */
const MAX_WAITING = 2048;

/**
 * Makes the turns of projects for writes of idempotency keys, session claims and instances. NATS executes writes one
 * after the other, so a project's burst would delay all others.
 */
export function createClaimTurns(): Turns {
  return new Turns({
    most: AT_A_TIME,
    mostPerCaller: AT_A_TIME / 2,
    waitingPerCaller: { most: MAX_WAITING, refusal: tooMany },
  });
}

function tooMany(): AppError {
  return unavailable(
    'Too many requests with keys or sessions of their own are waiting. Try again in a moment.',
  );
}
