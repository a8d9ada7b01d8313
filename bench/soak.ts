/** Does everything hold for half an hour at once? */
import { resolve } from 'node:path';
import { action, UsageError, wholeNumber, type Command } from '../src/cli/command.ts';
import { readDemoConversations } from '../src/demo/conversations.ts';
import { median } from './load/ratios.ts';
import { soak, type Memory, type SoakResult } from './load/soak/soak.ts';

const VICTIM_P99_MS = 1000;
/** Memory of the last third over that of the middle third. */
const GROWTH = 1.15;
const GROWTH_MB = 60;

const USAGE = `Usage: npm run bench -- soak [OPTIONS]

Does everything hold for half an hour at once? Readers with every grouping, granularity, bound and cut range, writers,
an attacker with a valid key, a victim who checks each of its numbers, and other load. Any 5xx but 503 with Retry-After,
a wrong number, a victim whose p99 exceeds a second, or memory that grows ends the run with code 1.

  --minutes N   default: 30
  --readers N   readers at once (default: 16)
  --writers N   writers at once (default: 4)
  --writes N    requests a second of each writer (default: 10)
  --beside N    busy loops on the processor besides the service (default: 1)`;

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      minutes: { type: 'string', default: '30' },
      readers: { type: 'string', default: '16' },
      writers: { type: 'string', default: '4' },
      writes: { type: 'string', default: '10' },
      beside: { type: 'string', default: '1' },
    },
    read(values) {
      const options = {
        seconds: Number(values.minutes) * 60,
        readers: wholeNumber('--readers', values.readers),
        writers: wholeNumber('--writers', values.writers),
        writesPerSecond: Number(values.writes),
        beside: wholeNumber('--beside', values.beside, 0),
      };
      if (!(options.seconds > 0 && options.writesPerSecond > 0))
        throw new UsageError('--minutes and --writes take numbers above 0.');
      return () => measure(options);
    },
  }),
};

async function measure(
  options: Omit<Parameters<typeof soak>[0], 'conversations' | 'onMinute'>,
): Promise<number> {
  const result = await soak({
    ...options,
    conversations: (
      await readDemoConversations(resolve(import.meta.dirname, '../demo/conversations.jsonl'))
    ).map(({ turns }) => turns),
    onMinute: (line) => console.log(line),
  });
  const failures = print(result);
  if (failures.length > 0) console.log(`FAILED:\n  ${failures.join('\n  ')}`);
  return failures.length > 0 ? 1 : 0;
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
