import { equal } from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { hasReserve, watchDiskRoom } from '../../../src/stream/server/disk-room.ts';

const GB = 1024 ** 3;

describe('disk room', () => {
  it('ends at 256 MiB free, or at a twentieth of a small disk', () => {
    equal(hasReserve(GB, 100 * GB), true);
    equal(hasReserve(256 * 1024 ** 2, 100 * GB), true);
    equal(hasReserve(256 * 1024 ** 2 - 1, 100 * GB), false);
    equal(hasReserve(60 * 1024 ** 2, GB), true);
    equal(hasReserve(50 * 1024 ** 2, GB), false);
    equal(hasReserve(0, 0), true);
  });

  it('is there on this disk, and counts as there where nothing can be asked', async () => {
    for (const folder of [tmpdir(), '/nowhere/at/all']) {
      const room = await watchDiskRoom(folder);
      equal(room.hasRoom, true);
      room.close();
    }
  });
});
