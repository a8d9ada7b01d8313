/**
 * The hub's HTTP interface, as far as fetching a model needs it. The only code of the service that asks the
 * internet.
 */
import { z } from 'zod';
import { SetupError } from '../errors.ts';

export interface HubOptions {
  /** Such as `https://huggingface.co`. */
  readonly url: string;
  /** For models whose terms have to be accepted. */
  readonly token: string | undefined;
  readonly signal?: AbortSignal;
  /** How long the hub may take to begin an answer, or to go on with it, milliseconds. */
  readonly patienceMs?: number;
}

/** One file of a model, as the hub lists it. */
export interface HubFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Of the content, hex digits: SHA-256 in large file storage, else the one that git names it by. */
  readonly digest: { readonly kind: 'sha256' | 'git-sha1'; readonly hex: string };
}

export interface HubModel {
  readonly id: string;
  /** What the revision means now. */
  readonly commit: string;
  readonly licence: string | null;
  /** By path; null: the hub does not tell size and digest, so nobody could know whether what arrives is the file. */
  readonly files: ReadonlyMap<string, HubFile | null>;
}

/** Trying again may help: the connection broke, or the hub was busy. */
export class PassingError extends Error {}

const PATIENCE_MS = 30_000;
const ID = /^[A-Za-z0-9][\w.-]{0,95}(?:\/[A-Za-z0-9][\w.-]{0,95})?$/;

/** As git has them, of either kind: it names a folder. */
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHA_256 = /^[0-9a-f]{64}$/i;
const GIT_SHA_1 = /^[0-9a-f]{40}$/i;

const size = z.number().int().nonnegative().nullish();
const modelSchema = z.looseObject({
  sha: z.string().regex(COMMIT),
  cardData: z.looseObject({ license: z.union([z.string(), z.array(z.string())]).optional() }).nullish(),
  siblings: z.array(
    z.looseObject({
      rfilename: z.string(),
      size,
      blobId: z.string().nullish(),
      lfs: z.looseObject({ sha256: z.string().nullish(), size }).nullish(),
    }),
  ),
});
type Sibling = z.infer<typeof modelSchema>['siblings'][number];

export class Hub {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #patienceMs: number;

  constructor({ url, token, signal, patienceMs }: HubOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
    this.#signal = signal;
    this.#patienceMs = patienceMs ?? PATIENCE_MS;
  }

  get url(): string {
    return this.#url;
  }

  /** What a model consists of. Throws SetupError when it cannot be had, PassingError when it may be had later. */
  async describe(id: string, revision: string): Promise<HubModel> {
    if (!ID.test(id) || id.includes('..'))
      throw new SetupError(`"${id}" is no hub id: it looks like Xenova/all-MiniLM-L6-v2.`);
    // Of an address these would be steps, not a name.
    if (['', '.', '..'].includes(revision))
      throw new SetupError(`"${revision}" is no revision: it is a branch, a tag or a commit.`);
    const path = `api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`;
    const { response, alive } = await this.#ask(path);
    if (!response.ok) throw await this.#refusal(response, id, revision);
    let parsed: z.infer<typeof modelSchema>;
    try {
      parsed = modelSchema.parse(await response.json());
    } catch (cause) {
      if (this.#signal?.aborted === true) throw cause;
      throw new SetupError(
        `${this.#url} does not answer as a hub does: HF_ENDPOINT must name one, such as https://huggingface.co.`,
        { cause },
      );
    } finally {
      alive.end();
    }
    const licence = parsed.cardData?.license;
    return {
      id,
      commit: parsed.sha,
      licence: Array.isArray(licence) ? licence.join(', ') : (licence ?? null),
      files: new Map(parsed.siblings.map((sibling) => [sibling.rfilename, measured(sibling)])),
    };
  }

  /**
   * The bytes of a file from `from` on, or from 0 when the hub sends it whole. Throws as `describe` does, also while
   * the bytes are read.
   */
  async open(
    model: HubModel,
    path: string,
    from: number,
  ): Promise<{ from: number; bytes: AsyncIterable<Uint8Array> }> {
    const place = path.split('/').map(encodeURIComponent).join('/');
    const range = from > 0 ? { range: `bytes=${from}-` } : {};
    // Without "identity" the content length would be that of the compressed bytes.
    const { response, alive } = await this.#ask(`${model.id}/resolve/${model.commit}/${place}`, {
      'accept-encoding': 'identity',
      ...range,
    });
    if (response.status === 416) {
      alive.end();
      await response.body?.cancel();
      return this.open(model, path, 0);
    }
    if (!response.ok || response.body === null)
      throw await this.#refusal(response, model.id, model.commit, path);
    const partial = response.status === 206;
    const starts = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
    if (partial && Number(starts) !== from)
      throw new PassingError('the hub sent another part than was asked for');
    return { from: partial ? from : 0, bytes: this.#watched(response.body, alive) };
  }

