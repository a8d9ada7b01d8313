/**
 * Joins tickets of Zendesk with comments that lie in files of their own, as GET /api/v2/tickets/{id}/comments.json
 * answers them: without the ticket, whose id is in the URLs of further pages or in the name of the file. Covered by
 * test/doors/import/zendesk-comments.test.ts.
 */
import { basename, dirname } from 'node:path';
import { entriesOf, layoutOf, type Layout } from './entries.ts';
import {
  byShare,
  objectsOf,
  shareOf,
  type Placement,
  type RowFormat,
  type Sample,
} from './formats/format.ts';
import { FORMATS } from './formats/registry.ts';
import { guessMapping } from './formats/table.ts';
import { isTicket, ticketOf, zendesk } from './formats/zendesk.ts';
import type { Input } from './inputs.ts';
import type { FilePart, FilePlan } from './plan.ts';
import { isObject, textOf } from '../traces/values.ts';

/** What makes comments readable. */
export const TICKETS_TODO =
  'Import them together with their tickets (/api/v2/tickets.json): npm run import -- tickets.json comments/';

const JSON_NAME = /\.(?:json|jsonl|ndjson)(?:\.[a-z]+)?$/i;
/** Of the API's pages, beside the comments. */
const PAGE_MEMBERS: ReadonlySet<string> = new Set(['next_page', 'previous_page', 'count', 'meta', 'links']);
/** Lists of a page that a table's names of columns may fit. */
const OF_COMMENTS: ReadonlySet<string> = new Set(['comments', 'users']);
/** Entries that tell what a file holds. */
const LOOKED_AT = 3;

/** A page of comments without a ticket. */
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

/** All are pages of comments, and nothing else that conversations are made of. */
export function areComments(sample: Sample): boolean {
  if (sample.values.length === 0 || !sample.values.every(isComments)) return false;
  if (FORMATS.some((format) => format.recognise(sample) !== null)) return false;
  const turns = guessMapping(sample)?.mapping.fields.turns;
  return turns === undefined || OF_COMMENTS.has(turns);
}

/** One plan of all comments and tickets, where there are both, and the files that belong to none. */
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
    sample: { shape: first.layout.shape, name: basename(first.input.name), values: [] },
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
    // What is wrong with it is told when it is read.
    return { layout: null, values };
  }
}

/** Why answers are left out of a ticket. */
const NO_COMMENTS =
  'answers to a ticket whose comments are missing: its question alone is imported; add a file with its comments';

/** What is kept of an entry, and of comments the file that they stand in. */
type Kept = { readonly ticket: unknown } | { readonly comments: unknown; readonly file: string };

/** Reads the files of one plan, and knows what it has met of them. */
function joinedFormat(): RowFormat {
  /** Files whose comments are not imported, as they tell different tickets. */
  const unclear = new Set<string>();
  return {
    kind: 'rows',
    name: zendesk.name,
    title: zendesk.title,
    joins: false,
    recognise: ({ values }) =>
      byShare(
        shareOf(values, (value) => isTicket(value) || isComments(value)),
        0.5,
        'entries are tickets or comments',
      ),
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
      // Of a comment that comes twice, the last one is taken: that of the newest copy, or of a page.
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

/** `isFirst`: no entry of the file came before; the name of a file tells the ticket of one entry alone. */
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
  const told = [...new Set([...inUrls, ...idsInName(file)])];
  if (told.length > 1) unclear.add(file);
  if (unclear.has(file))
    return {
      fault:
        `comments: the name of ${file}, its folder and the URLs of its pages tell different tickets` +
        `${told.length > 1 ? ` (${told.join(', ')})` : ''}; no comments of this file are imported`,
    };
  const id = isFirst ? told[0] : inUrls[0];
  if (id === undefined)
    return {
      fault:
        'comments: nothing says of which ticket; keep those of each in a file that is named after it, such as ' +
        'comments/35.json or tickets/35/comments.json',
    };
  return { conversation: id, part: id, at: null, kept: { comments: value['comments'], file } satisfies Kept };
}

/** Pages name those beside them. */
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

/** What the name of a file and those of its folders tell. A number that counts pages or versions tells nothing. */
function idsInName(file: string): readonly string[] {
  const folder = dirname(file);
  const inName = idsIn(basename(file).replace(JSON_NAME, ''));
  const inFolder = idsIn(basename(folder));
  // The URLs of the API have it above.
  const above = /ticket(?:s\/|[-_. #]*)(\d{1,20})\/comments$/i.exec(folder)?.slice(1) ?? [];
  return [...inName, ...inFolder, ...above].map(withoutZeros);
}

/** The number that a name is, or those behind `ticket`. */
function idsIn(name: string): readonly string[] {
  if (/^\d{1,20}$/.test(name)) return [name];
  return [...name.matchAll(/ticket[-_. #]*(\d{1,20})(?!\d)/gi)].flatMap(([, id]) => id ?? []);
}

/** Names of files have them, so that they are sorted by number. */
function withoutZeros(id: string): string {
  return id.replace(/^0+(?=\d)/, '');
}

/** The first among equals, and where none says when it was changed. */
function newestOf(copies: readonly Record<string, unknown>[]): Record<string, unknown> | undefined {
  const at = (copy: Record<string, unknown>): number =>
    Date.parse(textOf(ticketOf(copy)['updated_at']) ?? '') || Number.NEGATIVE_INFINITY;
  return copies.toSorted((a, b) => at(b) - at(a) || 0)[0];
}

/** Each once, the oldest first: pages may overlap, and come in any order. */
function inOrder(comments: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  const byId = new Map(
    comments.map((comment) => [textOf(comment['id']) ?? JSON.stringify(comment), comment]),
  );
  const at = (comment: Record<string, unknown>): number => Date.parse(textOf(comment['created_at']) ?? '');
  return [...byId.values()].sort((a, b) => at(a) - at(b) || 0);
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
