/** Attacks on a thread of their own: what they cost must not hold up those who measure. */
import { parentPort, workerData } from 'node:worker_threads';
import { sharedMs } from '../clock.ts';
import type { Tallied } from '../tally.ts';
import { Attacker, runAttack, type Attack, type Size } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import type { LedgerEntry } from './ledger.ts';

export interface AttackThreadOptions {
  readonly url: string;
  /** Keys by project. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
  readonly size: Size;
  /** How long the last answers may take. */
  readonly patienceMs: number;
}

/** To the thread: make what these attacks need; or run for so many seconds what was prepared last. */
export type AttackOrder = { readonly names: readonly string[] } | { readonly seconds: number };

/** What became of the attacks. Times are of `sharedMs`. */
export interface AttackReport {
  readonly attacks: ReadonlyMap<string, Tallied>;
  readonly entries: readonly LedgerEntry[];
  readonly beganAt: number;
  readonly endedAt: number;
  /** Processor time of the thread while they ran, milliseconds. */
  readonly processorMs: number;
}

/** What answers an order: that everything is prepared, or the report of what ran. */
export type AttackMessage = 'prepared' | AttackReport;

interface Prepared {
  readonly attack: Attack;
  readonly attacker: Attacker;
  readonly salvo: () => Promise<void>;
}

/** What attacks of one project make once, by project. */
const shared = new Map<string, Map<string, Promise<unknown>>>();

if (parentPort !== null) {
  const port = parentPort;
  const options = workerData as AttackThreadOptions;
  let prepared: readonly Prepared[] = [];
  const obey = async (order: AttackOrder): Promise<AttackMessage> => {
    if ('seconds' in order) return run(prepared, { ...options, ...order });
    prepared = [];
    prepared = await prepare(options, order.names);
    return 'prepared';
  };
  port.on('message', (order: AttackOrder) => {
    void obey(order).then((message) => port.postMessage(message));
  });
}

async function prepare(
  { url, keys, size }: AttackThreadOptions,
  names: readonly string[],
): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  for (const attack of ATTACKS.filter(({ name }) => names.includes(name))) {
    const { name, project = name, keys: count = 1 } = attack;
    const ofProject = shared.get(project) ?? new Map<string, Promise<unknown>>();
    shared.set(project, ofProject);
    const own = (keys.get(project) ?? []).slice(0, count);
    const attacker = new Attacker({ url, keys: own, size, shared: ofProject });
    prepared.push({ attack, attacker, salvo: await attack.prepare(attacker) });
  }
  return prepared;
}

async function run(
  prepared: readonly Prepared[],
  { seconds, patienceMs }: AttackThreadOptions & { readonly seconds: number },
): Promise<AttackReport> {
  const beganAt = sharedMs();
  const before = process.threadCpuUsage();
  const until = performance.now() + seconds * 1000;
  await Promise.all(
    prepared.map(async ({ attack, attacker, salvo }) => {
      attacker.beginUntil(until);
      // What has no answer by then is broken off, and counts as a fault.
      const givingUp = setTimeout(() => attacker.close(), seconds * 1000 + patienceMs);
      await runAttack(attack, attacker, salvo);
      clearTimeout(givingUp);
    }),
  );
  const used = process.threadCpuUsage(before);
  const left = until - performance.now();
  if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  for (const { attacker } of prepared) attacker.close();
  return {
    attacks: new Map(prepared.map(({ attack, attacker }) => [attack.name, attacker.tally.tallied()])),
    entries: prepared.flatMap(({ attacker }) => attacker.ledger.entries()),
    beganAt,
    endedAt: sharedMs(),
    processorMs: (used.user + used.system) / 1000,
  };
}
