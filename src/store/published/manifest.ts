/**
 * The manifest `CURRENT` of a shard's folder, which names the published segments. It changes by rename, so readers see
 * one complete set of files.
 *
 * Test: test/store/published/publication.test.ts.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { View } from '../view-files.ts';

/** Rows of one table in an immutable file: those that changed after the segment below it. */
export interface Segment {
  readonly file: string;
  /** Revision of the state at which its rows were read. */
  readonly seq: number;
  readonly rows: number;
  /** Minimum and maximum of the table's time column, microseconds; null without such a column. */
  readonly from: number | null;
  readonly to: number | null;
  /** True if any of its rows may replace a row of an earlier segment. */
  readonly replaces: boolean;
}

/** The position of a shard's rows. */
export interface Reached {
  /** Revision of the state, which increases with every commit. */
  readonly seq: number;
  /** Stream sequence up to which they contain all entries, except the parts in `behind`. */
  readonly sequence: number;
  /** By instance (UUID), the parts of entries up to `sequence` that are not counted yet. */
  readonly behind: Readonly<Record<string, Behind>>;
  /** Number of entries up to `sequence` of which a part is not counted yet; they may have parts of several instances. */
  readonly deferred: number;
}

/** The deferred parts of an instance. */
export interface Behind {
  /** Stream sequence of the first entry that is not completely counted. */
  readonly sequence: number;
  /** When the stream stored the oldest of these entries, microseconds since 1970-01-01 UTC. */
  readonly storedAt: number;
}

/** Stream sequence up to which all entries of all instances are counted. */
export function completeUntil({ sequence, behind }: Pick<Reached, 'sequence' | 'behind'>): number {
  return Object.values(behind).reduce((least, waiting) => Math.min(least, waiting.sequence - 1), sequence);
}

/** The content of `CURRENT`: the segments that answer queries of one shard. */
export interface Manifest extends Reached {
  /** Id of the state database from which they were made. */
  readonly store: string;
  /** Version of each view; code with other versions cannot read the rows. */
  readonly views: Readonly<Record<string, number>>;
  /**
   * Segments of each published table, at least one, oldest and largest first. A row in a later segment replaces the
   * same row in all earlier ones. One file may hold segments of several tables.
   */
  readonly tables: Readonly<Record<string, readonly Segment[]>>;
  /** Size of each file, bytes. */
  readonly sizes?: Readonly<Record<string, number>>;
}

const CURRENT = 'CURRENT';

/** Names of published files: delta segments (`newest`) or compacted segments (`merged`). */
const PUBLISHED_FILE = /^(?:newest|merged)-[^/\\]*\.duckdb$/;

/** Reads `CURRENT` of a shard's folder; null if it is missing or unreadable. */
export function readManifest(directory: string): Manifest | null {
  try {
    const manifest = JSON.parse(readFileSync(join(directory, CURRENT), 'utf8')) as Partial<Manifest>;
    const { seq, tables } = manifest;
    if (!Number.isSafeInteger(seq) || tables === undefined) return null;
    const complete = Object.values(tables).every((segments) =>
      segments.every(({ file }) => typeof file === 'string' && PUBLISHED_FILE.test(file)),
    );
    // A manifest of 0.1 lacks these: nothing was ever deferred. One of 0.4 lacks `deferred`: each instance that is behind
    // has one entry at least.
    const deferred = Object.keys(manifest.behind ?? {}).length;
    return complete ? ({ views: {}, sequence: seq, behind: {}, deferred, ...manifest } as Manifest) : null;
  } catch {
    return null;
  }
}

/** Replaces `CURRENT` by rename, atomically and durably. Adds the size of each file: `sizes`, or of those in the folder. */
export function writeManifest(
  directory: string,
  manifest: Manifest,
  sizes: Manifest['sizes'] = sizesIn(directory, manifest),
): void {
  const temporary = join(directory, `${CURRENT}.tmp`);
  writeFileSync(temporary, JSON.stringify({ ...manifest, sizes }), { mode: 0o600 });
  fsyncPath(temporary);
  renameSync(temporary, join(directory, CURRENT));
  fsyncPath(directory);
}

/** Returns true if a shard's folder holds published files but no readable manifest. */
export function isManifestLost(directory: string): boolean {
  if (readManifest(directory) !== null) return false;
  if (existsSync(join(directory, CURRENT))) return true;
  return existsSync(directory) && readdirSync(directory).some((file) => PUBLISHED_FILE.test(file));
}

/** Deletes what is published in a shard's folder, the manifest first. */
export function removePublished(directory: string): void {
  rmSync(join(directory, CURRENT), { force: true });
  for (const file of readdirSync(directory)) if (PUBLISHED_FILE.test(file)) rmSync(join(directory, file));
}

/** Describes the first file that is missing or has another size than it was written with; null if there is none. */
export function findMissingFile(directory: string, manifest: Manifest): string | null {
  for (const file of filesOf(manifest)) {
    const size = statSync(join(directory, file), { throwIfNoEntry: false })?.size;
    if (size === undefined) return `${file} is gone`;
    const expected = manifest.sizes?.[file] ?? size;
    if (size !== expected) return `${file} has ${size} bytes, not ${expected}`;
  }
  return null;
}

function sizesIn(directory: string, manifest: Manifest): Record<string, number> {
  return Object.fromEntries(
    [...filesOf(manifest)].map((file) => [file, statSync(join(directory, file)).size]),
  );
}

export function filesOf(manifest: Manifest): ReadonlySet<string> {
  return new Set(Object.values(manifest.tables).flatMap((segments) => segments.map(({ file }) => file)));
}

/** The present versions of views, as a manifest records them. */
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
