import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { isPathBelow, listedFile, PATH_BELOW_RULE } from '../domain/listed-file.ts';
import { SetupError } from '../errors.ts';
import { replaceFile } from '../store/epochs/epochs.ts';
import { megabytesPerSecond, type Progress } from '../domain/progress.ts';

/** What a backup consists of. It is written last: a folder without it is no backup. */
const MANIFEST_FILE = 'manifest.json';

const whole = z.number().int().nonnegative();

const manifestShape = z.object({
  version: z.literal(1),
  createdAt: z.string(),
  files: z.array(
    z.object({
      path: z.string().refine(isPathBelow, PATH_BELOW_RULE),
      bytes: whole,
      sha256: z.string().length(64),
    }),
  ),
  streams: z.array(z.object({ name: z.string(), entries: whole, firstSequence: whole, lastSequence: whole })),
  /** Null: there were no views yet. */
  views: z
    .object({
      shards: z.number().int().min(1),
      /** Stream sequence that each shard's views contain; null where a shard had none yet. */
      sequences: z.array(whole.nullable()),
      definition: z.string(),
    })
    .refine(({ shards, sequences }) => shards === sequences.length, 'tells of other shards than there are')
    .nullable(),
});

export type Manifest = z.infer<typeof manifestShape>;

export function streamFile(folder: string, stream: string): string {
  return join(folder, 'streams', `${stream}.entries`);
}

export function stateFile(folder: string, shard: number): string {
  return join(folder, 'views', String(shard), 'state.duckdb');
}

/** Measures every file of a folder and writes its manifest, which makes it a backup. */
export async function writeManifest(folder: string, content: Omit<Manifest, 'files'>): Promise<Manifest> {
  const files: Manifest['files'] = [];
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  for (const file of paths) {
    const path = pathIn(folder, file);
    files.push({ path, bytes: statSync(file).size, sha256: await digestOf(file) });
  }
  const manifest = { ...content, files };
  replaceFile(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/**
 * Reads a backup's manifest and compares every file with it, which takes as long as reading them. The manifest lists
 * every file that a restore or a rebuild may ask for.
 *
 * @throws SetupError that names the first file that is not listed, missing, elsewhere, of another size or other content
 */
export async function checkBackup(
  folder: string,
  progress: Pick<Progress, 'begin' | 'update' | 'end'>,
): Promise<Manifest> {
  const manifest = readManifest(folder);
  checkList(folder, manifest);
  const to = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const onBytes = (bytes: number): void => progress.update({ done: (done += bytes) });
  progress.begin({ title: 'checking the backup', to, rate: megabytesPerSecond });
  for (const { path, bytes, sha256 } of manifest.files) {
    const file = listedFile(folder, path);
    const fault =
      typeof file === 'string'
        ? file
        : file.size !== bytes
          ? `has ${file.size} bytes in place of ${bytes}`
          : (await digestOf(join(folder, path), onBytes)) === sha256
            ? null
            : `has ${bytes} bytes, but other ones than were written (SHA-256)`;
    if (fault !== null) {
      progress.end();
      throw new SetupError(`The backup ${folder} is damaged: ${path} ${fault}. It was not used.`);
    }
  }
  progress.end();
  return manifest;
}

/** @throws SetupError when a file that will be used is not in the list, or any is there twice */
function checkList(folder: string, { files, streams, views }: Manifest): void {
  const listed = new Set<string>();
  const refused = (fault: string): SetupError =>
    new SetupError(`The backup ${folder} is damaged: its ${MANIFEST_FILE} ${fault}. It was not used.`);
  for (const { path } of files) {
    if (listed.has(path)) throw refused(`lists ${path} twice`);
    listed.add(path);
  }
  const used = [
    ...streams.map(({ name }) => streamFile(folder, name)),
    ...(views?.sequences ?? []).flatMap((sequence, shard) =>
      sequence === null ? [] : [stateFile(folder, shard)],
    ),
  ].map((file) => pathIn(folder, file));
  const unlisted = used.find((path) => !listed.has(path));
  if (unlisted !== undefined) throw refused(`does not list ${unlisted}`);
}

function pathIn(folder: string, file: string): string {
  return relative(folder, file).replaceAll('\\', '/');
}

/** @throws SetupError when the folder holds no finished backup */
function readManifest(folder: string): Manifest {
  const file = join(folder, MANIFEST_FILE);
  if (!existsSync(file)) {
    throw new SetupError(
      `${folder} holds no finished backup: ${MANIFEST_FILE} is missing, which is written last. Take another backup.`,
    );
  }
  try {
    return manifestShape.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new SetupError(`${file} cannot be read: ${reason}`, { cause: error });
  }
}

async function digestOf(file: string, onBytes: (bytes: number) => void = () => undefined): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) {
    hash.update(chunk as Buffer);
    onBytes((chunk as Buffer).length);
  }
  return hash.digest('hex');
}
