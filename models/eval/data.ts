/**
 * Reads conversation data sets: JSON Lines, plain or gzip'ed (told by the first bytes, not the name).
 * Formats: dialogues, satisfaction, gaps, intents, pairs, language (docs/decisions/0002-eval-room.md).
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { SetupError } from '../../src/errors.ts';

/** Where the public data sets lie unless a caller says otherwise: beside the checkout. */
export const DEFAULT_DATA_DIRECTORY = resolve(import.meta.dirname, '../../../shared/data');

/** A line longer than this many bytes is a fault, so that a file that is no JSONL cannot fill the memory. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** A line of a data file that cannot be used. `message` names file and line. */
export class DataError extends Error {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;

  constructor(path: string, line: number, reason: string, options: { cause?: unknown } = {}) {
    super(`${path}:${line}: ${reason}`, options);
    this.name = 'DataError';
    this.path = path;
    this.line = line;
  }
}

export interface ReadOptions {
  /** Called with each unusable line, which is then skipped. Without it the first one is thrown. */
  readonly onFault?: (fault: DataError) => void;
  /** Called with the file's bytes read so far (compressed bytes of a compressed file). */
  readonly onBytes?: (bytes: number) => void;
}

/** One usable line of a file. */
export interface Line<T> {
  /** Counted from 1; empty lines count but are not handed out. */
  readonly line: number;
  readonly value: T;
}

const turnSchema = z.looseObject({
  role: z.string(),
  content: z.string(),
  userId: z.string().optional(),
  createdAt: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  sat: z.array(z.number()).optional(),
  act: z.string().optional(),
});
const dialogueSchema = z.looseObject({
  id: z.union([z.string().min(1), z.number()]).transform(String),
  source: z.string().optional(),
  lang: z.string().optional(),
  turns: z.array(turnSchema),
  labels: z.record(z.string(), z.unknown()).optional(),
});
const intentSchema = z.looseObject({
  text: z.string(),
  intent: z.string(),
  intents: z.array(z.string()).optional(),
  domain: z.string().optional(),
  lang: z.string().optional(),
  source: z.string().optional(),
  conv: z.union([z.string(), z.number()]).transform(String).optional(),
  turn: z.number().optional(),
  split: z.string().optional(),
});
const pairSchema = z.looseObject({
  a: z.string(),
  b: z.string(),
  label: z.number(),
  lang: z.string().optional(),
  source: z.string().optional(),
});
const languageSchema = z.looseObject({ text: z.string(), lang: z.string() });

/** A whole conversation; `turns[].sat` are satisfaction grades of 1 to 5, one an annotator. */
export type Dialogue = z.infer<typeof dialogueSchema>;
export type DialogueTurn = z.infer<typeof turnSchema>;
/** An utterance with what it is about. */
export type IntentExample = z.infer<typeof intentSchema>;
/** Two texts; `label` from 0 (unrelated) to 1 (the same). */
export type PairExample = z.infer<typeof pairSchema>;
/** A sentence and its language: ISO 639-1 where there is one, else 639-3. */
export type LanguageExample = z.infer<typeof languageSchema>;

