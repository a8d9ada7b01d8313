/** Does everything hold for half an hour at once? */
import { ATTACKS } from './load/attacks/attacks.ts';
import { accountFaults, missed, PHASE_HEADING, phaseRows } from './load/attacks/report.ts';
import { benchmark } from './load/benchmark.ts';
import { demoConversations } from './load/distinct-texts.ts';
import { isFlat, trendOf, type Memory } from './load/soak/memory.ts';
import { soak, type SoakResult } from './load/soak/soak.ts';
import { table } from './load/table.ts';

const NAMES = ATTACKS.map(({ name }) => name);

const USAGE = `Usage: npm run bench -- soak [OPTIONS] [ATTACK…]

Does everything hold for half an hour at once? All attacks (or those named), each with a key of a project of its own,
readers with every grouping, granularity, bound and cut range, writers, and a victim who checks each number. A ledger
keeps what was answered 200 and is balanced against what is counted in the end. These end the run with code 1: a 5xx but
503 with Retry-After, a message that is lost or counted twice, a wrong number, memory that grows in the second half of
the run, a victim who waits longer than npm run faults -- attacks allows.

  --minutes N   default: 30
  --readers N   readers at once (default: 2)
  --writers N   writers at once (default: 2)
  --writes N    requests a second of each writer (default: 5)
  --beside N    busy loops on the processor besides the service (default: 0)
  --settle N    minutes that counting everything may take afterwards (default: 20)

Attacks: ${NAMES.join(', ')}`;

export const command = benchmark(
  USAGE,
  { minutes: 30, readers: 2, writers: 2, writes: 5, beside: 0, settle: 20 },
  async ({ minutes, readers, writers, writes, beside, settle }, names) => {
    const result = await soak({
      seconds: minutes * 60,
      readers,
      writers,
      writesPerSecond: writes,
      beside,
      settleMs: settle * 60_000,
      attacks: ATTACKS.filter(({ name }) => names.includes(name)),
      size: 'whole',
      victimPerSecond: 20,
      conversations: (await demoConversations()).map((turns) => turns.map(({ content }) => content)),
      say: (line) => console.log(line),
    });
    const failures = print(result);
    if (failures.length > 0) console.log(`FAILED:\n  ${failures.join('\n  ')}`);
    return failures.length > 0 ? 1 : 0;
  },
  () => NAMES,
);

const AMOUNTS = ['instances', 'accepted', 'unknown', 'counted', 'lost', 'twice'] as const;

/** Prints the figures and returns what must not be. */
function print(result: SoakResult): string[] {
  const { readers, writers, attackers, victim, phase, liveness, memory, processors, balances, isSettled } =
    result;
  const callers = [
    ['readers', readers],
    ['writers', writers],
    ['livez', liveness],
    ...[...attackers].map(([name, tally]) => [`attack ${name}`, tally] as const),
  ] as const;
  console.log(
    table(
      ['caller', 'answers', 'p50 ms', 'p95 ms', 'p99 ms', 'faults'],
      callers.map(([name, tally]) => [
        name,
        tally.describeStatuses(),
        ...[0.5, 0.95, 0.99].map((share) => tally.quantile(share).toFixed(0)),
        String(tally.faultCount),
      ]),
    ),
  );
  console.log(table(PHASE_HEADING, phaseRows(phase)));
  const { service, callers: calling, of } = processors;
  console.log(`processors: service ${service.toFixed(1)}, callers ${calling.toFixed(1)}, of ${of}`);
  console.log(
    table(
      ['ledger of', ...AMOUNTS],
      [...balances].map(([name, balance]) => [name, ...AMOUNTS.map((amount) => String(balance[amount]))]),
    ),
  );
  return [
    ...callers.flatMap(([name, { faults }]) => faults.map((fault) => `${name}: ${fault}`)),
    ...victim.faults.map((fault) => `victim: ${fault}`),
    ...missed(phase),
    ...[...balances].flatMap(([name, balance]) =>
      accountFaults(balance, true).map((fault) => `${name}: ${fault}`),
    ),
    ...(isSettled ? [] : ['attackers: something waited to be counted when patience ended']),
    ...printMemory(memory),
  ];
}

/** Prints what a process had by the minute and in the second half, and returns what grew. */
function printMemory(memory: Memory): string[] {
  const rows: string[][] = [];
  const grown: string[] = [];
  for (const [name, samples] of memory) {
    const trend = trendOf(samples);
    if (trend === null) {
      rows.push([name, 'too short to tell']);
      continue;
    }
    const { fromMb, toMb, mbPerHour, peakMb } = trend;
    rows.push([name, ...[fromMb, toMb, mbPerHour, peakMb].map((mb) => mb.toFixed(0))]);
    if (!isFlat(trend)) grown.push(`${name} grew from ${fromMb.toFixed(0)} to ${toMb.toFixed(0)} MB`);
  }
  console.log(table(['second half', 'from MB', 'to MB', 'MB/h', 'peak MB'], rows));
  return grown;
}
