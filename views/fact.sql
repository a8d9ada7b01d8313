-- view: fact
-- version: 2
-- publish: message_fact key(fact_id) order(instance, kind, event_at, fact_id) time(event_at) alive(not gone) replaces(revised)
--
-- Which message counts for which entity, and when did the same session and the same end user last do so?
--
-- Key: fact_id = position * 32 + slot; a message has at most one fact in each slot.
--   kind 0 all messages      slot 0       entity = end user (0: none)
--   kind 1 topic             slot 1
--   kind 2 topic cluster     slot 2
--   kind 3 signal            slot 8 + signal
--   kind 4 repeated request  slot 4
--   kind 5 gap               slot 5
-- event_at                event time (UTC, microseconds)
-- micro             micro-cluster under discussion (null: none); its topic, and the topic's cluster, are entities
-- sat, dsat         satisfaction signals on the message
-- prev_session_at   time of the fact just before this one among the facts of the same (kind, entity, session),
--                   in the order (event_at, fact_id); -infinity when there is none
-- prev_user_at      the same for (kind, entity, end user); -infinity for kind 0 and where there is no end user
-- gone              the fact was withdrawn (its message has no such entity any more); kept until a merge into the lowest level
-- revised           the row was changed after it was first written, so it may replace one in a lower level
-- seq               stream sequence of the batch that last wrote the row
--
-- Distinct sessions in [a, b) = facts in [a, b) whose prev_session_at < a; end users likewise.
--
-- A message can arrive late (before facts that are already there), move to another topic (its micro-cluster
-- was re-grouped), move to another cluster (its topic was), or get its end user later than itself (an opening
-- turn before the first user turn). Each batch therefore ends in one signed change set, temp fact_change:
-- every new or corrected fact with weight 1 and every version it replaces with weight -1. Whatever adds up
-- weight * value over fact_change is compensated for all of these cases.
--
-- Laws: a fact's row depends on the set of messages and the final assignment alone, not on batches or order;
-- but for revised and seq.

-- @schema
create table message (
  position bigint, instance integer, session integer, end_user integer, event_at timestamp, micro integer,
  sat tinyint, dsat tinyint, repeated_requests tinyint, seq bigint
);
create table message_fact (
  fact_id bigint, position bigint, instance integer, kind tinyint, entity integer, session integer, end_user integer,
  event_at timestamp, micro integer, sat tinyint, dsat tinyint, repeated_requests tinyint,
  prev_session_at timestamp, prev_user_at timestamp, gone boolean, revised boolean, seq bigint
);
-- The last time of each chain: by 0 = (kind, entity, session), by 1 = (kind, entity, end user).
create table chain_tail (instance integer, kind tinyint, "by" tinyint, entity integer, who integer, last_at timestamp);

-- @fold
-- Micro-clusters that move: to another topic, or along with their topic to another cluster.
create or replace temp table moved_micro as
select m.instance, m.micro
from micro m join batch_micro b using (instance, micro)
where m.topic is distinct from b.topic
union
select m.instance, m.micro
from micro m join topic t using (instance, topic) join batch_topic b using (instance, topic)
where t.cluster is distinct from b.cluster;

-- Messages already counted whose facts may change.
create or replace temp table affected_message as
select m.* from message m join moved_micro using (instance, micro)
union
select m.* from message m join batch_opening_author o using (instance, session)
where m.end_user = 0 and m.position < o.before_position;

-- Every message to be (re)placed, with its end user, topic and cluster as they are after this batch.
create or replace temp table placed as
with m as (
  select position, instance, session, end_user, make_timestamp(event_at) as event_at, micro, sat, dsat, repeated_requests, true as fresh
  from batch_message
  union all
  select position, instance, session, end_user, event_at, micro, sat, dsat, repeated_requests, false from affected_message
),
owned as (
  select m.* replace (case when m.end_user = 0 and m.position < o.before_position then o.end_user else m.end_user end as end_user)
  from m left join batch_opening_author o using (instance, session)
),
wanted as (select distinct instance, micro from m where micro is not null),
new_micro as (
  select instance, micro, topic from batch_micro
  union all
  select k.instance, k.micro, k.topic from micro k join wanted using (instance, micro) anti join batch_micro using (instance, micro)
),
new_topic as (
  select instance, topic, cluster from batch_topic
  union all
  select t.instance, t.topic, t.cluster from topic t anti join batch_topic using (instance, topic)
)
select m.*, n.topic, t.cluster
from owned m left join new_micro n using (instance, micro) left join new_topic t using (instance, topic);

