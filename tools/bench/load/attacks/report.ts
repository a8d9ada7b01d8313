/** What attacks did, as tables, and the verdict on each. */
import { table } from '../table.ts';
import type { Balance } from './ledger.ts';
import { MEASURED, type AttackFigures, type Measured, type Phase } from './measure.ts';

/** What a victim of another project may feel of an attack, milliseconds. */
export const TARGETS: Readonly<Record<Measured, { readonly share: 'p95' | 'p99'; readonly ms: number }>> = {
  ingest: { share: 'p99', ms: 250 },
  query: { share: 'p99', ms: 500 },
  freshness: { share: 'p95', ms: 2000 },
  traces: { share: 'p95', ms: 2000 },
  waits: { share: 'p95', ms: 2000 },
  alerts: { share: 'p95', ms: 2000 },
};

/** What is above its target may be so many times what it was before the attack: a slow machine is no harm. */
const MOST_TIMES = 4;
/** The figures say nothing where the victim was so many times above a target before the attack. */
const BUSY_TIMES = 2;
/** They say little where the victim's thread was late by so many milliseconds (p99), … */
const BUSY_LATE_MS = 100;
/** … or where others took this part of the machine during the attack: … */
const BUSY_SHARE = 0.25;
/** … what the victim may wait is then so many times as much. */
const BUSY_MOST_TIMES = 4;

export type Verdict = 'holds' | 'does not hold' | 'too busy to tell';

/** What is to be said of an attack. */
export interface Judged {
  readonly verdict: Verdict;
  /** What speaks against the attack, in words; of `holds`, nothing. */
  readonly why: readonly string[];
}

const ms = (value: number): string => (value === Infinity ? 'never' : value.toFixed(0));

/** What a victim may wait: the target, or a multiple of what it waited before; `times` as much. */
function mostOf(name: Measured, before?: Phase, times = 1): number {
  const { share, ms: target } = TARGETS[name];
  const known = before?.[name];
  const earlier = known === undefined || known.count === 0 ? 0 : MOST_TIMES * known[share];
  return times * Math.max(target, earlier);
}

/** Whether a phase keeps a bound. Where nothing was measured, nothing was answered. */
function isMet(phase: Phase, name: Measured, most: number): boolean {
  return phase[name].count > 0 && phase[name][TARGETS[name].share] <= most;
}

/** What a phase misses of the targets, or of what they become beside the phase before, in words. */
export function missed(phase: Phase, before?: Phase, times = 1): string[] {
  return MEASURED.filter((name) => !isMet(phase, name, mostOf(name, before, times))).map((name) => {
    const { share } = TARGETS[name];
    const { count, [share]: value } = phase[name];
    return count === 0
      ? `nothing of the victim's ${name} was answered`
      : `${share} of the victim's ${name} is ${ms(value)} ms, more than ${ms(mostOf(name, before))}`;
  });
}

/** What the victim waited too long for before the attack, in words. */
function busyBefore({ before }: AttackFigures): string[] {
  return MEASURED.filter((name) => !isMet(before, name, BUSY_TIMES * TARGETS[name].ms)).map((name) => {
    const { share } = TARGETS[name];
    return `before the attack, ${share} of the victim's ${name} was ${ms(before[name][share])} ms`;
  });
}

/** What else kept the machine busy during the attack, in words. */
function busyDuring({ lateMs, others }: AttackFigures): string[] {
  const isShared = others.during > BUSY_SHARE * others.of;
  return [
    ...(lateMs > BUSY_LATE_MS ? [`the victim's thread was ${ms(lateMs)} ms late`] : []),
    ...(isShared ? [`others took ${others.during.toFixed(1)} of ${others.of} processors`] : []),
  ];
}

/** What is wrong with the accounts, in words. */
export function accountFaults({ lost, twice, wrong }: Balance, isSettled: boolean): string[] {
  return [
    ...(lost > 0 ? [`${lost} messages are lost${isSettled ? '' : ', or not counted yet'}`] : []),
    ...(twice > 0 ? [`${twice} messages are counted twice`] : []),
    ...(isSettled ? [] : ['something waited to be counted when patience ended']),
    ...wrong,
  ];
}

