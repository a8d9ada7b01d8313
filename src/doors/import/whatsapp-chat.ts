/**
 * Reads the export of a WhatsApp chat: messages with a date, a name and text of one or more lines. iOS writes
 * `[29.11.25, 09:15:01] Name: text`, Android `11/29/25, 9:15 AM - Name: text`.
 *
 * Test: test/doors/import/formats/whatsapp.test.ts.
 */
import { createHash } from 'node:crypto';
import { PAUSE_MS } from './formats/format.ts';
import { ATTACHED, CALLS, CHAT_OF, EDITED, OMITTED, WITHDRAWN } from './formats/whatsapp-words.ts';
import type { Input } from './inputs.ts';
import { linesOf, MAX_LINE_BYTES } from './lines.ts';
import { OmissionCounts, type Omissions } from '../traces/omissions.ts';
import { DATE_TIME, instantOf, localMs, noDate, OrderSearch, writtenOf } from './written-dates.ts';
import type { OrderFound, TimeReading, WrittenTime } from './written-dates.ts';

export interface ChatMessage {
  readonly name: string;
  readonly text: string;
  /** Microseconds since 1970. */
  readonly at: number;
}

/** A conversation: messages without a long pause between them. */
export interface ChatStretch {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
  readonly omitted: Omissions;
}

/** Facts of the whole chat, known before the import. */
export interface ChatFacts {
  /** Authors of messages with text → number of those messages, in order of first message. */
  readonly names: ReadonlyMap<string, number>;
  readonly dates: OrderFound;
}

/** A message or notice, or the fault of a line. */
type Line =
  | { readonly number: number; readonly fault: string }
  | { readonly number: number; readonly written: WrittenTime; readonly name: string | null; text: string };

/** Direction marks; iOS writes one before texts of its own. */
const MARKS = String.raw`[\u200e\u200f\u202a\u202b\u202c]{0,3}`;
/** Headers of iOS and of Android. */
const LAYOUTS = [
  new RegExp(`^${MARKS}\\[${DATE_TIME}\\] `, 'i'),
  new RegExp(`^${MARKS}${DATE_TIME} - `, 'i'),
];
/** A longer name is a notice that contains a colon. */
const MOST_NAME_CHARACTERS = 100;
const QUOTES = /["“”„«»]/g;
/** Placeholder of WhatsApp for media, such as `<Media omitted>`, in any language. */
const PLACEHOLDER = /^<[^<>\n]{3,80}>$/;
const MARK = '\u200e';

/** True if the file begins with the header of a chat message. */
export function isChatStart(text: string): boolean {
  const start = text.replace(/^\uFEFF/, '').trimStart();
  const end = start.indexOf('\n');
  return layoutOf(end === -1 ? start : start.slice(0, end)) !== null;
}

function layoutOf(line: string): RegExp | null {
  return LAYOUTS.find((layout) => layout.test(line)) ?? null;
}

/** Reads a whole chat once. Throws the stream's error where the file is cut off or damaged. */
export async function factsOfChat(input: Input, onRead?: (bytes: number) => void): Promise<ChatFacts> {
  const names = new Map<string, number>();
  const search = new OrderSearch(true);
  for await (const line of messagesOf(input, onRead)) {
    if ('fault' in line) continue;
    search.add(line.written);
    if (line.name === null || contentOf(line.text).text === '') continue;
    names.set(line.name, (names.get(line.name) ?? 0) + 1);
  }
  return { names, dates: search.found };
}

/** Yields the conversations of a chat, each with the line of its first message. */
export async function* chatStretches(
  input: Input,
  times: TimeReading,
  onRead?: (bytes: number) => void,
): AsyncGenerator<{ number: number; value: ChatStretch | null; fault: string | null }> {
  const chat = chatOf(input);
  let open: { number: number; id: string; messages: ChatMessage[]; characters: number } | null = null;
  let omitted = new OmissionCounts();
  let last = 0;
  const close = function* (): Generator<{ number: number; value: ChatStretch; fault: null }> {
    if (open === null) return;
    const { number, id, messages } = open;
    yield { number, value: { id, messages, omitted: omitted.all }, fault: null };
    open = null;
    omitted = new OmissionCounts();
  };
  let number = 1;
  for await (const line of messagesOf(input, onRead)) {
    ({ number } = line);
    if ('fault' in line) {
      yield { number, value: null, fault: line.fault };
      continue;
    }
    const { written, name } = line;
    const at = instantOf(written, times);
    const local = localMs(written, times.order);
    if (at === null || local === null) {
      yield { number, value: null, fault: noDate(written, times.order) };
      continue;
    }
    const { text, reason } = contentOf(line.text);
    if (name === null || text === '') {
      omitted.add(name === null ? 'notice of WhatsApp' : reason);
      continue;
    }
    if (open !== null && (at - last > PAUSE_MS * 1000 || open.characters > MAX_LINE_BYTES)) yield* close();
    open ??= { number, id: idOf(chat, local, { name, text }), messages: [], characters: 0 };
    open.messages.push({ name, text, at });
    open.characters += text.length;
    last = at;
  }
  if (open === null && omitted.all.size > 0)
    yield { number, value: { id: '', messages: [], omitted: omitted.all }, fault: null };
  yield* close();
}

/** Names a conversation by its local time, so that another time zone does not change the name. */
function idOf(
  chat: string | null,
  local: number,
  first: { readonly name: string; readonly text: string },
): string {
  const name =
    chat ??
    createHash('sha256')
      .update(JSON.stringify([first.name, first.text]))
      .digest('base64url')
      .slice(0, 12);
  return `${name} ${new Date(local).toISOString().slice(0, 19)}`;
}

/** Returns the name of the chat from its file or the zip file around it; null if neither contains it. */
function chatOf({ name }: Input): string | null {
  for (const part of name.split('/').slice(-2).toReversed()) {
    const plain = part.replace(/\.(?:txt|zip|gz|zst)$/i, '').replace(/ \(\d{1,2}\)$/, '');
    const begin = CHAT_OF.find((words) => plain.normalize('NFC').toLowerCase().startsWith(words));
    if (begin !== undefined) return plain.normalize('NFC').slice(begin.length, begin.length + 200);
  }
  return null;
}

/** Yields messages and notices in order; a message extends to the next header. */
async function* messagesOf(input: Input, onRead?: (bytes: number) => void): AsyncGenerator<Line> {
  let open: {
    number: number;
    written: WrittenTime;
    name: string | null;
    lines: string[];
    size: number;
  } | null = null;
  let before = 0;
  /** Layout of the first line; text pasted into a message may contain headers of the other one. */
  let layout: RegExp | null = null;
  const closed = (): Line[] => {
    if (open === null) return [];
    const { lines, size, ...line } = open;
    open = null;
    return size > MAX_LINE_BYTES
      ? [{ number: line.number, fault: `longer than ${MAX_LINE_BYTES} characters` }]
      : [{ ...line, text: lines.join('\n') }];
  };
  for await (const { number, text, fault } of linesOf(input.open(onRead))) {
    input.onEntry?.(number);
    layout ??= text === null ? null : layoutOf(text);
    const header = text === null || layout === null ? null : headerOf(text, layout);
    if (text === null || (header === null && open === null)) {
      yield* closed();
      yield { number, fault: fault ?? 'begins with no date, and no message is before it' };
    } else if (header === null && open !== null) {
      // `linesOf` skips blank lines; they belong to the text.
      const empty = number - before - 1;
      open.size += text.length + empty + 1;
      if (open.size <= MAX_LINE_BYTES)
        open.lines.push(...Array.from({ length: Math.min(empty, 1000) }, () => ''), text);
    } else if (header !== null) {
      yield* closed();
      const { written, rest } = header;
      if (written === null) yield { number, fault: `${JSON.stringify(text.slice(0, 24))}: no time of day` };
      else open = { number, written, ...splitName(rest), size: rest.length };
    }
    before = number;
  }
  yield* closed();
}

/** Parses the header of a message; `written` is null where the numbers are no date and time. */
function headerOf(line: string, layout: RegExp): { written: WrittenTime | null; rest: string } | null {
  const found = layout.exec(line);
  if (found === null) return null;
  const written = writtenOf(found);
  return {
    written: written === null ? null : { ...written, text: found[0].replace(/^\W*|[^\p{L}\d.]*$/gu, '') },
    rest: line.slice(found[0].length),
  };
}

/** Splits a name from its text; a notice has no name. */
function splitName(rest: string): { name: string | null; lines: string[] } {
  const colon = rest.indexOf(': ');
  const end = colon === -1 && rest.endsWith(':') ? rest.length - 1 : colon;
  if (end <= 0 || end > MOST_NAME_CHARACTERS) return { name: null, lines: [rest] };
  const name = rest
    .slice(0, end)
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\s/g, ' ')
    .trim();
  // Example: `Ana changed the subject to "Trip: Oslo"`.
  const isQuoted = (name.match(QUOTES) ?? []).length % 2 === 1;
  return name === '' || isQuoted ? { name: null, lines: [rest] } : { name, lines: [rest.slice(end + 2)] };
}

