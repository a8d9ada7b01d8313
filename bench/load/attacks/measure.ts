import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../ratios.ts';
import { useOf, type MemberUse } from '../service-use.ts';
import { Tally } from '../tally.ts';
import type { Attack, Size } from './attacker.ts';
import { keysNeeded } from './attacks.ts';
import { countsOf, untilQuiet } from './counts.ts';
import { balance, Ledger, type Balance, type LedgerEntry } from './ledger.ts';
import { prepareAttacks, startVictim, type VictimFigures } from './threads.ts';
import type { VictimOptions } from './victim.ts';

/** A service that is attacked. */
export interface Target {
  readonly url: string;
  readonly dataDir: string;
  /** A key of a project of that name. */
  newKey(project: string): Promise<string>;
}

export interface MeasureOptions extends Pick<VictimOptions, 'conversations'> {
  readonly attack: Attack;
  readonly size: Size;
  /** How long the victim is measured before the attack, and how long the attack lasts, seconds. */
  readonly before: number;
  readonly seconds: number;
  /** Told what happens as it happens. */
  readonly say: (sentence: string) => void;
}

/** Milliseconds at 50, 95 and 99 of a hundred, of so many. Infinity: it never came. */
export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export const MEASURED = ['ingest', 'query', 'freshness', 'traces', 'waits'] as const;
export type Measured = (typeof MEASURED)[number];
export type Phase = Readonly<Record<Measured, Quantiles>>;

/** What one attack did. */
export interface AttackFigures {
  readonly attack: Attack;
  readonly before: Phase;
  readonly during: Phase;
  readonly attacker: Tally;
  /** All that was accepted, of victim and attacker, against all that is counted. */
  readonly balance: Balance;
  /** False: something still waited to be counted when patience ended. */
  readonly isSettled: boolean;
  readonly victimFaults: readonly string[];
  readonly victimFaultCount: number;
  /** Seconds from the beginning of the attack to its end, and from there until everything was counted. */
  readonly seconds: number;
  readonly settling: number;
  /** What the members of the service used during the attack. */
  readonly use: ReadonlyMap<string, MemberUse>;
  /** Processor time of the attacker's thread, milliseconds, and how late the victim's thread was (p99). */
  readonly attackerMs: number;
  readonly lateMs: number;
  /** Runnable processes of the machine over the last minute, at the end of the attack. */
  readonly load: number;
}

const VICTIM_PER_SECOND = 20;
/** What is compiled and opened first is no part of a figure. */
const WARM_UP_MS = 5000;
const ATTACK_PATIENCE_MS = 60_000;
/** How long what is counted may take to be seen. */
const LAST_MS = 20_000;

/** Measures a victim before and during an attack, and balances all accounts after it. */
export async function underAttack(target: Target, options: MeasureOptions): Promise<AttackFigures> {
  const { attack, size, say } = options;
  const { url, dataDir } = target;
  const keys = await keysFor(target, [attack]);
  const begin = await prepareAttacks({
    url,
    names: [attack.name],
    keys,
    size,
    seconds: Math.max(options.seconds, size === 'whole' ? (attack.seconds ?? 0) : 0),
    patienceMs: ATTACK_PATIENCE_MS,
  });
  const victim = await startVictim({
    url,
    key: await target.newKey('victim'),
    perSecond: VICTIM_PER_SECOND,
    conversations: options.conversations,
  });
  await sleep(WARM_UP_MS + options.before * 1000);
  const useBefore = await useOf(dataDir);
  const report = await begin();
  const use = difference(await useOf(dataDir), useBefore);
  const [load = 0] = loadavg();
  say(`${attack.name}: attacked for ${((report.endedAt - report.beganAt) / 1000).toFixed(0)} s`);
  const endedAt = performance.now();
  victim.rest();
  const isSettled = await untilQuiet(url, say);
  const settling = (performance.now() - endedAt) / 1000;
  const figures = await victim.end(LAST_MS);
  return {
    attack,
    before: phaseOf(figures, report.beganAt - options.before * 1000, report.beganAt),
    during: phaseOf(figures, report.beganAt, report.endedAt),
    attacker: new Tally(report.attacks.get(attack.name)),
    balance: await balanced(url, [...report.entries, ...figures.entries]),
    isSettled,
    victimFaults: figures.faults,
    victimFaultCount: figures.faultCount,
    seconds: (report.endedAt - report.beganAt) / 1000,
    settling,
    use,
    attackerMs: report.processorMs,
    lateMs: figures.lateMs,
    load,
  };
}

/** As many keys as the attacks need, by project. */
export async function keysFor(
  target: Pick<Target, 'newKey'>,
  attacks: readonly Attack[],
): Promise<Map<string, string[]>> {
  const keys = new Map<string, string[]>();
  for (const [project, count] of keysNeeded(attacks)) {
    const own: string[] = [];
    for (let made = 0; made < count; made += 1) own.push(await target.newKey(`attacker ${project}`));
    keys.set(project, own);
  }
  return keys;
}

/** What was accepted, against what is counted; everything should be by then. */
export async function balanced(url: string, entries: readonly LedgerEntry[]): Promise<Balance> {
  const ledger = new Ledger();
  ledger.add(entries);
  return balance(ledger.entries(), countsOf(url, LAST_MS));
}

/** What was due, or accepted, from one time (`sharedMs`) to another. */
export function phaseOf(figures: VictimFigures, from: number, to: number): Phase {
  const within = (samples: readonly { readonly at: number; readonly ms: number }[]): Quantiles =>
    quantilesOf(samples.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms));
  const { ingest, query, freshness, traces, waits } = figures;
  return {
    ingest: within(ingest),
    query: within(query),
    freshness: within(freshness),
    traces: within(traces),
    waits: within(waits),
  };
}

export function quantilesOf(ms: readonly number[]): Quantiles {
  return { count: ms.length, p50: quantile(ms, 0.5), p95: quantile(ms, 0.95), p99: quantile(ms, 0.99) };
}

function difference(
  after: ReadonlyMap<string, MemberUse>,
  before: ReadonlyMap<string, MemberUse>,
): Map<string, MemberUse> {
  return new Map(
    [...after].map(([name, { mb, processorMs, mainThreadMs }]) => {
      const known = before.get(name);
      return [
        name,
        {
          mb,
          processorMs: processorMs - (known?.processorMs ?? 0),
          mainThreadMs: mainThreadMs - (known?.mainThreadMs ?? 0),
        },
      ];
    }),
  );
}
