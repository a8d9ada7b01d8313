import { it } from 'node:test';
import { fullDisk } from './full-disk.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('goes on accepting and answering while the views have no room, and counts all when they have', async () => {
  nothingWrong(await fullDisk({ ...SHORT, seconds: 1 }));
});
