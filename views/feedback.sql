-- view: feedback
-- version: 1
-- after: dimensions
-- publish: feedback key(position, place) order(instance, session, position, place)
-- kept: since version 1
--
-- Which feedback did end users give, on which message, and does it hold?
--
-- Each row is one piece of feedback; position and place are its place in the stream.
-- session_id         UUID of the session that it names; session: its number, null until its first message is there
-- author             UUID of the end user who gave it, as the record says; null: whoever started the session
-- value              1: good, -1: bad, 0: takes what the author gave on the same message back
-- target_at, target  event time or position of the message that it is on. Without both, it is on the newest message of
--                    the assistant before it in the stream. Of messages of one time, the assistant's first one counts
-- message            position of that message; null while it is not there
-- holds              it is the last that its author gave on the message, and its value is not 0
-- rating             1 to 5; null: none
-- given_at           when it was accepted, UTC
-- seq                stream sequence of the batch that last wrote the row
--
-- A message shows Thumbs up while feedback of value 1 on it holds, and Thumbs down while one of value -1 does: each is
-- a fact (kind 3), once, whoever many gave it. Comments stay in the stream.
--
-- temp given_change: slots of messages that show something else after this batch (as batch_correction; entity null:
-- nothing). fresh: the message is one of the batch.
--
-- Law: message and holds follow from the messages and the feedback of the session alone, whatever came first.

-- @schema
create table feedback (
  position bigint, place integer, instance integer, session_id uuid, session integer, author uuid, value tinyint,
  target_at timestamp, target bigint, message bigint, holds boolean, rating tinyint, given_at timestamp, seq bigint
);

-- @fold
-- when: batch_feedback
insert into feedback
select b.position, b.place, b.instance, b.session_id::uuid, s.session, b.author::uuid, b.value,
  make_timestamp(b.target_at), b.target, null, false, b.rating, make_timestamp(b.given_at), getvariable('seq')
from batch_feedback b left join session s on s.instance = b.instance and s.id = b.session_id::uuid;
-- end

-- when: batch_session
update feedback set session = b.session, seq = getvariable('seq')
from batch_session b
where feedback.session is null and feedback.instance = b.instance and feedback.session_id = b.id::uuid;
-- end

-- Sessions with feedback that get a message or feedback.
-- when: batch_message, batch_feedback
create or replace temp table rated_session as
select distinct f.instance, f.session from feedback f
where f.session in (select session from batch_message)
  or f.session in (select n.session from feedback n semi join batch_feedback using (position, place));
-- end

-- when: rated_session
create or replace temp table rated as
with m as (
  select position, session, event_at, is_reply from message semi join rated_session using (session)
  union all
  select position, session, make_timestamp(event_at), is_reply = 1
  from batch_message semi join rated_session using (session)
),
f as (from feedback semi join rated_session using (session)),
meant as (
  select f.position, f.place, coalesce(min(m.position) filter (m.is_reply), min(m.position)) as message
  from f join m on m.session = f.session and m.event_at = f.target_at
  group by f.position, f.place
  union all
  select f.position, f.place, f.target
  from f join m on m.session = f.session and m.position = f.target
  where f.target_at is null
  union all
  select f.position, f.place, max(m.position)
  from f join m on m.session = f.session and m.position < f.position
  where f.target_at is null and f.target is null and m.is_reply
  group by f.position, f.place
),
authored as (
  select f.position, f.place, f.instance, f.value, t.message,
    coalesce(f.author, u.id) as author
  from f join session s using (session) left join end_user u on u.end_user = s.end_user
  left join meant t using (position, place)
)
select position, place, instance, value, message,
  message is not null and value <> 0 and row_number() over (
    partition by message, author order by position desc, place desc) = 1 as holds
from authored;

create or replace temp table given_change as
with before as (
  select distinct instance, message as position, value
  from feedback semi join rated_session using (session) where holds
),
now as (select distinct instance, message as position, value from rated where holds),
changed as (
  select *, true as there from (from now except from before)
  union all
  select *, false from (from before except from now)
)
select c.position, 3::tinyint as kind, (8 + s.signal)::tinyint as slot, case when there then s.signal end as entity,
  b.position is not null as fresh
from changed c
join signal s on s.instance = c.instance and s.source = 'GIVEN'
  and s.signal_type = case when c.value = 1 then 'SAT' else 'DSAT' end
left join batch_message b on b.position = c.position;

update feedback set message = r.message, holds = r.holds, seq = getvariable('seq')
from rated r
where feedback.position = r.position and feedback.place = r.place
  and (feedback.message is distinct from r.message or feedback.holds <> r.holds);
-- end

-- @kept
-- Messages come after it, and find it waiting.
insert into batch_feedback
select position, place, instance, session_id::varchar, author::varchar, value, epoch_us(target_at), target, rating,
  epoch_us(given_at)
from kept.feedback;
