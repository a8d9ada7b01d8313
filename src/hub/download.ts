/** One file of a model onto the disk: resumed where it broke off, and taken only when it is what was announced. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../errors.ts';
import { PassingError, type Hub, type HubFile, type HubModel } from './hub.ts';

export interface DownloadOptions {
  readonly hub: Hub;
  readonly model: HubModel;
  readonly file: HubFile;
  /** Where the file goes; until it is whole and checked its bytes are kept in `<target>.part`. */
  readonly target: string;
  /** Told how many bytes of the file are there. */
  readonly onProgress: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
  /** Before trying again, milliseconds, doubled each time. */
  readonly pauseMs?: number;
}

/** Tries in a row in which nothing arrived before it is given up. */
const FRUITLESS_TRIES = 4;
const PAUSE_MS = 500;

/**
 * Downloads a file unless it is there already. Throws SetupError when it cannot be had or is not what the hub
 * announced; what arrived of it stays for the next time, unless it was wrong.
 */
export async function download(options: DownloadOptions): Promise<void> {
  const { hub, model, file, target, onProgress } = options;
  if (existsSync(target)) {
    if ((await faultOf(target, file)) === null) {
      onProgress(statSync(target).size);
      return;
    }
    rmSync(target);
  }
  mkdirSync(dirname(target), { recursive: true });
  const part = `${target}.part`;
  let pause = options.pauseMs ?? PAUSE_MS;
  for (let fruitless = 0, wrong = 0; ;) {
    const before = sizeOf(part);
    try {
      await fetchInto(part, options);
    } catch (error) {
      if (!(error instanceof PassingError)) throw error;
      fruitless = sizeOf(part) > before ? 0 : fruitless + 1;
      if (fruitless >= FRUITLESS_TRIES) throw gaveUp(error);
      await sleep(pause, undefined, options.signal === undefined ? {} : { signal: options.signal });
      pause *= 2;
      continue;
    }
    const fault = await faultOf(part, file);
    if (fault === null) break;
    rmSync(part, { force: true });
    // A part of an older try may have been damaged: once more from the beginning.
    wrong += 1;
    if (wrong > 1 || before === 0)
      throw new SetupError(
        `${file.path} of ${model.id} arrived from ${hub.url} with ${fault}: nothing was installed.`,
      );
  }
  renameSync(part, target);
}

/** A PassingError that did not pass. */
export function gaveUp(error: PassingError): SetupError {
  return new SetupError(
    `${error.message}. Try again later, or where there is a network; behind a proxy set NODE_USE_ENV_PROXY=1 ` +
      'and HTTPS_PROXY. ' +
      'A copy of the hub is named by HF_ENDPOINT.',
    { cause: error },
  );
}

async function fetchInto(
  part: string,
  { hub, model, file, onProgress, signal }: DownloadOptions,
): Promise<void> {
  let there = sizeOf(part);
  if (there === file.size) return;
  if (there > file.size) {
    rmSync(part);
    there = 0;
  }
  const { from, bytes } = await hub.open(model, file.path, there);
  let arrived = from;
  onProgress(arrived);
  // Each piece is on the disk before the next is asked for: what arrived stays when the connection breaks.
  const sink = await open(part, from === 0 ? 'w' : 'a');
  try {
    for await (const chunk of bytes) {
      signal?.throwIfAborted();
      arrived += chunk.length;
      if (arrived > file.size)
        throw new SetupError(
          `${file.path} of ${model.id} is longer than the hub announced: nothing was installed.`,
        );
      await sink.writeFile(chunk);
      onProgress(arrived);
    }
  } finally {
    await sink.close();
  }
  if (arrived < file.size) throw new PassingError(`${hub.url} broke off in ${file.path}`);
}

/** What is wrong with a file's content; null when it is what the hub announced. */
async function faultOf(path: string, { size, digest: { kind, hex } }: HubFile): Promise<string | null> {
  const actual = sizeOf(path);
  if (actual !== size) return `${actual} bytes instead of ${size}`;
  const hash = kind === 'sha256' ? createHash('sha256') : createHash('sha1').update(`blob ${actual}\0`);
  return (await digestOf(path, hash)) === hex
    ? null
    : kind === 'sha256'
      ? 'another sha256'
      : 'another digest';
}

/** Hex digest of what `hash` has taken and the file. */
export async function digestOf(path: string, hash: Hash): Promise<string> {
  await pipeline(createReadStream(path), hash, { end: false });
  return hash.digest('hex');
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
