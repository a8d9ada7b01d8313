/**
 * Posts to URLs that callers supply. Unless private addresses are allowed, connects only to checked public ones.
 *
 * Test: test/doors/alerts/post.test.ts.
 */
import type { RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { retryAfterOf } from '../../domain/retry-after.ts';
import { addressFinder, type AddressOptions, type FindAddresses } from './host-addresses.ts';
import { hostOf, isPublicAddress, NAME_FAULT, PRIVATE_FAULT } from './webhook-url.ts';

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Projects take turns in DNS look-ups. */
  readonly project: string;
  /** Limit from the DNS look-up to the end of the response head. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface PostAnswer {
  readonly status: number;
  /** Pause asked for by `Retry-After`, or null. */
  readonly retryAfterMs: number | null;
}

/** Rejects with PostError if there is no response. */
export type Post = (url: string, options: PostOptions) => Promise<PostAnswer>;

/** No response came. The message is for the owner of the alert, the code for the operator's log. */
export class PostError extends Error {
  readonly code: string;

  constructor(reason: string, options: { cause?: unknown; code?: string } = {}) {
    super(reason, options);
    this.name = 'PostError';
    this.code = options.code ?? codeOf(options.cause);
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? '';
}

/** Creates the function that posts. It does not follow redirects and does not read response bodies. */
export function createPost(allowPrivate: boolean, options: AddressOptions = {}): Post {
  const find = addressFinder(allowPrivate, options);
  return async (text, { headers, body, project, timeoutMs, signal }) => {
    const url = new URL(text);
    const host = hostOf(url);
    // A literal address needs no look-up, so it is checked here.
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host))
      throw new PostError(`the address ${PRIVATE_FAULT}`, { code: NOT_PUBLIC });
    const timeout = AbortSignal.timeout(timeoutMs);
    const ended = AbortSignal.any([signal, timeout]);
    const lookup = checkedLookup(allowPrivate, find(project, ended));
    // A new connection each time: one that is kept alive was opened for an earlier check.
    const how = { method: 'POST', headers: { ...headers }, signal: ended, lookup, agent: false };
    try {
      return await send(url, how, Buffer.from(body));
    } catch (error) {
      if (error instanceof PostError) throw error;
      if (timeout.aborted)
        throw new PostError(`no answer within ${timeoutMs / 1000} seconds`, { cause: error });
      throw new PostError(reasonOf(error), { cause: error });
    }
  };
}

async function send(url: URL, options: RequestOptions, body: Buffer): Promise<PostAnswer> {
  // Imported on demand: the modules load the library behind `fetch`, which costs each start 30 ms.
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (response) => {
      resolve({
        status: response.statusCode ?? 0,
        retryAfterMs: retryAfterOf(response.headers['retry-after'] ?? null, Date.now()),
      });
      response.destroy();
    });
    asked.on('error', reject);
    // Ending at once sets Content-Length.
    asked.end(body);
  });
}

/** Looks up a name for connecting; rejects unless all its addresses are public. */
function checkedLookup(allowPrivate: boolean, find: FindAddresses): LookupFunction {
  return (name, { all }, done) => {
    find(name).then(
      (addresses) => {
        if (!allowPrivate && addresses.some(({ address }) => !isPublicAddress(address)))
          return done(new PostError(NAME_FAULT, { code: NOT_PUBLIC }), []);
        const [first] = addresses;
        return all === true ? done(null, addresses) : done(null, first?.address ?? '', first?.family);
      },
      (error) => done(allowPrivate ? error : new PostError(NAME_FAULT, { cause: error }), []),
    );
  };
}

/** Error code for an address that is refused. */
const NOT_PUBLIC = 'NOT_PUBLIC';

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was broken off',
  EPIPE: 'the connection was broken off',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network of the host cannot be reached',
  ETIMEDOUT: 'the connection took too long',
  EPROTO: 'the host does not speak TLS at this port, or none that fits',
};

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  const { message = String(error) } = error as Error;
  // Errors of the HTTP parser.
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  return REASONS[code] ?? (code === '' ? message : `${message} (${code})`).slice(0, 200);
}
