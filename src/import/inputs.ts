/** What a command line names becomes a list of files: folders and zip files are opened, the standard input is kept. */
import { createReadStream, createWriteStream, type Dirent } from 'node:fs';
import { mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { asUtf8, firstBytes, packingOf, unpack, unpackStream, type Range } from './bytes.ts';
import { sourceOfFile } from './mapper.ts';
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
  /** Unpacked, text as UTF-8. `onRead` hears how many stored bytes have been read. */
  open(onRead?: (bytes: number) => void): AsyncIterable<Buffer>;
}

export interface Inputs {
  readonly inputs: readonly Input[];
  /** What cannot be read, and why. */
  readonly faults: readonly { readonly name: string; readonly message: string }[];
  /** Removes what was kept of the standard input and of pipes. */
  close(): Promise<void>;
}

/** Names of the standard input. */
const STANDARD_INPUT = '-';

/**
 * Expands what was named. A file that cannot be read is a fault and keeps no other from being read. `encoding`: of
 * files that are not UTF-8 and do not say so. Throws the error of the file system when what was named is not there.
 */
export async function openInputs(
  names: readonly string[],
  standardInput: AsyncIterable<Buffer> = process.stdin,
  encoding?: string,
): Promise<Inputs> {
  const inputs: Input[] = [];
  const faults: { name: string; message: string }[] = [];
  let folder: string | null = null;
  let pipes = 0;
  for (const name of new Set(names)) {
    const found = name === STANDARD_INPUT ? null : await stat(name);
    if (found === null || found.isFIFO()) {
      folder ??= await mkdtemp(join(tmpdir(), 'undertone-import-'));
      pipes += 1;
      const source = pipes === 1 ? 'stdin' : `stdin-${pipes}`;
      const path = join(folder, source);
      // Recognising reads the beginning, importing reads all: the disk holds what a pipe gives once only.
      await pipeline(found === null ? standardInput : createReadStream(name), createWriteStream(path));
      await addFile({
        path,
        name: found === null ? 'standard input' : name,
        operand: name,
        source,
        named: true,
      });
    } else if (found.isDirectory()) {
      for (const path of await filesIn(name)) {
        const inside = relative(name, path).replaceAll('\\', '/');
        await addFile({ path, name: path, operand: name, source: sourceInFolder(inside), named: false });
      }
    } else if (found.isFile()) {
      await addFile({ path: name, name, operand: name, source: sourceOfFile(name), named: true });
    } else faults.push({ name, message: 'is neither a file nor a folder nor a pipe' });
  }
  return {
    inputs,
    faults,
    close: async () => {
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };

  async function addFile(of: Parameters<typeof addReadable>[0]): Promise<void> {
    try {
      await addReadable(of);
    } catch (error) {
      faults.push({ name: of.name, message: error instanceof Error ? error.message : String(error) });
    }
  }

  async function addReadable(
    of: Pick<Input, 'name' | 'operand' | 'source' | 'named'> & { readonly path: string },
  ): Promise<void> {
    const { path, name } = of;
    const { size } = await stat(path);
    const whole: Range = { path, packing: 'none', start: 0, size };
    const start = await firstBytes(unpack({ ...whole, size: Math.min(size, 4) }), 4);
    if (isZip(start)) {
      for (const entry of await readZip(path)) {
        const inside = `${name}/${entry.name}`;
        if (isHidden(entry.name)) continue;
        if (entry.fault === null) {
          const source = `${of.source}/${sourceInFolder(entry.name)}`;
          inputs.push(
            await inputOf(await entry.range(), {
              name: inside,
              operand: of.operand,
              source,
              named: false,
              encoding,
            }),
          );
        } else faults.push({ name: inside, message: entry.fault });
      }
    } else inputs.push(await inputOf(whole, { ...of, encoding }));
  }
}

/** A range that may be packed once more: a gzip'ed file in a zip file. */
async function inputOf(
  range: Range,
  of: Pick<Input, 'name' | 'operand' | 'source' | 'named'> & { readonly encoding: string | undefined },
): Promise<Input> {
  const { name, operand, source, named, encoding } = of;
  const start = await firstBytes(unpack(range), 4);
  const packing = packingOf(start);
  const isPlain = packing === 'none' && range.packing === 'none';
  const input = { name, operand, source, named, size: range.size };
  if (packing === 'none' || range.packing === 'none') {
    const inner: Range = range.packing === 'none' ? { ...range, packing } : range;
    const path = isPlain && range.start === 0 ? range.path : null;
    return { ...input, path, open: (onRead) => asUtf8(unpack(inner, onRead), encoding) };
  }
  const open: Input['open'] = (onRead) => asUtf8(unpackStream(unpack(range, onRead), packing), encoding);
  return { ...input, path: null, open };
}

/** Every file below a folder, by name; hidden ones are none. A link to a file is one, unless the file is there, too. */
async function filesIn(folder: string): Promise<string[]> {
  const found = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
    (entry) => !isHidden(relative(folder, pathOf(entry)).replaceAll('\\', '/')),
  );
  const files = found.filter((entry) => entry.isFile()).map(pathOf);
  const links = found.filter((entry) => entry.isSymbolicLink()).map(pathOf);
  if (links.length > 0) {
    const known = new Set<string>();
    for (const file of files) known.add(await realpath(file));
    for (const link of links.toSorted()) {
      // One that leads nowhere is a file that cannot be read; one to a folder is not followed.
      const target = await realpath(link).catch(() => null);
      if (target !== null && (known.has(target) || !(await stat(target)).isFile())) continue;
      if (target !== null) known.add(target);
      files.push(link);
    }
  }
  return files.toSorted();
}

function pathOf(entry: Dirent): string {
  return join(entry.parentPath, entry.name);
}

function isHidden(name: string): boolean {
  return name.split('/').some((part) => part.startsWith('.') || part === '__MACOSX');
}

/** Two files of the same name in two folders are two sources. */
function sourceInFolder(name: string): string {
  const folders = name.split('/').slice(0, -1);
  return [...folders, sourceOfFile(name)].join('/');
}
