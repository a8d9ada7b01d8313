import { resolve } from 'node:path';
import { ATTACKS } from '../../tools/bench/load/attacks/attacks.ts';
import type { LedgerEntry } from '../../tools/bench/load/attacks/ledger.ts';
import { attackersOf, underAttack, type AttackFigures } from '../../tools/bench/load/attacks/measure.ts';
import { accountTable, judge, victimTable } from '../../tools/bench/load/attacks/report.ts';
import { WEBHOOKS_ENV } from '../../tools/bench/load/attacks/webhooks.ts';
import { startMeasuredService } from '../../tools/bench/load/service.ts';
import { readDemoConversations } from '../../src/doors/demo/conversations.ts';
import { noFigures, type FaultOptions, type Figures } from './support/figures.ts';

/** How long the victim is measured before an attack, and how long most attacks last, seconds. */
const ALONE = { size: 'whole', before: 15, during: 30, settleMs: 1_200_000 } as const;
const AMONG = { size: 'short', before: 4, during: 6, settleMs: 180_000 } as const;
const DEMO = resolve(import.meta.dirname, '../../examples/demo/conversations.jsonl');

export const ATTACK_NAMES: readonly string[] = ATTACKS.map(({ name }) => name);

/**
 * One attack after the other on a service with its usual limits: what a victim of another project feels of each, what
 * the attacker is answered, and whether all that was accepted is counted once. Those that are named last longer.
 */
export async function attacks({ seconds, say, only = [] }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const chosen = ATTACKS.filter(({ name }) => only.length === 0 || only.includes(name));
  const usual = only.length === 0 ? AMONG : ALONE;
  const conversations = (await readDemoConversations(DEMO)).map(({ turns }) => turns);
  const all: AttackFigures[] = [];
  const service = await startMeasuredService(WEBHOOKS_ENV, { isLimited: true });
  try {
    const attackers = await attackersOf(service, chosen, usual.size);
    let log = '';
    let known: readonly LedgerEntry[] | undefined;
    for (const attack of chosen) {
      say(`${attack.name}: ${attack.what}`);
      const { alone = 0, among = usual.during } = attack.lasts ?? {};
      const wanted = seconds > 0 ? seconds : usual.during;
      const measured = await underAttack(service, {
        attack,
        attackers,
        before: usual.before,
        settleMs: usual.settleMs,
        seconds: only.length === 0 ? Math.max(seconds, among) : Math.max(wanted, alone),
        say,
        conversations,
        ...(known === undefined ? {} : { known }),
      });
      all.push(measured);
      figures.rounds += 1;
      // The victim's account goes on, and is balanced each time.
      const earlier = (known ?? []).reduce((sum, { accepted }) => sum + accepted, 0);
      known = measured.victim;
      const { accepted, counted } = measured.balance;
      figures.accepted += accepted - earlier;
      figures.counted += Math.min(counted, accepted) - earlier;
      const { verdict, why } = judge(measured);
      if (verdict === 'does not hold') figures.wrong.push(...why.map((what) => `${attack.name}: ${what}`));
      say(victimTable([measured]));
      say(accountTable([measured]));
      const logLength = log.length;
      log = await service.log();
      for (const line of [`${attack.name}: ${verdict}`, ...why, ...eventsOf(log.slice(logLength))]) say(line);
    }
    await attackers.end();
  } finally {
    await service.stop();
  }
  say(victimTable(all));
  say(accountTable(all));
  return figures;
}

/** What the service warned of, and how often. */
function eventsOf(log: string): string[] {
  const counts = new Map<string, number>();
  for (const [, event = ''] of log.matchAll(/"event":"(\w+)"/g))
    counts.set(event, (counts.get(event) ?? 0) + 1);
  return [...counts].map(([event, count]) => `warned: ${count} × ${event}`);
}
