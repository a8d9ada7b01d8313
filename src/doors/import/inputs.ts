/** What a command line names becomes a list of files: folders and zip files are opened, the standard input is kept. */
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

/** One file to import. */
export interface Input {
  /** As messages name it: the path, and behind it the place in a zip file. */
  readonly name: string;
  /** What was named on the command line. */
  readonly operand: string;
  /** Names its conversations together with their ids, where nothing else does. */
  readonly source: string;
  /** Stored bytes. */
  readonly size: number;
  /** Somebody named it; others were found in a folder or zip file, where anything may be. */
  readonly named: boolean;
  /** The file as it is on the disk, where it is one and is not packed. */
  readonly path: string | null;
  /** Ends whatever is read of it. */
  readonly signal?: AbortSignal | undefined;
  /** Of what is packed: is told the number of each entry, and throws an Error where they are far more than was stored. */
  readonly onEntry?: (number: number) => void;
  /**
   * Unpacked, text as UTF-8. `onRead` hears how many stored bytes have been read. Throws an Error where it unpacks to
   * far more than was stored, and what the signal says once that is aborted.
   */
  open(onRead?: (bytes: number) => void): AsyncIterable<Buffer>;
}

export interface Inputs {
  readonly inputs: readonly Input[];
  /** What cannot be read, and why. */
  readonly faults: readonly { readonly name: string; readonly message: string }[];
  /** Removes what was kept of the standard input and of pipes. */
  close(): Promise<void>;
}

export interface OpenInputsOptions {
  /** Default: that of the process. */
  readonly standardInput?: AsyncIterable<Buffer>;
  /** Of files that are not UTF-8 and do not say so. */
  readonly encoding?: string | undefined;
  /** Ends opening, and reading what was opened. */
  readonly signal?: AbortSignal | undefined;
  /** Hears how many files there are so far, and how many of the names are done; folders in part. */
  readonly onFound?: (files: number, done: number) => void;
}

/** What an input is called. */
type Named = Pick<Input, 'name' | 'operand' | 'source' | 'named'>;

/** Names of the standard input. */
const STANDARD_INPUT = '-';

/**
 * Expands what was named. A file that cannot be read is a fault and keeps no other from being read. Throws the error of
 * the file system when what was named is not there, and what the signal says once that is aborted.
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
  /** Holds what pipes gave. */
  #folder: string | null = null;
  #pipes = 0;
  /** How many of the names are done. */
  #done = 0;

  constructor(options: OpenInputsOptions) {
    this.#options = options;
  }

  /** `index`: how many names were before. */
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

  /** Recognising reads the beginning, importing reads all: the disk holds what a pipe gives once only. */
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

  /** A range that may be packed once more: a gzip'ed file in a zip file. */
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
 * What a pipe gives. A file of this kind is opened only once somebody writes to it, and nothing ends the thread that
 * waits for that; a socket waits as everything else does. On macOS, a socket takes a pipe without a writer for empty.
 */
function openPipe(path: string): AsyncIterable<Buffer> {
  if (process.platform === 'darwin') return createReadStream(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Every file below a folder, by name; hidden ones are none. A link to a file is one, unless the file is there, too. */
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
      // One that leads nowhere is a file that cannot be read; one to a folder is not followed.
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

/** Two files of the same name in two folders are two sources. */
function sourceInFolder(name: string): string {
  const folders = name.split('/').slice(0, -1);
  return [...folders, sourceOfFile(name)].join('/');
}
