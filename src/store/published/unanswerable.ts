/**
 * The errors of a reader that cannot answer now. Each cause passes by itself, or once a worker has done its part.
 *
 * Test: test/store/published/lost-database.test.ts, test/store/published/turns-of-readers.test.ts.
 */
import { unavailable, type AppError } from '../../errors.ts';

/** Published files are damaged, and the worker rewrites them. */
export function beingMade(cause?: unknown): AppError {
  return unavailable(
    'Files of the views are damaged, and the worker makes them again. Try again in a moment.',
    { cause },
  );
}

export function nothingPublished(): AppError {
  return unavailable('The views are not there yet: no worker has published them. Try again in a moment.');
}

export function databaseLost(cause: unknown): AppError {
  return unavailable(
    'The database that answers queries failed and is being replaced. Try again in a moment.',
    { cause },
  );
}

/** The statement needs more memory than a statement may take. */
export function tooLittleMemory(cause: unknown): AppError {
  return unavailable(
    'The query needs more memory than one query may take. Lower limit, shorten the range, or try again later.',
    { retryAfter: 5, cause },
  );
}

/** The files belong to other versions of the views. */
export function otherViews(): AppError {
  return unavailable(
    'Another version of this service made the views on disk. Rebuild them: npm run rebuild.',
    { retryAfter: 60 },
  );
}

export function tooManyExports(): AppError {
  return unavailable('Other exports are being read. Try again in a moment.', { retryAfter: 5 });
}

export function tooManyAnswers(): AppError {
  return unavailable('Too many queries of this project wait for their turn. Try again in a moment.');
}
