import { it } from 'node:test';
import { retries } from './retries.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('stores a request once however often, and after whatever, it is repeated with its key', async () => {
  nothingWrong(await retries(SHORT));
});