/** Conversations in file order. Throws SetupError when there is no such file, DataError at a bad line. */
export function readDialogues(path: string, options: ReadOptions = {}): AsyncGenerator<Line<Dialogue>> {
  return readAs(path, dialogueSchema, options);
}
/** Labelled utterances in file order; errors as `readDialogues`. */
export function readIntents(path: string, options: ReadOptions = {}): AsyncGenerator<Line<IntentExample>> {
  return readAs(path, intentSchema, options);
}
/** Text pairs in file order; errors as `readDialogues`. */
export function readPairs(path: string, options: ReadOptions = {}): AsyncGenerator<Line<PairExample>> {
  return readAs(path, pairSchema, options);
}
/** Sentences with languages in file order; errors as `readDialogues`. */
export function readLanguages(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<Line<LanguageExample>> {
  return readAs(path, languageSchema, options);
}

/** All values of a reader, for sets that fit into memory. */
export async function collect<T>(lines: AsyncIterable<Line<T>>): Promise<T[]> {
  const values: T[] = [];
  for await (const { value } of lines) values.push(value);
  return values;
}

/**
 * The path of a data set such as `satisfaction/uss-mwoz`: `<directory>/<name>.jsonl.gz` or `.jsonl`.
 * Throws SetupError when there is neither.
 */
export function dataSetPath(directory: string, name: string): string {
  for (const ending of ['.jsonl.gz', '.jsonl']) {
    const path = join(directory, name + ending);
    if (existsSync(path)) return path;
  }
  throw new SetupError(
    `data set ${name} is not in ${directory}: put ${name}.jsonl.gz there, or name a folder or a file with --data`,
  );
}

/**
 * Splits examples for good into a half to tune on and a half to report on, by a hash of `key` (a
 * conversation's id, so that the turns of one conversation stay together).
 */
export function halfOf(key: string): 'tune' | 'test' {
  return ((hashOf(key) >>> 16) & 1) === 0 ? 'tune' : 'test';
}

/** Whether a translation pair, by its English side, measures the embedding model and never trains it: one in ten. */
export function isHeldOut(english: string): boolean {
  return (hashOf(english) >>> 16) % 10 === 0;
}

/** FNV-1a over the UTF-16 units; its low bits are weak, so the high ones are folded in. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d);
}

async function* readAs<T>(path: string, schema: z.ZodType<T>, options: ReadOptions): AsyncGenerator<Line<T>> {
  for await (const { line, value } of readJsonLines(path, options)) {
    const parsed = schema.safeParse(value);
    if (parsed.success) {
      yield { line, value: parsed.data };
      continue;
    }
    const issue = parsed.error.issues[0];
    const place = issue === undefined || issue.path.length === 0 ? 'the line' : issue.path.join('.');
    report(new DataError(path, line, `${place}: ${issue?.message ?? 'has the wrong shape'}`), options);
  }
}

/** JSON values of a file, line by line. Throws SetupError when the file cannot be read at all. */
export async function* readJsonLines(path: string, options: ReadOptions = {}): AsyncGenerator<Line<unknown>> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  for await (const bytes of readLineBytes(path, options)) {
    line += 1;
    let text: string;
    try {
      text = decoder.decode(bytes).trim();
    } catch (cause) {
      report(new DataError(path, line, 'is not UTF-8', { cause }), options);
      continue;
    }
    if (text === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      report(new DataError(path, line, 'is not JSON', { cause }), options);
      continue;
    }
    yield { line, value };
  }
}

function report(fault: DataError, options: ReadOptions): void {
  if (options.onFault === undefined) throw fault;
  options.onFault(fault);
}

async function* readLineBytes(path: string, options: ReadOptions): AsyncGenerator<Buffer> {
  const compressed = await isGzip(path);
  const file = createReadStream(path);
  const gunzip = compressed ? createGunzip() : null;
  if (gunzip !== null) {
    file.on('error', (error) => gunzip.destroy(error));
    file.pipe(gunzip);
  }
  const source: AsyncIterable<Buffer> = gunzip ?? file;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let line = 1;
  try {
    for await (const chunk of source) {
      options.onBytes?.(file.bytesRead);
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
        pending.push(chunk.subarray(start, end));
        yield pending.length === 1 ? chunk.subarray(start, end) : Buffer.concat(pending);
        line += 1;
        pending = [];
        pendingBytes = 0;
        start = end + 1;
      }
      if (start < chunk.length) {
        pending.push(chunk.subarray(start));
        pendingBytes += chunk.length - start;
        if (pendingBytes > MAX_LINE_BYTES)
          throw new DataError(path, line, `is longer than ${MAX_LINE_BYTES} bytes: not a JSON Lines file?`);
      }
    }
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    throw new SetupError(`${path} cannot be read past line ${line}: ${(cause as Error).message}`, { cause });
  } finally {
    file.destroy();
  }
  if (pendingBytes > 0) yield Buffer.concat(pending);
}

async function isGzip(path: string): Promise<boolean> {
  try {
    if (statSync(path).isDirectory()) throw new SetupError(`${path} is a folder: name a JSON Lines file`);
    const handle = await open(path);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
      return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof SetupError) throw cause;
    throw new SetupError(`${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
