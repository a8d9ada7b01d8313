/**
 * Reads tables and JSON of any shape by a mapping.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { roleOf } from '../../../domain/records.ts';
import { parseTime } from '../../../domain/time.ts';
import { contentText } from '../../traces/content.ts';
import { feedbackIn, UNREAD_FEEDBACK } from '../../traces/given-feedback.ts';
import { OmissionCounts } from '../../traces/omissions.ts';
import { isObject } from '../../traces/values.ts';
import { readTime, TIME_RULE, utcTime } from '../times.ts';
import { noDate, readWritten, writtenTime, type TimeReading } from '../written-dates.ts';
import type { Format, Reading, RowFormat, Turn } from './format.ts';
import { freeColumns, metadataOf, type FreeColumns } from './free-columns.ts';
import { at, textAt, WHOLE_FILE, type Mapping } from './mapping.ts';

/** Creates the format that reads a file by a mapping. */
export function tableFormat(mapping: Mapping): Format {
  const { turns, conversation } = mapping.fields;
  const base = { name: 'table', title: 'table', recognise: () => null };
  if (turns !== undefined)
    return { ...base, kind: 'entries', read: (value) => readTurns(value, turns, mapping) };
  if (conversation !== undefined || isWholeFile(mapping)) return { ...base, ...rowFormat(mapping) };
  return { ...base, kind: 'entries', read: (value) => readAlone(value, mapping) };
}

/** Messages of two roles without a column for the conversation can only be one conversation. */
function isWholeFile({ fields: { role, content } }: Mapping): boolean {
  return content !== undefined && role !== undefined && !role.startsWith('=');
}

function rowFormat(mapping: Mapping): Pick<RowFormat, 'kind' | 'joins' | 'place' | 'assemble'> {
  const { conversation = WHOLE_FILE } = mapping.fields;
  return {
    kind: 'rows',
    joins: false,
    place(value) {
      const name = conversation === WHOLE_FILE ? WHOLE_FILE : textAt(value, conversation);
      if (name === undefined) return { fault: `${conversation}: missing; it names the conversation` };
      const read = turnsOfRow(value, mapping);
      if ('fault' in read) return read;
      if (read.turns.length === 0) return { leftOut: 'row without text' };
      const [first] = read.turns;
      const at = first?.createdAt === undefined ? null : parseTime(String(first.createdAt));
      return {
        conversation: name,
        part: name,
        at,
        kept: { turns: read.turns, free: freeColumns(value, mapping.fields), unread: read.unread },
      };
    },
    assemble(name, all) {
      const rows = all as KeptRow[];
      const omitted = new OmissionCounts();
      omitted.add(UNREAD_FEEDBACK, rows.filter(({ unread }) => unread).length);
      const turns = rows.flatMap((row) => row.turns);
      return {
        line: {
          id: name === WHOLE_FILE ? 'all' : name,
          turns: mapping.fields.question === undefined ? onceForAll(turns) : turns,
          // Rows of a whole file have nothing in common.
          metadata: name === WHOLE_FILE ? undefined : metadataOf(rows.map(({ free }) => free)),
        },
        omitted: omitted.all,
      };
    },
  };
}

/** What is kept of a row. */
interface KeptRow {
  readonly turns: readonly Turn[];
  readonly free: FreeColumns;
  readonly unread: boolean;
}

/** Feedback that all messages of a conversation repeat is on the conversation: on the last message of the assistant. */
function onceForAll(turns: readonly Turn[]): readonly Turn[] {
  const all = turns.map(({ feedback: [given] = [] }) => given);
  const [first] = all;
  const isSame = all.every((given) => given?.value === first?.value && given?.rating === first?.rating);
  const hasAnswer = turns.some(({ role }) => roleOf(role) === 'assistant');
  if (first === undefined || all.length === 1 || !isSame || !hasAnswer) return turns;
  const given = all.find((one) => one?.userId !== undefined) ?? first;
  return onLast(
    turns.map((turn) => ({ ...turn, feedback: undefined })),
    [given],
  );
}

function onLast(turns: readonly Turn[], feedback: Turn['feedback']): readonly Turn[] {
  const answer = turns.findLastIndex(({ role }) => roleOf(role) === 'assistant');
  const last = answer < 0 ? turns.length - 1 : answer;
  return turns.map((turn, index) => (index === last ? { ...turn, feedback } : turn));
}

function readAlone(value: unknown, mapping: Mapping): Reading {
  const read = turnsOfRow(value, mapping);
  if ('fault' in read) return read;
  if (read.turns.length === 0) return { leftOut: 'row without text' };
  const metadata = metadataOf([freeColumns(value, mapping.fields)]);
  const omitted = new OmissionCounts();
  omitted.add(UNREAD_FEEDBACK, read.unread ? 1 : 0);
  return { line: { id: undefined, turns: read.turns, metadata }, omitted: omitted.all };
}

