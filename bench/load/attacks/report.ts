/** What attacks did, as tables, and what of it must not be. */
import { table, verdict } from '../table.ts';
import type { Balance } from './ledger.ts';
import { MEASURED, type AttackFigures, type Measured, type Phase } from './measure.ts';

/** What a victim of another project may feel of an attack, milliseconds. */
export const TARGETS: Readonly<Record<Measured, { readonly share: 'p95' | 'p99'; readonly ms: number }>> = {
  ingest: { share: 'p99', ms: 250 },
  query: { share: 'p99', ms: 500 },
  freshness: { share: 'p95', ms: 2000 },
  traces: { share: 'p95', ms: 2000 },
  waits: { share: 'p95', ms: 2000 },
};

const ms = (value: number): string => (value === Infinity ? 'never' : value.toFixed(0));

/** Whether a phase keeps a target. Where nothing was measured, nothing was answered. */
function isMet(phase: Phase, name: Measured): boolean {
  const { share, ms: most } = TARGETS[name];
  return phase[name].count > 0 && phase[name][share] <= most;
}

/** The targets that a phase misses, in words. */
export function missed(phase: Phase): string[] {
  return MEASURED.filter((name) => !isMet(phase, name)).map((name) => {
    const { share, ms: most } = TARGETS[name];
    const { count, [share]: value } = phase[name];
    return count === 0
      ? `nothing of the victim's ${name} was answered`
      : `${share} of the victim's ${name} is ${ms(value)} ms, more than ${most}`;
  });
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

/** What must not be, in words: empty if the attack did no harm. */
export function harmOf(figures: AttackFigures): string[] {
  const { attacker, balance, isSettled, victimFaults, victimFaultCount } = figures;
  const answers = (of: string, count: number, faults: readonly string[]): string[] =>
    count === 0 ? [] : [`${count} answers that ${of} must not get, such as ${faults[0] ?? ''}`];
  return [
    ...missed(figures.before).map((what) => `before the attack, ${what}: the machine is too busy to tell`),
    ...missed(figures.during),
    ...answers('a victim', victimFaultCount, victimFaults),
    ...answers('an attacker', attacker.faultCount, attacker.faults),
    ...accountFaults(balance, isSettled),
  ];
}

/** The victim's milliseconds in one phase, against their targets. */
export function phaseRows(phase: Phase): string[][] {
  return MEASURED.map((name) => {
    const { share, ms: most } = TARGETS[name];
    const { count, p50, p95, p99 } = phase[name];
    return [name, String(count), ...[p50, p95, p99].map(ms), `${share} ${most}`, verdict(isMet(phase, name))];
  });
}

/** The victim's milliseconds before and during each attack. */
export function victimTable(all: readonly AttackFigures[]): string {
  const heading = [
    'attack',
    'victim',
    'before p50',
    'p95',
    'p99',
    'during',
    'p50',
    'p95',
    'p99',
    'at most',
    '',
  ];
  const rows = all.flatMap(({ attack, before, during }) =>
    phaseRows(during).map(([name = '', ...after], index) => {
      const [, , ...earlier] = phaseRows(before)[index] ?? [];
      return [attack.name, name, ...earlier.slice(0, 3), ...after];
    }),
  );
  return table(heading, rows);
}

/** What attackers were answered, what became of all messages, and what it took. */
export function accountTable(all: readonly AttackFigures[]): string {
  const rows = all.map((figures) => {
    const { attack, attacker, balance, use } = figures;
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
      figures.load.toFixed(1),
      verdict(harmOf(figures).length === 0),
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
  'load',
  '',
];