insert into message
select position, instance, session, end_user, event_at, micro, sat, dsat, repeated_requests, getvariable('seq')
from placed where fresh order by position;

update message set end_user = p.end_user, seq = getvariable('seq')
from placed p where not p.fresh and message.position = p.position and message.end_user <> p.end_user;

create or replace temp table new_fact as
select position * 32 as fact_id, position, instance, 0::tinyint as kind, end_user as entity, session, end_user, event_at, micro,
  sat, dsat, repeated_requests from placed
union all
select position * 32 + 1, position, instance, 1, topic, session, end_user, event_at, micro, sat, dsat, repeated_requests
from placed where topic is not null
union all
select position * 32 + 2, position, instance, 2, cluster, session, end_user, event_at, micro, sat, dsat, repeated_requests
from placed where cluster is not null
union all
select p.position * 32 + case when o.kind = 3 then 8 + o.entity else o.kind end, p.position, p.instance, o.kind, o.entity,
  p.session, p.end_user, p.event_at, p.micro, p.sat, p.dsat, p.repeated_requests
from placed p join batch_occurrence o using (position)
union all
select f.fact_id, f.position, f.instance, f.kind, f.entity, f.session, p.end_user, f.event_at, f.micro, f.sat, f.dsat, f.repeated_requests
from message_fact f join placed p using (position)
where f.kind >= 3 and not f.gone and not p.fresh;

-- What message_fact holds of the affected messages, withdrawn facts among it.
create or replace temp table stored_fact as
select f.* from message_fact f join affected_message a using (position);

create or replace temp table replaced_fact as from stored_fact where not gone;

create or replace temp table withdrawn as
select f.* from replaced_fact f left join new_fact n using (fact_id)
where n.fact_id is null or n.entity <> f.entity or n.end_user <> f.end_user;

create or replace temp table added as
select n.* from new_fact n left join replaced_fact f using (fact_id)
where f.fact_id is null or n.entity <> f.entity or n.end_user <> f.end_user;

-- Chains that gain or lose a fact, from the first changed time on.
create or replace temp table touched_chain as
with t as (
  select instance, kind, entity, session, end_user, event_at, false as loses from added
  union all
  select instance, kind, entity, session, end_user, event_at, true from withdrawn
)
select instance, kind, 0::tinyint as "by", entity, session as who, min(event_at) as from_at, bool_or(loses) as loses from t group by all
union all
select instance, kind, 1, entity, end_user, min(event_at), bool_or(loses) from t where end_user <> 0 and kind <> 0 group by all;

create or replace temp table touched_tail as
select c.*, t.last_at
from touched_chain c left join chain_tail t
  on t.instance = c.instance and t.kind = c.kind and t."by" = c."by" and t.entity = c.entity and t.who = c.who;

-- Only chains whose new facts are not simply their newest need a look at older facts.
create or replace temp table late_chain as select * from touched_tail where loses or last_at >= from_at;

create or replace temp table late_fact as
select l."by", l.who, l.from_at, f.*
from message_fact f join late_chain l
  on l."by" = 0 and f.instance = l.instance and f.kind = l.kind and f.entity = l.entity and f.session = l.who
where not f.gone and f.fact_id not in (select fact_id from withdrawn)
union all
select l."by", l.who, l.from_at, f.*
from message_fact f join late_chain l
  on l."by" = 1 and f.instance = l.instance and f.kind = l.kind and f.entity = l.entity and f.end_user = l.who
where not f.gone and f.fact_id not in (select fact_id from withdrawn);

-- Where each touched chain stands just before its first changed time.
create or replace temp table chain_start as
select instance, kind, "by", entity, who, last_at from touched_tail where last_at is not null and not loses and last_at < from_at
union all
select instance, kind, "by", entity, who, max(event_at) from late_fact where event_at < from_at group by all;

