import { spawn } from 'node:child_process';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack, Size } from '../attacks/attacker.ts';
import { untilQuiet } from '../attacks/counts.ts';
import type { Balance } from '../attacks/ledger.ts';
import { balanced, keysFor, lookAt, phaseOf, processorsBetween, type Phase } from '../attacks/measure.ts';
import { startAttackers, startVictim, type Attackers, type VictimFigures } from '../attacks/threads.ts';
import { WEBHOOKS_ENV } from '../attacks/webhooks.ts';
import { ConnectionPool } from '../http-load.ts';
import { randomFrom } from '../questions.ts';
import { startMeasuredService } from '../service.ts';
import { useOf } from '../service-use.ts';
import { Tally } from '../tally.ts';
import type { Memory, MemorySample } from './memory.ts';
import { checked, Shop } from './shop.ts';

export interface SoakOptions {
  readonly seconds: number;
  /** They run at the same time, each with a project of its own. */
  readonly attacks: readonly Attack[];
  readonly size: Size;
  /** Callers who ask one question after the other. */
  readonly readers: number;
  readonly writers: number;
  /** Requests of five messages that each writer sends in a second. */
  readonly writesPerSecond: number;
  /** Requests a second of the victim: as many ingest requests as queries. */
  readonly victimPerSecond: number;
  /** Processes that do nothing but use the processor. */
  readonly beside: number;
  /** How long counting everything may take once nothing more is sent. */
  readonly settleMs: number;
  /** Turns of conversations to write: user and assistant alternate. */
  readonly conversations: readonly (readonly string[])[];
  /** Settings of the service other than the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** Told what happens as it happens. */
  readonly say?: (line: string) => void;
}

export interface SoakResult {
  readonly readers: Tally;
  readonly writers: Tally;
  readonly attackers: ReadonlyMap<string, Tally>;
  readonly liveness: Tally;
  /** A caller beside all that, who checks each number. */
  readonly victim: VictimFigures;
  /** What that caller felt from the beginning of the attacks to their end. */
  readonly phase: Phase;
  readonly memory: Memory;
  /** Processors that the service and its callers kept busy during the attacks, of so many. */
  readonly processors: { readonly service: number; readonly callers: number; readonly of: number };
  /** What callers were told is stored, against what is counted in the end, by who they are. */
  readonly balances: ReadonlyMap<string, Balance>;
  readonly isSettled: boolean;
}

/** How long the last answers may take: longer than the service itself lets anybody wait for one. */
const PATIENCE_MS = 100_000;
const SAMPLE_MS = 10_000;
const MINUTE_MS = 60_000;

/**
 * Runs a service of its own, with the usual limits, for a while under everything at once: all attacks, readers with
 * every question, writers, and a victim. Then it waits until everything is counted and balances the accounts.
 */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { seconds, attacks, say = () => undefined } = options;
  const service = await startMeasuredService({ ...WEBHOOKS_ENV, ...options.env }, { isLimited: true });
  const besides = Array.from({ length: options.beside }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const pool = new ConnectionPool(service.url, options.readers + options.writers + 1);
  let attackers: Attackers | null = null;
  try {
    const keys = await keysFor(service, attacks);
    const victimKey = await service.newKey('victim');
    const shop = await Shop.open(pool, service.key, options.conversations);
    const { url, dataDir } = service;
    const names = attacks.map(({ name }) => name);
    attackers = startAttackers({ url, keys, size: options.size, patienceMs: PATIENCE_MS });
    await attackers.prepare(names);
    const victim = await startVictim({
      url,
      key: victimKey,
      perSecond: options.victimPerSecond,
      conversations: options.conversations,
    });
    say(`everything is prepared: ${names.length} attacks for ${seconds} s`);
    const tallies = { readers: new Tally(), writers: new Tally(), liveness: new Tally() };
    const until = performance.now() + seconds * 1000;
    const ended = (): boolean => performance.now() >= until;
    // What has no answer by then is broken off, and counts as a fault.
    const givingUp = setTimeout(() => pool.close(), seconds * 1000 + PATIENCE_MS);
    const memory = new Map<string, MemorySample[]>();
    const before = await lookAt(dataDir);
    const [report] = await Promise.all([
      attackers.run(seconds),
      watchMemory(dataDir, memory, ended),
      watchLiveness(pool, tallies.liveness, ended),
      tellMinutes(say, { ...tallies, memory }, ended),
      ...Array.from({ length: options.writers }, () =>
        shop.write(pool, options.writesPerSecond, tallies.writers, ended),
      ),
      ...Array.from({ length: options.readers }, (_, number) =>
        shop.read(pool, randomFrom(number), tallies.readers, ended),
      ),
    ]);
    clearTimeout(givingUp);
    const processors = processorsBetween(before, await lookAt(dataDir));
    say('everything is sent: now it is counted');
    victim.rest();
    const isSettled = await untilQuiet(url, say, options.settleMs);
    const figures = await victim.end(PATIENCE_MS);
    return {
      ...tallies,
      attackers: new Map([...report.attacks].map(([name, tallied]) => [name, new Tally(tallied)])),
      victim: figures,
      phase: phaseOf(figures, report.beganAt, report.endedAt),
      memory,
      processors,
      balances: new Map([
        ['victim and writers', await balanced(url, [...figures.entries, ...shop.ledger.entries()])],
        // What still waits is not lost, and thousands of instances are long to ask for.
        ...(isSettled ? [['attackers', await balanced(url, report.entries)] as const] : []),
      ]),
      isSettled,
    };
  } finally {
    await attackers?.end();
    pool.close();
    for (const beside of besides) beside.kill('SIGKILL');
    await service.stop();
  }
}

async function watchLiveness(pool: ConnectionPool, tally: Tally, ended: () => boolean): Promise<void> {
  while (!ended()) {
    await checked(tally, performance.now(), () => pool.get('/livez', {}));
    await sleep(100);
  }
}

async function watchMemory(
  dataDir: string,
  memory: Map<string, MemorySample[]>,
  ended: () => boolean,
): Promise<void> {
  const startedAt = performance.now();
  while (!ended()) {
    const seconds = (performance.now() - startedAt) / 1000;
    for (const [name, { mb }] of await useOf(dataDir))
      memory.set(name, [...(memory.get(name) ?? []), { seconds, mb }]);
    for (let waited = 0; waited < SAMPLE_MS && !ended(); waited += 200) await sleep(200);
  }
}

async function tellMinutes(
  say: (line: string) => void,
  { readers, writers, memory }: { readonly readers: Tally; readonly writers: Tally; readonly memory: Memory },
  ended: () => boolean,
): Promise<void> {
  const startedAt = performance.now();
  for (let minute = 1; !ended(); minute += 1) {
    while (!ended() && performance.now() < startedAt + minute * MINUTE_MS) await sleep(200);
    const mb = [...memory]
      .map(([name, samples]) => `${name} ${(samples.at(-1)?.mb ?? 0).toFixed(0)}`)
      .join(', ');
    say(
      `minute ${minute}: ${readers.count} answers, ${writers.count} writes, faults ` +
        `${readers.faultCount + writers.faultCount}; MB: ${mb}; load ${(loadavg()[0] ?? 0).toFixed(1)}`,
    );
  }
}
