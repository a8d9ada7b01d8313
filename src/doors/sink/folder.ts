/**
 * The folder that a sink writes into. Keeps the invariant that a file in its final place is whole and each partition
 * has one file, so that readers may open it at any time.
 *
 * Test: test/doors/sink/sink.test.ts.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isPathBelow, staysIn } from '../../domain/listed-file.ts';
import { SetupError } from '../../errors.ts';
import { lockDataDirectory, makeDirectory, type DataDirectoryLock } from '../../store/data-directory.ts';
import { fsyncPath } from '../../store/published/manifest.ts';
import {
  emptyManifest,
  formatManifest,
  readSinkManifest,
  type SinkFile,
  type SinkManifest,
} from './manifest.ts';
import { SCHEMA_VERSION } from './tables.ts';

const MANIFEST = '_manifest.json';
/** Folder of unpublished files. Readers of Parquet folders skip names that begin with an underscore. */
const WORK = '_tmp';
/** Lists the files that a publishing run may have replaced or removed. */
const JOURNAL = 'publishing.json';
const LOCK = '_sink';

/** A staged file replaces one in the folder, or a file is removed. */
export interface FolderChange {
  readonly path: string;
  /** Null removes the file. */
  readonly staged: string | null;
}

/** Steps of a run, at which tests can stop. */
export type FolderStep = 'staged' | 'journalled' | 'changed' | 'synced' | 'manifest written';

/**
 * A locked sink folder. The manifest is accurate unless a run ended while it published: then the journal lists the
 * files that may be of either version.
 */
export class SinkFolder {
  readonly path: string;
  readonly #lock: DataDirectoryLock;
  #staged = 0;

  private constructor(path: string, lock: DataDirectoryLock) {
    this.path = path;
    this.#lock = lock;
  }

  /**
   * Creates the folder if missing and locks it for this process.
   *
   * @throws SetupError if it cannot be created or written, another process holds it, or it contains foreign files
   */
  static async open(path: string): Promise<SinkFolder> {
    const folder = resolve(path);
    let lock: DataDirectoryLock | null = null;
    try {
      makeDirectory(folder, 0o777);
      lock = await lockDataDirectory(folder, {
        name: LOCK,
        taken: `Another npm run sink writes to ${folder}: stop it, or choose another folder.`,
      });
      checkContents(folder);
      makeDirectory(join(folder, WORK), 0o777);
      if (!staysIn(folder, WORK)) throw leadsOut(folder, WORK);
      const opened = new SinkFolder(folder, lock);
      if (!existsSync(join(folder, MANIFEST))) opened.#writeManifest(emptyManifest(SCHEMA_VERSION));
      return opened;
    } catch (cause) {
      lock?.release();
      if (cause instanceof SetupError) throw cause;
      throw new SetupError(`The folder ${folder} cannot be written: ${(cause as Error).message}.`, { cause });
    }
  }

  /** Folder for data that exceed memory. */
  get spillDirectory(): string {
    return join(this.path, WORK, 'spill');
  }

