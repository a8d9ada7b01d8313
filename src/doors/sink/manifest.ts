/** Covered by test/doors/sink/sink.test.ts. */
import { readFileSync } from 'node:fs';
import { isPathBelow } from '../../domain/listed-file.ts';
import type { SinkTable } from './tables.ts';

/** A file of a sink. */
export interface SinkFile {
  /** Below the folder of the sink. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** Of its rows, in any order; null: nobody knows what is in the file, and the next run writes it again. */
  readonly digest: string | null;
  readonly writtenAt: string;
}

/** What `_manifest.json` says: what the last run left in the folder. Instants are ISO 8601 in UTC. */
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
  /** The newest of the instances'. */
  readonly lastProcessedAt: string | null;
  /** What the run read: a build of the views, and how far each of its shards has counted the stream. */
  readonly epoch: number | null;
  readonly positions: readonly number[];
  /** What the run was asked for; `instances` null: all. */
  readonly tables: readonly string[];
  readonly instances: readonly string[] | null;
  readonly instancesRead: readonly {
    readonly instanceId: string;
    readonly projectId: string;
    /** The newest position that the files contain, as in `X-Stream-Position`. */
    readonly position: number;
    readonly lastProcessedAt: string;
  }[];
  readonly schema: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly files: readonly SinkFile[];
}

/** What a folder has before the first run has ended. */
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

/** Null: the file is there, and is none of ours. Throws what reading throws. */
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

/** A file below the folder: what a run no longer wants, it removes. */
function isFile(value: unknown): boolean {
  const { path } = Object(value) as Partial<SinkFile>;
  return typeof path === 'string' && isPathBelow(path);
}

/** A file on each line, so that two manifests can be compared line by line. */
export function formatManifest({ files, ...rest }: SinkManifest): string {
  const head = JSON.stringify(rest, null, 2).slice(0, -2);
  const lines = files.map((file) => `\n    ${JSON.stringify(file)}`);
  return `${head},\n  "files": [${lines.join(',')}\n  ]\n}\n`;
}

/** Names and types of the columns of a table, as a reader finds them. */
export function schemaOf({ columns }: SinkTable): SinkManifest['schema'][string] {
  return columns.map(({ name, type }) => ({ name, type }));
}
