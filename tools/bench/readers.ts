/** Do many readers with mixed questions go on being answered, while the views change under them? */
import { setTimeout as sleep } from 'node:timers/promises';
import { action, wholeNumber, type Command } from '../../src/cli/command.ts';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { openFixture, temporaryDirectory, uuid, VIEWS } from '../../test/support/fold.ts';
import { SYNTHETIC_START, SyntheticStream } from '../../test/support/synthetic-stream.ts';
import { anyQuestion } from './load/any-question.ts';
import { Measurements } from './load/http-load.ts';
import { randomFrom } from './load/questions.ts';

const TOPICS = 50;
const DAYS = 60;
const BATCH = 200;
/** As long as a worker under load waits between two publications. */
const PUBLISH_EVERY_MS = 150;

const USAGE = `Usage: npm run bench -- readers [OPTIONS]

Do many readers with mixed questions still get answers while the views change under them?

Readers ask all kinds of questions of one database with several threads, while a writer folds and publishes. A failed
question ends the run with code 1, and so does a database that had to be replaced.

  --seconds N    default: 60
  --readers N    readers at once (default: 16)
  --threads N    threads of the database, and questions that it answers at once (default: 4)
  --messages N   messages in the views at the start (default: 20000)
  --seed N       another seed asks other questions (default: 1)`;

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      seconds: { type: 'string', default: '60' },
      readers: { type: 'string', default: '16' },
      threads: { type: 'string', default: '4' },
      messages: { type: 'string', default: '20000' },
      seed: { type: 'string', default: '1' },
    },
    read(values) {
      const options = {
        seconds: wholeNumber('--seconds', values.seconds),
        readers: wholeNumber('--readers', values.readers),
        threads: wholeNumber('--threads', values.threads),
        messages: wholeNumber('--messages', values.messages),
        seed: 1000 * wholeNumber('--seed', values.seed),
      };
      return () => readAll(options);
    },
  }),
};

type OptionName = 'seconds' | 'readers' | 'threads' | 'messages' | 'seed';

async function readAll({
  seconds,
  readers,
  threads,
  messages,
  seed,
}: Readonly<Record<OptionName, number>>): Promise<number> {
  const directory = temporaryDirectory();
  const fixture = await openFixture({ directory: directory.path, compactRows: 5000 });
  const reader = await SnapshotReader.open({
    directory: () => directory.path,
    views: VIEWS,
    threads,
    connections: threads,
    memoryBytes: 64e6,
    memoryBytesAlone: 256e6,
    spillDirectory: `${directory.path}/spill`,
  });
  try {
    const stream = new SyntheticStream({ messages: 2 * messages, days: 2 * DAYS, topics: TOPICS });
    await fixture.fold(stream.next(messages));
    await fixture.publish();
    const history = { start: SYNTHETIC_START, end: SYNTHETIC_START + DAYS * 86_400e6, topics: TOPICS };
    const runner = new QueryRunner({ views: VIEWS, readerOf: () => reader });
    const measurements = new Measurements();
    const deadline = performance.now() + seconds * 1000;
    const ask = async (random: () => number): Promise<void> => {
      while (performance.now() < deadline) {
        const parameters = parseQueryParameters({ instanceId: uuid(1, 1), ...anyQuestion(random, history) });
        const startedAt = performance.now();
        try {
          await runner.run(parameters);
          measurements.add(performance.now() - startedAt);
        } catch (error) {
          measurements.fail(String(error).split('\n')[0] ?? '');
        }
      }
    };
    const write = async (): Promise<void> => {
      while (performance.now() < deadline) {
        await fixture.fold(stream.next(BATCH));
        await fixture.publish();
        await sleep(PUBLISH_EVERY_MS);
      }
    };
    await Promise.all([
      write(),
      ...Array.from({ length: readers }, (_, index) => ask(randomFrom(seed + index))),
    ]);
    console.log(
      `${measurements.count} answers, p50 ${measurements.quantile(0.5).toFixed(1)} ms, ` +
        `p99 ${measurements.quantile(0.99).toFixed(1)} ms, ${fixture.store.sequence} generations`,
    );
    for (const [fault, times] of measurements.errors) console.log(`${times} times: ${fault}`);
    return measurements.errors.size > 0 || measurements.count === 0 ? 1 : 0;
  } finally {
    await reader.close();
    await fixture.close();
    directory.remove();
  }
}
