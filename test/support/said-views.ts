/**
 * Views of few statements for tests of what runs views: a fold of the views that ship costs eight times as much. That
 * those obey the laws, test/view-laws.test.ts says.
 */
import { parseView, type View } from '../../src/store/view-files.ts';
import { openFixture, type Fixture } from './fold.ts';

/** `said` counts messages by session; `said_at` has one row for each, with its event time. */
export const SAID_VIEWS: readonly View[] = [
  parseView(
    'said.sql',
    `-- view: said
-- version: 1
-- publish: said key(instance, session) order(instance, session)
-- publish: said_at key(position) order(instance, event_at, position) time(event_at)
-- @schema
create table said (instance integer, session integer, messages integer, seq bigint);
create table said_at (position bigint, instance integer, event_at timestamp, seq bigint);
-- @fold
upsert into said
from (select instance, session, count(*)::integer as messages from batch_message group by all)
key (instance, session) add (messages);
insert into said_at
select position, instance, make_timestamp(event_at), getvariable('seq') from batch_message;
-- @read
select session, messages from @said
`,
  ),
];

/** All messages of a snapshot. */
export const COUNT_SAID = 'select sum(messages) as messages from @said';

/** `openFixture` with these views. */
export const openSaid = (options: Parameters<typeof openFixture>[0] = {}): Promise<Fixture> =>
  openFixture({ ...options, views: SAID_VIEWS });
