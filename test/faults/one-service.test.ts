import { after, before, describe, it } from 'node:test';
import { alerts, ALERTS_ENV } from './alerts.ts';
import { answers } from './answers.ts';
import { away } from './away.ts';
import { fullDisk } from './full-disk.ts';
import { imports } from './imports.ts';
import { kills } from './kills.ts';
import { poison } from './poison.ts';
import { retries } from './retries.ts';
import { isLong } from '../support/long.ts';
import { nothingWrong, SHORT } from './support/figures.ts';
import { Stack } from './support/stack.ts';
import { traces } from './traces.ts';
import { twoWorkers } from './two-workers.ts';

/**
 * Faults that a service with the usual settings survives: one after the other on the same one, each with sessions (by
 * its seed) of its own.
 */
/**
 * What other tests have too: dead letters (worker/loop, cli/dead-letters), a service without its stream
 * (e2e/limits-rules), several workers (worker/workers), and killed imports (cli/import).
 */
const inLongForm = (name: string, test: () => Promise<void>): void => {
  if (isLong) void it(name, test);
};

describe('a service', () => {
  let given: Stack;
  before(async () => {
    given = await Stack.start({ env: ALERTS_ENV });
  });
  after(() => given?.stop());

  inLongForm('dead-letters what cannot be processed, with the reason, and counts the rest', async () => {
    nothingWrong(await poison({ ...SHORT, seed: 2, given }));
  });

  it('stores a request once however often, and after whatever, it is repeated with its key', async () => {
    nothingWrong(await retries({ ...SHORT, seed: 3, given }));
  });

  inLongForm(
    'refuses messages and answers queries while nats-server is away, and goes on by itself',
    async () => {
      nothingWrong(await away({ ...SHORT, seed: 4, seconds: 9, given }));
    },
  );

  it('tells each thing that alerts wait for, under one id, when the worker is killed while it tells', async () => {
    nothingWrong(await alerts({ ...SHORT, seed: 8, given }));
  });

  it('goes on accepting and answering while the views have no room, and counts all when they have', async () => {
    nothingWrong(await fullDisk({ ...SHORT, seed: 5, seconds: 1, given }));
  });

  inLongForm('applies nothing twice when two workers run on one shard', async () => {
    nothingWrong(await twoWorkers({ ...SHORT, seed: 6, given }));
  });

  inLongForm(
    'stores each conversation of an import once when the importer, or web, is killed in the middle',
    async () => {
      nothingWrong(await imports({ ...SHORT, seed: 8, given }));
    },
  );

  it('makes each message of traces once when the process that assembles them is killed', async () => {
    nothingWrong(await traces({ ...SHORT, seed: 8, rounds: isLong ? 2 : 1, given }));
  });

  it('gives answers of one moment each, none older than the one before, when worker and web are killed', async () => {
    nothingWrong(await answers({ ...SHORT, seed: 9, rounds: 2, given }));
  });

  it('loses nothing, and counts nothing twice, when processes are killed under load', async () => {
    nothingWrong(await kills({ ...SHORT, seed: 7, rounds: 3, given }));
  });
});
