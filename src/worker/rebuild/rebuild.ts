/**
 * Rebuilds the views beside the live ones, and switches. The live views answer until the switch.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { count, duration } from '../../domain/progress.ts';
import { SetupError } from '../../errors.ts';
import { changesBetween, readDefinition } from '../../store/epochs/definition.ts';
import {
  beginRebuild,
  markCompared,
  readUnfinished,
  removeOtherEpochs,
  shardDirectory,
  switchedWithin,
  writeActiveEpoch,
  type ActiveEpoch,
  type Epoch,
  type RebuildMark,
} from '../../store/epochs/epochs.ts';
import { readExtent } from '../../stream/log/consumer.ts';
import { overlapOf } from '../../stream/subjects.ts';
import { currentDefinition } from '../current-definition.ts';
import { compareAtMark, describe } from './compare-at-mark.ts';
import { faultsOf } from './comparison.ts';
import { carryOver, chooseSource, makeFromFacts, type Forget, type RebuildSource } from './from-facts.ts';
import { liveSequences, newestOf, refuseGap, Replay, type ReplaySettings } from './replay.ts';

export interface RebuildSettings extends ReplaySettings {
  /** Number of shards of the new views. */
  readonly shards: number;
  /** Ids of instances whose messages the stream no longer holds: their rows are carried over. */
  readonly carried: ReadonlySet<string>;
}

export interface RebuildOptions {
  /** The source of the build; null: the facts if they suffice. */
  readonly source: RebuildSource | null;
  /** True to catch up with the newest entry of the stream before the switch, not only with the live views. */
  readonly toLatest: boolean;
  /** True to switch although the comparison found differences. */
  readonly force: boolean;
  /** Ids of instances that may differ, because of an erasure. */
  readonly except?: ReadonlySet<string>;
  /** With facts: removes what is to be forgotten from a copy of them. */
  readonly forget?: Forget;
}

/**
 * Builds new views beside the live ones, from the stream or from the facts of the live ones, compares both at the same
 * entry, catches up, and switches.
 *
 * @throws SetupError when they differ or the stream lacks entries; InterruptedError
 */
