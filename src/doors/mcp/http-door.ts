/**
 * Reads the routes of a running service over HTTP, for the MCP tools.
 *
 * Test: test/doors/mcp/http-door.test.ts.
 */
import { UndertoneError } from '../client/errors.ts';
import { Transport } from '../client/transport.ts';
import { AppError, ERROR_CODES, unavailable, type ErrorCode } from '../../errors.ts';
import type { ReadingDoor } from './reading.ts';

const TIMEOUT_MS = 60_000;
/** Routes that default to the instance's time zone. */
const IN_ZONES = /^\/(?:query|overview|changes|topics|topic-clusters|gaps|repeated-requests|end-users)\b/;

/** Creates the door; `url` is without `/v1`. */
export function createHttpDoor({ url, key }: { readonly url: string; readonly key: string }): ReadingDoor {
  const transport = new Transport({ url, key, timeoutMs: TIMEOUT_MS });
  return {
    async get(path, given) {
      // Tools use days in UTC.
      const parameters = IN_ZONES.test(path) ? { timeZone: 'UTC', ...given } : given;
      try {
        // No retries: a person is waiting, and the caller decides when to try again.
        return (await transport.json({ method: 'GET', path: `/v1${path}`, parameters, patienceMs: 0 })).json;
      } catch (error) {
        throw error instanceof UndertoneError ? refusalOf(error, url) : error;
      }
    },
  };
}

/** Converts the service's error to the one that it would throw in its own process. */
function refusalOf(cause: UndertoneError, url: string): AppError {
  const { code, message, details, status } = cause;
  if (code === 'UNREACHABLE')
    return unavailable(`The service at ${url} does not answer. Is it running?`, { cause });
  if (Object.hasOwn(ERROR_CODES, code)) return new AppError(code as ErrorCode, message, { details });
  return new AppError('SERVICE_UNAVAILABLE', `Status ${status} came without an answer of this service.`);
}