function readTurns(value: unknown, path: string, mapping: Mapping): Reading {
  const { conversation, user, feedback, rating } = mapping.fields;
  const list = at(value, path);
  if (!Array.isArray(list)) return { fault: `${path}: missing; expected an array of messages` };
  const omitted = new OmissionCounts();
  const turns: Turn[] = [];
  for (const [index, message] of (list as unknown[]).entries()) {
    const read = turnsOfRow(message, mapping, omitted);
    if ('fault' in read) return { fault: `${path}.${index}.${read.fault}` };
    if (read.turns.length === 0) omitted.add('message without text');
    omitted.add(UNREAD_FEEDBACK, read.unread ? 1 : 0);
    turns.push(...read.turns);
  }
  const id = conversation === undefined ? undefined : textAt(value, conversation);
  const userId = user === undefined ? undefined : textAt(value, user);
  // Those of messages are not the entry's.
  const metadata = metadataOf([freeColumns(value, { turns: path, conversation, user, feedback, rating })]);
  const whole = turns.some((turn) => turn.feedback !== undefined) ? null : givenIn(value, mapping.fields);
  omitted.add(UNREAD_FEEDBACK, whole === undefined ? 1 : 0);
  const line = { id, turns: whole ? onLast(turns, [whole]) : turns, userId, metadata };
  return { line, omitted: omitted.all };
}

function turnsOfRow(
  value: unknown,
  { fields, roles, times = OPEN_TIMES }: Mapping,
  omitted = new OmissionCounts(),
): { turns: Turn[]; unread: boolean } | { fault: string } {
  if (!isObject(value)) return { fault: 'not an object' };
  const { role, content, question, answer, time, user } = fields;
  const written = time === undefined ? undefined : at(value, time);
  const isTimed = (written ?? '') !== '';
  const createdAt = isTimed ? (timeOf(written, times) ?? undefined) : undefined;
  if (isTimed && createdAt === undefined) return { fault: `${time}: ${timeFault(written, times)}` };
  const userId = user === undefined ? undefined : textAt(value, user);
  const given = givenIn(value, fields);
  const unread = given === undefined;
  /** Feedback of a row with an answer is on the answer. */
  const rated = (turns: readonly Turn[]): Turn[] => {
    const feedback = given ? [{ ...given, ...(userId === undefined ? {} : { userId }) }] : undefined;
    return turns.map((turn, index) =>
      feedback !== undefined && index === turns.length - 1 ? { ...turn, feedback } : turn,
    );
  };
  const turns: Turn[] = [];
  const add = (of: string, path: string): string | null => {
    const text = contentText(at(value, path), omitted);
    if (text === null) return `${path}: must be a text`;
    if (text.trim() !== '') turns.push({ role: of, content: text, createdAt, userId });
    return null;
  };
  if (question !== undefined || answer !== undefined) {
    const fault =
      (question === undefined ? null : add('user', question)) ??
      (answer === undefined ? null : add('assistant', answer));
    return fault === null ? { turns: rated(turns), unread } : { fault };
  }
  const speaker = textAt(value, role ?? '')?.trim();
  if (speaker === undefined || speaker === '') return { fault: `${role}: missing; it says who speaks` };
  const fault = add(roles.get(speaker) ?? speaker, content ?? '');
  return fault === null ? { turns: rated(turns), unread } : { fault };
}

function givenIn(value: unknown, { feedback, rating }: Mapping['fields']): ReturnType<typeof feedbackIn> {
  return feedbackIn(
    feedback === undefined ? null : at(value, feedback),
    rating === undefined ? null : at(value, rating),
  );
}

const OPEN_TIMES: TimeReading = { order: null };

function timeOf(written: unknown, times: TimeReading): string | null {
  const inUtc = times.zone === undefined ? readTime(utcTime(written)) : null;
  return inUtc ?? readTime(writtenTime(written, times)) ?? readTime(utcTime(written));
}

function timeFault(written: unknown, { order }: TimeReading): string {
  const date = typeof written === 'string' ? readWritten(written) : null;
  const isDate = date !== null && (date.kind !== 'open' || order !== null);
  return isDate ? noDate(date, order) : `${JSON.stringify(written)?.slice(0, 40)} ${TIME_RULE}`;
}

/** Returns the times of an entry as written. */
export function writtenTimesOf(value: unknown, { fields: { time, turns } }: Mapping): string[] {
  if (time === undefined) return [];
  const messages = turns === undefined ? [value] : at(value, turns);
  return (Array.isArray(messages) ? (messages as unknown[]) : []).flatMap((message) => {
    const written = at(message, time);
    return typeof written === 'string' && written.trim() !== '' ? [written] : [];
  });
}
