/**
 * Expands the operands of a command line to a list of files: folders and zip files are opened, standard input and pipes
 * are copied to disk. A file that cannot be read is reported and does not stop the others.
 *
 * Test: test/doors/import/inputs.test.ts.
 */
import { constants, createReadStream, createWriteStream, openSync } from 'node:fs';
import { mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { asUtf8, firstBytes, packingOf, unpack, unpackStream, type Range } from './bytes.ts';
import { sourceOfFile } from './mapper.ts';
import { ENTRY_BYTES, UnpackLimit } from './unpack-limit.ts';
import { isZip, readZip } from './zip.ts';

export interface Input {
  /** Name in messages: the path, and the path inside a zip file. */
  readonly name: string;
  /** Operand of the command line that led to it. */
  readonly operand: string;
  /** Default source of its conversations; with their ids it names them. */
  readonly source: string;
  /** Stored bytes. */
  readonly size: number;
  /**
   * True if the command line named the file; false if it was found in a folder or zip file, which may contain anything.
   */
  readonly named: boolean;
  /** Path on disk; null if the file is packed or part of an archive. */
  readonly path: string | null;
  /** Ends any reading of the file. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Set for packed files. Takes the number of each entry; throws an Error where there are far too many for the stored
   * size.
   */
  readonly onEntry?: (number: number) => void;
  /**
   * Reads the file unpacked, text as UTF-8. `onRead` receives the stored bytes read so far. Throws an Error where the
   * file unpacks to far more than its stored size, and the signal's reason.
   */
  open(onRead?: (bytes: number) => void): AsyncIterable<Buffer>;
}

export interface Inputs {
  readonly inputs: readonly Input[];
  /** Files that cannot be read, and the reasons. */
  readonly faults: readonly { readonly name: string; readonly message: string }[];
  /** Removes the copies of standard input and of pipes. */
  close(): Promise<void>;
}

export interface OpenInputsOptions {
  /** Default: the standard input of the process. */
  readonly standardInput?: AsyncIterable<Buffer>;
  /** Encoding of files that are not UTF-8 and have no byte order mark. */
  readonly encoding?: string | undefined;
  /** Ends opening and any later reading. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the number of files found, and the number of operands finished; a folder counts in fractions. */
  readonly onFound?: (files: number, done: number) => void;
}

type Named = Pick<Input, 'name' | 'operand' | 'source' | 'named'>;

/** Operand of the standard input. */
const STANDARD_INPUT = '-';

/**
 * Expands the operands. An unreadable file is a fault and does not stop the others. Throws the file system's error if
 * an operand does not exist, and the signal's reason.
 */
export async function openInputs(names: readonly string[], options: OpenInputsOptions = {}): Promise<Inputs> {
  const opening = new Opening(options);
  try {
    for (const [index, name] of [...new Set(names)].entries()) await opening.add(name, index);
  } catch (error) {
    await opening.close();
    throw error;
  }
  const { inputs, faults } = opening;
  return { inputs, faults, close: () => opening.close() };
}

class Opening {
  readonly inputs: Input[] = [];
  readonly faults: { name: string; message: string }[] = [];
  readonly #options: OpenInputsOptions;
  /** Temporary folder with the contents of pipes. */
  #folder: string | null = null;
  #pipes = 0;
  /** Operands finished. */
  #done = 0;

  constructor(options: OpenInputsOptions) {
    this.#options = options;
  }

  /** `index` is the number of operands before this one. */
  async add(name: string, index: number): Promise<void> {
    this.#done = index;
    const { standardInput = process.stdin, signal } = this.#options;
    const found = name === STANDARD_INPUT ? null : await stat(name);
    if (found === null) await this.#addPipe(standardInput, { name: 'standard input', operand: name });
    else if (found.isFIFO()) await this.#addPipe(openPipe(name), { name, operand: name });
    else if (found.isDirectory()) {
      const paths = await filesIn(name, (found) => this.#tell(this.inputs.length + found), signal);
      for (const [place, path] of paths.entries()) {
        this.#done = index + place / paths.length;
        const inside = relative(name, path).replaceAll('\\', '/');
        await this.#addFile(path, {
          name: path,
          operand: name,
          source: sourceInFolder(inside),
          named: false,
        });
      }
    } else if (found.isFile())
      await this.#addFile(name, { name, operand: name, source: sourceOfFile(name), named: true });
    else this.faults.push({ name, message: 'is neither a file nor a folder nor a pipe' });
  }

  async close(): Promise<void> {
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }

  /** Copies a pipe to disk: recognition reads its start and the import reads it again. */
  async #addPipe(bytes: AsyncIterable<Buffer>, of: Pick<Named, 'name' | 'operand'>): Promise<void> {
    const { signal } = this.#options;
    this.#folder ??= await mkdtemp(join(tmpdir(), 'undertone-import-'));
    this.#pipes += 1;
    const source = this.#pipes === 1 ? 'stdin' : `stdin-${this.#pipes}`;
    const path = join(this.#folder, source);
    await pipeline(bytes, createWriteStream(path), signal === undefined ? {} : { signal });
    await this.#addFile(path, { ...of, source, named: true });
  }

  async #addFile(path: string, of: Named): Promise<void> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    try {
      await this.#addReadable(path, of);
    } catch (error) {
      signal?.throwIfAborted();
      this.faults.push({ name: of.name, message: error instanceof Error ? error.message : String(error) });
    }
    this.#tell(this.inputs.length);
  }

  #tell(files: number): void {
    this.#options.onFound?.(files, this.#done);
  }

  async #addReadable(path: string, of: Named): Promise<void> {
    const { size } = await stat(path);
    const limit = new UnpackLimit(size);
    const whole: Range = { path, packing: 'none', start: 0, size };
    const start = await firstBytes(unpack({ ...whole, size: Math.min(size, 4) }), 4);
    if (!isZip(start)) {
      this.inputs.push(await this.#inputOf(whole, of, limit));
      return;
    }
    for (const entry of await readZip(path)) {
      if (isHidden(entry.name)) continue;
      this.#options.signal?.throwIfAborted();
      const name = `${of.name}/${entry.name}`;
      if (entry.fault === null) {
        const source = `${of.source}/${sourceInFolder(entry.name)}`;
        const range = await entry.range();
        this.inputs.push(
          await this.#inputOf(range, { name, operand: of.operand, source, named: false }, limit),
        );
      } else this.faults.push({ name, message: entry.fault });
      this.#tell(this.inputs.length);
    }
  }

  /** Opens a range that may be packed once more, such as a gzip file in a zip file. */
  async #inputOf(range: Range, named: Named, limit: UnpackLimit): Promise<Input> {
    const { encoding, signal } = this.#options;
    const packing = packingOf(await firstBytes(unpack(range), 4));
    const input = { ...named, size: range.size, signal };
    if (packing === 'none' && range.packing === 'none') {
      const path = range.start === 0 ? range.path : null;
      const open: Input['open'] = (onRead) => asUtf8(unpack(range, { onRead, signal }), encoding);
      return { ...input, path, open };
    }
    const outer = limit.counter();
    const inner = limit.counter();
    const once: Range = range.packing === 'none' ? { ...range, packing } : range;
    const open: Input['open'] = (onRead) => {
      const bytes = outer(unpack(once, { onRead, signal }));
      const isTwice = packing !== 'none' && range.packing !== 'none';
      return asUtf8(isTwice ? inner(unpackStream(bytes, packing, signal)) : bytes, encoding);
    };
    return { ...input, path: null, onEntry: limit.meter(ENTRY_BYTES), open };
  }
}

