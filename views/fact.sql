-- view: fact
-- version: 8
-- after: dimensions, feedback, label
-- publish: message_fact key(fact_id) order(instance, kind, event_at, fact_id) time(event_at) alive(not gone) replaces(revised)
-- kept: since version 7 in parts of message(position)
-- carried: from version 5
--
-- Which message counts for which entity, and when did the same session and the same end user last do so?
--
-- Key: fact_id = position * 256 + slot; a message has at most one fact in each slot.
--   kind 0 all messages      slot 0       entity = end user (0: none)
--   kind 1 topic             slot 1
--   kind 2 topic cluster     slot 2
--   kind 3 signal            slot 8 + signal
--   kind 4 repeated request  slot 4
--   kind 5 gap               slot 5
--   kind 6 label             slot 32 + label
-- event_at                event time (UTC, microseconds)
-- micro             micro-cluster under discussion (null: none); its topic, and the topic's cluster, are entities
-- sat, dsat         satisfaction signals on the message whose source is INFERRED
-- wait              step of the user's wait (src/domain/waits.ts) for the message; of kinds 3 and 4 on a user's turn, for the
--                   reply before it; 0: none
-- prev_session_at   previous-occurrence link: time of the fact just before this one among the facts of the same
--                   (kind, entity, session), in the order (event_at, fact_id); -infinity when there is none
-- prev_user_at      the same for (kind, entity, end user); -infinity for kind 0 and where there is no end user
-- gone              tombstone: the fact was withdrawn (its message has no such entity any more); kept until it is
--                   compacted
--                   into the lowest segment
-- revised           the row was changed after it was first written, so it may replace one in a lower segment
-- seq               stream sequence of the batch that last wrote the row
--
-- Distinct sessions in [a, b) = facts in [a, b) whose prev_session_at < a; end users likewise.
--
-- A message can arrive late (before facts that are already there), move to another topic (its micro-cluster
-- was re-grouped), move to another cluster (its topic was), get or lose a label (its micro-cluster did), move to another
-- gap or repeated request (its own merged into that one), be corrected by a person or get feedback of an end user
-- (slot_change says what its slot is to hold; null is nothing), or get its end user later than itself (an opening turn
-- before the first user turn). Each batch therefore ends in one signed change set, temp fact_change:
-- every new or corrected fact with weight 1 and every version it replaces with weight -1. Whatever adds up
-- weight * value over fact_change is compensated for all of these cases.
--
-- Laws: a fact's row depends on the set of messages and the final assignment alone, not on batches or order;
-- but for revised and seq.

