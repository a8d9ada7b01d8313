/**
 * Reads the files of a database that this process has open. Before the next checkpoint, DuckDB overwrites nothing in the
 * file that the last one or a commit since has written, and only adds to the log.
 *
 * Test: test/cluster/state-packs.test.ts.
 */
import { closeSync, fstatSync, openSync, read, readSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StateImage } from '../../domain/sharing.ts';
import { LOG_FILE, STATE_FILE } from './state-database.ts';

/** Offsets of the two headers, of which DuckDB writes one at each checkpoint. */
const HEADERS = [4096, 8192];
/** Offset of the number of the checkpoint in a header, after its checksum. */
const NUMBER_OFFSET = 8;

/**
 * The files of one database. Closing any descriptor of a file gives up the lock that DuckDB has on it, so this one stays
 * open until the database is closed.
 */
export class StateFiles {
  readonly #directory: string;
  #tables: number | null = null;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The files as they are now. Call it while neither a commit nor a checkpoint is in work. */
  image(sequence: number): StateImage {
    this.#tables ??= openSync(join(this.#directory, STATE_FILE), 'r');
    const descriptor = this.#tables;
    const log = join(this.#directory, LOG_FILE);
    const logBytes = (): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    const version = checkpointOf(descriptor);
    const bytes = { tables: fstatSync(descriptor).size, log: logBytes() };
    return {
      sequence,
      version,
      bytes,
      read: async (file, position, length) => {
        const part = new Uint8Array(Math.max(0, Math.min(length, bytes[file] - position)));
        const { bytesRead } =
          file === 'tables'
            ? await readOf(descriptor, part, 0, part.length, position)
            : await readPath(log, part, position);
        // A log that ends earlier was written into the tables meanwhile.
        return part.subarray(0, bytesRead);
      },
      // The descriptor of a closed database may be that of another file.
      isWhole: () =>
        this.#tables === descriptor && checkpointOf(descriptor) === version && logBytes() >= bytes.log,
    };
  }

  /** Call it after the database is closed. */
  close(): void {
    if (this.#tables !== null) closeSync(this.#tables);
    this.#tables = null;
  }
}

/** The files of a database that no process has open. */
export function imageOfClosed(file: string, sequence: number): StateImage {
  const paths = { tables: file, log: `${file}.wal` };
  const sizeOf = (name: keyof typeof paths): number =>
    statSync(paths[name], { throwIfNoEntry: false })?.size ?? 0;
  return {
    sequence,
    version: 0,
    bytes: { tables: sizeOf('tables'), log: sizeOf('log') },
    read: async (name, position, length) => {
      const part = new Uint8Array(length);
      const { bytesRead } = await readPath(paths[name], part, position);
      return part.subarray(0, bytesRead);
    },
    isWhole: () => true,
  };
}

const readOf = promisify(read);

/** Reads no bytes if there is no such file. */
async function readPath(
  file: string,
  part: Uint8Array,
  position: number,
): Promise<{ readonly bytesRead: number }> {
  const opened = await open(file, 'r').catch(() => null);
  try {
    return (await opened?.read(part, 0, part.length, position)) ?? { bytesRead: 0 };
  } finally {
    await opened?.close();
  }
}

function checkpointOf(descriptor: number): number {
  const number = Buffer.alloc(8);
  const numbers = HEADERS.map((at) => {
    readSync(descriptor, number, 0, 8, at + NUMBER_OFFSET);
    return Number(number.readBigUInt64LE());
  });
  return Math.max(...numbers);
}
