import { it } from 'node:test';
import { fullStream } from './full-stream.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('refuses messages while the stream is full, and goes on by itself when there is room', async () => {
  nothingWrong(await fullStream(SHORT));
});
