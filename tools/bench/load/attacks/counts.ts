/** What a service has counted, once it has counted all. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerEntry } from './ledger.ts';

const LOOK_MS = 300;
/** It must be quiet at so many looks in a row: what is read from one stream waits in the next. */
const QUIET_LOOKS = 3;
const WAITING = [
  'undertone_worker_lag_entries',
  'undertone_traces_waiting',
  'undertone_traces_waiting_spans',
];
const COUNTED = 'undertone_worker_messages_total';
const DONE = [COUNTED, 'undertone_worker_batches_total'];

/** How long a service may count nothing, and how long it may count in all, before nobody waits any longer. */
const STANDSTILL_MS = 60_000;
const MOST_MS = 20 * 60_000;

const TELL_MS = 30_000;

/** Waits until nothing waits to be counted, and says now and then how much does. False: it does not come to an end. */
export async function untilQuiet(
  url: string,
  say: (sentence: string) => void,
  mostMs = MOST_MS,
): Promise<boolean> {
  const startedAt = performance.now();
  let [movedAt, reportedAt] = [startedAt, startedAt];
  let known = '';
  for (let quiet = 0; quiet < QUIET_LOOKS;) {
    const now = performance.now();
    if (now - movedAt > STANDSTILL_MS || now - startedAt > mostMs) return false;
    const metrics = await textOf(`${url}/metrics`);
    const waiting = WAITING.map((name) => valueOf(metrics ?? '', name));
    const standing = [...waiting, valueOf(metrics ?? '', COUNTED)].join();
    if (standing !== known) movedAt = now;
    known = standing;
    if (now - reportedAt > TELL_MS) {
      reportedAt = now;
      const waits = WAITING.map((name, index) => `${name} ${waiting[index] ?? 'unknown'}`).join(', ');
      const done = DONE.map((name) => `${name} ${valueOf(metrics ?? '', name) ?? 'unknown'}`).join(', ');
      say(`after ${((now - startedAt) / 1000).toFixed(0)} s: ${waits}; ${done}`);
    }
    quiet = waiting.every((count) => count === 0) ? quiet + 1 : 0;
    await sleep(LOOK_MS);
  }
  return true;
}

/** Null where the text has no such metric. */
export function valueOf(metrics: string, name: string): number | null {
  const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics);
  return line === null ? null : Number(line[1]);
}

async function textOf(address: string): Promise<string | null> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(10_000) });
    const text = await answer.text();
    return answer.ok ? text : null;
  } catch {
    return null;
  }
}

/** The counted messages of an instance. All calls together wait so long for what is accepted and not yet counted. */
export function countsOf(url: string, patienceMs: number): (entry: LedgerEntry) => Promise<number> {
  const deadline = performance.now() + patienceMs;
  return async ({ instanceId, key, accepted }) => {
    for (;;) {
      const counted = await countedOf(`${url}/v1/overview?instanceId=${instanceId}`, key);
      if (counted !== null && (counted >= accepted || performance.now() > deadline)) return counted;
      if (counted === null && performance.now() > deadline + ANSWER_MS)
        throw new Error(`the service does not say how much it counted of ${instanceId}`);
      await sleep(LOOK_MS);
    }
  };
}

const ANSWER_MS = 60_000;

/** Null while there is no answer. */
async function countedOf(address: string, key: string): Promise<number | null> {
  try {
    const answer = await fetch(address, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const { fields } = (await answer.json()) as { readonly fields?: { readonly messages: number } };
    return answer.status === 200 ? (fields?.messages ?? 0) : null;
  } catch {
    return null;
  }
}
