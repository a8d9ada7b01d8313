import { crc32 } from 'node:zlib';

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly packed: Buffer;
  readonly encrypted?: boolean;
  /** The directory has it where this entry is; there are no bytes of its own. */
  readonly sameAs?: number;
  /** Its local header says that so many bytes come before its content, and they do not. */
  readonly extra?: number;
}

/** A zip file of entries that are packed already. */
export function zipOf(entries: readonly Entry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const { name, method, packed, encrypted = false, sameAs, extra = 0 } of entries) {
    const title = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(encrypted ? 1 : 0, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(packed), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(packed.length, 18);
    common.writeUInt16LE(title.length, 22);
    const local = Buffer.from(common);
    local.writeUInt16LE(extra, 24);
    const file = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), local, title, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(sameAs === undefined ? offset : (offsets[sameAs] ?? 0), 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, place, title]));
    offsets.push(offset);
    if (sameAs !== undefined) continue;
    files.push(file);
    offset += file.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, index, end]);
}
