import { AppError, ERROR_CODES, type ErrorCode, type ErrorDetail } from '../errors.ts';
import type { ReadingDoor } from './reading.ts';

const TIMEOUT_MS = 60_000;
/** Routes that mean the time zone of the instance where they are told none. */
const IN_ZONES = /^\/(?:query|overview|changes|topics|topic-clusters|gaps|repeated-requests|end-users)\b/;

/** The routes of a running service. `url` is without `/v1`. */
export function createHttpDoor({ url, key }: { readonly url: string; readonly key: string }): ReadingDoor {
  const base = url.replace(/(?<!\/)\/+$/, '');
  return {
    async get(path, parameters) {
      // The tools speak of days in UTC.
      const asked = IN_ZONES.test(path) ? { timeZone: 'UTC', ...parameters } : parameters;
      const { status, text } = await ask(`${base}/v1${path}?${new URLSearchParams(asked)}`, base, key);
      const json = parsed(text);
      if (status === 200 && json !== undefined) return json;
      throw refusalOf(status, json);
    },
  };
}

async function ask(address: string, base: string, key: string): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(address, {
      headers: { accept: 'application/json', 'x-api-key': key },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    throw new AppError('SERVICE_UNAVAILABLE', `The service at ${base} does not answer. Is it running?`, {
      retryAfter: 1,
      cause: error,
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The error that the service answered with, as it would be thrown in its process. */
function refusalOf(status: number, json: unknown): AppError {
  const { error } = Object(json) as { readonly error?: unknown };
  const { code, message, details } = Object(error) as Readonly<Record<string, unknown>>;
  if (typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) && typeof message === 'string') {
    const places = Array.isArray(details) ? { details: details as ErrorDetail[] } : {};
    return new AppError(code as ErrorCode, message, places);
  }
  return new AppError('SERVICE_UNAVAILABLE', `Status ${status} came without an answer of this service.`);
}
