/**
 * Watches the free space on the disk of our own server.
 *
 * Test: test/stream/server/disk-room.test.ts.
 */
import { statfs } from 'node:fs/promises';

/** Free space to keep on the disk, bytes, or this share of a small disk. */
const RESERVE_BYTES = 256 * 1024 * 1024;
const RESERVE_SHARE = 1 / 20;
const LOOK_EVERY_MS = 500;

/** The watch of a disk. */
export interface DiskRoom {
  /** False while less than the reserve is free. True while the disk cannot be read. */
  readonly hasRoom: boolean;
  close(): void;
}

/** Returns true if a disk has its reserve. Sizes in bytes. */
export function hasReserve(free: number, size: number): boolean {
  return free >= Math.min(RESERVE_BYTES, size * RESERVE_SHARE);
}

/**
 * Watches the disk that holds `folder`. JetStream stops a stream at the first write without disk space, and only a
 * restart of the server revives it. If publishing stops before, it can continue by itself when there is space again.
 */
export async function watchDiskRoom(folder: string): Promise<DiskRoom> {
  const room = { hasRoom: true, close: () => clearInterval(timer) };
  const look = async (): Promise<void> => {
    try {
      const disk = await statfs(folder);
      room.hasRoom = hasReserve(disk.bavail * disk.bsize, disk.blocks * disk.bsize);
    } catch {
      room.hasRoom = true;
    }
  };
  await look();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return room;
}
