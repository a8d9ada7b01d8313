/** An S3-compatible server in this process (s3rver), which checks signatures. */
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { ObjectStoreOptions } from '../../src/domain/object-place.ts';
import { ObjectStore } from '../../src/store/objects/object-store.ts';
import { temporaryDirectory } from './fold.ts';

interface Served {
  readonly callback: () => (...asked: unknown[]) => void;
  readonly configureBuckets: () => Promise<unknown>;
}

const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => Served;

export const BUCKET = 'undertone-test';

export interface TestObjectStore {
  readonly options: ObjectStoreOptions;
  readonly store: ObjectStore;
  /** What stands in the environment of a process that uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** Answers of the server: a status instead of an answer; null: as it is. */
  fault: ((method: string, path: string) => number | 'hang' | null) | null;
  /** Time before each answer, milliseconds. */
  delayOf: () => number;
  /** Requests so far, such as `PUT /undertone-test/a`. */
  readonly requests: string[];
  /** Folder of the objects. */
  readonly folder: string;
  close(): Promise<void>;
}

/** `delayMs`: time before each answer. `host`: address on which it listens. */
export async function startObjectStore(
  prefix = 'views',
  { delayMs = 0, host = '127.0.0.1' }: { readonly delayMs?: number; readonly host?: string } = {},
): Promise<TestObjectStore> {
  const { path: folder, remove } = temporaryDirectory();
  const served = new S3rver({ directory: folder, silent: true, configureBuckets: [{ name: BUCKET }] });
  await served.configureBuckets();
  const answer = served.callback();
  const server: Server = createServer((asked, reply) => {
    const { method = '', url = '' } = asked;
    started.requests.push(`${method} ${url}`);
    const fault = started.fault?.(method, url) ?? null;
    if (fault === 'hang') return;
    if (fault === null) return void setTimeout(() => answer(asked, reply), started.delayOf());
    asked.resume();
    reply.writeHead(fault).end();
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const endpoint = `http://${host}:${(server.address() as AddressInfo).port}`;
  const url = `s3://${BUCKET}/${prefix}`;
  const options = { url, endpoint, region: 'us-east-1', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
  const started: TestObjectStore = {
    options,
    store: new ObjectStore(options),
    env: {
      VIEWS_URL: url,
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    },
    fault: null,
    delayOf: () => delayMs,
    requests: [],
    folder,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      remove();
    },
  };
  return started;
}
