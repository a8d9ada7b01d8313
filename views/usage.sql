-- view: usage
-- version: 1
-- publish: message_usage key(position) order(instance, event_at, position) time(event_at)
-- kept: since version 1
--
-- How many tokens did a message take, and what did it cost?
--
-- input_tokens, output_tokens   null: not said
-- cost_nanos                    billionths of a US dollar; null: not said
-- seq                           stream sequence of the batch that last wrote the row
--
-- Only messages of which something is said have a row. Queries join it with facts by position, so what moves to another
-- topic takes its usage along.
--
-- Law: each row is what the stream says of the message, whatever the batches.

-- @schema
create table message_usage (
  position bigint, instance integer, session integer, event_at timestamp, input_tokens bigint, output_tokens bigint,
  cost_nanos bigint, seq bigint
);

-- @fold
-- when: batch_usage
insert into message_usage
select position, instance, session, make_timestamp(event_at), input_tokens, output_tokens, cost_nanos,
  getvariable('seq')
from batch_usage order by position;
-- end

-- @kept
insert into batch_usage
select position, instance, session, epoch_us(event_at), input_tokens, output_tokens, cost_nanos
from kept.message_usage;
