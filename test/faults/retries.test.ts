import { it } from 'node:test';
import { retries } from './retries.ts';
import { nothingWrong } from './support/figures.ts';

it('stores a request once however often, and after whatever, it is repeated with its key', async () => {
  nothingWrong(await retries({ rounds: 1, seconds: 0, seed: 1, say: () => undefined }));
});
