/**
 * Joins Zendesk tickets with comments in files of their own, as GET /api/v2/tickets/{id}/comments.json returns them. A
 * page of comments lacks the ticket: its id is in the URLs of further pages or in the file name.
 *
 * Test: test/doors/import/zendesk-comments.test.ts.
 */
import { basename, dirname } from 'node:path';
import { counted } from '../../domain/progress.ts';
import { entriesOf, layoutOf, type Layout } from './entries.ts';
import { byShare, objectsOf, type Placement, type RowFormat, type Sample } from './formats/format.ts';
import { FORMATS } from './formats/registry.ts';
import { guessMapping } from './formats/mapping.ts';
import { isTicket, ticketOf, zendesk } from './formats/zendesk.ts';
import type { Input } from './inputs.ts';
import type { FilePart, FilePlan } from './plan.ts';
import { isObject, textOf } from '../traces/values.ts';

/** Advice for comments without tickets. */
export const TICKETS_TODO =
  'Import them together with their tickets (/api/v2/tickets.json): npm run import -- tickets.json comments/';

const JSON_NAME = /\.(?:json|jsonl|ndjson)(?:\.[a-z]+)?$/i;
/** Members of the API's pages besides the comments. */
const PAGE_MEMBERS: ReadonlySet<string> = new Set(['next_page', 'previous_page', 'count', 'meta', 'links']);
/** Lists of a page that the guess of columns may mistake for turns. */
const OF_COMMENTS: ReadonlySet<string> = new Set(['comments', 'users']);
/** Entries read to recognise a file. */
const LOOKED_AT = 3;

/** True for a page of comments without its ticket. */
function isComments(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || isTicket(value)) return false;
  const { comments, ...others } = value;
  if (!Array.isArray(comments)) return false;
  if (comments.length > 0) return comments.every(isComment);
  const members = Object.keys(others);
  return members.length > 0 && members.every((member) => PAGE_MEMBERS.has(member));
}

function isComment(value: unknown): boolean {
  return isObject(value) && 'author_id' in value && ('body' in value || 'html_body' in value);
}

/** True if all values are pages of comments and no other format fits. */
export function areComments(sample: Sample): boolean {
  if (sample.values.length === 0 || !sample.values.every(isComments)) return false;
  if (FORMATS.some((format) => format.recognise(sample) !== null)) return false;
  const turns = guessMapping(sample)?.mapping.fields.turns;
  return turns === undefined || OF_COMMENTS.has(turns);
}

/** Returns one plan of all comments and tickets, if there are both, and the remaining files. */
export async function zendeskTickets(
  inputs: readonly Input[],
): Promise<{ plans: FilePlan[]; rest: readonly Input[] }> {
  const [comments, tickets]: [FilePart[], FilePart[]] = [[], []];
  for (const input of inputs) {
    if (!JSON_NAME.test(input.name)) continue;
    const { layout, values } = await beginningOf(input);
    if (layout === null || values.length === 0) continue;
    if (areComments({ shape: layout.shape, name: basename(input.name), values }))
      comments.push({ input, layout });
    else if (values.every((value) => isObject(value) && isTicket(value))) tickets.push({ input, layout });
  }
  const [first, ...others] = [...tickets, ...comments];
  if (first === undefined || tickets.length === 0 || comments.length === 0)
    return { plans: [], rest: inputs };
  const parts: [FilePart, ...FilePart[]] = [first, ...others];
  const taken = new Set(parts.map(({ input }) => input));
  const reason = `tickets in ${counted(tickets.length, 'file')}, comments in ${counted(comments.length, 'file')}`;
  const plan: FilePlan = {
    parts,
    format: joinedFormat(),
    recognition: { confidence: 1, reason },
    mapping: [],
  };
  return { plans: [plan], rest: inputs.filter((input) => !taken.has(input)) };
}

async function beginningOf(input: Input): Promise<{ layout: Layout | null; values: readonly unknown[] }> {
  const values: unknown[] = [];
  try {
    const layout = await layoutOf(input);
    if (layout === null || (layout.shape !== 'json' && layout.shape !== 'jsonl'))
      return { layout: null, values };
    for await (const { value, fault } of entriesOf(input, layout)) {
      if (fault === null) values.push(value);
      if (values.length === LOOKED_AT) break;
    }
    return { layout, values };
  } catch {
    // The import reports the error of the file.
    return { layout: null, values };
  }
}

/** Reason for missing answers of a ticket. */
const NO_COMMENTS =
  'answers to a ticket whose comments are missing: its question alone is imported; add a file with its comments';

/** The stored part of an entry; comments keep their file name. */
type Kept = { readonly ticket: unknown } | { readonly comments: unknown; readonly file: string };

