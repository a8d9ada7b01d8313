/**
 * Reads and writes the files of a backup, plain or encrypted with its key. An encrypted one shows only the times of its
 * creation and expiry (`backup.json`); all other files are sealed.
 *
 * Test: test/cli/backup-files.test.ts.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { checkOf, isKeyOf, keyFile, readKey, type BackupKey } from '../worker/backup/keys.ts';
import { openSealed, SealedWriter, SealError } from '../worker/backup/sealed-file.ts';
import { isExpired } from '../domain/backups.ts';
import { UUID_PATTERN } from '../domain/ids.ts';
import { isPathBelow, listedFile, PATH_BELOW_RULE } from '../domain/listed-file.ts';
import { SetupError } from '../errors.ts';
import { replaceFile } from '../store/epochs/epochs.ts';
import { megabytesPerSecond, type Progress } from '../domain/progress.ts';
import { plainArchive, type ArchiveInput, type ArchiveOutput } from '../stream/archive/archive.ts';

/** List of the backup's files. It is written last: a folder without it is no backup. */
const MANIFEST_FILE = 'manifest.json';
/** The readable part of an encrypted backup. It is written first. */
const HEADER_FILE = 'backup.json';
/** Suffix of encrypted files. */
const SEALED = '.sealed';
/** Bytes of a plain file read at once. */
const READ_BYTES = 1024 * 1024;

const whole = z.number().int().nonnegative();
const uuid = z.string().regex(UUID_PATTERN);

const manifestShape = z.object({
  version: z.literal(1),
  /** Id in the ledger of backups; backups of 0.3.0 and before have none. */
  id: uuid.optional(),
  createdAt: z.string(),
  /** Null or absent: it never expires. */
  expiresAt: z.iso.datetime().nullish(),
  files: z.array(
    z.object({
      path: z.string().refine(isPathBelow, PATH_BELOW_RULE),
      bytes: whole,
      sha256: z.string().length(64),
    }),
  ),
  streams: z.array(z.object({ name: z.string(), entries: whole, firstSequence: whole, lastSequence: whole })),
  /** Null if there were no views yet. */
  views: z
    .object({
      shards: z.number().int().min(1),
      /** Stream sequence that each shard's views include; null for a shard without views. */
      sequences: z.array(whole.nullable()),
      definition: z.string(),
    })
    .refine(({ shards, sequences }) => shards === sequences.length, 'tells of other shards than there are')
    .nullable(),
});

const headerShape = z.object({
  version: z.literal(1),
  id: uuid,
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** Distinguishes its key from others. */
  check: z.string(),
});

export type Manifest = z.infer<typeof manifestShape>;
type Header = z.infer<typeof headerShape>;

export const streamPath = (stream: string): string => `streams/${stream}.entries`;
export const statePath = (shard: number): string => `views/${shard}/state.duckdb`;

/** Writes a backup. */
export interface BackupWriter {
  /** Writes a file; it is durable once this resolves. */
  write<Result>(path: string, fill: (output: ArchiveOutput) => Promise<Result>): Promise<Result>;
  /**
   * Target for a shard's database in the form that `copyShard` takes: an encrypted backup never contains a plain copy.
   */
  stateTarget(shard: number): string | ((copy: string) => Promise<void>);
  /** Writes the manifest, which completes the backup. */
  finish(content: Omit<Manifest, 'files'>): Promise<Manifest>;
}

/** Starts a backup in a folder; with a key, all files are encrypted. */
export function openBackupWriter(folder: string, key: BackupKey | null): BackupWriter {
  return key === null ? plainWriter(folder) : sealedWriter(folder, key);
}

function plainWriter(folder: string): BackupWriter {
  return {
    async write(path, fill) {
      const file = prepared(folder, path);
      const output = await open(file, 'wx', 0o600);
      try {
        const result = await fill({ write: (bytes) => output.writeFile(bytes) });
        await output.sync();
        return result;
      } finally {
        await output.close();
      }
    },
    stateTarget: (shard) => join(folder, statePath(shard)),
    finish: (content) => writeManifest(folder, content),
  };
}

