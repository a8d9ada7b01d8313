-- view: end_user_rollup
-- version: 2
-- after: fact, dimensions
-- publish: end_user_rollup key(instance, granularity, bucket, end_user) order(instance, granularity, bucket, end_user) time(bucket)
--
-- Who comes back, and how does it go for them?
--
-- granularity, bucket   as in entity_rollup
-- id                    the end user's UUID: ties in every order are broken by it
-- sessions              distinct sessions with a message that belongs to the end user
-- messages              messages that belong to the end user, the assistant's among them
-- sat, dsat             satisfaction signals on them
-- repeated_requests     repeated requests on them
-- first_at, last_at     event time of the first and the last of them
-- seq                   stream sequence of the batch that last wrote the row
--
-- Facts of kind 0, whose entity is the end user. An opening turn changes from end user 0 to somebody; never
-- from one end user to another, so first_at and last_at only widen. End user 0 has no rows.
--
-- Law: each row equals a plain aggregate over the end user's messages in the bucket.

-- @schema
-- ALL stands apart: what a batch changes in it is spread over all end users, in the buckets it lies in the latest rows.
create table end_user_bucket (
  instance integer, granularity tinyint, bucket timestamp, end_user integer, id uuid,
  sessions integer, messages integer, sat integer, dsat integer, repeated_requests integer,
  first_at timestamp, last_at timestamp, seq bigint
);
create table end_user_total (
  instance integer, granularity tinyint, bucket timestamp, end_user integer, id uuid,
  sessions integer, messages integer, sat integer, dsat integer, repeated_requests integer,
  first_at timestamp, last_at timestamp, seq bigint
);
create view end_user_rollup as from end_user_bucket union all from end_user_total;

-- @fold
-- HOUR to MONTH, and ALL: what the batch adds to each row.
create or replace temp table end_user_change as
with g as (
  select c.*, granularity, case granularity
    when 0 then date_trunc('hour', event_at)::timestamp when 1 then date_trunc('day', event_at)::timestamp
    when 2 then date_trunc('week', event_at)::timestamp when 3 then date_trunc('month', event_at)::timestamp
    else '-infinity'::timestamp end as bucket
  from fact_change c, range(5) r(granularity)
  where kind = 0 and entity <> 0
),
d as (
  select instance, granularity::tinyint as granularity, bucket, entity as end_user,
    sum(weight * (prev_session_at < bucket or prev_session_at = '-infinity')::integer)::integer as sessions,
    sum(weight)::integer as messages, sum(weight * sat)::integer as sat, sum(weight * dsat)::integer as dsat,
    sum(weight * repeated_requests)::integer as repeated_requests, min(event_at) as first_at, max(event_at) as last_at
  from g group by all
)
select d.*, u.id from d join end_user u using (end_user);

upsert into end_user_bucket, end_user_total from end_user_change
  key (instance, granularity, bucket, end_user) once (id)
  add (sessions, messages, sat, dsat, repeated_requests) least (first_at) greatest (last_at)
  apart (granularity = 4);

-- @read
-- rows: buckets = end_user_rollup equal(instance, granularity) range(from, to)
select bucket, end_user, id, sessions, messages, sat, dsat, repeated_requests, first_at, last_at
from @buckets
