/** Turns the entries of a planned file into conversations. */
import { createHash } from 'node:crypto';
import { entriesOf, type Entry, type Layout } from './entries.ts';
import type { Omissions, Reading, RowFormat, Turn } from './formats/format.ts';
import { undertone } from './formats/undertone.ts';
import { openai } from './formats/openai.ts';
import { RowGrouping } from './grouping.ts';
import type { Input } from './inputs.ts';
import { DuplicateIds, mapValue, type Conversation } from './mapper.ts';
import type { FilePlan } from './plan.ts';

/** What comes of a place in a file. */
export type Converted = { readonly number: number } & (
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
  /** In place of the file's name and of what its format names; '': ids alone name conversations. */
  readonly source?: string;
  /** Entries to be read. Default: all. */
  readonly entries?: number;
  readonly onRead?: (bytes: number) => void;
}

/** Reads a file to its end. Throws the error of the stream where the file is cut off or damaged. */
export async function* convert(plan: FilePlan, options: ConvertOptions): AsyncGenerator<Converted> {
  const { format, input, layout } = plan;
  const duplicates = new DuplicateIds();
  if (format.kind === 'rows') {
    yield* convertRows(plan, format, options, duplicates);
    return;
  }
  for await (const { number, value, fault } of read(input, layout, options)) {
    if (fault !== null) yield { number, fault };
    else if (format === undertone) {
      const mapped = mapValue(value, { line: number, source: options.source ?? input.source, duplicates });
      yield { number, ...('fault' in mapped ? mapped : { ...mapped, omitted: NOTHING_OMITTED }) };
    } else {
      // Chats without ids have always been named after their lines.
      const unnamed = format === openai ? `line-${number}` : undefined;
      yield finish(format.read(value), number, { input, options, duplicates, unnamed });
    }
  }
}

async function* read(input: Input, layout: Layout, options: ConvertOptions): AsyncGenerator<Entry> {
  let left = options.entries ?? Infinity;
  for await (const entry of entriesOf(input, layout, options.onRead)) {
    yield entry;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* convertRows(
  { input, layout }: FilePlan,
  format: RowFormat,
  options: ConvertOptions,
  duplicates: DuplicateIds,
): AsyncGenerator<Converted> {
  const grouping = await RowGrouping.open();
  try {
    for await (const { number, value, fault } of read(input, layout, options)) {
      const placed = fault === null ? format.place(value) : { fault };
      if ('conversation' in placed) await grouping.add(placed, number);
      else yield { number, ...placed };
    }
    for await (const { conversation, number, rows } of grouping.groups())
      yield finish(format.assemble(conversation, rows), number, {
        input,
        options,
        duplicates,
        unnamed: undefined,
      });
  } finally {
    await grouping.close();
  }
}

function finish(
  reading: Reading,
  number: number,
  context: {
    readonly input: Input;
    readonly options: ConvertOptions;
    readonly duplicates: DuplicateIds;
    readonly unnamed: string | undefined;
  },
): Converted {
  if (!('line' in reading)) return { number, ...reading };
  const { line, omitted } = reading;
  if (line.turns.length === 0) return { number, leftOut: 'conversation without text' };
  const source = context.options.source ?? line.source ?? context.input.source;
  const mapped = mapValue(
    { ...line, source },
    {
      line: number,
      source,
      duplicates: context.duplicates,
      unnamed: context.unnamed ?? digestOf(line.turns),
    },
  );
  return { number, ...('fault' in mapped ? mapped : { ...mapped, omitted }) };
}

/** Names a conversation that has no id by what was said: the same in any order of the file. */
function digestOf(turns: readonly Turn[]): string {
  const said = turns.map(({ role, content, createdAt }) => [role, content, createdAt ?? null]);
  return createHash('sha256').update(JSON.stringify(said)).digest('base64url').slice(0, 22);
}
