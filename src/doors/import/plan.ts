/**
 * Decides how each file is read, before anything is sent: its layout, its format and, for tables, its columns. Where
 * only a person can decide, nothing is imported.
 *
 * Test: test/doors/import/plan.test.ts.
 */
import { basename } from 'node:path';
import { entriesOf, layoutOf, soleListOf, type Layout } from './entries.ts';
import { MAX_LINE_BYTES } from './lines.ts';
import { isObject } from '../traces/values.ts';
import { SURE, type Format, type Recognition, type Sample } from './formats/format.ts';
import { FORMATS } from './formats/registry.ts';
import { asMapped, columnsOf, describeMapping, guessMapping, type Mapping } from './formats/mapping.ts';
import { tableFormat, writtenTimesOf } from './formats/table.ts';
import { slack } from './formats/slack.ts';
import { undertone } from './formats/undertone.ts';
import { rolesOfChat, whatsapp, whatsappFormat } from './formats/whatsapp.ts';
import { openInputs, type Input } from './inputs.ts';
import { shellWord } from './shell-word.ts';
import { slackExports } from './slack-export.ts';
import { factsOfChat } from './whatsapp-chat.ts';
import { areComments, TICKETS_TODO, zendeskTickets } from './zendesk-comments.ts';
import { zendesk } from './formats/zendesk.ts';
import { OrderSearch, readWritten, type DateOrder, type OrderFound } from './written-dates.ts';
import { roleOf } from '../../domain/records.ts';

export interface FilePart {
  readonly input: Input;
  readonly layout: Layout;
}

/** The way one file, or several as one, is read. */
export interface FilePlan {
  readonly parts: readonly [FilePart, ...FilePart[]];
  readonly format: Format;
  readonly recognition: Recognition;
  /** Column mapping of a table as `--map` arguments; empty for other formats. */
  readonly mapping: readonly string[];
}

/** A file that no format reads. */
export interface UnknownFile {
  readonly input: Input;
  /** Description of the file, for people. */
  readonly looksLike: string;
  /** Advice that makes it readable. Default: a mapping, or the name of its format. */
  readonly todo?: string;
  /** True if the file is recognised but a person has to decide something: nothing is imported before that. */
  readonly isOpen?: boolean;
}

/** Options of the command line that apply to every file. */
export interface Reading {
  readonly format?: string | undefined;
  readonly mapping?: Mapping | undefined;
  /** Order of dates such as `11/1/2026`. Default: found in the file's dates. */
  readonly dates?: DateOrder | undefined;
  /** Time zone of times without an offset. Default: UTC. */
  readonly timeZone?: string | undefined;
  /** Receives the stored bytes read, where a whole file is read. */
  readonly onRead?: (bytes: number) => void;
}

const NOT_UTF8 = 'a table that is not UTF-8';
const SAMPLE_ENTRIES = 20;
/** The sample ends with the first entry after this many bytes; after twice as many even inside an entry. */
const SAMPLE_BYTES = MAX_LINE_BYTES;
const MAX_DESCRIBED = 12;

/** Plans one file. Throws the file system's error. */
export async function planFile(input: Input, reading: Reading = {}): Promise<FilePlan | UnknownFile> {
  const { format: name, mapping } = reading;
  const whole = await layoutOf(input);
  if (whole === null) return { input, looksLike: 'no JSON, JSONL, CSV or Parquet' };
  if (whole.shape === 'csv' && !whole.isUtf8)
    return {
      input,
      looksLike: NOT_UTF8,
      todo: 'Save it as UTF-8, or name its encoding: --encoding windows-1252.',
    };
  if (whole.shape === 'chat') return planChat(input, reading);
  const given = FORMATS.find((format) => format.name === name);
  const { layout, sample } = await cut(input, whole, given === undefined ? FORMATS : [given]);
  const plan = (format: Format, recognition: Recognition, described: readonly string[] = []): FilePlan => ({
    parts: [{ input, layout }],
    format,
    recognition,
    mapping: described,
  });
  const planTable = async (
    guess: NonNullable<ReturnType<typeof guessMapping>>,
  ): Promise<FilePlan | UnknownFile> => {
    const { recognition } = guess;
    // A table found in a folder that is not recognised for sure is skipped, so it is not searched.
    const isRead = input.named || recognition.confidence >= SURE;
    const found = isRead ? await orderIn({ input, layout }, guess.mapping, sample, reading) : NO_DATES;
    const order = reading.dates ?? found.order;
    if (order === null && found.example !== null)
      return {
        input,
        isOpen: true,
        looksLike: `a table ${eitherWay(found.example)} (${guess.mapping.fields.time})`,
        todo: DATES_TODO,
      };
    const format = tableFormat({ ...guess.mapping, times: { order, zone: reading.timeZone } });
    return plan(format, recognition, describeMapping(guess.mapping));
  };
  if (mapping !== undefined && hasColumns(mapping)) {
    const { lacking, columns } = columnsOf(sample, mapping);
    // The first entries of JSON may lack members; a table has all its columns.
    if (lacking.length > 0 && (layout.shape === 'csv' || layout.shape === 'parquet'))
      return {
        input,
        isOpen: input.named,
        looksLike: lacksColumns(lacking, columns),
        todo: 'Correct --map.',
      };
    return planTable(asMapped(sample, mapping));
  }
  if ((name ?? zendesk.name) === zendesk.name && areComments(sample))
    return {
      input,
      isOpen: true,
      looksLike: 'comments of Zendesk without their tickets',
      todo: TICKETS_TODO,
    };
  if (given !== undefined) return plan(given, { confidence: 1, reason: 'as --format says' });
  const best = recognise(sample);
  const guess = guessMapping(sample, mapping?.roles);
  if (best !== null && (guess === null || best.recognition.confidence >= guess.recognition.confidence))
    return plan(best.format, best.recognition);
  if (guess !== null) return planTable(guess);
  // A fallback for unrecognised lines: their faults say what our own format needs.
  if (layout.shape === 'jsonl' && input.named)
    return plan(undertone, {
      confidence: SURE,
      reason: `nothing else is known of ${describeSample(sample)}; --map says what is what`,
    });
  return { input, looksLike: describeSample(sample) };
}

