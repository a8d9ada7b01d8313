/**
 * What a caller with a key of one project, or with none, does to the callers of others: by malice or by mistake.
 * `npm run faults -- attacks` runs them one by one, `npm run bench -- soak` all at once.
 */
import type { Attack } from './attacker.ts';
import { BODY_ATTACKS } from './bodies.ts';
import { CURATE_ATTACKS } from './curations.ts';
import { DOOR_ATTACKS } from './doors.ts';
import { MESSAGE_ATTACKS } from './messages.ts';
import { READ_ATTACKS } from './reads.ts';
import { SPAN_ATTACKS } from './spans.ts';

export const ATTACKS: readonly Attack[] = [
  ...SPAN_ATTACKS,
  ...MESSAGE_ATTACKS,
  ...READ_ATTACKS,
  ...DOOR_ATTACKS,
  ...BODY_ATTACKS,
  ...CURATE_ATTACKS,
];

/** How many keys each project of the attacks needs. */
export function keysNeeded(attacks: readonly Attack[]): Map<string, number> {
  const needed = new Map<string, number>();
  for (const { name, project = name, keys = 1 } of attacks)
    needed.set(project, Math.max(keys, needed.get(project) ?? 0));
  return needed;
}
