import { deepEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCheck } from '../../../src/web/ingest/check-body.ts';

const ID = '5B1F0C52-7C55-4B0E-9F5E-1D2F3A4B5C6D';
const BODY = { instanceId: ID, of: 'GAP', id: ID, sessionId: ID, verdict: 'NO' };

describe('parseCheck', () => {
  it('reads a verdict, with ids in lower case', () => {
    const id = ID.toLowerCase();
    deepEqual(parseCheck(BODY), {
      instanceId: id,
      asked: { kind: 'CHECK', of: 'GAP', id, session: id, verdict: 'NO' },
    });
  });

  it('refuses anything else, and names the place', () => {
    for (const [body, place] of [
      [{ ...BODY, verdict: 'MAYBE' }, 'verdict must be one of YES, NO, UNSURE'],
      [{ ...BODY, of: 'END_USER' }, 'of must be one of'],
      [{ ...BODY, sessionId: 'x' }, 'sessionId'],
      [{ ...BODY, id: undefined }, 'id is required'],
      [{ ...BODY, note: 'x' }, 'note'],
      [[], 'must be a JSON object'],
    ] as const)
      throws(
        () => parseCheck(body),
        (error: Error) => error.message.includes(place),
      );
  });
});
