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
  messages integer, sat integer, dsat integer, repeated_requests integer, first_at timestamp, last_at timestamp, seq bigint
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

-- Apart from ALL, so that the buckets of the batch bound what is looked through.
merge into session_rollup t using (from session_change where granularity < 4) d
on t.instance = d.instance and t.granularity = d.granularity and t.bucket = d.bucket and t.session = d.session
when matched then update set messages = t.messages + d.messages, sat = t.sat + d.sat, dsat = t.dsat + d.dsat,
  repeated_requests = t.repeated_requests + d.repeated_requests,
  first_at = least(t.first_at, d.first_at), last_at = greatest(t.last_at, d.last_at), seq = getvariable('seq')
when not matched then insert
  (instance, granularity, bucket, session, id, messages, sat, dsat, repeated_requests, first_at, last_at, seq)
  values (d.instance, d.granularity, d.bucket, d.session, d.id, d.messages, d.sat, d.dsat, d.repeated_requests,
    d.first_at, d.last_at, getvariable('seq'));

merge into session_rollup t using (from session_change where granularity = 4) d
on t.instance = d.instance and t.granularity = d.granularity and t.bucket = d.bucket and t.session = d.session
when matched then update set messages = t.messages + d.messages, sat = t.sat + d.sat, dsat = t.dsat + d.dsat,
  repeated_requests = t.repeated_requests + d.repeated_requests,
  first_at = least(t.first_at, d.first_at), last_at = greatest(t.last_at, d.last_at), seq = getvariable('seq')
when not matched then insert
  (instance, granularity, bucket, session, id, messages, sat, dsat, repeated_requests, first_at, last_at, seq)
  values (d.instance, d.granularity, d.bucket, d.session, d.id, d.messages, d.sat, d.dsat, d.repeated_requests,
    d.first_at, d.last_at, getvariable('seq'));

-- @read
-- $granularity; $from and $to bound the buckets.
select bucket, session, id, messages, sat, dsat, repeated_requests, first_at, last_at
from @session_rollup[instance = $instance and granularity = $granularity and bucket >= $from and bucket < $to]