function sealedWriter(folder: string, key: BackupKey): BackupWriter {
  const { id, takenAt, expiresAt } = key;
  const header: Header = { version: 1, id, createdAt: takenAt, expiresAt, check: checkOf(key) };
  replaceFile(join(folder, HEADER_FILE), `${JSON.stringify(header, null, 2)}\n`);
  const files: Manifest['files'] = [];
  const write: BackupWriter['write'] = async (path, fill) => {
    const file = `${prepared(folder, path)}${SEALED}`;
    const output = await SealedWriter.open(file, { key: key.key, backupId: id, path });
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const result = await fill({
        async write(piece) {
          hash.update(piece);
          bytes += piece.length;
          await output.write(piece);
        },
      });
      await output.end();
      files.push({ path, bytes, sha256: hash.digest('hex') });
      return result;
    } finally {
      await output.close();
    }
  };
  return {
    write,
    stateTarget: (shard) => (copy) =>
      write(statePath(shard), async (output) => {
        for await (const piece of createReadStream(copy, { highWaterMark: READ_BYTES }))
          await output.write(piece as Buffer);
      }),
    async finish(content) {
      const manifest = { ...content, files: [...files] };
      await write(MANIFEST_FILE, (output) => output.write(Buffer.from(JSON.stringify(manifest))));
      return manifest;
    },
  };
}

