-- view: session_attribute
-- version: 1
-- after: dimensions
-- publish: session_attribute key(instance, name, session) order(instance, name, session) alive(value is not null)
--
-- Which attributes does a session have?
--
-- name    member of the session's metadata (ingest metadata.session)
-- value   what was sent last, as text (src/domain/attributes.ts); null: no short text, number or boolean any more
-- seq     stream sequence of the batch that last wrote the row
--
-- Queries choose sessions by it, and count their facts. A build from facts makes the rows of record_metadata (view
-- dimensions), so that it needs no earlier rows of this view.
--
-- Law: each row is the last value that the stream has of the member, whatever the batches.

-- @schema
create table session_attribute (instance integer, session integer, name varchar, value varchar, seq bigint);

-- @fold
-- A value that never was an attribute leaves no row.
-- when: batch_attribute
create or replace temp table attribute_change as
select instance, session, name, value from batch_attribute b
where value is not null
  or exists (from session_attribute a where a.instance = b.instance and a.name = b.name and a.session = b.session);
-- end

upsert into session_attribute from attribute_change key (instance, name, session) set (value);
