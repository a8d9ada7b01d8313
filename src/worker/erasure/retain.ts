/**
 * Removes data whose retention has ended: first from the facts of the views, which are rebuilt from them, then from the
 * stream. Every step is idempotent, so an interrupted run can be repeated.
 *
 * Test: test/cli/retention.test.ts.
 */
import { SetupError } from '../../errors.ts';
import { count } from '../../domain/progress.ts';
import type { StreamRecord } from '../../domain/records.ts';
import { NO_COUNTS, type AgedCounts, type RetentionRun } from '../../domain/retention.ts';
import { InterruptedError } from '../rebuild/replay.ts';
import type { Retentions } from '../../stream/ledgers/retentions.ts';
import { forgetIn } from '../../store/live/forget.ts';
import { readDeadLetters, replaceDeadLetter } from '../../stream/dead-letters/dead-letters.ts';
import { redactEntry } from '../../stream/log/redacted-entries.ts';
import { partitionOf } from '../../stream/subjects.ts';
import { dueNow, type ListInstances } from './due-retention.ts';
import { eachEntry, payloadOf, recordIn } from './erase-entries.ts';
import { createPace } from './pace.ts';
import type { RecountSettings } from './recount.ts';
import { Trimming } from './trimming.ts';

/** Nobody waits for a retention: the server writes for it in at most this share of the time. */
const BUSY_SHARE = 0.5;

export interface RetainSettings extends RecountSettings {
  readonly runs: Retentions;
  readonly instances: ListInstances;
  /** Microseconds since 1970-01-01 UTC. */
  readonly now: number;
  /** Rejects when another machine may have taken over the work. */
  readonly confirm: () => Promise<void>;
}

/** Runs the retentions that are due. Returns the completed runs. Rejects as a rebuild does. */
export async function retain(settings: RetainSettings): Promise<readonly RetentionRun[]> {
  const { runs, instances, now, progress, signal } = settings;
  const due = await dueNow(runs, instances, now);
  if (due.length === 0) return [];
  const done: RetentionRun[] = [];
  try {
    for (const run of due) await runs.put(run);
    await ageViews(settings, due);
    const aged = (await current(runs, due)).filter(({ position }) => position !== null);
    const byPartition = Map.groupBy(aged, ({ instanceId }) => partitionOf(instanceId));
    for (const [partition, group] of byPartition) {
      const trimmed = await trimEntries(settings, partition, group);
      for (const run of group) {
        const { entries, expired } = trimmed.get(run.instanceId) ?? { entries: 0, expired: 0 };
        await runs.forgetNames(run.instanceId);
        const ended = {
          ...run,
          lostTexts: run.lostTexts || expired > 0,
          entries: run.entries + entries,
          doneAt: new Date().toISOString(),
          fault: null,
        };
        await runs.put(ended);
        const { messages, sessions, texts, people } = run.counts;
        progress.line(
          `retention of ${run.instanceId}: ${count(messages)} messages, ${count(sessions)} conversations, texts of ` +
            `${count(texts)} and names of ${count(people)} people went; ${count(ended.entries)} entries were written anew`,
        );
        done.push(ended);
      }
    }
    if (done.length < due.length)
      throw new SetupError(
        `Messages of ${count(due.length - done.length)} instances are still to be counted: their retention is tried again.`,
      );
    return done;
  } catch (error) {
    if (error instanceof InterruptedError || signal.aborted) throw new InterruptedError();
    const fault = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    const ended = new Set(done.map(({ instanceId }) => instanceId));
    for (const run of await current(runs, due))
      if (!ended.has(run.instanceId)) await runs.put({ ...run, fault });
    throw error;
  }
}

const unchanged = (externalId: string): string => externalId;

async function current(runs: Retentions, of: readonly RetentionRun[]): Promise<RetentionRun[]> {
  const found: RetentionRun[] = [];
  for (const run of of) found.push((await runs.find(run.instanceId)) ?? run);
  return found;
}

