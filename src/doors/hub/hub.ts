/**
 * Client of a model hub's HTTP interface; the only code that requests models from the internet. Keeps the invariant
 * that a fetched file has the size and digest that the hub announced.
 *
 * Test: test/doors/hub/pull.test.ts.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { retrying } from '../../domain/retry.ts';
import { SetupError } from '../../errors.ts';

export interface Hub {
  /** Such as `https://huggingface.co`. */
  readonly url: string;
  /** Token for models whose terms have to be accepted. */
  readonly token: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Pause before the second try, milliseconds. Default: 500. */
  readonly pauseMs?: number;
}

const rfilename = z.string();
const size = z.int().nonnegative();
const sha1 = z.hash('sha1').toLowerCase();
const sha256 = z.hash('sha256').toLowerCase();
const fileSchema = z.union([
  // Large file storage has a SHA-256; git itself a SHA-1.
  z
    .looseObject({ rfilename, lfs: z.looseObject({ size, sha256 }) })
    .transform(({ rfilename: path, lfs }) => ({ path, size: lfs.size, kind: 'sha256', hex: lfs.sha256 })),
  z
    .looseObject({ rfilename, lfs: z.null().optional(), size, blobId: sha1 })
    .transform((file) => ({ path: file.rfilename, size: file.size, kind: 'sha1', hex: file.blobId })),
  // Without size and digest the file cannot be verified.
  z.looseObject({ rfilename }).transform((file) => ({ path: file.rfilename, hex: null })),
]);
const licenceSchema = z.string().or(z.array(z.string()));
const modelSchema = z
  .looseObject({
    // A git commit.
    sha: sha1.or(sha256),
    cardData: z.looseObject({ license: licenceSchema.optional() }).nullish(),
    siblings: z.array(fileSchema),
  })
  .transform(({ sha: commit, cardData, siblings }) => ({
    commit,
    licence: cardData?.license === undefined ? null : [cardData.license].flat().join(', '),
    files: new Map(siblings.map((file) => [file.path, file])),
  }));

/** A file of a model with its size and the hex digest of its content. */
export type HubFile = Exclude<z.output<typeof fileSchema>, { hex: null }>;
/** A model at a revision, with its files by path. */
export type HubModel = z.output<typeof modelSchema> & { readonly id: string };

const ID = /^[A-Za-z0-9][\w.-]{0,95}(?:\/[A-Za-z0-9][\w.-]{0,95})?$/;

/** Describes a model. Throws SetupError for an invalid id or revision, or if the hub cannot describe it. */
export async function describeModel(hub: Hub, id: string, revision: string): Promise<HubModel> {
  if (!ID.test(id) || id.includes('..'))
    throw new SetupError(`"${id}" is no hub id: it looks like Xenova/all-MiniLM-L6-v2.`);
  // In a URL these would be path steps.
  if (['', '.', '..'].includes(revision))
    throw new SetupError(`"${revision}" is no revision: it is a branch, a tag or a commit.`);
  const path = `api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const answer = await persist(hub, async () => (await ask(hub, path, id)).json()).catch((error) => {
    if (error instanceof SyntaxError) return null;
    throw error;
  });
  const { data } = modelSchema.safeParse(answer);
  if (data !== undefined) return { ...data, id };
  throw new SetupError(`${hub.url} does not answer as a hub does: HF_ENDPOINT must name one.`);
}

/**
 * Writes a file to `target`; each try starts from the beginning. `onBytes` receives the bytes so far. Throws SetupError
 * if the file is unavailable or differs from the announcement.
 */
export function fetchFile(
  hub: Hub,
  { id, commit }: HubModel,
  { path, size, kind, hex }: HubFile,
  target: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const place = path.split('/').map(encodeURIComponent).join('/');
  return persist(hub, async () => {
    const { body } = await ask(hub, `${id}/resolve/${commit}/${place}`, id);
    const hash = createHash(kind).update(kind === 'sha1' ? `blob ${size}\0` : '');
    let arrived = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of body ?? []) {
        hash.update(chunk);
        onBytes((arrived += chunk.length));
        yield chunk;
      }
    };
    await pipeline(counted, createWriteStream(target));
    if (arrived < size) throw new PassingError(`it broke off in ${path}`);
    if (hash.digest('hex') !== hex)
      throw new SetupError(
        `${path} of ${id} arrived from ${hub.url} with another digest: nothing was installed.`,
      );
  });
}

/** A temporary error: the hub is busy or the connection broke. */
class PassingError extends Error {}

/** Network errors of `fetch` are TypeErrors with a cause; disk errors are not. */
function mayPass(error: unknown): boolean {
  return error instanceof PassingError || (error instanceof TypeError && error.cause !== undefined);
}

/** Retries while the hub is unreachable or busy; then throws a SetupError with advice. */
async function persist<T>({ url, signal, pauseMs = 500 }: Hub, work: () => Promise<T>): Promise<T> {
  try {
    return await retrying(work, { tries: 4, pauseMs, longestMs: 8 * pauseMs, mayPass, signal });
  } catch (cause) {
    if (!mayPass(cause)) throw cause;
    let reason = cause as NodeJS.ErrnoException;
    while (reason.cause instanceof Error) reason = reason.cause;
    throw new SetupError(
      `${url} cannot be reached (${reason.code ?? reason.message}). Try again later, or where there is a network; ` +
        'behind a proxy set NODE_USE_ENV_PROXY=1 and HTTPS_PROXY. A copy of the hub is named by HF_ENDPOINT.',
      { cause },
    );
  }
}

/** Sends one request. Node ends a connection that is silent for five minutes. */
async function ask({ url, token, signal }: Hub, path: string, id: string): Promise<Response> {
  const response = await fetch(`${url}/${path}`, {
    headers: {
      'user-agent': 'undertone',
      // Compressed responses would break the count of bytes.
      'accept-encoding': 'identity',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    signal: signal ?? null,
  });
  if (response.ok) return response;
  const { status, headers } = response;
  const errorCode = headers.get('x-error-code');
  await response.body?.cancel();
  const page = `${url}/${id}`;
  const access = token === undefined ? 'set HF_TOKEN' : 'check that HF_TOKEN may read it';
  if (status === 429 || status >= 500) throw new PassingError(`it answered ${status}`);
  if (errorCode === 'GatedRepo' || (status === 403 && errorCode === null))
    throw new SetupError(`${id} is gated (${status}): accept its terms at ${page}, then ${access}.`);
  if (errorCode === 'RevisionNotFound')
    throw new SetupError(`${id} has no such revision: ${page}/tree/main shows those there are.`);
  // The hub answers 401 for unknown and for private models.
  throw new SetupError(`There is no model ${id} at ${url} (${status}); if it is private, ${access}.`);
}