/** Reads an object that no format knows by its only list of objects, if a format knows what the list holds. */
async function cut(
  input: Input,
  layout: Layout,
  formats: readonly Format[],
): Promise<{ layout: Layout; sample: Sample }> {
  const sample = await sampleOf(input, layout);
  const isKnown = (of: Sample): boolean => formats.some((format) => format.recognise(of) !== null);
  const inner = isKnown(sample) ? null : await soleListOf(input, layout);
  if (inner === null) return { layout, sample };
  const members = await sampleOf(input, inner);
  return isKnown(members) ? { layout: inner, sample: members } : { layout, sample };
}

/** Plans a chat. The order of dates and the assistant's name come from the whole chat, or from the options. */
async function planChat(input: Input, reading: Reading): Promise<FilePlan | UnknownFile> {
  const { format = whatsapp.name, mapping, dates, timeZone: zone, onRead } = reading;
  if (format !== whatsapp.name || (mapping !== undefined && hasColumns(mapping)))
    return {
      input,
      looksLike: 'a WhatsApp chat',
      todo: `Import it without ${mapping ? '--map' : '--format'}.`,
    };
  const { names, dates: found } = await factsOfChat(input, onRead);
  const open = { input, isOpen: true };
  const order = dates ?? found.order;
  if (order === null && found.example !== null)
    return { ...open, looksLike: `a WhatsApp chat ${eitherWay(found.example)}`, todo: DATES_TODO };
  const roles = rolesOfChat(names.keys(), mapping?.roles ?? new Map());
  if (roles === null) {
    const most = [...names].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
    const more = most.length > MAX_DESCRIBED ? ` and ${most.length - MAX_DESCRIBED} more` : '';
    const flags = most.slice(0, MAX_DESCRIBED).map((who) => shellWord(`role:${who}=assistant`));
    return {
      ...open,
      looksLike: `a WhatsApp chat that does not say who of these is the assistant: ${most.slice(0, MAX_DESCRIBED).join(', ')}${more}`,
      todo: `Say it with --map ${flags.slice(0, 3).join(', or --map ')}; all others are users.`,
    };
  }
  const assistants = [...roles].flatMap(([who, role]) => (roleOf(role) === 'assistant' ? [who] : []));
  return {
    parts: [{ input, layout: { shape: 'chat', times: { order, zone } } }],
    format: whatsappFormat(roles),
    recognition: {
      confidence: 1,
      reason:
        (assistants.length === 0 ? 'as --map says' : `assistant: ${assistants.join(', ')}`) +
        (zone === undefined ? '; times are read as UTC, --time-zone names another zone' : ''),
    },
    mapping: [],
  };
}

const NO_DATES: OrderFound = { order: null, example: null };

/** Reads a table up to the first date that shows the order of day and month; all of it only if no date shows it. */
async function orderIn(
  { input, layout }: FilePart,
  mapping: Mapping,
  sample: Sample,
  { dates, onRead }: Reading,
): Promise<OrderFound> {
  if (dates !== undefined || mapping.fields.time === undefined || layout.shape === 'parquet') return NO_DATES;
  const search = new OrderSearch(false);
  let hasTimes = false;
  const isDecided = (value: unknown): boolean =>
    writtenTimesOf(value, mapping).some((text) => {
      hasTimes = true;
      const written = readWritten(text);
      return written !== null && search.add(written);
    });
  if (sample.values.some(isDecided) || (hasTimes && search.found.example === null)) return search.found;
  try {
    for await (const { value } of entriesOf(input, layout, onRead)) if (isDecided(value)) break;
  } catch {
    // The import reports the error of the file.
  }
  return search.found;
}

/** A mapping of roles alone names no columns. */
function hasColumns({ fields }: Mapping): boolean {
  return Object.keys(fields).length > 0;
}

