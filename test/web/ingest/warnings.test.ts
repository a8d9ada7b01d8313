import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findWarnings, NO_WARNINGS } from '../../../src/web/ingest/warnings.ts';

const entries = (header: string | null): string[] => header?.split('; ') ?? [];

describe('warnings', () => {
  it('are none for messages that have nothing unknown', () => {
    const messages = [
      { content: 'a' },
      { content: 'b', role: 'Visitor', userId: 'x', createdAt: null, metadata: { anything: 1 } },
      { content: 'c', role: 'tool' },
    ];
    deepEqual(findWarnings(messages), NO_WARNINGS);
  });

  it('count messages by member and by role, in the order in which they were met', () => {
    const found = findWarnings([
      { content: 'a', id: 1, ts: 2 },
      { content: 'b', role: 'mod', ts: 2 },
      { content: 'c', role: '', ts: 2 },
    ]);
    deepEqual(entries(found.header), [
      'unknown-member "messages.id" in 1 message: ignored',
      'unknown-member "messages.ts" in 3 messages: ignored',
      'unknown-role "mod" in 1 message: counted, not analysed',
      'unknown-role "" in 1 message: counted, not analysed',
    ]);
    deepEqual([found.unknownMembers, found.unknownRoles], [4, 2]);
  });

  it('name at most ten of each kind, and say how many more there are', () => {
    const names = (prefix: string): string[] => Array.from({ length: 14 }, (_, i) => `${prefix}${i}`);
    const members = Object.fromEntries(names('m').map((name) => [name, 1]));
    const found = entries(findWarnings([{ content: 'a', ...members }]).header);
    equal(found.length, 11);
    equal(found[10], 'and 4 more');
    const roles = entries(findWarnings(names('r').map((role) => ({ content: 'a', role }))).header);
    ok(roles.length > 2 && roles.length <= 11);
    equal(roles.at(-1), `and ${14 - (roles.length - 1)} more`);
  });

  it('fit a header of 1 KB in printable ASCII, whatever the names', () => {
    const found = findWarnings(
      Array.from({ length: 10_000 }, (_, i) => ({
        content: 'a',
        [`${'é'.repeat(2000)}${i}`]: 1,
        [`\r\nX-Evil: ${i}`]: 1,
        [`"\\${'x'.repeat(1_000)}${i}`]: 1,
        role: `${i}${'🤖'.repeat(1000)}`,
      })),
    );
    ok((found.header ?? '').length <= 1024, String(found.header?.length));
    match(found.header ?? '', /^[\x20-\x7e]+$/);
    const kinds = entries(found.header).map((entry) => entry.split(' ')[0]);
    deepEqual([...new Set(kinds)], ['unknown-member', 'and', 'unknown-role']);
    deepEqual([found.unknownMembers, found.unknownRoles], [30_000, 10_000]);
  });
});
