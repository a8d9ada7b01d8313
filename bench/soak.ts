/**
 * Does everything hold for half an hour at once? Sixteen readers with every grouping, granularity, bound and cut
 * range, four writers, an attacker with a valid key, a victim who checks each of its numbers, and other load.
 *
 *   npm run bench -- soak [--minutes 30] [--readers 16] [--writers 4] [--writes 10] [--beside 1]
 *
 * Fails on any 5xx but 503 with Retry-After, a wrong number, a victim whose p99 exceeds a second, or memory that grows.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readDemoConversations } from '../src/demo/conversations.ts';
import { soak, type Memory, type SoakResult } from './load/soak/soak.ts';

const VICTIM_P99_MS = 1000;
/** Memory of the last third over that of the middle third. */
const GROWTH = 1.15;
const GROWTH_MB = 60;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '30' },
      readers: { type: 'string', default: '16' },
      writers: { type: 'string', default: '4' },
      writes: { type: 'string', default: '10' },
      beside: { type: 'string', default: '1' },
    },
  });
  const result = await soak({
    seconds: Number(values.minutes) * 60,
    readers: Number(values.readers),
    writers: Number(values.writers),
    writesPerSecond: Number(values.writes),
    beside: Number(values.beside),
    conversations: (
      await readDemoConversations(resolve(import.meta.dirname, '../demo/conversations.jsonl'))
    ).map(({ turns }) => turns),
    onMinute: (line) => console.log(line),
  });
  const failures = print(result);
  if (failures.length > 0) {
    console.log(`FAILED:\n  ${failures.join('\n  ')}`);
    process.exitCode = 1;
  }
}

/** Prints the figures and returns what must not be. */
function print({ readers, writers, attackers, victim, liveness, memory }: SoakResult): string[] {
  const rows: [string, { describe(): string; faults: readonly string[] }][] = [
    ['readers', readers],
    ['writers', writers],
    ['victim, ingest', victim.ingest],
    ['victim, query', victim.query],
    ['victim, sent to counted', victim.counted],
    ['livez', liveness],
    ...[...attackers].map(([name, tally]): [string, typeof tally] => [`attack: ${name}`, tally]),
  ];
  for (const [name, tally] of rows) console.log(`${name.padEnd(32)} ${tally.describe()}`);
  const failures = rows.flatMap(([name, tally]) => tally.faults.map((fault) => `${name}: ${fault}`));
  for (const [name, tally] of [
    ['ingest', victim.ingest],
    ['query', victim.query],
  ] as const) {
    const p99 = tally.quantile(0.99);
    if (p99 > VICTIM_P99_MS) failures.push(`the victim's p99 of ${name} is ${p99.toFixed(0)} ms`);
  }
  return [...failures, ...grown(memory)];
}

function grown(memory: Memory): string[] {
  return [...memory].flatMap(([name, samples]) => {
    const third = Math.floor(samples.length / 3);
    const [middle, last] = [median(samples.slice(third, 2 * third)), median(samples.slice(2 * third))];
    console.log(
      `${`memory of ${name}`.padEnd(32)} middle third ${middle.toFixed(0)} MB, last ${last.toFixed(0)} MB, ` +
        `peak ${Math.max(...samples).toFixed(0)} MB`,
    );
    const limit = Math.max(middle * GROWTH, middle + GROWTH_MB);
    return third > 0 && last > limit
      ? [`${name} grew from ${middle.toFixed(0)} to ${last.toFixed(0)} MB`]
      : [];
  });
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
