import { UndertoneError } from '../client/errors.ts';
import { Transport } from '../client/transport.ts';
import { AppError, ERROR_CODES, type ErrorCode } from '../../errors.ts';
import type { ReadingDoor } from './reading.ts';

const TIMEOUT_MS = 60_000;
/** Routes that mean the time zone of the instance where they are told none. */
const IN_ZONES = /^\/(?:query|overview|changes|topics|topic-clusters|gaps|repeated-requests|end-users)\b/;

/** The routes of a running service. `url` is without `/v1`. */
export function createHttpDoor({ url, key }: { readonly url: string; readonly key: string }): ReadingDoor {
  const transport = new Transport({ url, key, timeoutMs: TIMEOUT_MS });
  return {
    async get(path, given) {
      // The tools speak of days in UTC.
      const parameters = IN_ZONES.test(path) ? { timeZone: 'UTC', ...given } : given;
      try {
        // The caller says when to try again: a person waits for it.
        return (await transport.json({ method: 'GET', path: `/v1${path}`, parameters, patienceMs: 0 })).json;
      } catch (error) {
        throw error instanceof UndertoneError ? refusalOf(error, url) : error;
      }
    },
  };
}

/** The error that the service answered with, as it would be thrown in its process. */
function refusalOf(cause: UndertoneError, url: string): AppError {
  const { code, message, details, status } = cause;
  if (code === 'UNREACHABLE')
    return new AppError('SERVICE_UNAVAILABLE', `The service at ${url} does not answer. Is it running?`, {
      retryAfter: 1,
      cause,
    });
  if (Object.hasOwn(ERROR_CODES, code)) return new AppError(code as ErrorCode, message, { details });
  return new AppError('SERVICE_UNAVAILABLE', `Status ${status} came without an answer of this service.`);
}
