/**
 * Completes the erasures of the ledger: redacts entries of the stream, rebuilds the views from them, and deletes the
 * former views. Every step is idempotent, so an interrupted run can be repeated.
 *
 * Test: test/cli/erase.test.ts, test/cli/erase-aged.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { erasureRecord } from '../../domain/erasure-record.ts';
import type { Erasure, ErasureDigest, ErasureSource } from '../../domain/erasures.ts';
import type { RetentionRun } from '../../domain/retention.ts';
import { SetupError } from '../../errors.ts';
import { clean, rebuild, type RebuildSettings } from '../rebuild/rebuild.ts';
import { InterruptedError } from '../rebuild/replay.ts';
import type { ErasureLedger } from '../../stream/ledgers/erasure-ledger.ts';
import type { Retentions } from '../../stream/ledgers/retentions.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import type { Lease } from '../../stream/kv/lease.ts';
import { Leases } from '../../stream/kv/leases.ts';
import { isDeadHolder, thisHolder } from '../../stream/kv/process-identity.ts';
import { publishEntry } from '../../stream/log/publish-entry.ts';
import { extentOf } from '../../stream/archive/archive.ts';
import { TRACES_STREAM } from '../../stream/subjects.ts';
import { forgetIn, type Forgotten } from '../../store/live/forget.ts';
import { readExtent } from '../../stream/log/consumer.ts';
import { begunAt, epochsBehind, erasuresAfter, isDue } from './due-erasures.ts';
import { dueNow, type ListInstances } from './due-retention.ts';
import { eraseEntries, eraseLateLetters, plannedPositions, type EraseSettings } from './erase-entries.ts';
import { NOTHING_PLANNED } from './planned.ts';
import { retain } from './retain.ts';
import { activeEpoch, dropFormerViews, type ErasedViews } from './recount.ts';

/** Time for the worker to count what was sent before an erasure. */
const COUNTED_WITHIN_MS = 600_000;
/** Time for spans that wait no longer to be assembled or refused. */
const SPANS_WITHIN_MS = 600_000;
const LOOK_MS = 200;

export interface ErasureSettings extends RebuildSettings {
  readonly ledger: ErasureLedger;
  readonly digest: ErasureDigest;
  readonly views: ErasedViews;
  readonly retentions: Retentions;
  readonly instances: ListInstances;
  /** Microseconds since 1970-01-01 UTC. */
  readonly now: number;
  /** Longest wait of spans for their trace, milliseconds. */
  readonly spansWaitMs: number;
  readonly forgetElsewhere: NonNullable<EraseSettings['forgetElsewhere']>;
}

/** The completed work. */
export interface ExecutorWork {
  readonly erasures: readonly Erasure[];
  readonly runs: readonly RetentionRun[];
}

/**
 * Completes open erasures, with one rebuild for all, and then the retentions that are due. When nothing is open, it
 * rebuilds views that predate an erasure done by another machine. Returns null if another machine does the work.
 *
 * @throws SetupError when it cannot be done now; InterruptedError
 */
export async function runErasures(settings: ErasureSettings): Promise<ExecutorWork | null> {
  const { connection, ledger, retentions, instances, now } = settings;
  const isAging = (await dueNow(retentions, instances, now)).length > 0;
  if (!isAging && (await openErasures(ledger)).length === 0) {
    if (!settings.views.isShared) await rebuildBehind(settings);
    return { erasures: [], runs: [] };
  }
  const holder = thisHolder();
  const held = Promise.withResolvers<Lease>();
  const leases = await Leases.open(connection, {
    scope: 'erasures',
    shards: 1,
    holder,
    isDead: isDeadHolder(holder),
    onGained: (lease) => held.resolve(lease),
    onLetGo: async () => undefined,
  });
  try {
    await leases.compete();
    if (leases.held.length === 0) return null;
    const lease = await held.promise;
    const erasures = await eraseOpen(settings, lease);
    return {
      erasures,
      runs: await retain({ ...settings, runs: retentions, confirm: () => lease.confirm() }),
    };
  } finally {
    await leases.close();
  }
}

