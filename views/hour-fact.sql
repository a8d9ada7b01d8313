-- view: hour_fact
-- version: 2
-- after: fact
-- publish: hour_fact key(instance, kind, entity, session, end_user, hour) order(instance, kind, entity, hour) time(hour) alive(messages > 0)
--
-- The facts of view fact, an hour of one session and end user at a time: what the "has topic …" filters read, and
-- what sessions cut by a range are counted from.
--
-- kind, session, end_user   as in view fact
-- entity                 as in view fact; 0 for kind 0, whose entity is end_user: so its rows lie in the order of time
-- hour                   start of the hour, UTC
-- messages, sat, dsat, repeated_requests   sums over the facts of the hour
-- first_at, last_at      event time of the first and the last of them
-- seq                    stream sequence of the batch that last wrote the row
--
-- Hours that lose a fact are counted again from what is left of the chains that lost it.
-- A row that has come down to 0 messages stays as a row and is not read.
--
-- Law: each row equals a plain aggregate over the facts of its hour.

-- @schema
create table hour_fact (
  instance integer, kind tinyint, entity integer, session integer, end_user integer, hour timestamp,
  messages integer, sat integer, dsat integer, repeated_requests integer,
  first_at timestamp, last_at timestamp, seq bigint
);

-- @fold
-- Hours that lose a fact.
-- when: withdrawn
create or replace temp table stale_hour as
select distinct instance, kind, case when kind = 0 then 0 else entity end as entity, session, end_user,
  date_trunc('hour', event_at)::timestamp as hour
from withdrawn;
-- end

upsert into hour_fact from (
  with gain as (
    select instance, kind, case when kind = 0 then 0 else entity end as entity, session, end_user,
      date_trunc('hour', event_at)::timestamp as hour,
      count(*)::integer as messages, sum(sat)::integer as sat, sum(dsat)::integer as dsat,
      sum(repeated_requests)::integer as repeated_requests, min(event_at) as first_at, max(event_at) as last_at
    from added group by all
  )
  from gain anti join stale_hour using (instance, kind, entity, session, end_user, hour)
) key (instance, kind, entity, session, end_user, hour)
  add (messages, sat, dsat, repeated_requests) least (first_at) greatest (last_at);

-- The chain of a session that lost a fact is late: late_fact has what is left of it.
-- when: stale_hour
create or replace temp table hour_again as
with f as (
  select instance, kind, entity, session, end_user, event_at, sat, dsat, repeated_requests from added
  union all
  select instance, kind, entity, session, end_user, event_at, sat, dsat, repeated_requests
  from late_fact where "by" = 0
),
h as (
  select * replace (case when kind = 0 then 0 else entity end as entity),
    date_trunc('hour', event_at)::timestamp as hour
  from f
)
select s.*, count(event_at)::integer as messages, coalesce(sum(sat), 0)::integer as sat,
  coalesce(sum(dsat), 0)::integer as dsat, coalesce(sum(repeated_requests), 0)::integer as repeated_requests,
  min(event_at) as first_at, max(event_at) as last_at
from stale_hour s left join h using (instance, kind, entity, session, end_user, hour)
group by all;

upsert into hour_fact from hour_again
  key (instance, kind, entity, session, end_user, hour)
  set (messages, sat, dsat, repeated_requests, first_at, last_at);
-- end

-- @read
-- The facts of [start, end): whole hours in between from hour_fact, the cut hours at both ends message by message.
-- from_hour is start rounded up to an hour, to_hour is end rounded down; when they cross, the range lies inside one
-- hour, and head and tail meet at to_hour.
-- rows: hours = hour_fact equal(instance, kind) range(from_hour, to_hour)
-- rows: head = message_fact equal(instance, kind) range(start, head_end)
-- rows: tail = message_fact equal(instance, kind) range(tail_start, end)
select entity, session, end_user, messages, sat, dsat, repeated_requests, first_at, last_at
from @hours where messages > 0
union all
select entity, session, end_user, 1, sat, dsat, repeated_requests, event_at, event_at
from @head where not gone
union all
select entity, session, end_user, 1, sat, dsat, repeated_requests, event_at, event_at
from @tail where not gone
