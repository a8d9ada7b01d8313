/**
 * Recognises the layout of a file and reads its entries one after the other. An entry that cannot be read has a fault,
 * and the next ones are still read.
 *
 * Test: test/doors/import/plan.test.ts.
 */
import { csvRows, delimiterOf } from './csv.ts';
import { firstBytes, isUtf8Start } from './bytes.ts';
import type { Input } from './inputs.ts';
import { jsonEntries } from './json.ts';
import { linesOf, MAX_LINE_BYTES, type Piece } from './lines.ts';
import { parquetRows } from './parquet.ts';
import { isObject } from '../traces/values.ts';
import { type Shape } from './formats/format.ts';
import { chatStretches, isChatStart } from './whatsapp-chat.ts';
import type { TimeReading } from './written-dates.ts';

/** An entry of a file: its value, or a fault. */
export interface Entry {
  /** Number of the line, row or entry, counted from 1. */
  readonly number: number;
  readonly value: unknown;
  readonly fault: string | null;
}

/** The way a file is cut into entries. */
export type Layout =
  | { readonly shape: 'jsonl' | 'parquet' }
  | { readonly shape: 'json'; readonly member: string | null }
  | { readonly shape: 'csv'; readonly delimiter: string; readonly isUtf8: boolean }
  /** `times` says how the times of its messages are read. */
  | { readonly shape: 'chat'; readonly times: TimeReading };

/**
 * Names of the lists of entries in a top-level object, as pages of APIs and some exports have them. `soleListOf` finds
 * a list with another name.
 */
const LIST_MEMBERS = [
  'conversations',
  'tickets',
  'data',
  'runs',
  'observations',
  'traces',
  'items',
  'results',
  'records',
  'rows',
];
/** Bytes at the start of a file that decide its layout. */
const START_BYTES = 1024 * 1024;
const PARQUET_MAGIC = 'PAR1';
const LINES_NAME = /\.(?:jsonl|ndjson)(?:\.[a-z]+)?$/i;
/** Lines of log files may look like chat messages. */
const LOG_NAME = /\.log(?:\.[a-z0-9]+)?$/i;
const TABLE_NAME = /\.(?:csv|tsv|txt)(?:\.[a-z]+)?$/i;

/** Recognises the layout of a file; null if no reader fits. An empty file is `jsonl`. */
export async function layoutOf(input: Input): Promise<Layout | null> {
  const bytes = await firstBytes(input.open(), START_BYTES);
  if (bytes.subarray(0, 4).toString('latin1') === PARQUET_MAGIC) return { shape: 'parquet' };
  if (bytes.includes(0)) return null;
  const text = new TextDecoder().decode(bytes);
  if (!LOG_NAME.test(input.name) && isChatStart(text)) return { shape: 'chat', times: { order: null } };
  const start = text.trimStart();
  if (start.startsWith('[') || start.startsWith('{'))
    return isLines(start) ? { shape: 'jsonl' } : { shape: 'json', member: listMemberOf(start) };
  if (LINES_NAME.test(input.name) || start === '') return { shape: 'jsonl' };
  if (start.startsWith('<')) return null;
  const delimiter = delimiterOf(start);
  if (delimiter === null && !TABLE_NAME.test(input.name)) return null;
  return { shape: 'csv', delimiter: delimiter ?? ',', isUtf8: isUtf8Start(bytes) };
}

/** True if each line is a JSON value: the first one parses and more follow, or most parse where the first is broken. */
function isLines(start: string): boolean {
  const lines = start.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 1)
    return parsed(start) === undefined ? false : start.startsWith('{') && !isPage(start);
  // The last line may be cut off.
  const whole = lines.slice(0, Math.max(1, lines.length - 1)).slice(0, 50);
  if (parsed(whole[0] ?? '') !== undefined) return true;
  return (
    start.startsWith('{') && whole.slice(1).filter((line) => isObject(parsed(line))).length > whole.length / 2
  );
}

function isPage(text: string): boolean {
  return listMemberOf(text) !== null;
}

/** Returns the member of a top-level object that holds the entries; null if the object is an entry itself. */
function listMemberOf(start: string): string | null {
  if (!start.startsWith('{')) return null;
  const whole = parsed(start);
  for (const member of LIST_MEMBERS) {
    if (isObject(whole)) {
      const list = whole[member];
      if (Array.isArray(list) && isObject(list[0]) && !isMessage(list[0])) return member;
      continue;
    }
    const found = new RegExp(`"${member}"\\s*:\\s*\\[\\s*\\{`).exec(start);
    // A message of a conversation begins with its role or text; such a list is a conversation.
    if (
      found !== null &&
      !/^[^{}]{0,200}"(?:from|role|sender|value|content)"\s*:/.test(
        start.slice(found.index + found[0].length),
      )
    )
      return member;
  }
  return null;
}

