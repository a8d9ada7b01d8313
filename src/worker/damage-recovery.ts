/**
 * Opens a shard's state, damaged or not. Readers never go back: they keep what was published until the state has caught
 * up with it.
 *
 * Test: test/faults/damage.test.ts.
 */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { clearDamage, noteDamage } from '../store/damage.ts';
import { readManifest } from '../store/published/manifest.ts';
import { DamagedStateError } from '../store/live/state-database.ts';
import type { StateStore } from '../store/live/state-store.ts';
import { untilAnswered, type StreamConnection } from '../stream/connection.ts';
import { lastSequenceOf, readExtent, type StreamExtent } from '../stream/log/consumer.ts';

/** The state is damaged or behind what was published, and the stream no longer holds the missing entries. */
export class LostStateError extends SetupError {
  constructor(fact: string, options: { cause?: unknown } = {}) {
    super(
      `${fact}: the stream cannot replace what is missing. Restore a backup into an empty DATA_DIR: npm run ` +
        'restore -- DIR.',
      options,
    );
    this.name = 'LostStateError';
  }
}

/** An opened state. The caller closes the store. */
export interface OpenedState {
  readonly store: StateStore;
  /** Nothing is published before the state reaches this sequence; readers keep what they have. 0: publish at once. */
  readonly holdUntil: number;
}

/**
 * Opens a shard's state. A damaged one is moved aside and replaced by an empty one, which the stream fills. A state
 * behind what was published (its log was lost) continues from where it is.
 *
 * @throws LostStateError when the stream no longer holds what the state lacks
 */
export async function openState(options: {
  readonly directory: string;
  readonly shard: number;
  readonly partitions: readonly number[];
  readonly connection: StreamConnection;
  readonly logger: Logger;
  /** Sequence up to which a backup holds what the stream does not; 0 if there is none. */
  readonly archivedUntil: number;
  /** Sequence up to which readers of other machines have seen the shard counted; 0 if there are none. */
  readonly seen: number;
  readonly open: () => Promise<StateStore>;
}): Promise<OpenedState> {
  const { directory, shard, partitions, connection, logger, archivedUntil, seen, open } = options;
  const inStream = await untilAnswered(connection, () => readExtent(connection));
  const extent = archivedUntil + 1 >= inStream.firstSequence ? { ...inStream, firstSequence: 1 } : inStream;
  let damaged = false;
  let store: StateStore;
  try {
    store = await open();
  } catch (error) {
    if (!(error instanceof DamagedStateError)) throw error;
    const gone = goneBehind(0, extent);
    if (gone !== null) throw new LostStateError(`${error.message}, and ${gone}`, { cause: error });
    const kept = setStateAside(directory);
    logger.error(
      { event: 'state_damaged', shard, kept },
      `${error.message}: the worker makes the state again from the stream; until then, queries answer from what was ` +
        'published last',
    );
    damaged = true;
    store = await open();
  }
  const published = readManifest(directory);
  const behind = published !== null && (published.store !== store.storeId || published.seq > store.revision);
  const gone = goneBehind(store.sequence, extent);
  if (gone !== null && behind) {
    await store.close();
    throw new LostStateError(
      `the state in ${directory} is at entry ${store.sequence}, readers were shown ${published.sequence}, and ${gone}`,
    );
  }
  if (gone !== null) {
    logger.error(
      { event: 'entries_gone', shard, sequence: store.sequence, ...extent },
      `${gone}: those that were not counted before are lost, unless you restore a backup that holds them into an ` +
        'empty DATA_DIR',
    );
  }
  if (!behind && !damaged && store.sequence >= seen) return { store, holdUntil: 0 };
  const newest = await untilAnswered(connection, () => lastSequenceOf(connection, partitions));
  if (!behind && !damaged) return { store, holdUntil: Math.min(seen, newest) };
  const holdUntil = Math.min(published?.sequence ?? newest, newest);
  if (!damaged) {
    // New commits repeat the revisions of the lost ones, so the published files must not be continued.
    noteDamage(directory, 'segments', 'the state is behind what was published');
    logger.error(
      { event: 'state_behind', shard, sequence: store.sequence, shown: published?.sequence },
      'the state is behind what was published: the worker catches up from the stream; until then, queries answer ' +
        'from what was published last',
    );
  }
  return { store, holdUntil };
}

/** Names the entries after a sequence that the stream no longer holds; null when none is missing. */
function goneBehind(sequence: number, { firstSequence, lastSequence }: StreamExtent): string | null {
  return lastSequence <= sequence || firstSequence <= sequence + 1
    ? null
    : `the stream no longer holds entries ${sequence + 1} to ${firstSequence - 1}`;
}

/** Moves a damaged state aside. Returns the file that now holds it. */
function setStateAside(directory: string): string {
  const file = join(directory, 'state.duckdb');
  const kept = `${file}.damaged`;
  for (const suffix of ['', '.wal']) {
    rmSync(`${kept}${suffix}`, { force: true });
    try {
      renameSync(`${file}${suffix}`, `${kept}${suffix}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  clearDamage(directory, 'state');
  return kept;
}
