import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { observed } from '../../../support/observed.ts';

const INSTANCE = '0b8f3c1e-6c1c-4a53-9d0d-2f4f4d3f7a10';

function ids(...given: Parameters<typeof observed>): unknown {
  const { conversationId, userId, instanceId } = observed(...given);
  return [conversationId, userId, instanceId];
}

describe('ids', () => {
  it('takes the most telling name', () => {
    deepEqual(ids({ thread_id: 'c', 'session.id': 'b', 'gen_ai.conversation.id': 'a' }), [
      'a',
      undefined,
      undefined,
    ]);
    deepEqual(ids({ thread_id: 'c', 'ai.telemetry.metadata.chatId': 'b' }), ['b', undefined, undefined]);
    deepEqual(ids({ 'enduser.id': 'b', 'user.id': 'a' }), [undefined, 'a', undefined]);
  });

  it('takes those of the span before those of its resource', () => {
    const process = { 'session.id': 'of the process', 'user.id': 'anna', 'undertone.instance.id': INSTANCE };
    deepEqual(ids({ thread_id: 'of the span' }, { process }), ['of the span', 'anna', INSTANCE]);
  });

  it('takes numbers, and nothing that is empty', () => {
    deepEqual(ids({ 'gen_ai.conversation.id': ' ', 'session.id': 17, 'user.id': '' }), [
      '17',
      undefined,
      undefined,
    ]);
  });

  it('takes ids in metadata that is JSON', () => {
    deepEqual(ids({ metadata: '{"session_id": "order 17", "user_id": "anna", "n": {"a": 1}}' }), [
      'order 17',
      'anna',
      undefined,
    ]);
    deepEqual(ids({ metadata: '{"session_id": ' }), [undefined, undefined, undefined]);
  });

  it('takes the end user of a request from its parameters in JSON, if no attribute of the span names one', () => {
    const user = (parameters: string, more: Parameters<typeof observed>[0] = {}): unknown =>
      observed(
        { 'llm.invocation_parameters': parameters, ...more },
        { process: { 'enduser.id': 'of the process' } },
      ).userId;
    equal(user('{"model": "small", "user": "anna"}'), 'anna');
    equal(user('{"metadata": {"user_id": "ben"}}'), 'ben');
    equal(user('{"user": "anna", "metadata": {"user_id": "ben"}}'), 'anna');
    equal(user('{"user": " ", "metadata": {"user_id": 17}}'), '17');
    equal(user('{"user": "anna"}', { 'llm.user': 'clara' }), 'clara');
    for (const none of ['{"user": {"name": "anna"}, "metadata": "anna"}', '{"user": "an', '[]', ''])
      equal(user(none), 'of the process');
  });

  it('takes an instance only if it is a UUID, in lower case', () => {
    deepEqual(ids({ 'undertone.instance.id': INSTANCE.toUpperCase() }), [undefined, undefined, INSTANCE]);
    deepEqual(ids({ 'undertone.instance.id': 'shop' }), [undefined, undefined, undefined]);
  });

  it('takes no text for an id that is longer than any id', () => {
    deepEqual(ids({ 'session.id': 'x'.repeat(1025), thread_id: 'y'.repeat(1024) }), [
      'y'.repeat(1024),
      undefined,
      undefined,
    ]);
  });

  it('does not take the thread of the operating system for a conversation', () => {
    deepEqual(ids({ 'thread.id': 7, 'thread.name': 'main' }), [undefined, undefined, undefined]);
  });
});