export async function rebuild(
  settings: RebuildSettings,
  active: ActiveEpoch,
  options: RebuildOptions,
): Promise<void> {
  const { dataDir, connection, progress } = settings;
  const startedAt = performance.now();
  const definition = currentDefinition(settings.analysis.model);
  const source = await chooseSource(settings, active, definition, options.source);
  const next = await takeUpOrBegin(settings, active, definition, source);
  if (source === 'stream' && settings.carried.size > 0)
    await carryOver(settings, active, next, settings.carried);
  const before = liveSequences(dataDir, active, next);
  const refolded = source === 'facts' ? await makeFromFacts(settings, active, next, options.forget) : 0;
  const replay = new Replay(settings, next, refolded > 0 ? before : []);
  // What is to be forgotten is in the answers until the switch.
  if (options.forget !== undefined) replay.hurry();
  // Views that were built from facts without what is to be forgotten have no counterpart to compare with.
  if (next.compareAt !== null && options.forget !== undefined) markCompared(dataDir, next);
  else if (next.compareAt !== null) {
    await replay.foldTo('rebuilding', new Map(next.compareAt.entries()));
    const comparison = await compareAtMark(settings, next, definition, options.except ?? new Set());
    progress.line(describe(comparison.outcome, comparison.changes, Math.max(...next.compareAt)));
    if (comparison.verdicts !== null) progress.line(comparison.verdicts);
    const faults = comparison.outcome === null ? [] : faultsOf(comparison.outcome);
    if (faults.length > 0) {
      if (!options.force) {
        throw new SetupError(
          `The rebuilt views differ from the live ones at the same entry of the stream. Nothing was switched. ` +
            `"npm run rebuild -- --force" switches anyway.\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
        );
      }
      progress.line(
        `differences found; switching because of --force:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
      );
    }
    markCompared(dataDir, next);
  }
  try {
    await replay.catchUp(() =>
      options.toLatest
        ? newestOf(connection, next)
        : Promise.resolve(new Map(liveSequences(dataDir, active, next).entries())),
    );
    await replay.follow(active);
  } finally {
    replay.rest();
  }
  removeOtherEpochs(dataDir, [active.epoch, next.epoch]);
  const ms = performance.now() - startedAt;
  const messages = refolded + replay.messages;
  progress.line(
    `switched from views ${active.epoch} to views ${next.epoch}: ${count(messages)} messages in ` +
      `${duration(ms)}` +
      ` (${count(Math.round((messages / ms) * 1000))}/s)` +
      `${replay.aside === 0 ? '' : `; ${count(replay.aside)} entries could not be processed`}. ` +
      '"npm run rebuild -- --rollback" goes back.',
  );
}

/** Returns the unfinished rebuild if it still matches; otherwise begins a new one. */
async function takeUpOrBegin(
  { dataDir, shards, connection, progress, archive }: RebuildSettings,
  active: ActiveEpoch,
  definition: string,
  source: RebuildSource,
): Promise<Epoch & RebuildMark> {
  const unfinished = readUnfinished(dataDir, active);
  if (
    unfinished !== null &&
    unfinished.from.epoch === active.epoch &&
    unfinished.shards === shards &&
    unfinished.definition === definition
  ) {
    progress.line(`continuing with views ${unfinished.epoch}`);
    removeOtherEpochs(dataDir, [active.epoch, active.previous?.epoch ?? -1, unfinished.epoch]);
    return unfinished;
  }
  const { firstSequence, lastSequence } = await readExtent(connection);
  if (archive !== null && archive.lastSequence > lastSequence) {
    throw new SetupError(
      `The backup goes up to entry ${count(archive.lastSequence)}, the stream to ${count(lastSequence)}: it ` +
        'is not a backup of this stream. The live views are unchanged.',
    );
  }
  if (source === 'stream') refuseGap(archive?.lastSequence ?? 0, firstSequence, lastSequence);
  removeOtherEpochs(dataDir, [active.epoch, active.previous?.epoch ?? -1]);
  return beginRebuild(dataDir, active, {
    shards,
    definition,
    compareAt: (live) => {
      const at = Array.from({ length: shards }, (_, shard) =>
        Math.max(...overlapOf(shard, shards, live.length).map((other) => live[other] ?? 0)),
      );
      return at.some((sequence) => sequence > 0) ? at : null;
    },
  });
}

/**
 * Catches up the views from before the last switch, and switches back to them.
 *
 * @throws SetupError when there are none, or other code made them; InterruptedError
 */
export async function rollBack(
  settings: ReplaySettings,
  active: ActiveEpoch,
  options: Omit<RebuildOptions, 'source'>,
): Promise<void> {
  const { dataDir, connection, analysis, progress } = settings;
  const { previous } = active;
  if (previous === undefined) throw new SetupError('There are no earlier views to go back to.');
  const made = await readDefinition(shardDirectory(dataDir, previous.epoch, 0));
  const changes = made === null ? [] : changesBetween(made, currentDefinition(analysis.model));
  if (options.force) writeActiveEpoch(dataDir, switchedWithin(0, active, previous));
  else {
    if (changes.length > 0) {
      throw new SetupError(
        `The views ${previous.epoch} were made by other code or another model (${changes.join('; ')}): go ` +
          'back to it first. ' +
          'With --force, they answer as they are, and nothing new is counted until then.',
      );
    }
    const replay = new Replay(settings, previous);
    await replay.catchUp(() =>
      options.toLatest
        ? newestOf(connection, previous)
        : Promise.resolve(new Map(liveSequences(dataDir, active, previous).entries())),
    );
    await replay.follow(active);
  }
  progress.line(`switched back from views ${active.epoch} to views ${previous.epoch}`);
}

/** Deletes an unfinished rebuild and the former views. Returns the deleted epochs. */
export function clean(dataDir: string, active: ActiveEpoch): number[] {
  // The reference to an epoch goes before the epoch.
  const { previous, ...alone } = active;
  if (previous !== undefined) writeActiveEpoch(dataDir, alone);
  return removeOtherEpochs(dataDir, [active.epoch]);
}
