import { rmSync } from 'node:fs';
import { openFixture, temporaryDirectory, type Fixture } from '../test/support/fold.ts';
import { SyntheticStream } from '../test/support/synthetic-stream.ts';

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] as number;

async function measure(
  fixture: Fixture,
  stream: SyntheticStream,
  batch: number,
  batches: number,
): Promise<void> {
  const folds: number[] = [];
  const publishes: number[] = [];
  for (let i = 0; i < batches; i++) {
    const work = stream.next(batch);
    let startedAt = performance.now();
    await fixture.fold(work);
    folds.push(performance.now() - startedAt);
    startedAt = performance.now();
    await fixture.publish();
    publishes.push(performance.now() - startedAt);
  }
  const total = [...folds, ...publishes].reduce((sum, value) => sum + value, 0);
  console.log(
    `batch ${batch}: fold p50 ${percentile(folds, 0.5).toFixed(0)} ms, publish p50 ${percentile(publishes, 0.5).toFixed(0)} ms, ${Math.round((batch * batches * 1000) / total)} messages/s`,
  );
}

/** `npm run bench -- fold [messages of history]`: fold, commit and publish at several batch sizes. */
export async function run(args: readonly string[]): Promise<void> {
  const history = Number(args[0] ?? 100_000);
  const directory = temporaryDirectory();
  const fixture = await openFixture({ directory: directory.path, threads: 2 });
  const stream = new SyntheticStream({ messages: history + 200_000, days: 365 });
  const startedAt = performance.now();
  for (let done = 0; done < history; done += 50_000) {
    await fixture.fold(stream.next(Math.min(50_000, history - done)));
    await fixture.publish();
  }
  await fixture.publication.settle();
  console.log(
    `history of ${history} messages: ${Math.round((history * 1000) / (performance.now() - startedAt))} messages/s`,
  );
  await measure(fixture, stream, 500, 20);
  await measure(fixture, stream, 5_000, 6);
  await measure(fixture, stream, 50_000, 2);
  await fixture.close();
  rmSync(directory.path, { recursive: true, force: true });
}