/** Ages the views before the stream: without the texts, a message cannot be counted again. */
async function ageViews(settings: RetainSettings, due: readonly RetentionRun[]): Promise<void> {
  const { runs, analysis, views } = settings;
  const waiting = (await current(runs, due)).filter(({ position }) => position === null);
  if (waiting.length === 0) return;
  views.dropUnfinished();
  const names = new Map<string, (externalId: string) => string>();
  for (const { instanceId, cutoffs } of waiting)
    if (cutoffs.people !== null) names.set(instanceId, await runs.names(instanceId));
  // Loaded on demand, with the lexicon: most processes find nothing that is due.
  const { agedOf } = await import('./forget-views.ts');
  const aged = waiting.map(({ instanceId, cutoffs }) =>
    agedOf(instanceId, cutoffs, names.get(instanceId) ?? unchanged, analysis.model.dimensions),
  );
  const deferred = new Set<string>();
  const found = new Map<string, { readonly position: number; readonly counts: AgedCounts }>();
  await views.recount(new Set(waiting.map(({ instanceId }) => instanceId)), async (file) => {
    const { sequence, counts } = await forgetIn(file, aged);
    for (const [at, went] of counts.entries()) {
      const { instanceId } = aged[at]!;
      if (went === 'DEFERRED') deferred.add(instanceId);
      if (went === null || went === 'DEFERRED') continue;
      const { messages, sessions, texts, names: people } = went;
      found.set(instanceId, { position: sequence, counts: { messages, sessions, texts, people } });
    }
  });
  for (const run of waiting) {
    if (deferred.has(run.instanceId)) continue;
    const { position = 0, counts = NO_COUNTS } = found.get(run.instanceId) ?? {};
    const lostTexts = run.lostTexts || counts.messages + counts.texts > 0;
    await runs.put({ ...run, position, counts, lostTexts });
  }
}

/**
 * Redacts the entries of a partition up to the positions of its runs, in one pass for all. Returns for each instance
 * how many, and the number of messages without texts.
 */
async function trimEntries(
  settings: RetainSettings,
  partition: number,
  group: readonly RetentionRun[],
): Promise<ReadonlyMap<string, { readonly entries: number; readonly expired: number }>> {
  const { runs, connection, confirm, signal } = settings;
  const parts = new Map<string, { trimming: Trimming; position: number; entries: number }>();
  let until = 0;
  for (const { instanceId, cutoffs, position } of group) {
    if (position === null || position === 0) continue;
    const names = cutoffs.people === null ? unchanged : await runs.names(instanceId);
    const trimming = new Trimming(instanceId, cutoffs, names);
    parts.set(instanceId, { trimming, position, entries: 0 });
    until = Math.max(until, position);
  }
  const partsIn = ({ requests }: StreamRecord, sequence: number) => {
    const ids = new Set(requests.map(({ instanceId }) => instanceId.toLowerCase()));
    const found = [...ids].map((id) => parts.get(id)).filter((part) => part !== undefined);
    return found.filter(({ position }) => sequence <= position);
  };
  const trimmed = (record: StreamRecord, sequence: number) => {
    let left = record;
    const changed = partsIn(record, sequence).filter(({ trimming }) => {
      const next = trimming.trimmed(left);
      left = next ?? left;
      return next !== null;
    });
    return changed.length === 0 ? null : { left, changed };
  };
  if (until === 0) return new Map();
  await eachEntry(settings, partition, until, ({ sequence }, record) => {
    for (const { trimming } of partsIn(record, sequence)) trimming.note(record);
  });
  const rest = createPace(BUSY_SHARE, signal);
  await eachEntry(settings, partition, until, async (entry, record) => {
    const found = trimmed(record, entry.sequence);
    await rest();
    if (found === null) return;
    signal.throwIfAborted();
    await confirm();
    await redactEntry(connection, partition, { ...entry, bytes: await payloadOf(found.left) });
    for (const part of found.changed) part.entries += 1;
  });
  // A letter contains its whole entry, and a note contains a message of it.
  for await (const letter of readDeadLetters(connection)) {
    const record = letter.sequence > until ? null : recordIn(letter.bytes);
    const left = record === null ? null : (trimmed(record, letter.sequence)?.left ?? null);
    if (left === null) continue;
    await replaceDeadLetter(connection, letter, letter.message === null ? await payloadOf(left) : null);
  }
  return new Map(
    [...parts].map(([id, { entries, trimming }]) => [id, { entries, expired: trimming.expired }]),
  );
}
