-- view: hour_fact
-- version: 1
-- after: fact
-- publish: hour_fact key(instance, kind, entity, session, end_user, hour) order(instance, kind, hour, entity) time(hour) alive(messages > 0)
--
-- The facts of view fact, an hour of one session and end user at a time: what ranges that cut buckets and the
-- "has topic …" filters read.
--
-- kind, entity, session, end_user   as in view fact
-- hour                   start of the hour, UTC
-- messages, sat, dsat, repeated_requests   sums over the facts of the hour
-- first_at, last_at      event time of the first and the last of them
-- prev_session_at        prev_session_at of the first of them: the latest earlier fact of the same (kind, entity,
--                        session), which lies before this hour or in another end user's row of it
-- prev_user_at           likewise for (kind, entity, end user)
-- seq                    stream sequence of the batch that last wrote the row
--
-- Within a chain prev_* never decreases, so the first fact's is the least. New facts can only lower it; rows that
-- lose or relink a fact are read again from message_fact.
-- A row that has come down to 0 messages stays as a row and is not read.
--
-- Law: for hours a <= b, the rows of [a, b) with prev_session_at < a are as many as the distinct sessions.

-- @schema
create table hour_fact (
  instance integer, kind tinyint, entity integer, session integer, end_user integer, hour timestamp,
  messages integer, sat integer, dsat integer, repeated_requests integer,
  first_at timestamp, last_at timestamp, prev_session_at timestamp, prev_user_at timestamp, seq bigint
);

-- @fold
merge into hour_fact t using (
  select instance, kind, entity, session, end_user, date_trunc('hour', event_at)::timestamp as hour,
    count(*)::integer as messages, sum(sat)::integer as sat, sum(dsat)::integer as dsat,
    sum(repeated_requests)::integer as repeated_requests, min(event_at) as first_at, max(event_at) as last_at,
    min(prev_session_at) as prev_session_at, min(prev_user_at) as prev_user_at
  from fact_change group by instance, kind, entity, session, end_user, hour having min(weight) > 0
) d
on t.instance = d.instance and t.kind = d.kind and t.entity = d.entity and t.session = d.session
  and t.end_user = d.end_user and t.hour = d.hour
when matched then update set messages = t.messages + d.messages, sat = t.sat + d.sat, dsat = t.dsat + d.dsat,
  repeated_requests = t.repeated_requests + d.repeated_requests,
  first_at = least(t.first_at, d.first_at), last_at = greatest(t.last_at, d.last_at),
  prev_session_at = least(t.prev_session_at, d.prev_session_at), prev_user_at = least(t.prev_user_at, d.prev_user_at),
  seq = getvariable('seq')
when not matched then insert (instance, kind, entity, session, end_user, hour, messages, sat, dsat, repeated_requests,
    first_at, last_at, prev_session_at, prev_user_at, seq)
  values (d.instance, d.kind, d.entity, d.session, d.end_user, d.hour, d.messages, d.sat, d.dsat, d.repeated_requests,
    d.first_at, d.last_at, d.prev_session_at, d.prev_user_at, getvariable('seq'));

-- Rows that lose or relink a fact.
create or replace temp table stale_hour as
select distinct instance, kind, entity, session, end_user, date_trunc('hour', event_at)::timestamp as hour
from fact_change where weight < 0;

-- when: stale_hour
create or replace temp table hour_again as
select h.*, count(f.fact_id)::integer as messages, coalesce(sum(f.sat), 0)::integer as sat,
  coalesce(sum(f.dsat), 0)::integer as dsat, coalesce(sum(f.repeated_requests), 0)::integer as repeated_requests,
  min(f.event_at) as first_at, max(f.event_at) as last_at,
  min(f.prev_session_at) as prev_session_at, min(f.prev_user_at) as prev_user_at
from stale_hour h left join (from message_fact where not gone) f
  on f.instance = h.instance and f.kind = h.kind and f.entity = h.entity and f.session = h.session
  and f.end_user = h.end_user and date_trunc('hour', f.event_at) = h.hour
group by all;

merge into hour_fact t using hour_again d
on t.instance = d.instance and t.kind = d.kind and t.entity = d.entity and t.session = d.session
  and t.end_user = d.end_user and t.hour = d.hour
when matched then update set messages = d.messages, sat = d.sat, dsat = d.dsat, repeated_requests = d.repeated_requests,
  first_at = d.first_at, last_at = d.last_at, prev_session_at = d.prev_session_at, prev_user_at = d.prev_user_at,
  seq = getvariable('seq')
when not matched then insert (instance, kind, entity, session, end_user, hour, messages, sat, dsat, repeated_requests,
    first_at, last_at, prev_session_at, prev_user_at, seq)
  values (d.instance, d.kind, d.entity, d.session, d.end_user, d.hour, d.messages, d.sat, d.dsat, d.repeated_requests,
    d.first_at, d.last_at, d.prev_session_at, d.prev_user_at, getvariable('seq'));
-- end

-- @read
-- The facts of [$start, $end): whole hours in between from hour_fact, the cut hours at both ends message by message.
-- $from_hour = $start rounded up to an hour, $to_hour = $end rounded down; when they cross, the range lies inside one
-- hour and both read parts of message_fact meet at $to_hour.
select kind, entity, session, end_user, hour as event_at, messages, sat, dsat, repeated_requests, first_at, last_at,
  prev_session_at, prev_user_at
from @hour_fact[instance = $instance and kind = $kind and hour >= $from_hour and hour < $to_hour]
where messages > 0
union all
select kind, entity, session, end_user, event_at, 1, sat, dsat, repeated_requests, event_at, event_at, prev_session_at, prev_user_at
from @message_fact[instance = $instance and kind = $kind and event_at >= $start and event_at < $head_end]
where not gone
union all
select kind, entity, session, end_user, event_at, 1, sat, dsat, repeated_requests, event_at, event_at, prev_session_at, prev_user_at
from @message_fact[instance = $instance and kind = $kind and event_at >= $tail_start and event_at < $end]
where not gone
