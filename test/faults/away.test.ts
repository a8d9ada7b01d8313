import { it } from 'node:test';
import { away } from './away.ts';
import { nothingWrong, SHORT } from './support/figures.ts';

it('refuses messages and answers queries while nats-server is away, and goes on by itself', async () => {
  nothingWrong(await away({ ...SHORT, seconds: 9 }));
});
