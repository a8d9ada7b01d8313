/**
 * The manifest of a sink, `_manifest.json`.
 *
 * Test: test/doors/sink/sink.test.ts.
 */
import { readFileSync } from 'node:fs';
import { isPathBelow } from '../../domain/listed-file.ts';
import type { SinkTable } from './tables.ts';

export interface SinkFile {
  /** Path below the sink's folder. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Digest of the rows in any order; null if the contents are unknown, so that the next run writes the file again. */
  readonly digest: string | null;
  readonly writtenAt: string;
}

/** State of the folder after the last run. Instants are ISO 8601 in UTC. */
export interface SinkManifest {
  readonly schemaVersion: number;
  /** Null before the first run has ended. */
  readonly run: {
    readonly startedAt: string;
    readonly finishedAt: string;
    readonly filesWritten: number;
    readonly filesRemoved: number;
    readonly filesUnchanged: number;
    readonly rowsWritten: number;
  } | null;
  /** The newest of all instances. */
  readonly lastProcessedAt: string | null;
  /** Epoch of the views that the run read, and the stream position of each shard. */
  readonly epoch: number | null;
  readonly positions: readonly number[];
  /** Tables and instances that the run was asked for; null: all instances. */
  readonly tables: readonly string[];
  readonly instances: readonly string[] | null;
  readonly instancesRead: readonly {
    readonly instanceId: string;
    readonly projectId: string;
    /** Newest position that the files include, as in `X-Stream-Position`. */
    readonly position: number;
    readonly lastProcessedAt: string;
  }[];
  readonly schema: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly files: readonly SinkFile[];
}

/** The manifest before the first run has ended. */
export function emptyManifest(schemaVersion: number): SinkManifest {
  return {
    schemaVersion,
    run: null,
    lastProcessedAt: null,
    epoch: null,
    positions: [],
    tables: [],
    instances: null,
    instancesRead: [],
    schema: {},
    files: [],
  };
}

/** Reads the manifest; null if the file is not a sink's. Throws the file system's error. */
export function readSinkManifest(file: string): SinkManifest | null {
  const text = readFileSync(file, 'utf8');
  try {
    const manifest = JSON.parse(text) as Partial<SinkManifest> | null;
    const { schemaVersion, files } = manifest ?? {};
    const isOurs = Number.isSafeInteger(schemaVersion) && Array.isArray(files) && files.every(isFile);
    return isOurs ? (manifest as SinkManifest) : null;
  } catch {
    return null;
  }
}

/** The path must stay below the folder, because a run removes outdated files. */
function isFile(value: unknown): boolean {
  const { path } = Object(value) as Partial<SinkFile>;
  return typeof path === 'string' && isPathBelow(path);
}

/** Formats the manifest with one file per line, so that versions can be compared line by line. */
export function formatManifest({ files, ...rest }: SinkManifest): string {
  const head = JSON.stringify(rest, null, 2).slice(0, -2);
  const lines = files.map((file) => `\n    ${JSON.stringify(file)}`);
  return `${head},\n  "files": [${lines.join(',')}\n  ]\n}\n`;
}

/** Returns names and types of a table's columns. */
export function schemaOf({ columns }: SinkTable): SinkManifest['schema'][string] {
  return columns.map(({ name, type }) => ({ name, type }));
}
