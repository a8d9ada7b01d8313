/**
 * Finds the unknown members and roles in valid requests, and words them for the header `X-Warnings`.
 *
 * Test: test/web/ingest/warnings.test.ts.
 */
import { isKnownRole } from '../../domain/records.ts';

/** Content of a valid request that has no effect, or another one than its sender may expect. */
export interface IngestWarnings {
  /** Value of `X-Warnings`: printable ASCII, at most MAX_HEADER_LENGTH characters; null without warnings. */
  readonly header: string | null;
  /** Number of ignored members in all messages; a message with two counts twice. */
  readonly unknownMembers: number;
  /** Number of messages with an unknown role. */
  readonly unknownRoles: number;
}

export const NO_WARNINGS: IngestWarnings = { header: null, unknownMembers: 0, unknownRoles: 0 };

const MEMBERS: ReadonlySet<string> = new Set(['content', 'role', 'userId', 'createdAt', 'metadata']);
const MAX_HEADER_LENGTH = 1024;
/** Characters of the header for roles when members need the rest. */
const MAX_ROLES_LENGTH = 500;
const MAX_NAMES = 10;
const MAX_NAME_LENGTH = 64;

/** Searches the messages of a valid request as they were sent. */
export function findWarnings(messages: readonly Readonly<Record<string, unknown>>[]): IngestWarnings {
  const members = new Map<string, number>();
  const roles = new Map<string, number>();
  for (const message of messages) {
    for (const name of Object.keys(message)) if (!MEMBERS.has(name)) count(members, name);
    const { role } = message;
    if (typeof role === 'string' && !isKnownRole(role)) count(roles, role);
  }
  if (members.size === 0 && roles.size === 0) return NO_WARNINGS;
  const ofRoles = listed(
    roles,
    (name, messages) => `unknown-role "${escapeName(name)}" in ${messages}: counted, not analysed`,
    MAX_ROLES_LENGTH,
  );
  const ofMembers = listed(
    members,
    (name, messages) => `unknown-member "messages.${escapeName(name)}" in ${messages}: ignored`,
    MAX_HEADER_LENGTH - ofRoles.length - 2,
  );
  return {
    header: [ofMembers, ofRoles].filter((text) => text !== '').join('; '),
    unknownMembers: sum(members),
    unknownRoles: sum(roles),
  };
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function sum(counts: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const value of counts.values()) total += value;
  return total;
}

/** Lists the first names in order while they fit, then the number of the others. */
function listed(
  counts: ReadonlyMap<string, number>,
  entryOf: (name: string, messages: string) => string,
  room: number,
): string {
  const entries: string[] = [];
  let length = 0;
  for (const [name, messages] of counts) {
    const entry = entryOf(name, messages === 1 ? '1 message' : `${messages} messages`);
    length += entry.length + 2;
    if (entries.length === MAX_NAMES || length > room - MORE_LENGTH) break;
    entries.push(entry);
  }
  if (counts.size > entries.length) entries.push(`and ${counts.size - entries.length} more`);
  return entries.join('; ');
}

/** Length of `and 1000000 more`, with a margin. */
const MORE_LENGTH = 24;

/** Escapes a name to printable ASCII as JSON does, at most MAX_NAME_LENGTH characters. */
function escapeName(name: string): string {
  let text = '';
  for (const unit of name.slice(0, MAX_NAME_LENGTH).split('')) {
    const escaped = /[ !#-[\]-~]/.test(unit) ? unit : escape(unit);
    if (text.length + escaped.length > MAX_NAME_LENGTH) break;
    text += escaped;
  }
  return text;
}

function escape(unit: string): string {
  if (unit === '"' || unit === '\\') return `\\${unit}`;
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