/** Measures every file of a folder and writes the manifest, which makes it a plain backup. */
export async function writeManifest(folder: string, content: Omit<Manifest, 'files'>): Promise<Manifest> {
  const files: Manifest['files'] = [];
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  for (const file of paths) {
    const path = relative(folder, file).replaceAll('\\', '/');
    files.push({ path, bytes: statSync(file).size, sha256: await digestOf(createReadStream(file)) });
  }
  const manifest = { ...content, files };
  replaceFile(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** A backup whose files match its manifest. */
export interface CheckedBackup {
  readonly manifest: Manifest;
  /** Opens the copy of a stream. Reading it throws SetupError. */
  archive(stream: string): ArchiveInput;
  /** Size of a shard's database, and its bytes. Reading them throws SetupError. */
  stateBytes(shard: number): number;
  readState(shard: number): AsyncIterable<Uint8Array>;
}

/**
 * Reads a backup's manifest and compares every file with it, which takes as long as reading them. The manifest lists
 * every file that a restore or a rebuild may read. `keys` is the folder of keys.
 *
 * @throws SetupError that names the first file that is not listed, missing, elsewhere, of another size or other
 * content; also when the key is missing, another one or expired
 */
export async function checkBackup(
  folder: string,
  keys: string,
  progress: Pick<Progress, 'begin' | 'update' | 'end'>,
): Promise<CheckedBackup> {
  const key = existsSync(join(folder, HEADER_FILE)) ? keyFor(folder, keys) : null;
  const read = readerOf(folder, key);
  const manifest = key === null ? readManifest(folder) : await readSealedManifest(folder, key, read);
  checkList(folder, manifest);
  const to = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const onBytes = (bytes: number): void => progress.update({ done: (done += bytes) });
  progress.begin({ title: 'checking the backup', to, rate: megabytesPerSecond });
  try {
    for (const { path, bytes, sha256 } of manifest.files) {
      const file = listedFile(folder, key === null ? path : `${path}${SEALED}`);
      if (typeof file === 'string') throw damaged(folder, path, file);
      if (key === null && file.size !== bytes)
        throw damaged(folder, path, `has ${file.size} bytes in place of ${bytes}`);
      if ((await digestOf(read(path), onBytes)) !== sha256)
        throw damaged(folder, path, `has ${bytes} bytes, but other ones than were written (SHA-256)`);
    }
  } finally {
    progress.end();
  }
  const bytesOf = new Map(manifest.files.map(({ path, bytes }) => [path, bytes]));
  return {
    manifest,
    archive(stream) {
      const path = streamPath(stream);
      const file = join(folder, path);
      return key === null ? plainArchive(file) : { file: `${file}${SEALED}`, read: () => read(path) };
    },
    stateBytes: (shard) => bytesOf.get(statePath(shard)) ?? 0,
    readState: (shard) => read(statePath(shard)),
  };
}

/**
 * Returns a function that reads a file of a backup by its path. It throws SetupError where an encrypted one is damaged.
 */
function readerOf(folder: string, key: BackupKey | null): (path: string) => AsyncIterable<Uint8Array> {
  if (key === null)
    return (path) =>
      createReadStream(join(folder, path), { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>;
  return async function* (path) {
    try {
      yield* openSealed(join(folder, `${path}${SEALED}`), { key: key.key, backupId: key.id, path });
    } catch (error) {
      if (error instanceof SealError) throw damaged(folder, `${path}${SEALED}`, error.message, error);
      throw error;
    }
  };
}

/**
 * Returns the key of an encrypted backup.
 *
 * @throws SetupError if the backup expired, or its key is missing, destroyed, unreadable or of another backup
 */
function keyFor(folder: string, keys: string): BackupKey {
  const header = parsed(folder, HEADER_FILE, headerShape);
  const { id, expiresAt, check } = header;
  const key = readKey(keys, id);
  const file = keyFile(keys, id);
  const expired = `The backup ${folder} expired at ${expiresAt}`;
  if (key !== null && !('key' in key))
    throw new SetupError(
      `The key of the backup ${folder} was destroyed at ${key.destroyedAt}. Nobody can read it.`,
    );
  if (key === null && isExpired(header, new Date()))
    throw new SetupError(`${expired}, and its key ${file} is gone. Nobody can read it.`);
  if (key === null)
    throw new SetupError(
      `The backup ${folder} is encrypted, and its key ${file} is not there. --keys DIR names the folder that holds it.`,
    );
  if (!isKeyOf(key, check)) throw new SetupError(`The key ${file} is not that of the backup ${folder}.`);
  return key;
}

/** @throws SetupError when the backup expired: its key must not be used any more, wherever it comes from */
async function readSealedManifest(
  folder: string,
  { id }: BackupKey,
  read: (path: string) => AsyncIterable<Uint8Array>,
): Promise<Manifest> {
  const file = `${MANIFEST_FILE}${SEALED}`;
  if (!existsSync(join(folder, file))) throw unfinished(folder, file);
  const pieces: Uint8Array[] = [];
  for await (const piece of read(MANIFEST_FILE)) pieces.push(piece);
  const manifest = manifestShape.parse(JSON.parse(Buffer.concat(pieces).toString()));
  const { expiresAt = null } = manifest;
  if (manifest.id !== id || expiresAt === null)
    throw damaged(folder, file, 'is of another backup than its key');
  if (isExpired({ expiresAt }, new Date()))
    throw new SetupError(
      `The backup ${folder} expired at ${expiresAt}: it is not used any more. "npm run backup -- forget ${id}" destroys ` +
        'its key.',
    );
  return manifest;
}

/** @throws SetupError when a file that will be used is not listed, or any is listed twice */
function checkList(folder: string, { files, streams, views }: Manifest): void {
  const listed = new Set<string>();
  const refused = (fault: string): SetupError =>
    new SetupError(`The backup ${folder} is damaged: its ${MANIFEST_FILE} ${fault}. It was not used.`);
  for (const { path } of files) {
    if (listed.has(path)) throw refused(`lists ${path} twice`);
    listed.add(path);
  }
  const used = [
    ...streams.map(({ name }) => streamPath(name)),
    ...(views?.sequences ?? []).flatMap((sequence, shard) => (sequence === null ? [] : [statePath(shard)])),
  ];
  const unlisted = used.find((path) => !listed.has(path));
  if (unlisted !== undefined) throw refused(`does not list ${unlisted}`);
}

/** @throws SetupError when the folder contains no finished backup */
function readManifest(folder: string): Manifest {
  if (!existsSync(join(folder, MANIFEST_FILE))) throw unfinished(folder, MANIFEST_FILE);
  return parsed(folder, MANIFEST_FILE, manifestShape);
}

function unfinished(folder: string, file: string): SetupError {
  return new SetupError(
    `${folder} holds no finished backup: ${file} is missing, which is written last. Take another backup.`,
  );
}

function damaged(folder: string, path: string, fault: string, cause?: unknown): SetupError {
  return new SetupError(`The backup ${folder} is damaged: ${path} ${fault}. It was not used.`, { cause });
}

function parsed<Shape extends z.ZodType>(folder: string, name: string, shape: Shape): z.output<Shape> {
  const file = join(folder, name);
  try {
    return shape.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new SetupError(`${file} cannot be read: ${reason}`, { cause: error });
  }
}

/** Returns the path of a file and creates its folder. */
function prepared(folder: string, path: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return file;
}

async function digestOf(
  pieces: AsyncIterable<unknown>,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of pieces) {
    hash.update(piece as Uint8Array);
    onBytes((piece as Uint8Array).length);
  }
  return hash.digest('hex');
}
