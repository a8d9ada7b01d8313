import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../ratios.ts';
import { useBetween, useOf, type MemberUse } from '../service-use.ts';
import { Tally } from '../tally.ts';
import type { Attack, Size } from './attacker.ts';
import { keysNeeded } from './attacks.ts';
import { countsOf, untilQuiet } from './counts.ts';
import { balance, Ledger, type Balance, type LedgerEntry } from './ledger.ts';
import { startAttackers, startVictim, type Attackers, type VictimFigures } from './threads.ts';
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
  readonly attackers: Attackers;
  /** What the victim was told in the attacks before: it goes on where it was. */
  readonly known?: readonly LedgerEntry[];
  /** How long the victim is measured before the attack, and how long the attack lasts, seconds. */
  readonly before: number;
  readonly seconds: number;
  /** How long counting it all may take (default: 20 minutes). */
  readonly settleMs?: number;
  /** Told what happens as it happens. */
  readonly say: (sentence: string) => void;
}

/** Milliseconds at 50, 95 and 99 of a hundred, and the most, of so many. Infinity: it never came. */
export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export const MEASURED = ['ingest', 'query', 'freshness', 'traces', 'waits', 'alerts'] as const;
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
  /** What the victim was told so far. */
  readonly victim: readonly LedgerEntry[];
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
  /** Processors that everybody else kept busy, before the attack and during it, of so many. */
  readonly others: { readonly before: number; readonly during: number; readonly of: number };
}

const VICTIM_PER_SECOND = 20;
/** What is compiled and opened first is no part of a figure. */
const FIRST_WARM_UP_MS = 10_000;
const WARM_UP_MS = 1000;
/** Nobody waits in a short attack until the service refuses what waits: callers hang up. */
const SHORT_PATIENCE_MS = 3000;
const ATTACK_PATIENCE_MS = 60_000;
/** How long what is counted may take to be seen. */
const LAST_MS = 20_000;

/** Attackers with the keys that these attacks need. */
export async function attackersOf(
  target: Target,
  attacks: readonly Attack[],
  size: Size,
): Promise<Attackers> {
  const keys = await keysFor(target, attacks);
  return startAttackers({
    url: target.url,
    keys,
    size,
    patienceMs: size === 'short' ? SHORT_PATIENCE_MS : ATTACK_PATIENCE_MS,
  });
}

/** Measures a victim before and during an attack, and balances all accounts after it, when all is counted. */
export async function underAttack(target: Target, options: MeasureOptions): Promise<AttackFigures> {
  const { attack, attackers, before, known, say } = options;
  const { url, dataDir } = target;
  await attackers.prepare([attack.name]);
  // What was prepared is counted before anybody measures.
  await untilQuiet(url, say);
  const victim = await startVictim({
    url,
    key: known?.[0]?.key ?? (await target.newKey('victim')),
    known: known ?? [],
    perSecond: VICTIM_PER_SECOND,
    conversations: options.conversations,
  });
  await sleep(known === undefined ? FIRST_WARM_UP_MS : WARM_UP_MS);
  const looks = [await lookAt(dataDir)];
  await sleep(before * 1000);
  looks.push(await lookAt(dataDir));
  const report = await attackers.run(options.seconds);
  looks.push(await lookAt(dataDir));
  const [first, second, third] = looks as [Look, Look, Look];
  say(`${attack.name}: attacked for ${((report.endedAt - report.beganAt) / 1000).toFixed(0)} s`);
  const endedAt = performance.now();
  victim.rest();
  const isSettled = await untilQuiet(url, say, options.settleMs);
  const settling = (performance.now() - endedAt) / 1000;
  const figures = await victim.end(LAST_MS);
  return {
    attack,
    before: phaseOf(figures, report.beganAt - before * 1000, report.beganAt),
    during: phaseOf(figures, report.beganAt, report.endedAt),
    attacker: new Tally(report.attacks.get(attack.name)),
    balance: await balanced(url, [...report.entries, ...figures.entries]),
    isSettled,
    victim: figures.entries,
    victimFaults: figures.faults,
    victimFaultCount: figures.faultCount,
    seconds: (report.endedAt - report.beganAt) / 1000,
    settling,
    use: useBetween(second.use, third.use),
    attackerMs: report.processorMs,
    lateMs: figures.lateMs,
    others: {
      before: processorsBetween(first, second).others,
      during: processorsBetween(second, third).others,
      of: cpus().length,
    },
  };
}

/** What processors have done so far, milliseconds. */
export interface Look {
  readonly at: number;
  readonly busyMs: number;
  readonly ownMs: number;
  /** By member of the service. */
  readonly use: ReadonlyMap<string, MemberUse>;
}

export async function lookAt(dataDir: string): Promise<Look> {
  const use = await useOf(dataDir);
  const { user, system } = process.cpuUsage();
  const busyMs = cpus().reduce((sum, { times: t }) => sum + t.user + t.nice + t.sys + t.irq, 0);
  return { at: performance.now(), busyMs, ownMs: (user + system) / 1000, use };
}

/** Processors that the service, its callers (this process) and everybody else kept busy, of so many. */
export function processorsBetween(
  from: Look,
  to: Look,
): Readonly<Record<'service' | 'callers' | 'others' | 'of', number>> {
  const serviceMs = [...useBetween(from.use, to.use).values()].reduce((sum, one) => sum + one.processorMs, 0);
  const callersMs = to.ownMs - from.ownMs;
  const othersMs = Math.max(0, to.busyMs - from.busyMs - callersMs - serviceMs);
  const ms = to.at - from.at;
  return { service: serviceMs / ms, callers: callersMs / ms, others: othersMs / ms, of: cpus().length };
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
  const { ingest, query, freshness, traces, waits, alerts } = figures;
  return {
    ingest: within(ingest),
    query: within(query),
    freshness: within(freshness),
    traces: within(traces),
    waits: within(waits),
    alerts: within(alerts),
  };
}

export function quantilesOf(ms: readonly number[]): Quantiles {
  const [p50 = 0, p95 = 0, p99 = 0] = [0.5, 0.95, 0.99].map((share) => quantile(ms, share));
  return { count: ms.length, p50, p95, p99, max: Math.max(0, ...ms) };
}
