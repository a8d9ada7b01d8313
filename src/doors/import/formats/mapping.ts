/**
 * What the columns of a table or the members of JSON mean: as the caller says, or as their names suggest.
 *
 * Test: test/doors/import/formats/variants.test.ts.
 */
import { isKnownRole, roleOf } from '../../../domain/records.ts';
import { isNothing, ratingOf, thumbOf } from '../../traces/given-feedback.ts';
import { isObject, textOf } from '../../traces/values.ts';
import type { TimeReading } from '../written-dates.ts';
import { COLUMN_NAMES, FIELDS, plainName, type Field } from './columns.ts';
import type { Recognition, Sample } from './format.ts';

/** Meaning of columns or members, and of roles. */
export interface Mapping {
  /**
   * Field → a dotted path such as `author.type`; `=TEXT` is a constant; `-` (only for `conversation`) is the whole
   * file.
   */
  readonly fields: Readonly<Partial<Record<Field, string | undefined>>>;
  /** Value of the role column → role, such as `customer` → `user`. */
  readonly roles: ReadonlyMap<string, string>;
  /** Default: UTC, and dates with an unknown order are rejected. */
  readonly times?: TimeReading;
}

/** The whole file is one conversation. */
export const WHOLE_FILE = '-';

/** Separator before the next pair: names of columns and roles may contain blanks and commas. */
const BETWEEN_PAIRS = new RegExp(`(?:(?<!\\s)\\s+|,)(?=(?:${FIELDS.join('|')})=|role:[^=]{1,100}=)`);
const UNKNOWN_PAIR = /[\s,]([a-z]{1,20}=.*)/s;
/** With more unknown roles than these, the column holds personal names. */
const MOST_SUGGESTED_ROLES = 4;

/** Parses `role=sender content=text role:Kunde=user`. Throws an Error that names the mistake. */
export function parseMapping(pairs: readonly string[]): Mapping {
  const fields: Partial<Record<Field, string>> = {};
  const roles = new Map<string, string>();
  for (const pair of pairs
    .flatMap((text) => text.trim().split(BETWEEN_PAIRS))
    .filter((text) => text !== '')) {
    // A role may be a personal name and contain `=`.
    const end = pair.startsWith('role:') ? pair.lastIndexOf('=') : pair.indexOf('=');
    const [name, value] = end === -1 ? ['', ''] : [pair.slice(0, end), pair.slice(end + 1)];
    if (name.startsWith('role:') && name.length > 'role:'.length && value !== '')
      roles.set(name.slice('role:'.length), value);
    else if (isField(name) && value !== '' && !UNKNOWN_PAIR.test(value)) fields[name] = value;
    else {
      const unknown = isField(name) ? UNKNOWN_PAIR.exec(value)?.[1] : pair;
      const known = FIELDS.map((field) => `${field}=…`).join(', ');
      throw new Error(`"${unknown}" is none of ${known} or role:VALUE=user`);
    }
  }
  const { turns, role, content, question, answer } = fields;
  // Roles alone apply to chats, and to tables whose columns are guessed.
  if (Object.keys(fields).length === 0 && roles.size > 0) return { fields, roles };
  if (content === undefined && question === undefined && answer === undefined)
    throw new Error('content=… is missing, or question=… and answer=…');
  if (content !== undefined && role === undefined)
    throw new Error("role=… is missing (role==user: every message is a user's)");
  if (turns !== undefined && content === undefined) throw new Error('turns=… needs role=… and content=…');
  return { fields, roles };
}

function isField(name: string): name is Field {
  return Object.hasOwn(COLUMN_NAMES, name);
}

/** Guesses a mapping from column names, with its confidence; null if they suggest none. */
export function guessMapping(
  sample: Sample,
  roles: Mapping['roles'] = new Map(),
): { mapping: Mapping; recognition: Recognition } | null {
  const values = sample.values.filter(isObject);
  if (values.length === 0) return null;
  const columns = [...new Set(values.flatMap((value) => Object.keys(value)))];
  return guessRows(columns, values, roles) ?? guessTurns(columns, values, roles);
}

type Guess = ReturnType<typeof guessMapping>;

