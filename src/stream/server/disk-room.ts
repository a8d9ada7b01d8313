import { statfs } from 'node:fs/promises';

/** Left free on the disk of our own server, or a twentieth of a small disk. */
const RESERVE_BYTES = 256 * 1024 * 1024;
const RESERVE_SHARE = 1 / 20;
const LOOK_EVERY_MS = 500;

/** Watches the room on a disk. */
export interface DiskRoom {
  /** False while less than the reserve is free. True while the disk cannot be asked. */
  readonly hasRoom: boolean;
  close(): void;
}

/** Whether a disk still has its reserve. Sizes in bytes. */
export function hasReserve(free: number, size: number): boolean {
  return free >= Math.min(RESERVE_BYTES, size * RESERVE_SHARE);
}

/**
 * Watches the disk that holds `folder`. JetStream stops writing to a stream at the first write for which the
 * disk has no room, and only a restart of the server brings the stream back; whoever stops publishing before
 * that goes on by itself when there is room again.
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
