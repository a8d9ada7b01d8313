/**
 * Reads zip files without unpacking them to disk: the directory at the end, then any entry as a stream. Keeps the
 * invariant that entries share no bytes, so that a small file cannot unpack to a huge one.
 * Source: PKWARE APPNOTE.TXT 6.3.10, 4.3 (zip64 included; no encryption, no multi-disk archives).
 *
 * Test: test/doors/import/inputs.test.ts.
 */
import { open, type FileHandle } from 'node:fs/promises';
import type { Packing, Range } from './bytes.ts';

export interface ZipEntry {
  /** Path as the archive has it. */
  readonly name: string;
  /** Stored bytes. */
  readonly size: number;
  /** Reason why the entry cannot be read, or null. */
  readonly fault: string | null;
  /** Returns the range of its bytes. Throws an Error when the archive is damaged. */
  range(): Promise<Range>;
}

const LOCAL_HEADER = 0x04034b50;
const DIRECTORY_HEADER = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const END_BYTES = 22;
/** Size of a local header without its name and extra field. */
const LOCAL_BYTES = 30;
/** Size of the end record with the longest comment, and of the zip64 locator before it. */
const TAIL_BYTES = END_BYTES + 0xffff + 20;
const MAX_DIRECTORY_BYTES = 256 * 1024 * 1024;
const PACKINGS: ReadonlyMap<number, Packing> = new Map([
  [0, 'none'],
  [8, 'deflate'],
  [93, 'zstd'],
]);

/** True if the file starts with a zip signature. */
export function isZip(start: Buffer): boolean {
  return start.length >= 4 && [LOCAL_HEADER, END].includes(start.readUInt32LE(0));
}

/**
 * Lists the files of a zip file in its order. Throws an Error when the directory cannot be read or two entries share
 * bytes.
 */
export async function readZip(path: string): Promise<ZipEntry[]> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const tail = await bytesAt(file, Math.max(0, size - TAIL_BYTES), Math.min(size, TAIL_BYTES));
    const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
    if (end === -1 || end + END_BYTES > tail.length)
      throw new Error('the zip file has no directory: is it whole?');
    let bytes = tail.readUInt32LE(end + 12);
    let offset = tail.readUInt32LE(end + 16);
    if (end >= 20 && tail.readUInt32LE(end - 20) === LOCATOR_64) {
      const record = await bytesAt(file, Number(tail.readBigUInt64LE(end - 12)), 56);
      if (record.length < 56 || record.readUInt32LE(0) !== END_64) throw new Error('the zip file is damaged');
      bytes = Number(record.readBigUInt64LE(40));
      offset = Number(record.readBigUInt64LE(48));
    }
    if (bytes > MAX_DIRECTORY_BYTES || offset + bytes > size)
      throw new Error('the zip file is damaged or cut off');
    return entriesOf(path, await bytesAt(file, offset, bytes), offset);
  } finally {
    await file.close();
  }
}

/** An entry as the directory lists it. */
interface Listed {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  /** Stored bytes, and the offset of the local header before them. */
  readonly size: number;
  readonly offset: number;
}

function entriesOf(path: string, directory: Buffer, directoryOffset: number): ZipEntry[] {
  const listed: Listed[] = [];
  for (const entry of listedIn(directory)) {
    listed.push(entry);
    if (listed.length * LOCAL_BYTES > directoryOffset) throw overlap(entry);
  }
  const ends = endsOf(listed, directoryOffset);
  return listed
    .filter(({ name }) => !name.endsWith('/'))
    .map((entry) => {
      const { name, flags, method, size } = entry;
      const packing = PACKINGS.get(method);
      return {
        name,
        size,
        fault:
          (flags & 1) === 1
            ? 'is encrypted'
            : packing === undefined
              ? `is packed by method ${method}, which is not supported`
              : null,
        range: () => rangeOf(path, entry, packing ?? 'none', ends.get(entry) ?? 0),
      };
    });
}

function* listedIn(directory: Buffer): Generator<Listed> {
  let at = 0;
  while (at + 46 <= directory.length && directory.readUInt32LE(at) === DIRECTORY_HEADER) {
    const nameEnd = at + 46 + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    const sizes = largeSizes(directory.subarray(nameEnd, extraEnd), {
      unpacked: directory.readUInt32LE(at + 24),
      size: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    });
    yield {
      name: directory.toString('utf8', at + 46, nameEnd),
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      ...sizes,
    };
    at = extraEnd + directory.readUInt16LE(at + 32);
  }
}

/**
 * Returns the latest end of each entry: the start of the next one or of the directory. Throws an Error when an entry is
 * longer.
 */
function endsOf(listed: readonly Listed[], directoryOffset: number): ReadonlyMap<Listed, number> {
  const ends = new Map<Listed, number>();
  let next = directoryOffset;
  for (const entry of listed.toSorted((a, b) => b.offset - a.offset)) {
    if (entry.offset + LOCAL_BYTES + entry.size > next) throw overlap(entry);
    ends.set(entry, next);
    next = entry.offset;
  }
  return ends;
}

function overlap({ name }: Listed): Error {
  return new Error(`the zip file is damaged, or made to cost time: "${name}" overlaps what stands behind it`);
}

/** Reads sizes beyond 4 GB from the extra field: in this order, each only where the normal field is full. */
function largeSizes(
  extra: Buffer,
  usual: { readonly unpacked: number; readonly size: number; readonly offset: number },
): { size: number; offset: number } {
  let { size, offset } = usual;
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let place = at + 4;
    const next = (): number => {
      const value = place + 8 <= extra.length ? Number(extra.readBigUInt64LE(place)) : 0;
      place += 8;
      return value;
    };
    if (usual.unpacked === 0xffffffff) next();
    if (usual.size === 0xffffffff) size = next();
    if (usual.offset === 0xffffffff) offset = next();
  }
  return { size, offset };
}

/** Reads the start from the local header, which may be longer than the directory's copy. */
async function rangeOf(path: string, entry: Listed, packing: Packing, end: number): Promise<Range> {
  const { size, offset } = entry;
  const file = await open(path, 'r');
  try {
    const header = await bytesAt(file, offset, LOCAL_BYTES);
    if (header.length < LOCAL_BYTES || header.readUInt32LE(0) !== LOCAL_HEADER)
      throw new Error('the zip file is damaged');
    const start = offset + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
    if (start + size > end) throw overlap(entry);
    return { path, size, packing, start };
  } finally {
    await file.close();
  }
}

async function bytesAt(file: FileHandle, position: number, count: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(count), 0, count, position);
  return buffer.subarray(0, bytesRead);
}
