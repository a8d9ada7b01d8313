import { deepEqual, doesNotMatch, equal, match, notEqual } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { TextHashes } from '../../../src/doors/traces/assembly/hashed-span.ts';
import {
  fillTokens,
  hasToken,
  openedId,
  sealedId,
  tokenKeys,
  tokenOf,
  withoutSeals,
} from '../../../src/doors/traces/tokens.ts';

const digest = (parts: readonly string[]): string =>
  createHmac('sha256', 'secret').update(JSON.stringify(parts)).digest('base64url');
const keys = tokenKeys(digest, 'project');
const mail = { kind: 'EMAIL', key: 'a@example.com' } as const;
const masked = tokenOf(mail, '', keys);
const sealed = tokenOf(mail, 'A@example.com', keys);

/** What the tokens of a text open to. */
function found(text: string, by = keys): string[] {
  const all: string[] = [];
  fillTokens(text, by, (kind, _, original) => (all.push(`${kind} ${original}`), ''));
  return all;
}

describe('tokens', () => {
  it('are the same for the same value, and hold nothing of it in clear', () => {
    equal(tokenOf(mail, '', keys), masked);
    equal(tokenOf(mail, 'A@example.com', keys), sealed);
    doesNotMatch(sealed, /example/i);
    const elsewhere = tokenOf(mail, '', tokenKeys(digest, 'other project'));
    notEqual(withoutSeals(elsewhere), withoutSeals(masked));
  });

  it('open to the original only where it was sealed', () => {
    deepEqual(found(`${masked}, ${sealed}`), ['EMAIL ', 'EMAIL A@example.com']);
    equal(
      fillTokens(`to ${masked}!`, keys, (kind) => `[${kind}_1]`),
      'to [EMAIL_1]!',
    );
  });

  it('have the same hash in a text whether they can be opened or not', () => {
    const hashes = new TextHashes();
    equal(hashes.of(`to ${masked}`), hashes.of(`to ${sealed}`));
    notEqual(hashes.of(`to ${masked}`), hashes.of(`to ${tokenOf({ ...mail, key: 'b' }, '', keys)}`));
  });

  it('are only what was written with the keys of the project', () => {
    const changed = masked.replace('[EMAIL:', '[PHONE:');
    const swapped = masked.replace(/.\]$/, (end) => (end === 'A]' ? 'Q]' : 'A]'));
    const lengths = [16, 20, 60].map((length) => `[EMAIL:${'a'.repeat(16)}:${'b'.repeat(length)}]`);
    for (const text of [changed, swapped, ...lengths, sealed.replace('[EMAIL:', '[PHONE:')]) {
      equal(hasToken(text), true);
      deepEqual(found(text), []);
      equal(
        fillTokens(text, keys, () => 'x'),
        text,
      );
    }
    deepEqual(found(sealed, tokenKeys(digest, 'other project')), []);
    equal(hasToken('[EMAIL_1] [EMAIL:short]'), false);
  });

  it('stand for a whole id, which is found again', () => {
    const id = sealedId('anna@example.com', keys);
    match(id, /^\[WHOLE:[\w-]+:[\w-]+\]$/);
    equal(sealedId('anna@example.com', keys), id);
    equal(openedId(id, keys), 'anna@example.com');
    for (const other of ['anna', `${id} `, sealed, id.replace('WHOLE', 'EMAIL')])
      equal(openedId(other, keys), other);
    deepEqual(found(id), []);
  });
});
