/**
 * Turns the stored states of release 0.4 into those of this version, for instances whose texts are no longer kept: they
 * cannot be counted again from the stream.
 *
 * Test: test/reader/threads/carried-states.test.ts.
 */
import { carriedSession } from '../conversations/session-state.ts';
import { carriedTopics } from '../topics/state-codec.ts';
import type { StateRow } from '../../domain/facts.ts';

/**
 * The two functions return what changes. They throw SetupError for states of versions that they do not know.
 * `dimensions`: of the embedding model.
 */
export function statesFor(dimensions: number): {
  readonly ofInstance: (rows: readonly StateRow[]) => readonly StateRow[];
  readonly ofSession: (value: Uint8Array) => Uint8Array | null;
} {
  return { ofInstance: (rows) => carriedTopics(rows, dimensions), ofSession: carriedSession };
}