-- @schema
create table message (
  position bigint, instance integer, session integer, end_user integer, event_at timestamp, micro integer,
  sat tinyint, dsat tinyint, repeated_requests tinyint, wait smallint, is_reply boolean, seq bigint
);
create table message_fact (
  fact_id bigint, position bigint, instance integer, kind tinyint, entity integer, session integer, end_user integer,
  event_at timestamp, micro integer, sat tinyint, dsat tinyint, repeated_requests tinyint, wait utinyint,
  prev_session_at timestamp, prev_user_at timestamp, gone boolean, revised boolean, seq bigint
);
-- A chain is the facts that previous-occurrence links join. The last time of each: (kind, entity, session), and
-- (kind, entity, end user) but for kind 0.
create table session_tail (chain bigint, last_at timestamp);
create table user_tail (chain bigint, last_at timestamp);
-- A chain in one number, to look it up by one column: `who` is its session or end user, entities lie below 2^29.
create macro chain_of(kind, entity, who) as who::bigint * 4294967296 + kind::bigint * 536870912 + entity;
create macro who_of(chain) as (chain // 4294967296)::integer;
create macro kind_of(chain) as (chain // 536870912 % 8)::tinyint;
create macro entity_of(chain) as (chain % 536870912)::integer;

-- @fold
-- What slots of messages that are already counted are to hold.
-- when: batch_correction, given_change
create or replace temp table slot_change as
select position, kind, slot, entity from batch_correction
union all
select position, kind, slot, entity from given_change where not fresh;
-- end

-- Messages already counted whose facts may change.
-- when: moved_micro, relabelled_micro, merged_entity, batch_opening_author, slot_change
create or replace temp table affected_message as
select m.* from message m join moved_micro using (instance, micro)
union
select m.* from message m join relabelled_micro using (instance, micro)
union
select m.* from message m semi join (
  from message_fact f join merged_entity e using (instance, kind, entity) where not f.gone
) using (position)
union
select m.* from message m join batch_opening_author o using (instance, session)
where m.end_user = 0 and m.position < o.before_position
union
select m.* from message m semi join slot_change using (position);
-- end

-- Of these messages, the signals and repeated requests that are left.
-- when: slot_change
create or replace temp table recounted as
with o as (
  select position, kind, entity from message_fact f semi join slot_change using (position)
  where kind in (3, 4) and not gone
    and not exists (from slot_change c where f.fact_id = c.position * 256 + c.slot)
  union all
  select position, kind, entity from slot_change where entity is not null
)
select m.position, count(*) filter (s.signal_type = 'SAT') as sat, count(*) filter (s.signal_type = 'DSAT') as dsat,
  count(*) filter (o.kind = 4) as repeated_requests
from message m semi join slot_change using (position)
left join o using (position)
left join signal s on o.kind = 3 and s.instance = m.instance and s.signal = o.entity and s.source = 'INFERRED'
group by m.position;

update affected_message a set sat = r.sat, dsat = r.dsat, repeated_requests = r.repeated_requests
from recounted r where a.position = r.position;
-- end

-- Every message to be (re)placed, with its end user, topic and cluster as they are after this batch.
create or replace temp table placed as
with m as (
  select position, instance, session, end_user, make_timestamp(event_at) as event_at, micro, sat, dsat,
    repeated_requests, wait, is_reply = 1 as is_reply, true as fresh
  from batch_message
  union all
  select position, instance, session, end_user, event_at, micro, sat, dsat, repeated_requests, wait, is_reply, false
  from affected_message
)
select m.* replace (
    case when m.end_user = 0 and m.position < o.before_position then o.end_user else m.end_user end as end_user
  ),
  k.topic, t.cluster
from m left join batch_opening_author o using (instance, session)
left join micro k using (instance, micro) left join topic t using (instance, topic);

insert into message
select position, instance, session, end_user, event_at, micro, sat, dsat, repeated_requests, wait, is_reply,
  getvariable('seq')
from placed where fresh order by position;

-- Their facts, each with the chains that it is in.
create or replace temp table added as
with f as (
  select position * 256 + kind as fact_id, position, instance, kind,
    case kind when 0 then end_user when 1 then topic else cluster end as entity,
    session, end_user, event_at, micro, sat, dsat, repeated_requests, greatest(wait, 0)::utinyint as wait
  from placed, (select unnest([0, 1, 2])::tinyint as kind)
  union all
  select p.position * 256 + case when o.kind = 3 then 8 + o.entity else o.kind end, p.position, p.instance, o.kind,
    coalesce(e.heir, o.entity),
    p.session, p.end_user, p.event_at, p.micro, p.sat, p.dsat, p.repeated_requests,
    (case when o.kind in (3, 4) then abs(p.wait) else greatest(p.wait, 0) end)::utinyint
  from placed p join (
    select position, kind, entity from batch_occurrence
    union all
    select position, kind, entity from given_change where fresh
  ) o using (position)
  left join merged_entity e on e.instance = p.instance and e.kind = o.kind and e.entity = o.entity
  union all
  select p.position * 256 + 32 + l.label, p.position, p.instance, 6, l.label, p.session, p.end_user, p.event_at, p.micro,
    p.sat, p.dsat, p.repeated_requests, greatest(p.wait, 0)::utinyint
  from placed p join label_micro l using (instance, micro)
)
select *, chain_of(kind, entity, session) as session_chain,
  case when kind <> 0 and end_user <> 0 then chain_of(kind, entity, end_user) end as user_chain
from f where entity is not null;

-- Of affected messages, the facts that are no longer true are withdrawn, and added are only those that are new.
-- when: affected_message
update message set end_user = p.end_user, sat = p.sat, dsat = p.dsat, repeated_requests = p.repeated_requests,
  seq = getvariable('seq')
from placed p where not p.fresh and message.position = p.position
  and (message.end_user <> p.end_user or message.sat <> p.sat or message.dsat <> p.dsat
    or message.repeated_requests <> p.repeated_requests);

create or replace temp table stored_fact as
select f.* from message_fact f join affected_message a using (position);

insert into added
with o as (
  select s.position, s.fact_id, s.instance, s.kind, s.entity from stored_fact s
  where s.kind between 3 and 5 and not s.gone
    and not exists (from slot_change c where s.fact_id = c.position * 256 + c.slot)
  union all
  select position, position * 256 + slot, p.instance, c.kind, c.entity
  from slot_change c join placed p using (position) where not p.fresh and c.entity is not null
),
f as (
  select o.* replace (coalesce(e.heir, o.entity) as entity)
  from o left join merged_entity e using (instance, kind, entity)
)
select f.fact_id, f.position, f.instance, f.kind, f.entity, p.session, p.end_user, p.event_at, p.micro, p.sat, p.dsat,
  p.repeated_requests,
  (case when f.kind in (3, 4) then abs(p.wait) else greatest(p.wait, 0) end)::utinyint,
  chain_of(f.kind, f.entity, p.session),
  case when p.end_user <> 0 then chain_of(f.kind, f.entity, p.end_user) end
from f join placed p using (position);

create or replace temp table withdrawn as
select f.*, chain_of(f.kind, f.entity, f.session) as session_chain,
  case when f.kind <> 0 and f.end_user <> 0 then chain_of(f.kind, f.entity, f.end_user) end as user_chain
from stored_fact f left join added n using (fact_id)
where not f.gone and (n.fact_id is null or n.entity <> f.entity or n.end_user <> f.end_user
  or n.sat <> f.sat or n.dsat <> f.dsat or n.repeated_requests <> f.repeated_requests);

delete from added using stored_fact f
where added.fact_id = f.fact_id and not f.gone and added.entity = f.entity and added.end_user = f.end_user
  and added.sat = f.sat and added.dsat = f.dsat and added.repeated_requests = f.repeated_requests;
-- end

-- Chains that gain or lose a fact: from which time on, and their last time so far.
-- by 0: of a session, 1: of an end user.
create or replace temp table touched_chain as
with t as (
  select 0 as "by", session_chain as chain, event_at, false as loses from added
  union all
  select 1, user_chain, event_at, false from added where user_chain is not null
  union all
  select 0, session_chain, event_at, true from withdrawn
  union all
  select 1, user_chain, event_at, true from withdrawn where user_chain is not null
),
c as (
  select "by", chain, min(event_at) as from_at, max(event_at) filter (not loses) as added_at, bool_or(loses) as loses
  from t group by "by", chain
)
select c.*, s.last_at from c left join session_tail s using (chain) where "by" = 0
union all
select c.*, u.last_at from c left join user_tail u using (chain) where "by" = 1;

-- Only of chains whose new facts are not simply their newest, the older facts are needed.
create or replace temp table late_chain as
select *, who_of(chain) as who, kind_of(chain) as kind, entity_of(chain) as entity
from touched_chain where loses or last_at >= from_at;

-- when: late_chain
create or replace temp table late_fact as
select l."by", l.chain, f.*
from message_fact f join late_chain l
  on l."by" = 0 and f.session = l.who and f.kind = l.kind and f.entity = l.entity
where not f.gone and f.fact_id not in (select fact_id from withdrawn)
union all
select l."by", l.chain, f.*
from message_fact f join late_chain l
  on l."by" = 1 and f.end_user = l.who and f.kind = l.kind and f.entity = l.entity
where not f.gone and f.fact_id not in (select fact_id from withdrawn);
-- end

-- What each fact follows: the one before it in its chain, in the batch or among the older facts, or the chain's end.
create or replace temp table new_link as
with f as (
  select 0 as "by", session_chain as chain, fact_id, event_at from added
  union all
  select 1, user_chain, fact_id, event_at from added where user_chain is not null
  union all
  select "by", chain, fact_id, event_at from late_fact
  union all
  select "by", chain, null, last_at from touched_chain where not loses and last_at < from_at
),
linked as (
  select "by", fact_id, coalesce(
    lag(event_at) over (partition by "by", chain order by event_at, fact_id), '-infinity'::timestamp) as prev_at
  from f
)
select fact_id, max(prev_at) filter ("by" = 0) as prev_session_at, max(prev_at) filter ("by" = 1) as prev_user_at
from linked where fact_id is not null group by fact_id;

create or replace temp table fact_change as
select 1 as weight, a.* exclude (session_chain, user_chain), n.prev_session_at,
  coalesce(n.prev_user_at, '-infinity'::timestamp) as prev_user_at
from added a join new_link n using (fact_id);

insert into message_fact
select fact_id, position, instance, kind, entity, session, end_user, event_at, micro, sat, dsat, repeated_requests,
  wait, prev_session_at, prev_user_at, false, false, getvariable('seq')
from fact_change where fact_id not in (select fact_id from stored_fact)
order by event_at, fact_id;

-- Facts that stay but now follow another one.
-- when: late_chain
create or replace temp table relinked as
with late as (select distinct on (fact_id) * exclude ("by", chain) from late_fact)
select l.*, coalesce(n.prev_session_at, l.prev_session_at) as new_prev_session_at,
  coalesce(n.prev_user_at, l.prev_user_at) as new_prev_user_at
from late l join new_link n using (fact_id)
where coalesce(n.prev_session_at, l.prev_session_at) <> l.prev_session_at
   or coalesce(n.prev_user_at, l.prev_user_at) <> l.prev_user_at;
-- end

-- when: withdrawn, relinked
insert into fact_change
select -1, fact_id, position, instance, kind, entity, session, end_user, event_at, micro, sat, dsat, repeated_requests,
  wait, prev_session_at, prev_user_at from withdrawn
union all
select -1, fact_id, position, instance, kind, entity, session, end_user, event_at, micro, sat, dsat, repeated_requests,
  wait, prev_session_at, prev_user_at from relinked
union all
select 1, fact_id, position, instance, kind, entity, session, end_user, event_at, micro, sat, dsat, repeated_requests,
  wait, new_prev_session_at, new_prev_user_at from relinked;

update message_fact set gone = true, revised = true, seq = getvariable('seq')
from withdrawn w where message_fact.fact_id = w.fact_id;
-- end

-- when: stored_fact, relinked
update message_fact set entity = c.entity, end_user = c.end_user, sat = c.sat, dsat = c.dsat,
  repeated_requests = c.repeated_requests,
  prev_session_at = c.prev_session_at, prev_user_at = c.prev_user_at, gone = false, revised = true,
  seq = getvariable('seq')
from fact_change c where c.weight = 1 and message_fact.fact_id = c.fact_id
  and c.fact_id in (select fact_id from relinked union all select fact_id from stored_fact);
-- end

-- A chain that lost a fact ends with the last of those that are left.
-- when: withdrawn
update touched_chain set last_at = (
  select max(f.event_at) from late_fact f where f."by" = touched_chain."by" and f.chain = touched_chain.chain
)
where loses;
-- end

merge into session_tail t
using (select chain, greatest(last_at, added_at) as last_at from touched_chain where "by" = 0) n on t.chain = n.chain
when matched and n.last_at is null then delete
when matched then update set last_at = n.last_at
when not matched and n.last_at is not null then insert (chain, last_at) values (n.chain, n.last_at);

merge into user_tail t
using (select chain, greatest(last_at, added_at) as last_at from touched_chain where "by" = 1) n on t.chain = n.chain
when matched and n.last_at is null then delete
when matched then update set last_at = n.last_at
when not matched and n.last_at is not null then insert (chain, last_at) values (n.chain, n.last_at);

-- @read
-- The facts of [start, end), message by message.
-- rows: facts = message_fact equal(instance, kind) range(start, end)
select position, entity, session, end_user, event_at, sat, dsat, repeated_requests, wait, prev_session_at, prev_user_at
from @facts where not gone

-- @kept
-- End users and heirs are those of the end, so nothing is placed twice. What end users gave follows from view feedback.
insert into batch_message
select position, instance, session, end_user, epoch_us(event_at), micro, sat, dsat, repeated_requests, wait,
  is_reply::integer
from kept.message where position between getvariable('part_from') and getvariable('part_to');
insert into batch_occurrence
select f.position, f.kind, f.entity from kept.message_fact f
anti join kept.signal s on f.kind = 3 and s.instance = f.instance and s.signal = f.entity and s.source = 'GIVEN'
where f.kind between 3 and 5 and not f.gone and f.position between getvariable('part_from') and getvariable('part_to');

-- @carried
-- Who said a message was not kept. Only a reply that answers somebody was waited for.
alter table message add column if not exists is_reply boolean;
update message set is_reply = wait > 0 where is_reply is null;
