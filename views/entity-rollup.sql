-- view: entity_rollup
-- version: 1
-- after: fact, dimensions, label
-- publish: entity_rollup key(instance, granularity, kind, entity, bucket) order(instance, granularity, kind, bucket, entity) time(bucket) alive(messages > 0)
--
-- How often did an entity (topic, topic cluster, signal, repeated request, gap) occur in each bucket?
--
-- granularity  0 HOUR, 1 DAY, 2 WEEK (from Monday), 3 MONTH, 4 ALL; UTC
-- bucket       start of the bucket; -infinity for ALL
-- kind, entity as in view fact (kinds 1 to 6)
-- id           the entity's UUID: ties in every order are broken by it
-- sessions     distinct sessions: facts in the bucket whose prev_session_at lies before it
-- users        distinct end users, likewise
-- messages     facts: messages of a topic or cluster, occurrences of the others
-- sat, dsat    signals on those messages
-- seq          stream sequence of the batch that last wrote the row
--
-- Late, moved and corrected facts come as pairs of weight -1 and 1 in fact_change, so adding up compensates.
-- A row that has come down to 0 messages stays as a row and is not read.
--
-- Law: each row equals a plain count over all facts of its bucket.

-- @schema
create table entity_rollup (
  instance integer, granularity tinyint, bucket timestamp, kind tinyint, entity integer, id uuid,
  sessions integer, users integer, messages integer, sat integer, dsat integer, seq bigint
);

-- @fold
create or replace temp table entity_change as
with named as (
  select 1 as kind, instance, topic as entity, id from topic
  union all select 2, instance, cluster, id from cluster
  union all select 3, instance, signal, id from signal
  union all select 4, instance, repeated_request, id from repeated_request
  union all select 5, instance, gap, id from gap
  union all select 6, instance, label, id from label
),
g as (
  select c.*, n.id, granularity, case granularity
    when 0 then date_trunc('hour', event_at)::timestamp when 1 then date_trunc('day', event_at)::timestamp
    when 2 then date_trunc('week', event_at)::timestamp when 3 then date_trunc('month', event_at)::timestamp
    else '-infinity'::timestamp end as bucket
  from fact_change c left join named n using (instance, kind, entity), range(5) r(granularity)
  where kind <> 0
)
select instance, granularity::tinyint as granularity, bucket, kind, entity, any_value(id) as id,
  sum(weight * (prev_session_at < bucket or prev_session_at = '-infinity')::integer)::integer as sessions,
  sum(weight * (end_user <> 0 and (prev_user_at < bucket or prev_user_at = '-infinity'))::integer)::integer as users,
  sum(weight)::integer as messages, sum(weight * sat)::integer as sat, sum(weight * dsat)::integer as dsat
from g group by all;

-- ALL apart, so that the buckets of the batch bound the rows that are searched.
upsert into entity_rollup from entity_change
  key (instance, granularity, bucket, kind, entity) once (id) add (sessions, users, messages, sat, dsat)
  apart (granularity = 4);

-- @read
-- rows: buckets = entity_rollup equal(instance, granularity, kind) range(from, to)
select bucket, entity, id, sessions, users, messages, sat, dsat
from @buckets where messages > 0
