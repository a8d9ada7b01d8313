/** Covered by test/web/answer-time.test.ts. */
import { AppError } from '../errors.ts';

const RETRY_AFTER_SECONDS = 10;

/**
 * What `work` resolves with, when it does so within `ms`. A project that asks for more than there is time for waits for
 * its own questions; past this time it is told so, before the connection counts as silent. Throws AppError
 * SERVICE_UNAVAILABLE.
 */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(): AppError {
  return new AppError(
    'SERVICE_UNAVAILABLE',
    'The answer could not be made in time. Ask for less, or ask fewer questions at a time.',
    { retryAfter: RETRY_AFTER_SECONDS },
  );
}
