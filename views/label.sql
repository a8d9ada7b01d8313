-- view: label
-- version: 1
-- publish: label key(instance, label) order(instance, label)
-- kept: since version 1
--
-- Which labels did people make, and which micro-clusters have them?
--
-- label             numbered per instance, from 0, in the order in which they were made
-- label.is_gone     its making was undone; it holds no micro-cluster, and its name is free again
-- label_micro       messages of the micro-cluster have the label
-- seq               stream sequence of the batch that last wrote the row
--
-- temp relabelled_micro: micro-clusters that this batch gives a label, or takes one from.
--
-- Law: each row is what the stream last said of its number, whatever the batches: live and replayed rows are equal
-- but for seq.

-- @schema
create table label (
  instance integer, label integer, id uuid, name varchar, description varchar, is_gone boolean, seq bigint
);
create table label_micro (instance integer, label integer, micro integer, seq bigint);

-- @fold
-- when: batch_label_micro
create or replace temp table relabelled_micro as
select distinct b.instance, b.micro
from batch_label_micro b left join label_micro l using (instance, label, micro)
where (l.micro is not null) <> (b.holds = 1);

delete from label_micro using batch_label_micro b
where b.holds = 0 and label_micro.instance = b.instance and label_micro.label = b.label
  and label_micro.micro = b.micro;

insert into label_micro
select instance, label, micro, getvariable('seq') from batch_label_micro b
where holds = 1 and not exists (
  from label_micro l where l.instance = b.instance and l.label = b.label and l.micro = b.micro);
-- end

upsert into label from batch_label key (instance, label) once (id) set (name, description, is_gone);

-- @kept
insert into batch_label
select instance, label, id::varchar, name, description, is_gone::integer from kept.label;
insert into batch_label_micro select instance, label, micro, 1 from kept.label_micro;
