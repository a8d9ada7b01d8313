/**
 * What an erasure removes from the stream, by its places in it.
 *
 * Test: test/worker/erasure/forget-views.test.ts.
 */
import { positionOf, type StreamRecord } from '../../domain/records.ts';
import type { Forgotten } from '../../store/live/forget.ts';
import type { Places } from './redaction.ts';

/** The positions of the messages that are removed from a record. */
export function positionsOf(
  sequence: number,
  { requests }: StreamRecord,
  { whole, messages }: Pick<Places, 'whole' | 'messages'>,
): number[] {
  const indexes = new Map(messages.map(([place, gone]) => [place, gone]));
  const positions: number[] = [];
  let first = 0;
  for (const [place, request] of requests.entries()) {
    const gone = whole.includes(place) ? request.messages.keys() : (indexes.get(place) ?? []);
    for (const index of gone) positions.push(positionOf(sequence, first + index));
    first += request.messages.length;
  }
  return positions;
}

/** Position and place of the requests without messages that are removed from a record: feedback is among them. */
export function feedbackOf(
  sequence: number,
  { requests }: StreamRecord,
  { whole }: Pick<Places, 'whole'>,
): [position: number, place: number][] {
  const found: [number, number][] = [];
  let first = 0;
  for (const [place, { messages }] of requests.entries()) {
    if (messages.length === 0 && whole.includes(place)) found.push([positionOf(sequence, first), place]);
    first += messages.length;
  }
  return found;
}

/** What an erasure removes from the stream, by its places in it. */
export interface Planned {
  readonly positions: readonly number[];
  readonly feedback: Forgotten['feedback'];
}

export const NOTHING_PLANNED: Planned = { positions: [], feedback: [] };
