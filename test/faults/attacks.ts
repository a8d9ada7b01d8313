import { resolve } from 'node:path';
import { ATTACKS } from '../../bench/load/attacks/attacks.ts';
import { underAttack, type AttackFigures } from '../../bench/load/attacks/measure.ts';
import { accountTable, harmOf, victimTable } from '../../bench/load/attacks/report.ts';
import { startMeasuredService } from '../../bench/load/service.ts';
import { readDemoConversations } from '../../src/demo/conversations.ts';
import { noFigures, type FaultOptions, type Figures } from './support/figures.ts';

const BEFORE_SECONDS = 15;
const DEMO = resolve(import.meta.dirname, '../../demo/conversations.jsonl');

export const ATTACK_NAMES: readonly string[] = ATTACKS.map(({ name }) => name);

/**
 * Each attack on a service of its own, with its usual limits: what a victim of another project feels of it, what the
 * attacker is answered, and whether all that was accepted is counted once.
 */
export async function attacks({ seconds, say, only = [] }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const conversations = (await readDemoConversations(DEMO)).map(({ turns }) => turns);
  const all: AttackFigures[] = [];
  for (const attack of ATTACKS) {
    if (only.length > 0 && !only.includes(attack.name)) continue;
    say(`${attack.name}: ${attack.what}`);
    const service = await startMeasuredService({}, { isLimited: true });
    try {
      const options = { attack, size: 'whole', before: BEFORE_SECONDS, seconds, say, conversations } as const;
      const measured = await underAttack(service, options);
      all.push(measured);
      figures.rounds += 1;
      figures.accepted += measured.balance.accepted;
      figures.counted += Math.min(measured.balance.counted, measured.balance.accepted);
      const harm = harmOf(measured);
      figures.wrong.push(...harm.map((what) => `${attack.name}: ${what}`));
      say(victimTable([measured]));
      say(accountTable([measured]));
      for (const line of [...harm, ...eventsOf(await service.log())]) say(line);
    } finally {
      await service.stop();
    }
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
