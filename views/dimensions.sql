-- view: dimensions
-- version: 10
-- publish: instance key(instance) order(instance)
-- publish: session key(session) order(instance, session)
-- publish: end_user key(end_user) order(instance, end_user)
-- publish: micro key(instance, micro) order(instance, micro)
-- publish: topic key(instance, topic) order(instance, topic)
-- publish: cluster key(instance, cluster) order(instance, cluster)
-- publish: signal key(instance, signal) order(instance, signal)
-- publish: repeated_request key(instance, repeated_request) order(instance, repeated_request)
-- publish: gap key(instance, gap) order(instance, gap)
-- publish: curation key(instance, curation) order(instance, curation)
-- publish: record_metadata key(instance, record, record_key, member) order(instance, record, record_key, member)
-- kept: since version 10
-- carried: from version 8
--
-- What is each numbered thing called, outside and in words?
--
-- Numbers stand for UUIDs inside a shard: instance, session and end_user are given out in stream order over
-- the shard, the others per instance. The newest row of a batch wins; nothing is ever taken away.
-- micro.topic         the topic that a micro-cluster belongs to; null until the topic is born
-- heir                of a topic, gap or repeated request: the one that it merged into; null while it lives. Filters that
--                     name it mean the heir. The heir of a gap or repeated request always lives
-- since               the message position at which it merged; null while it lives
-- is_own, description of a topic: a person made it, and what they wrote about it
-- is_hidden           of a topic: what it holds counts as without a topic
-- is_named            of a topic, cluster or gap: a person gave or pinned its name
-- signal.source       INFERRED from the text of a message, GIVEN by an end user (view feedback), or OBSERVED in what the
--                     assistant does
-- curation            what people decided, numbered in stream order: what (action), of which entity, with which other
--                     members (detail: JSON), why it changes nothing (refused), and which curation undid it
-- session.end_user    the end user who started the conversation (0: none)
-- session.outcome     how it ended so far (src/domain/session-outcomes.ts), as a person said or else as it was found;
--                     null: the user has asked for nothing yet
-- session.unanswered  it ends so far before a wish of the user is answered
-- session.external_id the caller's own name of the session, as last said (ingest metadata.session.externalId); or null
-- end_user.external_id   the caller's own name of the end user; of more than 1,024 characters the first 1,023 and an
--                     ellipsis, so that an answer stays small: id is made of all of it
-- instance.last_sequence, processed_at   the newest stream entry of the instance, and when it was applied
-- record_metadata     what callers sent along (ingest `metadata`), last write wins per member: value is JSON
-- seq                 stream sequence of the batch that last wrote the row
--
-- temp moved_micro: micro-clusters that this batch moves, to another topic or along with their topic to another
-- cluster. What was counted for them moves too.
-- temp merged_entity: gaps and repeated requests (kinds as in view fact) that this batch merges into others. What was
-- counted for them counts for their heirs.
--
-- Law: each row is what the stream last said of its number, whatever the batches: live and replayed rows are equal
-- but for seq and processed_at.

-- @schema
create table instance (
  instance integer, id uuid, project uuid, last_sequence bigint, processed_at timestamp, seq bigint
);
create table session (
  instance integer, session integer, id uuid, end_user integer, title varchar, summary varchar, language varchar,
  outcome varchar, unanswered boolean, external_id varchar, seq bigint
);
create table end_user (instance integer, end_user integer, id uuid, external_id varchar, seq bigint);
create table micro (instance integer, micro integer, topic integer, seq bigint);
create table topic (
  instance integer, topic integer, id uuid, name varchar, cluster integer, heir integer,
  since bigint, description varchar, is_own boolean, is_hidden boolean, is_named boolean, seq bigint
);
create table cluster (instance integer, cluster integer, id uuid, name varchar, is_named boolean, seq bigint);
create table signal (
  instance integer, signal integer, id uuid, name varchar, signal_type varchar, source varchar,
  description varchar, seq bigint
);
create table repeated_request (
  instance integer, repeated_request integer, id uuid, name varchar, description varchar, heir integer,
  since bigint, seq bigint
);
create table gap (
  instance integer, gap integer, id uuid, name varchar, description varchar, gap_type varchar, heir integer,
  since bigint, is_named boolean, seq bigint
);
create table curation (
  instance integer, curation integer, id uuid, position bigint, created_at timestamp, key_id varchar, action varchar,
  entity varchar, entity_id uuid, detail varchar, refused varchar, undone_by uuid, seq bigint
);
create table record_metadata (
  instance integer, record varchar, record_key varchar, member varchar, value varchar, seq bigint
);

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

-- when: batch_repeated_request, batch_gap
create or replace temp table merged_entity as
select b.instance, 4::tinyint as kind, b.repeated_request as entity, b.heir
from batch_repeated_request b left join repeated_request r using (instance, repeated_request)
where b.heir is not null and r.heir is distinct from b.heir
union all
select b.instance, 5::tinyint, b.gap, b.heir
from batch_gap b left join gap g using (instance, gap)
where b.heir is not null and g.heir is distinct from b.heir;
-- end