create or replace temp table linked as
with f as (
  select instance, kind, "by", entity, who, fact_id, event_at from late_fact where event_at >= from_at
  union all
  select instance, kind, 0, entity, session, fact_id, event_at from added
  union all
  select instance, kind, 1, entity, end_user, fact_id, event_at from added where end_user <> 0 and kind <> 0
)
select f.*, coalesce(lag(f.event_at) over chain, s.last_at, '-infinity'::timestamp) as prev_at
from f left join chain_start s
  on s.instance = f.instance and s.kind = f.kind and s."by" = f."by" and s.entity = f.entity and s.who = f.who
window chain as (partition by f.instance, f.kind, f."by", f.entity, f.who order by f.event_at, f.fact_id);

create or replace temp table new_link as
select fact_id, max(prev_at) filter ("by" = 0) as prev_session_at, max(prev_at) filter ("by" = 1) as prev_user_at
from linked group by fact_id;

-- Facts that stay but now follow another one.
create or replace temp table relinked as
with late as (select distinct on (fact_id) * exclude ("by", who, from_at) from late_fact)
select l.*, coalesce(n.prev_session_at, l.prev_session_at) as new_prev_session_at,
  coalesce(n.prev_user_at, l.prev_user_at) as new_prev_user_at
from late l join new_link n using (fact_id)
where coalesce(n.prev_session_at, l.prev_session_at) <> l.prev_session_at
   or coalesce(n.prev_user_at, l.prev_user_at) <> l.prev_user_at;

create or replace temp table fact_change as
select -1 as weight, fact_id, position, instance, kind, entity, session, end_user, event_at, micro, sat, dsat, repeated_requests,
  prev_session_at, prev_user_at from withdrawn
union all
select -1, fact_id, position, instance, kind, entity, session, end_user, event_at, micro, sat, dsat, repeated_requests,
  prev_session_at, prev_user_at from relinked
union all
select 1, fact_id, position, instance, kind, entity, session, end_user, event_at, micro, sat, dsat, repeated_requests,
  new_prev_session_at, new_prev_user_at from relinked
union all
select 1, a.fact_id, a.position, a.instance, a.kind, a.entity, a.session, a.end_user, a.event_at, a.micro, a.sat, a.dsat,
  a.repeated_requests, n.prev_session_at, coalesce(n.prev_user_at, '-infinity'::timestamp)
from added a join new_link n using (fact_id);

update message_fact set entity = c.entity, end_user = c.end_user,
  prev_session_at = c.prev_session_at, prev_user_at = c.prev_user_at, gone = false, revised = true, seq = getvariable('seq')
from fact_change c where c.weight = 1 and message_fact.fact_id = c.fact_id
  and c.fact_id in (select fact_id from relinked union all select fact_id from stored_fact);

update message_fact set gone = true, revised = true, seq = getvariable('seq')
from withdrawn w where message_fact.fact_id = w.fact_id and w.fact_id not in (select fact_id from added);

insert into message_fact
select fact_id, position, instance, kind, entity, session, end_user, event_at, micro, sat, dsat, repeated_requests,
  prev_session_at, prev_user_at, false, false, getvariable('seq')
from fact_change c
where weight = 1 and fact_id not in (select fact_id from relinked union all select fact_id from stored_fact)
order by event_at, fact_id;

create or replace temp table new_tail as
select c.instance, c.kind, c."by", c.entity, c.who, coalesce(max(l.event_at), any_value(s.last_at)) as last_at
from touched_chain c
left join linked l on l.instance = c.instance and l.kind = c.kind and l."by" = c."by" and l.entity = c.entity and l.who = c.who
left join chain_start s on s.instance = c.instance and s.kind = c.kind and s."by" = c."by" and s.entity = c.entity and s.who = c.who
group by all;

merge into chain_tail t using new_tail n
on t.instance = n.instance and t.kind = n.kind and t."by" = n."by" and t.entity = n.entity and t.who = n.who
when matched and n.last_at is null then delete
when matched then update set last_at = n.last_at
when not matched and n.last_at is not null then insert (instance, kind, "by", entity, who, last_at)
  values (n.instance, n.kind, n."by", n.entity, n.who, n.last_at);

-- @read
-- The facts of [$start, $end), message by message.
select entity, session, end_user, event_at, sat, dsat, repeated_requests, prev_session_at, prev_user_at
from @message_fact[instance = $instance and kind = $kind and event_at >= $start and event_at < $end]
where not gone
