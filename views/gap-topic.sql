-- view: gap_topic
-- version: 1
-- after: fact
-- publish: gap_micro key(instance, gap, micro) order(instance, gap, micro) alive(occurrences > 0)
--
-- Which topics does a gap concern?
--
-- gap          gap number
-- micro        micro-cluster under discussion when the gap occurred; table micro names its topic
-- occurrences  how often
-- seq          stream sequence of the batch that last wrote the row
--
-- Kept by micro-cluster, so a topic that is re-grouped takes its gaps along without a change here.
--
-- Law: each row equals a plain count over the gap facts.

-- @schema
create table gap_micro (instance integer, gap integer, micro integer, occurrences integer, seq bigint);

-- @fold
create or replace temp table gap_micro_change as
select instance, entity as gap, micro, sum(weight)::integer as occurrences
from fact_change where kind = 5 and micro is not null group by all having sum(weight) <> 0;

upsert into gap_micro from gap_micro_change key (instance, gap, micro) add (occurrences);