/**
 * A message that is lost or counted twice, and an answer that must not be, speak against an attack on any machine. A
 * victim who waits does where the machine lets one tell.
 */
export function judge(figures: AttackFigures): Judged {
  const { attacker, balance, before, during, isSettled, victimFaults, victimFaultCount } = figures;
  const answers = (of: string, count: number, faults: readonly string[]): string[] =>
    count === 0 ? [] : [`${count} answers that ${of} must not get, such as ${faults[0] ?? ''}`];
  const wrong = [
    ...answers('a victim', victimFaultCount, victimFaults),
    ...answers('an attacker', attacker.faultCount, attacker.faults),
    ...accountFaults(balance, isSettled),
  ];
  const slow = missed(during, before);
  if (wrong.length > 0) return { verdict: 'does not hold', why: [...wrong, ...slow] };
  const unknown = missed(during).length > 0 ? busyBefore(figures) : [];
  if (unknown.length > 0) return { verdict: 'too busy to tell', why: [...missed(during), ...unknown] };
  const busy = missed(during, before, BUSY_MOST_TIMES).length === 0 ? busyDuring(figures) : [];
  if (slow.length > 0 && busy.length > 0) return { verdict: 'too busy to tell', why: [...slow, ...busy] };
  return { verdict: slow.length > 0 ? 'does not hold' : 'holds', why: slow };
}

/** The victim's milliseconds in one phase, against what they may be. */
export function phaseRows(phase: Phase, before?: Phase): string[][] {
  return MEASURED.map((name) => {
    const { share } = TARGETS[name];
    const most = mostOf(name, before);
    const { count, p50, p95, p99, max } = phase[name];
    const met = isMet(phase, name, most) ? '✓' : '✗';
    return [name, String(count), ...[p50, p95, p99, max].map(ms), `${share} ${ms(most)}`, met];
  });
}

export const PHASE_HEADING = ['victim', 'requests', 'p50 ms', 'p95', 'p99', 'max', 'at most', ''] as const;

/** The victim's milliseconds before and during each attack. */
export function victimTable(all: readonly AttackFigures[]): string {
  const before = ['before p50', 'p95', 'p99', 'max'];
  const heading = ['attack', 'victim', ...before, 'during', ...PHASE_HEADING.slice(2)];
  const rows = all.flatMap(({ attack, before: earlier, during }) => {
    const first = phaseRows(earlier);
    return phaseRows(during, earlier).map(([name = '', ...after], index) => {
      return [attack.name, name, ...(first[index] ?? []).slice(2, 6), ...after];
    });
  });
  return table(heading, rows);
}

/** What attackers were answered, what became of all messages, and what it took. */
export function accountTable(all: readonly AttackFigures[]): string {
  const rows = all.map((figures) => {
    const { attack, attacker, balance, use, others } = figures;
    const seconds = (name: string): string => ((use.get(name)?.processorMs ?? 0) / 1000).toFixed(1);
    const main = ((use.get('web')?.mainThreadMs ?? 0) / 1000).toFixed(1);
    return [
      attack.name,
      attacker.describeStatuses(),
      ...[balance.accepted, balance.unknown, balance.counted, balance.lost, balance.twice].map(String),
      figures.seconds.toFixed(0),
      `${figures.isSettled ? '' : '> '}${figures.settling.toFixed(0)}`,
      `${seconds('web')} (${main})`,
      seconds('worker'),
      seconds('nats'),
      (figures.attackerMs / 1000).toFixed(1),
      figures.lateMs.toFixed(0),
      `${others.before.toFixed(1)} → ${others.during.toFixed(1)}`,
      judge(figures).verdict,
    ];
  });
  return table(ACCOUNT_HEADING, rows);
}

const ACCOUNT_HEADING = [
  'attack',
  'answers',
  'accepted',
  'unknown',
  'counted',
  'lost',
  'twice',
  'for s',
  'counted after s',
  'web s (main)',
  'worker s',
  'nats s',
  'attacker s',
  'late ms',
  'others',
  'verdict',
];
