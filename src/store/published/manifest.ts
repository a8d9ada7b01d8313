/** Covered by test/store/published/publication.test.ts. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { View } from '../view-files.ts';

/** Rows of one table in one immutable file: those whose last change comes after the segment before it. */
export interface Segment {
  readonly file: string;
  /** Revision of the state up to which its rows were read. */
  readonly seq: number;
  readonly rows: number;
  /** First and last value of the table's time column, microseconds; null where there is none. */
  readonly from: number | null;
  readonly to: number | null;
  /** Whether any of its rows may replace a row of an earlier segment. */
  readonly replaces: boolean;
}

/** How far the rows of a shard have come. */
export interface Reached {
  /** Revision of the state: it grows with every commit. */
  readonly seq: number;
  /** Stream sequence up to which they contain every entry, but for what `behind` names. */
  readonly sequence: number;
  /** By instance (UUID): what of entries up to `sequence` is not counted yet. */
  readonly behind: Readonly<Record<string, Behind>>;
}

/** What waits of an instance. */
export interface Behind {
  /** Stream sequence of the first entry that is not, or not wholly, counted. */
  readonly sequence: number;
  /** When the stream stored the oldest of them, microseconds since 1970-01-01 UTC. */
  readonly storedAt: number;
  /** Entries of which something waits. */
  readonly parts: number;
}

/** Stream sequence up to which nothing is missing, whatever the instance. */
export function completeUntil({ sequence, behind }: Pick<Reached, 'sequence' | 'behind'>): number {
  return Object.values(behind).reduce((least, waiting) => Math.min(least, waiting.sequence - 1), sequence);
}

/** What `CURRENT` holds: the segments that answer queries of one shard. */
export interface Manifest extends Reached {
  /** The state database that they were made from. */
  readonly store: string;
  /** Version of each view that made the rows: code with other versions cannot read them. */
  readonly views: Readonly<Record<string, number>>;
  /**
   * Segments of each published table, at least one, the oldest and largest first; a row in a later segment
   * replaces the same row in every earlier one. A file holds segments of several tables.
   */
  readonly tables: Readonly<Record<string, readonly Segment[]>>;
  /** Size of each file, bytes. */
  readonly sizes?: Readonly<Record<string, number>>;
}

const CURRENT = 'CURRENT';

/** A published file in its final place: what changed last (`newest`), or a compacted file (`merged`). */
const PUBLISHED_FILE = /^(?:newest|merged)-[^/\\]*\.duckdb$/;

/** Reads `CURRENT` of a shard's folder; null when it is missing or not readable. */
export function readManifest(directory: string): Manifest | null {
  try {
    const manifest = JSON.parse(readFileSync(join(directory, CURRENT), 'utf8')) as Partial<Manifest>;
    const { seq, tables } = manifest;
    if (!Number.isSafeInteger(seq) || tables === undefined) return null;
    const complete = Object.values(tables).every((segments) =>
      segments.every(({ file }) => typeof file === 'string' && PUBLISHED_FILE.test(file)),
    );
    // A manifest of 0.1 has neither: nothing was ever deferred.
    return complete ? ({ views: {}, sequence: seq, behind: {}, ...manifest } as Manifest) : null;
  } catch {
    return null;
  }
}

/** Replaces `CURRENT` by rename, atomically and durably, with the size of each file. */
export function writeManifest(directory: string, manifest: Manifest): void {
  const sizes = Object.fromEntries(
    [...filesOf(manifest)].map((file) => [file, statSync(join(directory, file)).size]),
  );
  const temporary = join(directory, `${CURRENT}.tmp`);
  writeFileSync(temporary, JSON.stringify({ ...manifest, sizes }), { mode: 0o600 });
  fsyncPath(temporary);
  renameSync(temporary, join(directory, CURRENT));
  fsyncPath(directory);
}

/** Whether a shard's folder holds published files but no readable manifest. */
export function isManifestLost(directory: string): boolean {
  if (readManifest(directory) !== null) return false;
  if (existsSync(join(directory, CURRENT))) return true;
  return existsSync(directory) && readdirSync(directory).some((file) => PUBLISHED_FILE.test(file));
}

/** Why a file of a manifest is not as it was written; null: all files have the size that they should have. */
export function findMissingFile(directory: string, manifest: Manifest): string | null {
  for (const file of filesOf(manifest)) {
    const size = statSync(join(directory, file), { throwIfNoEntry: false })?.size;
    if (size === undefined) return `${file} is gone`;
    const expected = manifest.sizes?.[file] ?? size;
    if (size !== expected) return `${file} has ${size} bytes, not ${expected}`;
  }
  return null;
}

/** The files that a manifest names. */
export function filesOf(manifest: Manifest): ReadonlySet<string> {
  return new Set(Object.values(manifest.tables).flatMap((segments) => segments.map(({ file }) => file)));
}

/** The versions of views that a manifest records. */
export function versionsOf(views: readonly View[]): Readonly<Record<string, number>> {
  return Object.fromEntries(views.map((view) => [view.name, view.version]));
}

export function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
