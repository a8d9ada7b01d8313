import { Turns } from '../../domain/turns.ts';
import { AppError } from '../../errors.ts';

/** Synced writes that are asked of the registry at a time; one project has at most half of them under way. */
const AT_A_TIME = 128;
/** More of one project are refused. */
const MAX_WAITING = 2048;

/**
 * Turns of projects for what has to be written before a request is stored: keys of requests, sessions of callers' own
 * ids, instances. NATS writes one after the other, so what one project asks for would delay all that come later.
 */
export function createClaimTurns(): Turns {
  return new Turns({
    most: AT_A_TIME,
    mostPerCaller: AT_A_TIME / 2,
    waitingPerCaller: { most: MAX_WAITING, refusal: tooMany },
  });
}

function tooMany(): AppError {
  const message = 'Too many requests with keys or sessions of their own are waiting. Try again in a moment.';
  return new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
}