upsert into instance from (
  select instance, id, project, last_sequence, make_timestamp(processed_at) as processed_at from batch_instance
) key (instance) once (id, project) set (last_sequence) greatest (processed_at);

upsert into session from batch_session key (session) once (instance, id)
  set (end_user, title, summary, language, outcome, unanswered);

-- when: batch_session_name
update session set external_id = b.external_id, seq = getvariable('seq')
from batch_session_name b where session.session = b.session and session.external_id is distinct from b.external_id;
-- end

-- when: batch_outcome
update session set outcome = b.outcome, seq = getvariable('seq')
from batch_outcome b where session.session = b.session and session.outcome is distinct from b.outcome;
-- end

-- when: batch_end_user
insert into end_user
select instance, end_user, id::uuid,
  case when length(external_id) > 1024 then left(external_id, 1023) || '…' else external_id end, getvariable('seq')
from batch_end_user;
-- end

upsert into micro from batch_micro key (instance, micro) set (topic);
upsert into topic from batch_topic key (instance, topic) once (id, is_own)
  set (name, cluster, heir, since, description, is_hidden, is_named);
upsert into cluster from batch_cluster key (instance, cluster) once (id) set (name, is_named);
upsert into signal from batch_signal key (instance, signal) once (id, signal_type, source) set (name, description);
upsert into repeated_request from batch_repeated_request
  key (instance, repeated_request) once (id) set (name, description, heir, since);
upsert into gap from batch_gap key (instance, gap) once (id, gap_type) set (name, description, heir, since, is_named);
-- when: batch_curation
upsert into curation from (
  select * exclude (created_at), make_timestamp(created_at) as created_at from batch_curation
) key (instance, curation) once (id, position, created_at, key_id, action, entity, entity_id, detail, refused)
  set (undone_by);
-- end

upsert into record_metadata from batch_metadata key (instance, record, record_key, member) set (value);

-- @kept
insert into batch_instance
select instance, id::varchar, project::varchar, last_sequence, epoch_us(processed_at) from kept.instance;
insert into batch_session
select instance, session, id::varchar, end_user, title, summary, language, outcome, unanswered::integer
from kept.session;
insert into batch_session_name select session, external_id from kept.session where external_id is not null;
insert into batch_end_user select instance, end_user, id::varchar, external_id from kept.end_user;
insert into batch_micro select instance, micro, topic from kept.micro;
insert into batch_topic
select instance, topic, id::varchar, name, cluster, heir, since, description, is_own::integer, is_hidden::integer,
  is_named::integer
from kept.topic;
insert into batch_cluster select instance, cluster, id::varchar, name, is_named::integer from kept.cluster;
insert into batch_signal
select instance, signal, id::varchar, name, signal_type, source, description from kept.signal;
insert into batch_repeated_request
select instance, repeated_request, id::varchar, name, description, heir, since from kept.repeated_request;
insert into batch_gap
select instance, gap, id::varchar, name, description, gap_type, heir, since, is_named::integer from kept.gap;
insert into batch_curation
select instance, curation, id::varchar, position, epoch_us(created_at), key_id, action, entity, entity_id::varchar,
  detail, refused, undone_by::varchar
from kept.curation;
insert into batch_metadata select instance, record, record_key, member, value from kept.record_metadata;
-- Attributes as src/domain/attributes.ts finds them: lengths are in UTF-16 units, and a text of a lone half of a
-- surrogate pair is no valid JSON here.
insert into batch_attribute
with member as (
  select s.instance, s.session, m.member as name, m.value as json
  from kept.record_metadata m join kept.session s on s.instance = m.instance and s.id::varchar = m.record_key
  where m.record = 'session' and m.member not in ('', 'externalId', '__proto__')
), sent as (
  select instance, session, name, case
    when json in ('true', 'false') or regexp_matches(json, '^-?[0-9]') then json
    when starts_with(json, '"') and json_valid(json) then regexp_replace(
      nfc_normalize(json_extract_string(case when json_valid(json) then json end, '$')),
      '^[\s\x0B\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+|' ||
      '[\s\x0B\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+$', '', 'g')
    end as value
  from member
)
select instance, session, name, value from sent
where value <> '' and not regexp_matches(name || value, '\p{Cc}')
  and length(name) + length(regexp_replace(name, '[^\x{10000}-\x{10FFFF}]', '', 'g')) <= 100
  and length(value) + length(regexp_replace(value, '[^\x{10000}-\x{10FFFF}]', '', 'g')) <= 200;

-- @carried
-- Nobody could give feedback.
alter table signal add column if not exists source varchar default 'INFERRED';
-- Nobody knew who waited.
alter table session add column if not exists unanswered boolean default false;