/** Returns the author's own text of a message; if it is empty, `reason` says why. */
function contentOf(text: string): { text: string; reason: string } {
  const lines = text.split('\n');
  const kept = lines.filter((line, index) => !isOfWhatsApp(line, index));
  const mine = withoutEdited(kept.join('\n').replace(/[\u2066-\u2069]/g, '')).trim();
  const plain = mine.toLowerCase().replace(/\.$/, '');
  if (WITHDRAWN.has(plain)) return { text: '', reason: 'deleted message' };
  if (CALLS.has(plain)) return { text: '', reason: 'call' };
  return { text: mine, reason: 'media or notice of WhatsApp' };
}

/** iOS starts its own texts with a mark; Android writes them as the whole first line. */
function isOfWhatsApp(line: string, index: number): boolean {
  if (line.startsWith(MARK)) return true;
  if (index > 0) return false;
  const plain = line.trim();
  if (PLACEHOLDER.test(plain)) return true;
  const lower = plain.toLowerCase();
  return ATTACHED.some((words) => lower.endsWith(` (${words})`));
}

function withoutEdited(text: string): string {
  const end = text.trimEnd();
  const from = end.lastIndexOf('<');
  const mark =
    from === -1 || !end.endsWith('>')
      ? ''
      : end
          .slice(from + 1, -1)
          .toLowerCase()
          .replace(/\.$/, '');
  if (EDITED.includes(mark)) return end.slice(0, from).replace(/[\s\u200e]{1,10}$/, '');
  // A caption followed by the placeholder of its picture: `Look \u200e<attached: 1.jpg>`, `Look \u200eimage omitted`.
  const placed = end.lastIndexOf(` ${MARK}`);
  const behind = placed === -1 ? '' : end.slice(placed + 2).toLowerCase();
  const isPlaced = PLACEHOLDER.test(behind) || OMITTED.some((words) => behind.endsWith(` ${words}`));
  return isPlaced && !behind.includes('\n') ? end.slice(0, placed) : text;
}