function lacksColumns(lacking: readonly string[], columns: readonly string[]): string {
  const more = columns.length > MAX_DESCRIBED ? ` and ${columns.length - MAX_DESCRIBED} more` : '';
  return (
    `a table without the column${lacking.length === 1 ? '' : 's'} ${lacking.join(', ')}; ` +
    `it has ${columns.slice(0, MAX_DESCRIBED).join(', ')}${more}`
  );
}

function eitherWay(example: string): string {
  return `whose dates do not say whether the day or the month comes first, such as ${example}`;
}

const DATES_TODO = 'Say it with --dates day-first, or with --dates month-first.';

/** Stored bytes of all files of a plan. */
export function sizeOf({ parts }: FilePlan): number {
  return parts.reduce((sum, { input }) => sum + input.size, 0);
}

/** Merges plans whose files hold parts of the same conversations, at the place of the first. */
export function joined(plans: readonly FilePlan[]): FilePlan[] {
  const all: FilePlan[] = [];
  const together = new Map<Format, FilePart[]>();
  for (const plan of plans) {
    const { format, parts } = plan;
    const others = format.kind === 'rows' && format.joins ? together.get(format) : undefined;
    if (others === undefined) {
      const own: [FilePart, ...FilePart[]] = [...parts];
      together.set(format, own);
      all.push({ ...plan, parts: own });
    } else others.push(...parts);
  }
  return all;
}

/**
 * Plans files that belong together: exports of Slack, and Zendesk tickets with comments in files of their own. Throws
 * the errors of `slackExports`.
 */
export async function planTogether(
  inputs: readonly Input[],
  { format, mapping }: Reading,
): Promise<{ plans: FilePlan[]; rest: readonly Input[] }> {
  if (mapping !== undefined && hasColumns(mapping)) return { plans: [], rest: inputs };
  if (format === slack.name) return slackExports(inputs, mapping?.roles);
  if (format === zendesk.name) return zendeskTickets(inputs);
  if (format !== undefined) return { plans: [], rest: inputs };
  const { plans, rest } = await slackExports(inputs, mapping?.roles);
  const tickets = await zendeskTickets(rest);
  return { plans: [...plans, ...tickets.plans], rest: tickets.rest };
}

/**
 * Plans files without options. Throws an Error at the first file that cannot be read or is not recognised, and the
 * signal's reason.
 */
export async function planFiles(files: readonly string[], signal?: AbortSignal): Promise<FilePlan[]> {
  const { inputs, faults } = await openInputs(files, { signal });
  for (const { name, message } of faults) throw new Error(`${name} ${message}`);
  const { plans, rest } = await planTogether(inputs, {});
  for (const input of rest) {
    const plan = await planFile(input);
    signal?.throwIfAborted();
    if (!('format' in plan))
      throw new Error(`${input.name} is not recognised: it looks like ${plan.looksLike}`);
    plans.push(plan);
  }
  return joined(plans);
}

/** Returns the format with the highest confidence; the first of the list among equals. */
export function recognise(sample: Sample): { format: Format; recognition: Recognition } | null {
  let best: { format: Format; recognition: Recognition } | null = null;
  for (const format of FORMATS) {
    const recognition = format.recognise(sample);
    if (recognition !== null && recognition.confidence > (best?.recognition.confidence ?? 0))
      best = { format, recognition };
  }
  return best;
}

async function sampleOf(input: Input, layout: Layout): Promise<Sample> {
  const values: unknown[] = [];
  let bytes = 0;
  async function* beginning(): AsyncGenerator<Buffer> {
    for await (const chunk of input.open()) {
      yield chunk;
      bytes += chunk.length;
      if (bytes > 2 * SAMPLE_BYTES) return;
    }
  }
  try {
    // Parquet has its index at the end.
    const part = layout.shape === 'parquet' ? input : { ...input, open: beginning };
    for await (const { value, fault } of entriesOf(part, layout)) {
      if (fault === null) values.push(value);
      if (values.length === SAMPLE_ENTRIES || bytes > SAMPLE_BYTES) break;
    }
  } catch {
    // The import reports the error when it reads the whole file.
  }
  return { shape: layout.shape, name: basename(input.name), values };
}

/** Describes the members of a sample for a person who has to map them. */
function describeSample({ shape, values }: Sample): string {
  const kind = { json: 'JSON', jsonl: 'JSONL', csv: 'a table', parquet: 'Parquet', chat: 'a chat' }[shape];
  const members = new Map<string, string>();
  for (const value of values.filter(isObject))
    for (const [name, member] of Object.entries(value))
      if (!members.has(name)) members.set(name, kindOf(member));
  if (members.size === 0) return `${kind} without objects`;
  const named = [...members].slice(0, MAX_DESCRIBED).map(([name, of]) => `${name}${of}`);
  const more = members.size > MAX_DESCRIBED ? ` and ${members.size - MAX_DESCRIBED} more` : '';
  return `${kind} with ${named.join(', ')}${more}`;
}

function kindOf(member: unknown): string {
  if (!Array.isArray(member)) return isObject(member) ? ' {…}' : '';
  const first: unknown = member.find(isObject);
  return isObject(first) ? ` [of ${Object.keys(first).slice(0, 6).join(', ')}]` : ' […]';
}