/**
 * Reads a named pipe. Opening one as a file blocks a thread until somebody writes, and nothing can interrupt it; a
 * socket waits asynchronously. On macOS a socket reads a pipe without a writer as empty.
 */
function openPipe(path: string): AsyncIterable<Buffer> {
  if (process.platform === 'darwin') return createReadStream(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/**
 * Lists every file below a folder by name, except hidden ones. A link to a file counts unless its target is listed too.
 */
async function filesIn(
  folder: string,
  onFound: (files: number) => void,
  signal?: AbortSignal,
): Promise<string[]> {
  const files: string[] = [];
  const links: string[] = [];
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    signal?.throwIfAborted();
    for (const entry of await readdir(at, { withFileTypes: true })) {
      if (isHidden(entry.name)) continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) files.push(path);
      else if (entry.isSymbolicLink()) links.push(path);
    }
    onFound(files.length);
  }
  if (links.length > 0) {
    const known = new Set<string>();
    for (const file of files) known.add(await realpath(file));
    for (const link of links.toSorted()) {
      signal?.throwIfAborted();
      // A broken link is reported as an unreadable file; a link to a folder is not followed.
      const target = await realpath(link).catch(() => null);
      if (target !== null && (known.has(target) || !(await stat(target)).isFile())) continue;
      if (target !== null) known.add(target);
      files.push(link);
    }
  }
  return files.toSorted();
}

function isHidden(name: string): boolean {
  return name.split('/').some((part) => part.startsWith('.') || part === '__MACOSX');
}

/** Files of the same name in two folders are two sources. */
function sourceInFolder(name: string): string {
  const folders = name.split('/').slice(0, -1);
  return [...folders, sourceOfFile(name)].join('/');
}