function guessRows(
  columns: readonly string[],
  values: readonly Record<string, unknown>[],
  roles: Mapping['roles'],
): Guess {
  const found = fieldsOf(columns);
  const { role, content, conversation, question, answer, time, user } = found.fields;
  if (
    role !== undefined &&
    content !== undefined &&
    values.some((value) => textOf(value[content]) !== undefined)
  ) {
    const roleValues = meaningsOf(
      values.map((value) => value[role]),
      roles,
    );
    const doubts = [
      ...(conversation === undefined ? ['no column names the conversation'] : []),
      ...(found.several.has('content') ? ['several columns may be the text'] : []),
      ...doubtsOfRoles(roleValues),
    ];
    const given = feedbackColumns(found.named, values);
    const mapping = {
      fields: { conversation, role, content, time, user, ...given.fields },
      roles: new Map([...roles, ...suggestedRoles(roleValues)]),
    };
    return { mapping, recognition: byDoubts(`one message in each row${given.note}`, doubts) };
  }
  if (question === undefined || answer === undefined) return null;
  const given = feedbackColumns(found.named, values);
  const mapping = {
    fields: { conversation, question, answer, time, user, ...given.fields },
    roles: new Map<string, string>(),
  };
  return { mapping, recognition: byDoubts(`a question and its answer in each row${given.note}`, []) };
}

function guessTurns(
  columns: readonly string[],
  values: readonly Record<string, unknown>[],
  roles: Mapping['roles'],
): Guess {
  for (const turns of columns) {
    const lists = values.map((value) => value[turns]).filter((list) => Array.isArray(list)) as unknown[][];
    const messages = lists.flat().filter(isObject);
    const found = fieldsOf([...new Set(messages.flatMap((message) => Object.keys(message)))]);
    const { role, content, time } = found.fields;
    if (role === undefined || content === undefined) continue;
    const outer = fieldsOf(columns.filter((column) => column !== turns));
    const { conversation, user } = outer.fields;
    const inner = feedbackColumns(found.named, messages);
    const given = inner.isFound ? inner : feedbackColumns(outer.named, values);
    const id = conversation ?? columns.find((column) => ['id', 'uuid'].includes(plainName(column)));
    const roleValues = meaningsOf(
      messages.map((message) => message[role]),
      roles,
    );
    const mapping = {
      fields: { turns, role, content, conversation: id, time, user, ...given.fields },
      roles: new Map([...roles, ...suggestedRoles(roleValues)]),
    };
    const doubts = ['it is no format that is known', ...doubtsOfRoles(roleValues)];
    return { mapping, recognition: byDoubts(`messages in ${turns}${given.note}`, doubts) };
  }
  return null;
}

function byDoubts(reason: string, doubts: readonly string[]): Recognition {
  return doubts.length === 0
    ? { confidence: 0.7, reason }
    : { confidence: 0.4, reason: `${reason}, but ${doubts.join('; ')}` };
}

/** For each field, returns the column that matches first in its list of names. */
function fieldsOf(columns: readonly string[]): {
  fields: Partial<Record<Field, string>>;
  several: ReadonlySet<Field>;
  /** Columns that may hold feedback, by their names. */
  named: readonly string[];
} {
  const byName = new Map(columns.map((column) => [plainName(column), column]));
  const fields: Partial<Record<Field, string>> = {};
  const several = new Set<Field>();
  const taken = new Set<string>();
  for (const field of FIELDS) {
    const names: readonly string[] = COLUMN_NAMES[field];
    const found = names.flatMap((name) => byName.get(name) ?? []).filter((column) => !taken.has(column));
    const [first] = found;
    if (first === undefined) continue;
    fields[field] = first;
    taken.add(first);
    if (found.length > 1) several.add(field);
  }
  const given: readonly string[] = [...COLUMN_NAMES.feedback, ...COLUMN_NAMES.rating];
  return { fields, several, named: given.flatMap((name) => byName.get(name) ?? []) };
}

/**
 * Chooses the columns of feedback by their first values: names say only that one may be. `note`: a column that cannot
 * be told, for people.
 */
function feedbackColumns(
  columns: readonly string[],
  values: readonly Record<string, unknown>[],
): { readonly fields: Mapping['fields']; readonly note: string; readonly isFound: boolean } {
  const fields: Partial<Record<Field, string>> = {};
  const open: string[] = [];
  for (const column of columns) {
    const given = values.map((value) => value[column]).filter((value) => !isNothing(value));
    const kind = kindOfFeedback(given);
    if (kind === null) open.push(column);
    else fields[kind] ??= column;
  }
  const [first] = open;
  const isFound = Object.keys(fields).length > 0;
  const note =
    first === undefined || isFound
      ? ''
      : `; ${first} is not read as feedback: --map with feedback=${first} or rating=${first} does`;
  return { fields, note, isFound };
}

