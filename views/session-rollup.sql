-- view: session_rollup
-- version: 1
-- after: fact, dimensions
-- publish: session_rollup key(instance, granularity, bucket, session) order(instance, granularity, bucket, session) time(bucket)
--
-- What happened in each session, as a whole and in each bucket?
--
-- granularity, bucket   as in entity_rollup
-- id                    the session's UUID: ties in every order are broken by it
-- messages              messages of any role
-- sat, dsat             satisfaction signals on them
-- repeated_requests     repeated requests on them
-- first_at, last_at     event time of the first and the last message
-- seq                   stream sequence of the batch that last wrote the row
--
-- Facts of kind 0: one for each message. A message is never withdrawn, only handed to another end user, which
-- adds up to nothing here; so first_at and last_at only widen.
--
-- Law: each row equals a plain aggregate over the session's messages in the bucket.

-- @schema
create table session_rollup (
  instance integer, granularity tinyint, bucket timestamp, session integer, id uuid,
  messages integer, sat integer, dsat integer, repeated_requests integer, first_at timestamp, last_at timestamp,
  seq bigint
);

-- @fold
create or replace temp table session_change as
with g as (
  select c.*, granularity, case granularity
    when 0 then date_trunc('hour', event_at)::timestamp when 1 then date_trunc('day', event_at)::timestamp
    when 2 then date_trunc('week', event_at)::timestamp when 3 then date_trunc('month', event_at)::timestamp
    else '-infinity'::timestamp end as bucket
  from fact_change c, range(5) r(granularity)
  where kind = 0
),
d as (
  select instance, granularity::tinyint as granularity, bucket, session, sum(weight)::integer as messages,
    sum(weight * sat)::integer as sat, sum(weight * dsat)::integer as dsat,
    sum(weight * repeated_requests)::integer as repeated_requests, min(event_at) as first_at, max(event_at) as last_at
  from g group by all
)
select d.*, s.id from d join session s using (session);

-- ALL apart, so that the buckets of the batch bound the rows that are searched.
upsert into session_rollup from session_change
  key (instance, granularity, bucket, session) once (id)
  add (messages, sat, dsat, repeated_requests) least (first_at) greatest (last_at)
  apart (granularity = 4);

-- @read
-- rows: buckets = session_rollup equal(instance, granularity) range(from, to)
select bucket, session, id, messages, sat, dsat, repeated_requests, first_at, last_at
from @buckets