async function eraseOpen(settings: ErasureSettings, lease: Lease): Promise<readonly Erasure[]> {
  const { connection, ledger, progress, views } = settings;
  const open = await placed(settings, await openErasures(ledger));
  if (open.length === 0) return [];
  const waiting = (await extentOf(connection, TRACES_STREAM)).lastSequence;
  try {
    if (open.some(({ state }) => state !== 'REBUILDING')) views.dropUnfinished();
    for (const erasure of open) {
      if (erasure.state === 'REBUILDING') continue;
      await whenCounted(settings, erasure);
      await ledger.change(erasure, { state: 'ERASING', fault: null });
      const receipt = await eraseEntries({ ...settings, confirm: () => lease.confirm() }, erasure);
      await ledger.change(erasure, { state: 'RECOUNTING', redactedAt: new Date().toISOString(), receipt });
      progress.line(
        `erasure ${erasure.id}: ${receipt.messages} messages went from ${receipt.entries} entries`,
      );
    }
    const madeFrom = await recounted(settings, open);
    if (madeFrom.some((source) => source === 'STREAM')) await rebuildWithout(settings, open);
    for (const erasure of await openErasures(ledger, open)) {
      const late = await eraseLateLetters(settings, erasure);
      const { receipt } = erasure;
      if (late === 0 || receipt === null) continue;
      await ledger.change(erasure, { receipt: { ...receipt, deadLetters: receipt.deadLetters + late } });
    }
  } catch (error) {
    if (error instanceof InterruptedError || settings.signal.aborted) throw new InterruptedError();
    const fault = error instanceof Error ? error.message : String(error);
    for (const erasure of open) await ledger.change(erasure, { state: 'FAILED', fault: fault.slice(0, 500) });
    throw error;
  }
  await whenSpansWent(settings, waiting);
  const doneAt = new Date().toISOString();
  for (const erasure of open) {
    await ledger.dropPlan(erasure);
    await ledger.change(erasure, { state: 'DONE', doneAt, fault: null });
  }
  return openErasures(ledger, open);
}

/**
 * Removes the erased data from the facts of the live views, so that all answers lack it before the views are rebuilt
 * from the stream. Returns the final source of each erasure's views: the facts where the stream is incomplete.
 */
async function recounted(
  settings: ErasureSettings,
  open: readonly Erasure[],
): Promise<readonly ErasureSource[]> {
  const { ledger, digest, analysis, carried, progress, views } = settings;
  const { firstSequence, lastSequence } = await readExtent(settings.connection);
  const isWhole = firstSequence <= 1 || lastSequence === 0;
  const sources = open.map(({ instanceId }): ErasureSource =>
    isWhole && !views.isShared && !carried.has(instanceId) ? 'STREAM' : 'FACTS',
  );
  // The views of an earlier run suffice only if the source is still the same.
  const isCounted = ({ state, receipt }: Erasure, at: number): boolean =>
    state === 'REBUILDING' && receipt?.madeFrom === sources[at];
  const waiting = open.filter((erasure, at) => !isCounted(erasure, at));
  if (waiting.length > 0) {
    // Loaded on demand, with the lexicon: most processes of an erasure list or check, and forget nothing.
    const { forgottenOf } = await import('./forget-views.ts');
    const forgotten: Forgotten[] = [];
    for (const [at, erasure] of open.entries()) {
      if (isCounted(erasure, at)) continue;
      const options = { dimensions: analysis.model.dimensions, isLast: sources[at] === 'FACTS' };
      // For a session or the whole instance, the facts identify the rows; no positions are needed.
      const isPlaced = erasure.kind === 'END_USER' || erasure.kind === 'MESSAGES';
      const planned = isPlaced ? await plannedPositions(settings, erasure) : NOTHING_PLANNED;
      forgotten.push(forgottenOf(erasure, planned, digest, options));
    }
    const except = new Set(waiting.map(({ instanceId }) => instanceId));
    try {
      await views.recount(except, async (file) => void (await forgetIn(file, forgotten)));
    } catch (error) {
      // The live views have another definition. When all sources are the stream, the rebuild that follows suffices.
      if (!(error instanceof SetupError) || sources.includes('FACTS')) throw error;
      progress.line(`what goes could not be taken out of the facts: ${error.message}`);
    }
  }
  for (const [at, { id, projectId }] of open.entries()) {
    const now = await ledger.find(projectId, id);
    if (now === null) continue;
    const receipt = now.receipt === null ? null : { ...now.receipt, madeFrom: sources[at]! };
    await ledger.change(now, { state: 'REBUILDING', receipt });
  }
  return sources;
}

