-- view: return_fact
-- version: 1
-- after: fact
-- publish: return_fact key(instance, kind, entity, event_at) order(instance, kind, event_at) time(event_at) replaces(false)
--
-- Which sessions and end users came back to an entity on a later day: what turns the counts of whole days into
-- the counts of any range.
--
-- kind, entity      as in view fact; of kind 0 those with an end user
-- event_at          event time of the first fact of the session, or of the end user, on that day
-- prev_session_at   when the same session was last there before, on an earlier day; null: not a session's return
-- prev_user_at      when the same end user was, likewise
-- weight            1, or -1 where an earlier row was wrong: rows are only ever added, and count as what they add up to
-- seq               stream sequence of the batch that wrote the row
--
-- entity_rollup and end_user_rollup count a session on each of its days. Over the whole days of [a, b), distinct
-- sessions are the sum of those counts less the returning visits in [a, b) from a day that is in the range, too:
-- those with prev_session_at >= a.
--
-- Late, moved and corrected facts come as pairs of weight -1 and 1 in fact_change and are written as such.
--
-- Law: for days a <= b, sum(sessions) of entity_rollup less sum(weight) where prev_session_at >= a, over [a, b),
-- is the number of distinct sessions; end users likewise. Live and replayed rows add up to the same.

-- @schema
create table return_fact (
  instance integer, kind tinyint, entity integer, event_at timestamp, prev_session_at timestamp, prev_user_at timestamp,
  weight tinyint, seq bigint
);

-- @fold
insert into return_fact
with r as (
  select instance, kind, entity, event_at, weight,
    case when prev_session_at > '-infinity' and prev_session_at < date_trunc('day', event_at) then prev_session_at end
      as prev_session_at,
    case when prev_user_at > '-infinity' and prev_user_at < date_trunc('day', event_at) then prev_user_at end
      as prev_user_at
  from fact_change where kind <> 0 or entity <> 0
)
select instance, kind, entity, event_at, prev_session_at, prev_user_at, weight, getvariable('seq')
from r where prev_session_at is not null or prev_user_at is not null
order by instance, kind, event_at;

-- @read
-- What entity_rollup counts too often over the whole days [from, to) of a range that begins at $start.
-- rows: days = return_fact equal(instance, kind) range(from, to)
select entity, case when prev_session_at >= $start then weight else 0 end as sessions,
  case when prev_user_at >= $start then weight else 0 end as users
from @days
