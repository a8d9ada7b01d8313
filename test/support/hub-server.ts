/**
 * A hub on this machine: serves model folders under the paths of the real one, with the faults that a test asks
 * for.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';

/** Time for the client to read what came before the connection breaks. */
const CUT_AFTER_MS = 100;

export interface ServedModel {
  readonly folder: string;
  /** Revision → commit; `main` unless given. */
  readonly revisions?: Readonly<Record<string, string>>;
  readonly licence?: string;
  /** Asks for a token: this one, or none will do. */
  readonly gated?: string | null;
}

export interface HubFaults {
  /** Ends the connection after so many bytes of a file's answer, for so many answers. */
  cut: { readonly path: string; readonly after: number; times: number } | null;
  /** Sends other bytes than it announces, as many. */
  garble: { readonly path: string; times: number } | null;
  /** Answers with this status, for so many answers. */
  busy: { readonly status: number; times: number } | null;
  /** Does not say of a file what it is by, or says nonsense. */
  unnamed: { readonly path: string; readonly as: { size?: unknown; blobId?: unknown; lfs?: unknown } } | null;
}

export const NO_FAULTS: HubFaults = { cut: null, garble: null, busy: null, unnamed: null };

export interface HubServer {
  readonly url: string;
  /** `/api/models/…`. */
  readonly requests: string[];
  readonly faults: HubFaults;
  close(): Promise<void>;
}

export const COMMIT = '751bff37182d3f1213fa05d7196b954e230abad9';

export async function startHub(models: Readonly<Record<string, ServedModel>>): Promise<HubServer> {
  const requests: string[] = [];
  const faults: HubFaults = { ...NO_FAULTS };
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    answer(models, faults, request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    faults,
    close: () => close(server),
  };
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  server.closeAllConnections();
  await closed;
}

function answer(
  models: Readonly<Record<string, ServedModel>>,
  faults: HubFaults,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const refuse = (status: number, code?: string): void => {
    response.writeHead(status, code === undefined ? {} : { 'x-error-code': code }).end('refused');
  };
  if (faults.busy !== null && faults.busy.times > 0) {
    faults.busy.times -= 1;
    return refuse(faults.busy.status);
  }
  const { pathname } = new URL(request.url ?? '', 'http://hub');
  const [, id = '', revision = ''] =
    /^\/api\/models\/(.+)\/revision\/([^/]+)$/.exec(pathname) ??
    /^\/(.+?)\/resolve\/([^/]+)\//.exec(pathname) ??
    /^\/stored\/(.+?)@([^/]+)\//.exec(pathname) ??
    [];
  const model = models[id];
  // As the real one: whether it is private is not told.
  if (model === undefined) return refuse(401, 'RepoNotFound');
  if (model.gated !== undefined && !pathname.startsWith('/stored/')) {
    const { authorization } = request.headers;
    if (model.gated === null || authorization !== `Bearer ${model.gated}`)
      return refuse(authorization === undefined ? 401 : 403, 'GatedRepo');
  }
  const commit = { main: COMMIT, ...model.revisions }[revision] ?? (revision === COMMIT ? COMMIT : undefined);
  const known = commit ?? Object.values(model.revisions ?? {}).find((other) => other === revision);
  if (known === undefined) return refuse(404, 'RevisionNotFound');
  if (pathname.startsWith('/api/')) {
    const body = JSON.stringify({
      id,
      sha: known,
      cardData: { license: model.licence ?? 'apache-2.0' },
      siblings: siblings(model.folder, faults),
    });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    return;
  }
  const path = decodeURIComponent(pathname.replace(/^.*?(?:\/resolve\/|@)[^/]+\//, ''));
  if (!filesOf(model.folder).includes(path)) return refuse(404, 'EntryNotFound');
  // Large files lie elsewhere.
  if (path.includes('.onnx') && !pathname.startsWith('/stored/')) {
    response.writeHead(302, { location: `/stored/${id}@${known}/${path}` }).end();
    return;
  }
  send(readFileSync(join(model.folder, path)), path, faults, response);
}

function send(whole: Buffer, path: string, faults: HubFaults, response: ServerResponse): void {
  let bytes = whole;
  if (faults.garble?.path === path && faults.garble.times > 0) {
    faults.garble.times -= 1;
    bytes = Buffer.from(whole.map((byte) => byte ^ 1));
  }
  response.writeHead(200, { 'content-length': bytes.length });
  if (faults.cut?.path === path && faults.cut.times > 0) {
    faults.cut.times -= 1;
    // A client drops what it had not read yet when the connection breaks.
    response.write(bytes.subarray(0, faults.cut.after), () =>
      setTimeout(() => response.destroy(), CUT_AFTER_MS),
    );
    return;
  }
  response.end(bytes);
}

function siblings(folder: string, { unnamed }: HubFaults): unknown[] {
  return filesOf(folder).map((path) => {
    const bytes = readFileSync(join(folder, path));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const blobId = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    return {
      rfilename: path,
      size: bytes.length,
      ...(path.includes('.onnx')
        ? { blobId: '0'.repeat(40), lfs: { sha256, size: bytes.length, pointerSize: 130 } }
        : { blobId }),
      ...(unnamed?.path === path ? unnamed.as : {}),
    };
  });
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}
