/**
 * One group of requests that mean the same, and the codec of its state row. Keeps the invariant that `readGroup`
 * restores what `writeGroup` wrote.
 *
 * Test: test/reader/conversations/gap-and-repeat-groups.test.ts.
 */
import { ByteWriter, type ByteReader } from '../../domain/byte-codec.ts';
import { noGroupKeys, settled, type GroupKeys } from './ability-match.ts';
import type { NamedAbility } from './ability-name.ts';

/** Requests that mean the same. */
export interface RequestGroup {
  readonly number: number;
  /** Message position of its first request: the group's identity. */
  readonly position: number;
  /** Groups of different labels never mix. */
  readonly label: number;
  readonly name: string;
  /** The first request, in the user's words. */
  readonly example: string;
  /** Number of the live group that it merged into; −1 while it is live itself. */
  readonly heir: number;
  /** Message position of the request at which it merged; −1 if it has not. */
  readonly since: number;
}

/** A group, writable for its owner. */
export interface Group extends RequestGroup {
  name: string;
  example: string;
  heir: number;
  since: number;
  count: number;
  namedAt: number;
  /** Sum of the requests' vectors; null in the group of requests without one. */
  sum: Float32Array | null;
  samples: string[];
  keys: GroupKeys;
  named: NamedAbility[];
  /** The micro-cluster of its first request, whose topic is the group's; −1 if there is none. */
  readonly micro: number;
}

/** Version of the row's layout. */
const VERSION = 4;

export const MOST_SAMPLES = 8;
export const MOST_NAMED = 12;

export function newGroup(
  number: number,
  {
    vector,
    label,
    position,
    micro,
  }: { vector: Float32Array | null; label: number; position: number; micro?: number | null },
): Group {
  return {
    number,
    position,
    label,
    name: '',
    example: '',
    heir: -1,
    since: -1,
    count: 0,
    namedAt: 0,
    sum: vector === null ? null : new Float32Array(vector.length),
    samples: [],
    keys: noGroupKeys(),
    named: [],
    micro: micro ?? -1,
  };
}

export function writeGroup(group: Group): Uint8Array {
  const { position, label, name, example, heir, since, count, namedAt, samples, sum, keys, named, micro } =
    group;
  const writer = new ByteWriter().byte(VERSION).count(position).count(label).text(name).text(example);
  writer.link(heir).link(since).count(count).count(namedAt).count(samples.length);
  for (const sample of samples) writer.text(sample);
  writer.byte(sum === null ? 0 : 1);
  if (sum !== null) writer.floats(sum);
  for (const counts of [keys.acts, keys.things]) {
    writer.count(counts.size);
    for (const [key, times] of counts) writer.text(key).count(times);
  }
  writer.count(named.length);
  for (const one of named)
    writer
      .text(one.name)
      .text(one.language ?? '')
      .byte(one.isWhole ? 1 : 0);
  return writer.link(micro).finish();
}

/**
 * Decodes a row; reads properties in the order in which `writeGroup` writes them. Throws if another version wrote it.
 */
export function readGroup(number: number, read: ByteReader, dimensions: number): Group {
  if (read.byte() !== VERSION)
    throw new Error('the state of a group was written by another version: rebuild the views');
  return {
    number,
    position: read.count(),
    label: read.count(),
    name: read.text(),
    example: read.text(),
    heir: read.link(),
    since: read.link(),
    count: read.count(),
    namedAt: read.count(),
    samples: read.list(() => read.text()),
    sum: read.byte() === 0 ? null : read.floats(dimensions),
    keys: settled({ ...noGroupKeys(), acts: readCounts(read), things: readCounts(read) }),
    named: read.list(() => ({
      name: read.text(),
      language: read.text() || null,
      isWhole: read.byte() === 1,
    })),
    micro: read.link(),
  };
}

function readCounts(read: ByteReader): Map<string, number> {
  return new Map(read.list(() => [read.text(), read.count()] as const));
}

/** A key that differs if the published row differs. */
export function rowKeyOf({ name, example, heir }: RequestGroup): string {
  return `${heir}\n${name}\n${example}`;
}
