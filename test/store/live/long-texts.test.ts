import { it } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import { assignment, fact, openFixture } from '../../support/fold.ts';

it('an end user with a very long id of its own is read with the beginning of it, a shorter one as it is', async () => {
  const fixture = await openFixture();
  const ids = ['u'.repeat(6_000_000), '😀'.repeat(1025), '😀'.repeat(1024), 'ada'];
  const users = [1, 2, 3, 4];
  await fixture.fold(
    assignment({ messages: users.map((user) => fact({ position: user, session: user, user })) }),
    [],
    { externalIdOf: (user) => ids[user - 1] as string },
  );
  await fixture.publish();
  const rows = await fixture.reader.read((snapshot) =>
    snapshot.all('select external_id from @end_user order by end_user'),
  );
  deepEqual(
    rows.map((row) => row['external_id']),
    [`${'u'.repeat(1023)}…`, `${'😀'.repeat(1023)}…`, '😀'.repeat(1024), 'ada'],
  );
  await fixture.close();
});