/** Rebuilds the views from the redacted stream, and deletes all others. */
async function rebuildWithout(settings: ErasureSettings, erasures: readonly Erasure[]): Promise<void> {
  const { dataDir } = settings;
  const except = new Set(erasures.map(({ instanceId }) => instanceId));
  const options = { source: 'stream', toLatest: false, force: false, except } as const;
  await rebuild(settings, activeEpoch(dataDir), options);
  await dropFormerViews(dataDir);
}

/** Rebuilds views that predate an erasure which another machine did, as they still contain what it removed. */
async function rebuildBehind(settings: ErasureSettings): Promise<void> {
  const { dataDir, ledger } = settings;
  const all = await ledger.list();
  const { epoch } = activeEpoch(dataDir);
  const behind = erasuresAfter(begunAt(dataDir, epoch), all);
  const lost = behind.filter(
    ({ instanceId, receipt }) => settings.carried.has(instanceId) || receipt?.madeFrom === 'FACTS',
  );
  if (lost.length > 0)
    throw new SetupError(
      `The views in ${dataDir} hold what erasure ${lost[0]!.id} took out elsewhere, and the stream no longer holds all that ` +
        'they counted: stop the service, delete the folder "views", and start it again.',
    );
  if (behind.length > 0) await rebuildWithout(settings, behind);
  else if (epochsBehind(dataDir, all).length > 0) clean(dataDir, activeEpoch(dataDir));
}

/** The erasures that are not done, oldest first. With `of`: the present state of these. */
async function openErasures(ledger: ErasureLedger, of?: readonly Erasure[]): Promise<Erasure[]> {
  const all = await ledger.list();
  const ids = new Set(of?.map(({ id }) => id));
  return all.filter(({ id, state }) => (of === undefined ? state !== 'DONE' : ids.has(id))).toReversed();
}

/** Publishes erasures that a process which ended left without a place; omits those that may still be on their way. */
async function placed({ connection, ledger }: ErasureSettings, open: readonly Erasure[]): Promise<Erasure[]> {
  const there: Erasure[] = [];
  for (const erasure of open) {
    if (erasure.position > 0) there.push(erasure);
    else if (isDue(erasure, Date.now())) there.push(await placeErasure(connection, ledger, erasure));
  }
  return there;
}

/** Publishes an erasure of the ledger on the stream. Returns it with its place. */
export async function placeErasure(
  connection: StreamConnection,
  ledger: ErasureLedger,
  erasure: Erasure,
): Promise<Erasure> {
  return ledger.place(erasure, await publishEntry(connection, erasureRecord(erasure)));
}

/**
 * Resolves once the stream of traces has no entry up to a sequence. What becomes of the erased data among them is
 * refused.
 */
async function whenSpansWent(
  { connection, signal, spansWaitMs }: ErasureSettings,
  until: number,
): Promise<void> {
  const deadline = performance.now() + spansWaitMs + SPANS_WITHIN_MS;
  for (;;) {
    const { entries, firstSequence } = await extentOf(connection, TRACES_STREAM);
    if (entries === 0 || firstSequence > until) return;
    if (signal.aborted) throw new InterruptedError();
    if (performance.now() > deadline)
      throw new SetupError(
        'Spans from before the erasure still wait in the stream of traces. Start the service, or look at its log.',
      );
    await sleep(LOOK_MS);
  }
}

/**
 * Resolves once the live views contain everything sent before an erasure, so that no entry is redacted before it is
 * counted.
 */
async function whenCounted({ views, signal, shards }: ErasureSettings, erasure: Erasure): Promise<void> {
  const deadline = performance.now() + COUNTED_WITHIN_MS;
  for (;;) {
    if ((await views.reached(erasure.instanceId)) >= erasure.position) return;
    if (signal.aborted) throw new InterruptedError();
    if (performance.now() > deadline)
      throw new SetupError(
        `The worker has not counted entry ${erasure.position} of the stream, where the erasure stands (shards: ` +
          `${shards}). Start the service, or look at its log.`,
      );
    await sleep(LOOK_MS);
  }
}
