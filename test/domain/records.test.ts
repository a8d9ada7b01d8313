import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as records from '../../src/domain/records.ts';

const USER = 'user human customer end_user end-user enduser client visitor guest contact';
const ASSISTANT = 'assistant ai bot chatbot copilot agent operator support model';
const NEITHER = 'system developer tool function';

describe('roles', () => {
  for (const [names, role] of [
    [USER, 'user'],
    [ASSISTANT, 'assistant'],
    [NEITHER, 'other'],
  ] as const) {
    it(`${names}: ${role}, in any case`, () => {
      for (const name of names.split(' ')) {
        const spellings = [name, name.toUpperCase(), `${name.charAt(0).toUpperCase()}${name.slice(1)}`];
        deepEqual(
          spellings.map((spelling) => [records.roleOf(spelling), records.isKnownRole(spelling)]),
          spellings.map(() => [role, true]),
          name,
        );
      }
    });
  }

  for (const name of ['', 'moderator', 'user ', 'toString', '__proto__']) {
    it(`${JSON.stringify(name)} is none that we know`, () => {
      equal(records.roleOf(name), 'other');
      equal(records.isKnownRole(name), false);
    });
  }
});