  async *#watched(body: AsyncIterable<Uint8Array>, alive: Watch): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        alive.again();
        yield chunk;
      }
    } catch (cause) {
      throw this.#broken(cause);
    } finally {
      alive.end();
    }
  }

  async #ask(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ response: Response; alive: Watch }> {
    const alive = new Watch(this.#patienceMs);
    try {
      const response = await fetch(`${this.#url}/${path}`, {
        headers: {
          'user-agent': 'undertone',
          ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
          ...headers,
        },
        signal: this.#signal === undefined ? alive.signal : AbortSignal.any([this.#signal, alive.signal]),
      });
      alive.again();
      return { response, alive };
    } catch (cause) {
      alive.end();
      throw this.#broken(cause);
    }
  }

  /** An error for a connection that could not be made or broke off. */
  #broken(cause: unknown): unknown {
    if (this.#signal?.aborted === true || cause instanceof PassingError) return cause;
    const { message, code } = innermost(cause);
    const reason = code ?? message;
    return new PassingError(`${this.#url} cannot be reached (${reason})`, { cause });
  }

  async #refusal(response: Response, id: string, revision: string, path?: string): Promise<Error> {
    const { status, headers } = response;
    const said = headers.get('x-error-code') ?? '';
    await response.body?.cancel();
    const page = `${this.#url}/${id}`;
    const token = this.#token === undefined ? 'set HF_TOKEN' : 'check that HF_TOKEN may read it';
    if (status === 429 || status >= 500)
      return new PassingError(`${this.#url} answered ${status}: it is busy or out of order`);
    if (said === 'GatedRepo' || (status === 403 && said === ''))
      return new SetupError(`${id} is gated (${status}): accept its terms at ${page}, then ${token}.`);
    if (said === 'RevisionNotFound')
      return new SetupError(`${id} has no revision "${revision}": ${page}/tree/main shows those there are.`);
    if (path !== undefined && (said === 'EntryNotFound' || status === 404))
      return new SetupError(`${id} has no ${path} at ${revision} any more: pull it again.`);
    // The hub answers 401 for a model that is not there as well as for a private one.
    if (status === 401 || status === 404)
      return new SetupError(
        `There is no model ${id} at ${this.#url} (${status}); if it is private, ${token}.`,
      );
    return new SetupError(`${this.#url} refused ${path ?? id} with ${status} ${response.statusText}.`.trim());
  }
}

/** Null: the hub does not say what it is measured by. */
function measured({ rfilename: path, size: bytes, blobId, lfs }: Sibling): HubFile | null {
  const size = lfs?.size ?? bytes;
  const [kind, hex, rule] =
    lfs === null || lfs === undefined
      ? (['git-sha1', blobId, GIT_SHA_1] as const)
      : (['sha256', lfs.sha256, SHA_256] as const);
  if (size === null || size === undefined || !rule.test(hex ?? '')) return null;
  return { path, size, digest: { kind, hex: (hex ?? '').toLowerCase() } };
}

/** Aborts when nothing was heard for too long. */
class Watch {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#ms = ms;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  again(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(
      () => this.#controller.abort(new Error(`nothing was heard for ${this.#ms / 1000} s`)),
      this.#ms,
    );
  }
}

function innermost(error: unknown): { message: string; code: string | undefined } {
  let at: unknown = error;
  while (at instanceof Error && at.cause !== undefined) at = at.cause;
  if (!(at instanceof Error)) return { message: String(at), code: undefined };
  const code = 'code' in at && typeof at.code === 'string' ? at.code : undefined;
  return { message: at.message, code };
}