/**
 * The layout of a file that is one object with one list of objects, whatever the list is called, read by that list;
 * null for any other file, and for an object that does not end within START_BYTES: another list could follow.
 */
export async function soleListOf(input: Input, layout: Layout): Promise<Layout | null> {
  if (layout.shape !== 'jsonl' && (layout.shape !== 'json' || layout.member !== null)) return null;
  const text = new TextDecoder().decode(await firstBytes(input.open(), START_BYTES)).trimStart();
  const [member, ...others] = text.startsWith('{') ? objectListsIn(text) : [];
  return member === undefined || others.length > 0 ? null : { shape: 'json', member };
}

/** Names of the lists of objects in the object that a text is; none if it is cut off, or something follows it. */
function objectListsIn(text: string): string[] {
  const lists: string[] = [];
  let depth = 0;
  let name = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      const end = endOfString(text, at);
      if (depth === 1) name = text.slice(at + 1, end);
      at = end;
    } else if (char === '[' || char === '{') {
      if (depth === 1 && char === '[' && /^\s*\{/.test(text.slice(at + 1, at + 100))) lists.push(name);
      depth += 1;
    } else if (char === ']' || char === '}') {
      depth -= 1;
      if (depth === 0) return text.slice(at + 1).trim() === '' ? lists : [];
    }
  }
  return [];
}

/** Index of the quote that ends the string whose first quote is at `start`; the text's length if none does. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function isMessage(value: Record<string, unknown>): boolean {
  return ('role' in value && 'content' in value) || ('from' in value && 'value' in value);
}

/** Reads the entries of a file. Throws the stream's error where the file is cut off or damaged. */
export async function* entriesOf(
  input: Input,
  layout: Layout,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Entry> {
  switch (layout.shape) {
    case 'jsonl':
      yield* parsedEntries(input, linesOf(input.open(onRead)));
      return;
    case 'json': {
      const { member } = layout;
      yield* parsedEntries(input, jsonEntries(input.open(onRead), { member, limit: MAX_LINE_BYTES }));
      return;
    }
    case 'csv':
      yield* tableEntries(input, layout.delimiter, onRead);
      return;
    case 'parquet':
      yield* parquetRows(input, onRead);
      return;
    case 'chat':
      yield* chatStretches(input, layout.times, onRead);
      return;
    default:
      layout satisfies never;
  }
}

/** The unit in which positions of a shape are reported. */
export function unitOf(shape: Shape): 'line' | 'entry' | 'row' {
  switch (shape) {
    case 'jsonl':
    case 'csv':
    case 'chat':
      return 'line';
    case 'json':
      return 'entry';
    case 'parquet':
      return 'row';
    default:
      return shape satisfies never;
  }
}

async function* parsedEntries(input: Input, pieces: AsyncIterable<Piece>): AsyncGenerator<Entry> {
  for await (const { number, text, fault } of pieces) {
    input.onEntry?.(number);
    try {
      yield { number, value: text === null ? null : (JSON.parse(text) as unknown), fault };
    } catch (error) {
      yield { number, value: null, fault: `not JSON: ${(error as Error).message}` };
    }
  }
}

async function* tableEntries(
  input: Input,
  delimiter: string,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Entry> {
  let columns: readonly string[] | null = null;
  for await (const { line, fields, fault } of csvRows(input.open(onRead), {
    delimiter,
    limit: MAX_LINE_BYTES,
  })) {
    input.onEntry?.(line);
    if (fields === null) yield { number: line, value: null, fault };
    else if (columns === null) columns = fields.map((name, index) => name.trim() || `column ${index + 1}`);
    else if (fields.length !== columns.length) {
      const message = `${fields.length} fields, but the first line has ${columns.length}`;
      yield { number: line, value: null, fault: message };
    } else yield { number: line, value: rowOf(columns, fields), fault: null };
  }
}

function rowOf(columns: readonly string[], fields: readonly string[]): Record<string, string> {
  const row: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [index, name] of columns.entries()) row[name] = fields[index] ?? '';
  return row;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