/** Creates the format of one plan; it keeps state about the plan's files. */
function joinedFormat(): RowFormat {
  /** Files whose comments are not imported, because their names and URLs contradict each other. */
  const unclear = new Set<string>();
  return {
    kind: 'rows',
    name: zendesk.name,
    title: zendesk.title,
    joins: false,
    recognise: byShare({
      holds: (value) => isTicket(value) || isComments(value),
      confidence: 0.5,
      reason: 'entries are tickets or comments',
    }),
    begin: () => {
      const seen = new Set<string>();
      unclear.clear();
      return (value, file) => {
        const placed = place(value, file, { isFirst: !seen.has(file), unclear });
        seen.add(file);
        return placed;
      };
    },
    place: (value, file) => place(value, file, { isFirst: true, unclear }),
    assemble: (id, rows) => {
      const kept = (rows as readonly Kept[]).filter((row) => 'ticket' in row || !unclear.has(row.file));
      if (kept.length === 0) return { leftOut: 'comments of a file that tells different tickets' };
      const copies = kept.flatMap((row) => ('ticket' in row && isObject(row.ticket) ? [row.ticket] : []));
      const ticket = newestOf(copies);
      if (ticket === undefined)
        return { fault: `ticket ${id}: missing; its comments are there, and it says who asks` };
      // Of two copies of a comment the last wins: that of the newest ticket, or of a page.
      const holders = [...copies.filter((copy) => copy !== ticket), ticket].flatMap((copy) => [
        copy,
        ticketOf(copy),
      ]);
      const pages = kept.filter((row) => 'comments' in row);
      const comments = [...new Set([...holders, ...pages])].flatMap((holder) =>
        objectsOf((holder as Record<string, unknown>)['comments']),
      );
      const users = copies.flatMap((copy) => objectsOf(copy['users']));
      const reading = zendesk.read({ ...ticket, users, comments: inOrder(comments) });
      if (comments.length > 0 || !('line' in reading)) return reading;
      return { ...reading, omitted: new Map([...reading.omitted, [NO_COMMENTS, 1]]) };
    },
  };
}

/** `isFirst`: this is the file's first entry; the file name applies to that one alone. */
function place(
  value: unknown,
  file: string,
  { isFirst, unclear }: { readonly isFirst: boolean; readonly unclear: Set<string> },
): Placement {
  if (!isObject(value)) return { fault: 'not a JSON object' };
  if (!isComments(value)) {
    const id = textOf(ticketOf(value)['id']);
    if (id === undefined) return { fault: 'id: missing; it says which comments belong to the ticket' };
    return { conversation: id, part: id, at: null, kept: { ticket: value } satisfies Kept };
  }
  const inUrls = idsInUrls(value);
  const ids = [...new Set([...inUrls, ...idsInName(file)])];
  if (ids.length > 1) unclear.add(file);
  if (unclear.has(file))
    return {
      fault:
        `comments: the name of ${file}, its folder and the URLs of its pages tell different tickets` +
        `${ids.length > 1 ? ` (${ids.join(', ')})` : ''}; no comments of this file are imported`,
    };
  const id = isFirst ? ids[0] : inUrls[0];
  if (id === undefined)
    return {
      fault:
        'comments: nothing says of which ticket; keep those of each in a file that is named after it, such as ' +
        'comments/35.json or tickets/35/comments.json',
    };
  return { conversation: id, part: id, at: null, kept: { comments: value['comments'], file } satisfies Kept };
}

/** Reads the ticket ids in the URLs of neighbouring pages. */
function idsInUrls({
  next_page: next,
  previous_page: previous,
  links,
}: Record<string, unknown>): readonly string[] {
  const beside = isObject(links) ? [links['next'], links['prev']] : [];
  return [next, previous, ...beside].flatMap(
    (url) => /\/tickets\/(\d{1,20})\/comments/.exec(textOf(url) ?? '')?.slice(1) ?? [],
  );
}

/** Reads ticket ids in the name of a file and its folders. Numbers of pages or versions do not count. */
function idsInName(file: string): readonly string[] {
  const folder = dirname(file);
  const inName = idsIn(basename(file).replace(JSON_NAME, ''));
  const inFolder = idsIn(basename(folder));
  // Paths like those of the API: `tickets/35/comments`.
  const above = /ticket(?:s\/|[-_. #]*)(\d{1,20})\/comments$/i.exec(folder)?.slice(1) ?? [];
  return [...inName, ...inFolder, ...above].map(withoutZeros);
}

/** Returns the number that is the whole name, or those after `ticket`. */
function idsIn(name: string): readonly string[] {
  if (/^\d{1,20}$/.test(name)) return [name];
  return [...name.matchAll(/ticket[-_. #]*(\d{1,20})(?!\d)/gi)].flatMap(([, id]) => id ?? []);
}

/** File names may be padded with zeros for sorting. */
function withoutZeros(id: string): string {
  return id.replace(/^0+(?=\d)/, '');
}

/** Returns the copy changed last; the first among equals or where no copy has a time. */
function newestOf(copies: readonly Record<string, unknown>[]): Record<string, unknown> | undefined {
  const at = (copy: Record<string, unknown>): number =>
    Date.parse(textOf(ticketOf(copy)['updated_at']) ?? '') || Number.NEGATIVE_INFINITY;
  return copies.toSorted((a, b) => at(b) - at(a) || 0)[0];
}

/** Removes duplicates and sorts by time: pages may overlap and come in any order. */
function inOrder(comments: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  const byId = new Map(
    comments.map((comment) => [textOf(comment['id']) ?? JSON.stringify(comment), comment]),
  );
  const at = (comment: Record<string, unknown>): number => Date.parse(textOf(comment['created_at']) ?? '');
  return [...byId.values()].sort((a, b) => at(a) - at(b) || 0);
}
