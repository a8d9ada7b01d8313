import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  checkOf,
  destroyKey,
  dropDestroyed,
  isKeyOf,
  keyFile,
  keysFolder,
  keysIn,
  makeKey,
  readKey,
} from '../../../src/worker/backup/keys.ts';
import { SetupError } from '../../../src/errors.ts';
import { temporaryDirectory } from '../../support/fold.ts';

const ID = '0192f0a0-0000-7000-8000-000000000001';
const OTHER = '0192f0a0-0000-7000-8000-000000000002';
const about = (id: string) => ({
  id,
  takenAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-08T00:00:00.000Z',
  place: '/backups/a',
});

describe('the keys of backups', () => {
  const temporary = temporaryDirectory();
  after(() => temporary.remove());
  const folder = keysFolder(temporary.path);

  it('are a file each, for its owner alone', () => {
    const made = makeKey(folder, about(ID));
    equal(made.key.length, 32);
    deepEqual(readKey(folder, ID), { version: 1, ...made });
    equal(statSync(keyFile(folder, ID)).mode & 0o777, 0o600);
    equal(statSync(folder).mode & 0o777, 0o700);
    ok(!makeKey(folder, about(OTHER)).key.equals(made.key));
    writeFileSync(join(folder, 'README'), '');
    deepEqual(keysIn(folder).toSorted(), [ID, OTHER]);
    throws(() => makeKey(folder, about(ID)), SetupError);
    deepEqual([readKey(temporary.path, ID), keysIn(join(folder, 'nowhere'))], [null, []]);
  });

  it('can be told from others by a check that names none', () => {
    const [one, other] = [ID, OTHER].map((id) => readKey(folder, id)) as ReturnType<typeof makeKey>[];
    const check = checkOf(one!);
    match(check, /^[0-9a-f]{32}$/);
    ok(isKeyOf(one!, check));
    ok(!isKeyOf({ ...other!, id: ID }, check));
    ok(!isKeyOf(one!, ''));
  });

  it('leave nothing of themselves when they are destroyed', () => {
    const file = keyFile(folder, ID);
    const { key } = readKey(folder, ID) as ReturnType<typeof makeKey>;
    const before = statSync(file);
    const at = new Date('2026-01-08T01:00:00.000Z');
    destroyKey(folder, about(ID), at);
    const after = statSync(file);
    deepEqual([after.ino, after.size >= before.size], [before.ino, true]);
    ok(!readFileSync(file, 'utf8').includes(key.toString('base64url')));
    deepEqual(readKey(folder, ID), { version: 1, ...about(ID), destroyedAt: at.toISOString() });
    dropDestroyed(folder, ID);
    equal(readKey(folder, ID), null);
  });

  it('are refused when they are broken or of another backup', () => {
    const file = keyFile(folder, ID);
    for (const text of ['', '{}', readFileSync(keyFile(folder, OTHER), 'utf8')]) {
      writeFileSync(file, text);
      throws(() => readKey(folder, ID), /^SetupError: The key .*\.key cannot be read: |cannot be read/);
    }
  });
});
