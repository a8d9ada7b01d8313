/**
 * Converts the entries of a planned file into conversations. A broken entry yields a fault and does not stop the file.
 *
 * Test: test/doors/import/plan.test.ts.
 */
import { createHash } from 'node:crypto';
import { entriesOf, unitOf, type Entry } from './entries.ts';
import type { Omissions } from '../traces/omissions.ts';
import type { EntryFormat, Reading, RowFormat, Turn } from './formats/format.ts';
import { undertone } from './formats/undertone.ts';
import { openai } from './formats/openai.ts';
import { RowGrouping } from './grouping.ts';
import { DuplicateIds, mapValue, type Conversation } from './mapper.ts';
import type { FilePart, FilePlan } from './plan.ts';

/** A file, and the unit of its numbers unless they count lines. */
export interface Place {
  readonly file: string;
  readonly unit?: 'entry' | 'row';
}

/** Result for one place in a file. */
export type Converted = { readonly place: Place; readonly number: number } & (
  | {
      readonly conversation: Conversation;
      readonly emptyTurns: readonly number[];
      readonly omitted: Omissions;
    }
  | { readonly leftOut: string }
  | { readonly fault: string }
);

const NOTHING_OMITTED: Omissions = new Map();

export interface ConvertOptions {
  /** Source in place of the file name and of the format's own; '' names conversations by their ids alone. */
  readonly source?: string | undefined;
  /** End user of conversations that name none. */
  readonly user?: string | undefined;
  /** Number of entries to read. Default: all. */
  readonly entries?: number;
  readonly onRead?: (bytes: number) => void;
  /** Ends reading; rows not yet assembled into conversations are dropped. */
  readonly signal?: AbortSignal | undefined;
}

/** A row's number among several files is the index of its file times this, plus its number in the file. */
const NUMBERS_PER_PART = 2 ** 32;

/** State shared by all conversations of a plan. */
interface Context {
  readonly plan: FilePlan;
  readonly options: ConvertOptions;
  readonly duplicates: DuplicateIds;
}

/**
 * Reads a plan to its end; an aborted signal ends it without an error. Throws the stream's error where a plan's only
 * file is cut off or damaged; one of several files yields a fault instead.
 */
export async function* convert(plan: FilePlan, options: ConvertOptions): AsyncGenerator<Converted> {
  const { format } = plan;
  const context = { plan, options, duplicates: new DuplicateIds() };
  try {
    if (format.kind === 'rows') yield* convertRows(format, context);
    else yield* convertEntries(format, context);
  } catch (error) {
    // Aborting makes the reader throw at any point.
    if (options.signal?.aborted !== true) throw error;
  }
}

async function* convertEntries(format: EntryFormat, context: Context): AsyncGenerator<Converted> {
  const { plan, options, duplicates } = context;
  for await (const { part, entry } of entriesOfPlan(plan, options)) {
    const { number, value, fault } = entry;
    const place = placeOf(part);
    if (fault !== null) yield { place, number, fault };
    else if (format === undertone) {
      const source = options.source ?? part.input.source;
      const mapped = mapValue(value, { line: number, source, duplicates, user: options.user });
      yield { place, number, ...('fault' in mapped ? mapped : { ...mapped, omitted: NOTHING_OMITTED }) };
    } else {
      // OpenAI chats without ids have always been named after their lines.
      const unnamed = format === openai ? `line-${number}` : undefined;
      yield finish(format.read(value), { place, number, unnamed }, context);
    }
  }
}

async function* convertRows(format: RowFormat, context: Context): AsyncGenerator<Converted> {
  const { plan, options } = context;
  const grouping = await RowGrouping.open();
  const place = format.begin?.() ?? ((value: unknown, file: string) => format.place(value, file));
  try {
    for await (const { part, index, entry } of entriesOfPlan(plan, options)) {
      const { number, value, fault } = entry;
      const placed = fault === null ? place(value, part.input.name) : { fault };
      if ('kept' in placed) await grouping.add(placed, index * NUMBERS_PER_PART + number);
      else yield { place: placeOf(part), number, ...placed };
    }
    if (options.signal?.aborted === true) return;
    for await (const { conversation, number, rows } of grouping.groups(options.signal)) {
      const place = placeOf(plan.parts[Math.floor(number / NUMBERS_PER_PART)] ?? plan.parts[0]);
      const at = { place, number: number % NUMBERS_PER_PART, unnamed: undefined };
      yield finish(format.assemble(conversation, rows), at, context);
    }
  } finally {
    await grouping.close();
  }
}

async function* entriesOfPlan(
  { parts }: FilePlan,
  { entries = Infinity, onRead, signal }: ConvertOptions,
): AsyncGenerator<{ part: FilePart; index: number; entry: Entry }> {
  let before = 0;
  let left = entries;
  for (const [index, part] of parts.entries()) {
    const from = before;
    let number = 0;
    try {
      for await (const entry of entriesOf(part.input, part.layout, (bytes) => onRead?.(from + bytes))) {
        if (signal?.aborted === true) return;
        ({ number } = entry);
        yield { part, index, entry };
        left -= 1;
        if (left <= 0) return;
      }
    } catch (error) {
      if (parts.length === 1 || signal?.aborted === true) throw error;
      // The other files are still read.
      const fault = `not imported to its end: ${error instanceof Error ? error.message : String(error)}`;
      yield { part, index, entry: { number: number + 1, value: null, fault } };
    }
    before += part.input.size;
  }
}

function placeOf({ input, layout }: FilePart): Place {
  const unit = unitOf(layout.shape);
  return unit === 'line' ? { file: input.name } : { file: input.name, unit };
}

function finish(
  reading: Reading,
  at: { readonly place: Place; readonly number: number; readonly unnamed: string | undefined },
  { plan, options, duplicates }: Context,
): Converted {
  const { place, number } = at;
  if (!('line' in reading)) return { place, number, ...reading };
  const { line, omitted } = reading;
  if (line.turns.length === 0) return { place, number, leftOut: 'conversation without text' };
  const source = options.source ?? line.source ?? plan.parts[0].input.source;
  const unnamed = at.unnamed ?? digestOf(line.turns);
  const { user } = options;
  const mapped = mapValue({ ...line, source }, { line: number, source, duplicates, unnamed, user });
  return { place, number, ...('fault' in mapped ? mapped : { ...mapped, omitted }) };
}

/** Names a conversation without an id by a digest of its turns, so that the order of the file does not matter. */
function digestOf(turns: readonly Turn[]): string {
  const contents = turns.map(({ role, content, createdAt }) => [role, content, createdAt ?? null]);
  return createHash('sha256').update(JSON.stringify(contents)).digest('base64url').slice(0, 22);
}
