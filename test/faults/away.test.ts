import { it } from 'node:test';
import { away } from './away.ts';
import { nothingWrong } from './support/figures.ts';

it('refuses messages and answers queries while nats-server is away, and goes on by itself', async () => {
  nothingWrong(await away({ rounds: 1, seconds: 9, seed: 1, say: () => undefined }));
});
