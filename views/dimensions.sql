-- view: dimensions
-- version: 3
-- publish: instance key(instance) order(instance)
-- publish: session key(session) order(instance, session)
-- publish: end_user key(end_user) order(instance, end_user)
-- publish: micro key(instance, micro) order(instance, micro)
-- publish: topic key(instance, topic) order(instance, topic)
-- publish: cluster key(instance, cluster) order(instance, cluster)
-- publish: signal key(instance, signal) order(instance, signal)
-- publish: repeated_request key(instance, repeated_request) order(instance, repeated_request)
-- publish: gap key(instance, gap) order(instance, gap)
--
-- What is each numbered thing called, outside and in words?
--
-- Numbers stand for UUIDs inside a shard: instance, session and end_user are given out in stream order over
-- the shard, the others per instance. The newest row of a batch wins; nothing is ever taken away.
-- micro.topic         the topic that a micro-cluster belongs to; null until the topic is born
-- session.end_user    the end user who started the conversation (0: none)
-- session.external_id the caller's own name of the session, as last said (ingest metadata.session.externalId); or null
-- end_user.external_id   the caller's own name of the end user; of more than 1,024 characters the first 1,023 and an
--                     ellipsis, so that an answer stays small: id is made of all of it
-- instance.last_sequence, processed_at   the newest stream entry of the instance, and when it was applied
-- record_metadata     what callers sent along (ingest `metadata`), last write wins per member; not published
-- seq                 stream sequence of the batch that last wrote the row
--
-- temp moved_micro: micro-clusters that this batch moves, to another topic or along with their topic to another
-- cluster. What was counted for them moves too.
--
-- Law: each row is what the stream last said of its number, whatever the batches: live and replayed rows are equal
-- but for seq and processed_at.

-- @schema
create table instance (instance integer, id uuid, project uuid, last_sequence bigint, processed_at timestamp, seq bigint);
create table session (
  instance integer, session integer, id uuid, end_user integer, title varchar, summary varchar, language varchar,
  external_id varchar, seq bigint
);
create table end_user (instance integer, end_user integer, id uuid, external_id varchar, seq bigint);
create table micro (instance integer, micro integer, topic integer, seq bigint);
create table topic (instance integer, topic integer, id uuid, name varchar, cluster integer, seq bigint);
create table cluster (instance integer, cluster integer, id uuid, name varchar, seq bigint);
create table signal (instance integer, signal integer, id uuid, name varchar, signal_type varchar, description varchar, seq bigint);
create table repeated_request (instance integer, repeated_request integer, id uuid, name varchar, description varchar, seq bigint);
create table gap (instance integer, gap integer, id uuid, name varchar, description varchar, gap_type varchar, seq bigint);
create table record_metadata (instance integer, record varchar, record_key varchar, member varchar, value varchar, seq bigint);

-- @fold
-- when: batch_micro, batch_topic
create or replace temp table moved_micro as
select m.instance, m.micro
from micro m join batch_micro b using (instance, micro)
where m.topic is distinct from b.topic
union
select m.instance, m.micro
from micro m join topic t using (instance, topic) join batch_topic b using (instance, topic)
where t.cluster is distinct from b.cluster;
-- end

merge into instance t using batch_instance b on t.instance = b.instance
when matched then update set last_sequence = b.last_sequence,
  processed_at = greatest(t.processed_at, make_timestamp(b.processed_at)), seq = getvariable('seq')
when not matched then insert (instance, id, project, last_sequence, processed_at, seq)
  values (b.instance, b.id::uuid, b.project::uuid, b.last_sequence, make_timestamp(b.processed_at), getvariable('seq'));

-- when: batch_session
merge into session t using batch_session b on t.session = b.session
when matched then update set end_user = b.end_user, title = b.title, summary = b.summary, language = b.language,
  seq = getvariable('seq')
when not matched then insert (instance, session, id, end_user, title, summary, language, seq)
  values (b.instance, b.session, b.id::uuid, b.end_user, b.title, b.summary, b.language, getvariable('seq'));
-- end

-- when: batch_session_name
update session set external_id = b.external_id, seq = getvariable('seq')
from batch_session_name b where session.session = b.session and session.external_id is distinct from b.external_id;
-- end

-- when: batch_end_user
insert into end_user
select instance, end_user, id::uuid,
  case when length(external_id) > 1024 then left(external_id, 1023) || '…' else external_id end, getvariable('seq')
from batch_end_user;
-- end

-- when: batch_micro
merge into micro t using batch_micro b on t.instance = b.instance and t.micro = b.micro
when matched then update set topic = b.topic, seq = getvariable('seq')
when not matched then insert (instance, micro, topic, seq) values (b.instance, b.micro, b.topic, getvariable('seq'));
-- end

-- when: batch_topic
merge into topic t using batch_topic b on t.instance = b.instance and t.topic = b.topic
when matched then update set name = b.name, cluster = b.cluster, seq = getvariable('seq')
when not matched then insert (instance, topic, id, name, cluster, seq)
  values (b.instance, b.topic, b.id::uuid, b.name, b.cluster, getvariable('seq'));
-- end

-- when: batch_cluster
merge into cluster t using batch_cluster b on t.instance = b.instance and t.cluster = b.cluster
when matched then update set name = b.name, seq = getvariable('seq')
when not matched then insert (instance, cluster, id, name, seq)
  values (b.instance, b.cluster, b.id::uuid, b.name, getvariable('seq'));
-- end

-- when: batch_signal
merge into signal t using batch_signal b on t.instance = b.instance and t.signal = b.signal
when matched then update set name = b.name, description = b.description, seq = getvariable('seq')
when not matched then insert (instance, signal, id, name, signal_type, description, seq)
  values (b.instance, b.signal, b.id::uuid, b.name, b.signal_type, b.description, getvariable('seq'));
-- end

-- when: batch_repeated_request
merge into repeated_request t using batch_repeated_request b
on t.instance = b.instance and t.repeated_request = b.repeated_request
when matched then update set name = b.name, description = b.description, seq = getvariable('seq')
when not matched then insert (instance, repeated_request, id, name, description, seq)
  values (b.instance, b.repeated_request, b.id::uuid, b.name, b.description, getvariable('seq'));
-- end

-- when: batch_gap
merge into gap t using batch_gap b on t.instance = b.instance and t.gap = b.gap
when matched then update set name = b.name, description = b.description, seq = getvariable('seq')
when not matched then insert (instance, gap, id, name, description, gap_type, seq)
  values (b.instance, b.gap, b.id::uuid, b.name, b.description, b.gap_type, getvariable('seq'));
-- end

-- when: batch_metadata
merge into record_metadata t using batch_metadata b
on t.instance = b.instance and t.record = b.record and t.record_key = b.record_key and t.member = b.member
when matched then update set value = b.value, seq = getvariable('seq')
when not matched then insert (instance, record, record_key, member, value, seq)
  values (b.instance, b.record, b.record_key, b.member, b.value, getvariable('seq'));
-- end
