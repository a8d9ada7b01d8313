import { it } from 'node:test';
import { damage } from './damage.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('gives no wrong answer from damaged files, reports them, and makes them again', async () => {
  nothingWrong(await damage(SHORT));
});