/** Says what the values of a column are; null if they may be neither, or both. */
function kindOfFeedback(values: readonly unknown[]): 'feedback' | 'rating' | null {
  const isOne = (value: unknown): boolean => typeof value !== 'boolean' && Number(value) === 1;
  if (values.every(isOne)) return null;
  if (values.every((value) => thumbOf(value) !== null)) return 'feedback';
  return values.every((value) => ratingOf(value) !== null) ? 'rating' : null;
}

/**
 * Uses the caller's mapping, and suggests meanings for roles that it leaves open; its confidence is then low, because a
 * later import does not change stored messages. `role:NAME=NAME` says that messages of a role are counted but not
 * analysed.
 */
export function asMapped(sample: Sample, mapping: Mapping): NonNullable<Guess> {
  const { turns, role } = mapping.fields;
  const messages =
    turns === undefined ? sample.values : sample.values.flatMap((value) => at(value, turns) ?? []);
  const roleValues = meaningsOf(
    role === undefined ? [] : messages.map((message) => textAt(message, role)),
    mapping.roles,
  );
  const roles = new Map([...mapping.roles, ...suggestedRoles(roleValues)]);
  return {
    mapping: { ...mapping, roles },
    recognition: byDoubts('as --map says', doubtsOfRoles(roleValues)),
  };
}

/** Returns the columns of a mapping that a table lacks, and the columns that it has. */
export function columnsOf(
  { values }: Sample,
  { fields }: Mapping,
): { readonly lacking: readonly string[]; readonly columns: readonly string[] } {
  const columns = [...new Set(values.filter(isObject).flatMap((value) => Object.keys(value)))];
  const isThere = (path: string): boolean =>
    path.startsWith('=') ||
    path === WHOLE_FILE ||
    columns.some((column) => path === column || path.startsWith(`${column}.`));
  return {
    lacking:
      columns.length === 0
        ? []
        : Object.values(fields).flatMap((path) => (path === undefined || isThere(path) ? [] : [path])),
    columns,
  };
}

/** Maps roles as the caller says, without those that are only counted. */
function meaningsOf(roleValues: readonly unknown[], roles: Mapping['roles']): string[] {
  return roleValues.flatMap((role) => {
    const name = typeof role === 'boolean' ? String(role) : (textOf(role)?.trim() ?? '');
    const meaning = roles.get(name) ?? name;
    return meaning === name && roles.has(name) ? [] : [meaning];
  });
}

function unknownRoles(values: readonly unknown[]): string[] {
  const names = values.map((value) =>
    typeof value === 'boolean' ? String(value) : (textOf(value)?.trim() ?? ''),
  );
  return [...new Set(names)].filter((name) => name !== '' && !isKnownRole(name));
}

function doubtsOfRoles(roleValues: readonly unknown[]): string[] {
  const unknown = unknownRoles(roleValues);
  return unknown.length === 0 ? [] : [`unknown roles: ${unknown.slice(0, 5).join(', ')}`];
}

/**
 * Suggests meanings of unknown roles for a person to confirm: the first speaker is the user, unless a role already
 * means user. `roleValues`: roles of the messages, in order.
 */
function suggestedRoles(roleValues: readonly unknown[]): Map<string, string> {
  const unknown = unknownRoles(roleValues);
  if (unknown.length > MOST_SUGGESTED_ROLES || unknown.some((name) => name.includes('='))) return new Map();
  const hasUser = roleValues.some((role) => roleOf((textOf(role) ?? '').trim()) === 'user');
  return new Map(unknown.map((name, place) => [name, place === 0 && !hasUser ? 'user' : 'assistant']));
}

/** Returns a member by its name, otherwise by its dotted path; `=TEXT` returns the text. */
export function at(value: unknown, path: string): unknown {
  if (path.startsWith('=')) return path.slice(1);
  if (isObject(value) && Object.hasOwn(value, path)) return value[path];
  let found: unknown = value;
  for (const name of path.split('.')) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** The same as a text; undefined for what is none. */
export function textAt(value: unknown, path: string): string | undefined {
  const found = at(value, path);
  return typeof found === 'boolean' ? String(found) : textOf(found);
}

/** Formats the mapping as `--map` arguments. */
export function describeMapping({ fields, roles }: Mapping): string[] {
  return [
    ...FIELDS.flatMap((field) => (fields[field] === undefined ? [] : [`${field}=${fields[field]}`])),
    ...[...roles].map(([value, role]) => `role:${value}=${role}`),
  ];
}
