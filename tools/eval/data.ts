/**
 * Reads conversation data sets: JSON Lines, plain or gzip'ed (told by the first bytes, not the name).
 * Formats: dialogues, satisfaction, gaps, intents, pairs, language (docs/decisions/0002-eval-room.md).
 */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { SetupError } from '../../src/errors.ts';
import { firstBytes, packingOf, unpack } from '../../src/doors/import/bytes.ts';
import { linesOf } from '../../src/doors/import/lines.ts';

/** Where the public data sets lie unless a caller says otherwise: beside the checkout. */
export const DEFAULT_DATA_DIRECTORY = resolve(import.meta.dirname, '../../../shared/data');

/** A line of a data file that cannot be used. `message` names file and line. */
export class DataError extends SetupError {
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

/** A data set that is not in the folder. */
export class MissingDataSet extends SetupError {
  /** Such as `satisfaction/uss-mwoz`. */
  readonly set: string;

  constructor(set: string, directory: string) {
    super(
      `data set ${set} is not in ${directory}: put ${set}.jsonl.gz there, or name a folder or a file with --data`,
    );
    this.name = 'MissingDataSet';
    this.set = set;
  }
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
/** An utterance with what it is about. */
export type IntentExample = z.infer<typeof intentSchema>;
/** Two texts; `label` from 0 (unrelated) to 1 (the same). */
export type PairExample = z.infer<typeof pairSchema>;
/** A sentence and its language: ISO 639-1 where there is one, else 639-3. */
export type LanguageExample = z.infer<typeof languageSchema>;

/** Conversations in file order. Throws SetupError when there is no such file, DataError at a bad line. */
export function readDialogues(path: string): AsyncGenerator<Dialogue> {
  return readAs(path, dialogueSchema);
}
/** Labelled utterances in file order; errors as `readDialogues`. */
export function readIntents(path: string): AsyncGenerator<IntentExample> {
  return readAs(path, intentSchema);
}
/** Text pairs in file order; errors as `readDialogues`. */
export function readPairs(path: string): AsyncGenerator<PairExample> {
  return readAs(path, pairSchema);
}
/** Sentences with languages in file order; errors as `readDialogues`. */
export function readLanguages(path: string): AsyncGenerator<LanguageExample> {
  return readAs(path, languageSchema);
}

/** All values of a reader, for sets that fit into memory. */
export async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/**
 * The path of a data set such as `satisfaction/uss-mwoz`: `<directory>/<name>.jsonl.gz` or `.jsonl`.
 * Throws MissingDataSet when there is neither.
 */
export function dataSetPath(directory: string, name: string): string {
  for (const ending of ['.jsonl.gz', '.jsonl']) {
    const path = join(directory, name + ending);
    if (existsSync(path)) return path;
  }
  throw new MissingDataSet(name, directory);
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

/** Values of one shape, line by line; errors as `readDialogues`. */
export async function* readAs<T>(path: string, schema: z.ZodType<T>): AsyncGenerator<T> {
  for await (const { number, text } of textLines(path)) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new DataError(path, number, 'is not JSON', { cause });
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) {
      yield parsed.data;
      continue;
    }
    const issue = parsed.error.issues[0];
    const place = issue === undefined || issue.path.length === 0 ? 'the line' : issue.path.join('.');
    throw new DataError(path, number, `${place}: ${issue?.message ?? 'has the wrong shape'}`);
  }
}

async function* textLines(path: string): AsyncGenerator<{ number: number; text: string }> {
  if (!existsSync(path)) throw new SetupError(`${path} cannot be read: there is no such file`);
  if (statSync(path).isDirectory()) throw new SetupError(`${path} is a folder: name a JSON Lines file`);
  let last = 0;
  const lines = linesOf(unpacked(path));
  try {
    for await (const { number, text, fault } of lines) {
      last = number;
      if (text === null) throw new DataError(path, number, `is ${fault}: not a JSON Lines file?`);
      yield { number, text };
    }
  } catch (cause) {
    if (cause instanceof SetupError) throw cause;
    throw new SetupError(`${path} cannot be read past line ${last}: ${(cause as Error).message}`, { cause });
  }
}

async function* unpacked(path: string): AsyncGenerator<Buffer> {
  const whole = { path, packing: 'none', start: 0, size: statSync(path).size } as const;
  const packing = packingOf(await firstBytes(unpack(whole), 4));
  yield* unpack({ ...whole, packing });
}
