/**
 * Limits the time of an answer.
 *
 * Test: test/web/answer-time.test.ts.
 */
import { unavailable, type AppError } from '../errors.ts';

/**
 * Resolves with the result of `work` if it arrives within `ms`. Otherwise throws AppError SERVICE_UNAVAILABLE, before
 * the connection counts as silent; a project's own queries delay each other. `errorOf`: another error in its place.
 */
export async function inTime<T>(work: Promise<T>, ms: number, errorOf: () => Error = tooLate): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(errorOf()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(): AppError {
  return unavailable(
    'The answer could not be made in time. Ask for less, or ask fewer questions at a time.',
    { retryAfter: 10 },
  );
}