  /**
   * Returns the manifest of the last run; files with unknown contents have no digest. Removes unfinished files of
   * earlier runs.
   */
  begin(): SinkManifest {
    this.discard();
    const file = join(this.path, MANIFEST);
    const manifest = existsSync(file) ? readSinkManifest(file) : null;
    if (manifest === null) throw notOurs(this.path);
    const files = new Map(manifest.files.map((file) => [file.path, file]));
    for (const path of this.#journal()) files.set(path, unknown(path, files.get(path)));
    const isOfToday = manifest.schemaVersion === SCHEMA_VERSION;
    for (const file of files.values()) {
      // A run removes outdated files, so they must be in the folder.
      if (!staysIn(this.path, dirname(file.path))) throw leadsOut(this.path, file.path);
      const size = statSync(join(this.path, file.path), { throwIfNoEntry: false })?.size;
      if (size !== file.bytes || !isOfToday) files.set(file.path, unknown(file.path, file));
    }
    return { ...manifest, files: [...files.values()] };
  }

  /** Returns the path of a new folder for unpublished files. */
  stage(): string {
    this.#staged += 1;
    return join(this.path, WORK, String(this.#staged));
  }

  /** Makes a staged file durable; returns its size in bytes. */
  async seal(staged: string): Promise<number> {
    const file = await open(staged, 'r');
    try {
      await file.sync();
      return (await file.stat()).size;
    } finally {
      await file.close();
    }
  }

  /** Publishes the changes one by one in this order, then the manifest. */
  async publish(
    changes: readonly FolderChange[],
    manifest: SinkManifest,
    onStep: (step: FolderStep) => Promise<void> | void = () => undefined,
  ): Promise<void> {
    const journal = join(this.path, WORK, JOURNAL);
    if (changes.length > 0) {
      const paths = [...new Set([...this.#journal(), ...changes.map(({ path }) => path)])];
      this.#replace(journal, JSON.stringify(paths));
      await onStep('journalled');
    }
    const folders = new Set<string>();
    for (const { path, staged } of changes) {
      const file = join(this.path, path);
      if (staged === null) this.#remove(file, folders);
      else {
        if (!staysIn(this.path, dirname(path))) throw leadsOut(this.path, path);
        mkdirSync(dirname(file), { recursive: true });
        renameSync(staged, file);
        for (let at = dirname(file); at !== this.path; at = dirname(at)) folders.add(at);
      }
      await onStep('changed');
    }
    for (const folder of folders) if (existsSync(folder)) fsyncPath(folder);
    fsyncPath(this.path);
    await onStep('synced');
    this.#writeManifest(manifest);
    await onStep('manifest written');
    rmSync(journal, { force: true });
  }

  /** Removes staged files. */
  discard(): void {
    const work = join(this.path, WORK);
    for (const name of readdirSync(work))
      if (name !== JOURNAL) rmSync(join(work, name), { recursive: true, force: true });
  }

  close(): void {
    this.#lock.release();
  }

  #journal(): readonly string[] {
    const file = join(this.path, WORK, JOURNAL);
    if (!existsSync(file)) return [];
    const paths = readJournal(readFileSync(file, 'utf8'));
    if (paths !== null) return paths;
    throw new SetupError(
      `${file} is damaged, or no sink wrote it. Choose an empty folder, or delete this one.`,
    );
  }

  #writeManifest(manifest: SinkManifest): void {
    this.#replace(join(this.path, MANIFEST), formatManifest(manifest));
  }

  #replace(file: string, text: string): void {
    const temporary = join(this.path, WORK, 'text.tmp');
    writeFileSync(temporary, text);
    fsyncPath(temporary);
    renameSync(temporary, file);
    fsyncPath(dirname(file));
  }

  /** Removes a file and the folders that become empty. */
  #remove(file: string, folders: Set<string>): void {
    rmSync(file, { force: true });
    for (let at = dirname(file); at !== this.path; at = dirname(at)) {
      if (existsSync(at)) {
        folders.add(at);
        if (readdirSync(at).length > 0) return;
        rmdirSync(at);
      }
    }
  }
}

function checkContents(folder: string): void {
  if (existsSync(join(folder, MANIFEST))) {
    if (readSinkManifest(join(folder, MANIFEST)) === null) throw notOurs(folder);
    return;
  }
  const foreign = readdirSync(folder).find((name) => name !== WORK && !name.startsWith(LOCK));
  if (foreign !== undefined)
    throw new SetupError(
      `${folder} holds other files, and a sink wants a folder of its own: choose an empty one.`,
    );
}

/** Parses the journal; null if no sink wrote it. */
function readJournal(text: string): readonly string[] | null {
  try {
    const paths: unknown = JSON.parse(text);
    const isOurs =
      Array.isArray(paths) && paths.every((path) => typeof path === 'string' && isPathBelow(path));
    return isOurs ? (paths as readonly string[]) : null;
  } catch {
    return null;
  }
}

function leadsOut(folder: string, path: string): SetupError {
  return new SetupError(
    `${join(folder, path)} leads out of the folder by a link, and a sink writes into its own folder alone. Remove ` +
      'the link, or choose an empty folder.',
  );
}

function notOurs(folder: string): SetupError {
  return new SetupError(
    `${join(folder, MANIFEST)} is damaged, or no sink wrote it. Choose an empty folder, or delete what is in this one.`,
  );
}

function unknown(path: string, known: SinkFile | undefined): SinkFile {
  return { rows: 0, bytes: 0, writtenAt: '', ...known, path, digest: null };
}
