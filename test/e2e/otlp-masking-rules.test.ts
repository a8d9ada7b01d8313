/** Personal data in spans, on a real service: what waits in the stream of traces, and what becomes of it. */
import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { jetstreamManager } from '@nats-io/jetstream';
import { v5 } from 'uuid';
import type { Masking } from '../../src/domain/masking.ts';
import { openConnection, type StreamConnection } from '../../src/stream/connection.ts';
import { decodePayload } from '../../src/stream/log/codec.ts';
import { Client } from '../support/client.ts';
import { exportRequest, type SpanDraft } from '../support/otlp.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

const START = Date.parse('2026-02-03T09:00:00Z');
const MAIL = 'dorothy.pemberton@example.com';
const PHONE = '0171 5550199';
const CARD = '4111 1111 1111 1111';
const PLANTED = [MAIL, PHONE, CARD, 'dorothy.pemberton', '5550199', '4111'];
const ON: Masking = { texts: true, userIds: 'asSent' };
const ALL: Masking = { texts: true, userIds: 'digest' };
const OFF: Masking = { texts: false, userIds: 'asSent' };
const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;

const QUESTION = user(`Write to ${MAIL} or call ${PHONE}, please`);
const ANSWER = assistant(`I wrote to ${MAIL} about the card ${CARD}.`);

describe('masking of spans', () => {
  let service: TestService;
  let project: TestProject;
  let client: Client;
  let connection: StreamConnection;
  let traces = 0;

  before(async () => {
    service = await shareTestService();
    connection = await openConnection({ ...service.nats.address, name: 'test' });
    project = await service.newProject();
    client = new Client(service.url, project.key);
  });
  after(async () => {
    await connection?.close();
    await service?.stop();
  });

  async function mask(instanceId: string, masking: Masking): Promise<void> {
    const { status } = await client.send(`/v1/instances/${instanceId}/masking`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(masking),
    });
    equal(status, 200);
  }

  async function instanceWith(masking: Masking): Promise<string> {
    const instanceId = await service.newInstance(project);
    if (masking !== OFF) await mask(instanceId, masking);
    return instanceId;
  }

  async function send(drafts: readonly SpanDraft[], instanceId?: string, key = client.key): Promise<void> {
    const { headers, ...request } = exportRequest(drafts);
    const response = await fetch(`${service.url}/v1/traces`, {
      ...request,
      headers: {
        ...(headers as Record<string, string>),
        'x-api-key': key,
        ...(instanceId === undefined ? {} : { 'x-instance-id': instanceId }),
      },
    });
    equal(response.status, 200, await response.text());
  }

  /** A trace of a call and an agent. The call waits until the agent comes. */
  function trace(
    call: Partial<SpanDraft>,
    agent: Partial<SpanDraft> = {},
  ): [call: SpanDraft, agent: SpanDraft] {
    traces += 1;
    const name = `trace ${traces}`;
    const startedAt = START + traces * 60_000;
    const times = { trace: name, startedAt, endedAt: startedAt + 1000 };
    return [
      {
        ...times,
        span: `${name} call`,
        parent: `${name} agent`,
        operation: 'chat',
        asked: [QUESTION],
        ...call,
      },
      { ...times, span: `${name} agent`, ...agent },
    ];
  }

  /** What the entries of a stream of NATS hold, inflated, one on a line. `after`: a sequence. */
  async function textOf(stream: string, after = 0): Promise<string> {
    const { streams } = await jetstreamManager(connection.nats);
    const { state } = await streams.info(stream);
    const texts: string[] = [];
    for (let seq = Math.max(after + 1, state.first_seq); seq <= state.last_seq; seq += 1) {
      const data = (await streams.getMessage(stream, { seq }).catch(() => null))?.data;
      if (data === undefined || data.length === 0) continue;
      const text = Buffer.from(data).toString();
      if (!stream.startsWith('KV_')) texts.push(JSON.stringify(decodePayload(data)));
      else if (text.startsWith('z'))
        texts.push(zstdDecompressSync(Buffer.from(text.slice(1), 'base64')).toString());
      else texts.push(text);
    }
    return texts.join('\n');
  }

  /** Sends spans that wait; what the stream of traces then holds of them. */
  async function waiting(drafts: readonly SpanDraft[], instanceId?: string): Promise<string> {
    const { streams } = await jetstreamManager(connection.nats);
    const { state } = await streams.info('TRACES');
    await send(drafts, instanceId);
    const text = await textOf('TRACES', state.last_seq);
    match(text, /"observations":\[\{/);
    return text;
  }

  function lacks(text: string, planted: readonly string[]): void {
    for (const value of planted) ok(!text.includes(value), `${value} is there in clear`);
  }

  /** Contents of a session, once it has so many messages. */
  async function contents(instanceId: string, sessionId: string, messages: number): Promise<string[]> {
    for (const deadline = performance.now() + 20_000; ; await sleep(200)) {
      const answer = await client.getSession(sessionId, { instanceId });
      if (answer.status !== 200 && performance.now() < deadline) continue;
      const session = await client.session(sessionId, { instanceId });
      if (session.messages.length < messages && performance.now() < deadline) continue;
      equal(session.messages.length, messages);
      return session.messages.map(({ content }) => content ?? '');
    }
  }

  it('keeps personal data out of what waits, and numbers it as ingest does', async () => {
    const instanceId = await instanceWith(ON);
    const [call, agent] = trace({ answered: [ANSWER], conversationId: 'chat 1' });
    const text = await waiting([call], instanceId);
    match(text, /\[EMAIL:.*\[PHONE:.*\[CARD:/);
    lacks(text, PLANTED);
    await send([agent], instanceId);

    const sessionId = v5('chat 1', instanceId);
    const [asked = '', answered = ''] = await contents(instanceId, sessionId, 2);
    match(asked, /^Write to \[EMAIL_\d+\] or call \[PHONE_\d+\], please$/);
    match(answered, /^I wrote to \[EMAIL_\d+\] about the card \[CARD_\d+\]\.$/);
    const [mail] = asked.match(/\[EMAIL_\d+\]/) ?? [];
    ok(answered.includes(mail ?? '?'));
    lacks(await textOf('KV_conversations'), [...PLANTED, '[EMAIL:']);

    await client.ingest({
      instanceId,
      sessionId,
      messages: [{ role: 'user', content: `Use ${MAIL}`, timestamp: '2026-02-04T09:00:00Z' }],
    });
    equal((await contents(instanceId, sessionId, 3))[2], `Use ${mail}`);

    const [next, top] = trace({
      asked: [QUESTION, ANSWER, user('When?')],
      answered: [assistant('On Friday.')],
      conversationId: 'chat 1',
    });
    await send([next, top], instanceId);
    deepEqual((await contents(instanceId, sessionId, 5)).slice(0, 2), [asked, answered]);
  });

  it('keeps personal data out of attributes, too, and their own values where nothing is masked', async () => {
    const more = { 'metadata.contact': MAIL, 'metadata.plan': 'pro' };
    const conversationId = 'chat with attributes';
    const [call, agent] = trace({ answered: [ANSWER], conversationId, more });
    for (const masking of [ON, OFF]) {
      const instanceId = await instanceWith(masking);
      const text = await waiting([{ ...call, instanceId, trace: `${call.trace} ${masking.texts}` }]);
      if (masking.texts) lacks(text, PLANTED);
      await send([{ ...agent, instanceId, trace: `${call.trace} ${masking.texts}` }]);
      const sessionId = v5(conversationId, instanceId);
      await contents(instanceId, sessionId, 2);
      const { contact, ...rest } = (await client.session(sessionId, { instanceId })).session.metadata;
      match(String(contact), masking.texts ? /^\[EMAIL_\d+\]$/ : new RegExp(`^${MAIL}$`));
      deepEqual(rest, { plan: 'pro', externalId: conversationId });
    }
  });

  it('leaves nothing by which sessions can be joined', async () => {
    const instanceId = await instanceWith(ON);
    const texts: string[] = [];
    for (const conversationId of ['chat 2', 'chat 3']) {
      await send(trace({ answered: [assistant('Done.')], conversationId }), instanceId);
      texts.push(...(await contents(instanceId, v5(conversationId, instanceId), 2)).slice(0, 1));
    }
    notEqual(texts[0], texts[1]);
    equal(texts[0]?.replace(/\d+/g, ''), texts[1]?.replace(/\d+/g, ''));
  });

  it('seals ids that are stored otherwise, and finds the session by them', async () => {
    const instanceId = await instanceWith(ALL);
    const ids = { conversationId: `mail of ${MAIL}`, userId: 'ada of the shop' };
    const [call, agent] = trace({ answered: [assistant('Done.')], ...ids });
    lacks(await waiting([call], instanceId), [...PLANTED, ids.userId]);
    await send([agent], instanceId);
    const sessionId = v5(ids.conversationId, instanceId);
    await contents(instanceId, sessionId, 2);
    await client.ingest({
      instanceId,
      sessionId,
      messages: [{ role: 'user', content: 'Me again', userId: ids.userId }],
    });
    await contents(instanceId, sessionId, 3);
    const [first, , last] = (await client.session(sessionId, { instanceId })).messages;
    match(first?.externalId ?? '', /^user_[\w-]{22}$/);
    equal(last?.externalId, first?.externalId);
    const stored = await textOf('CONVERSATIONS');
    match(stored, /"externalId":"mail of \[EMAIL_\d+\]"/);
    doesNotMatch(stored, /\[(?:WHOLE|EMAIL):/);
  });

  it('gives an instance that masks nothing its spans as they came', async () => {
    const instanceId = await instanceWith(OFF);
    const [call, agent] = trace({ answered: [ANSWER], conversationId: 'chat 4', userId: 'ada' });
    ok((await waiting([call], instanceId)).includes(JSON.stringify([QUESTION])));
    await send([agent], instanceId);
    const sessionId = v5('chat 4', instanceId);
    deepEqual(await contents(instanceId, sessionId, 2), [QUESTION.content, ANSWER.content]);
  });

  it('masks spans whose instance only a later span names, and opens them for one that masks nothing', async () => {
    const [masked, open] = [await instanceWith(ALL), await instanceWith(OFF)];
    const said = { answered: [ANSWER], conversationId: 'chat 5', userId: 'ada of the office' };
    const [one, other] = [trace(said, { instanceId: masked }), trace(said, { instanceId: open })];
    lacks(await waiting([one[0], other[0]]), [...PLANTED, said.userId]);
    await send([one[1], other[1]]);
    const [asked = ''] = await contents(masked, v5('chat 5', masked), 2);
    match(asked, /^Write to \[EMAIL_\d+\] or call \[PHONE_\d+\], please$/);
    const sessionId = v5('chat 5', open);
    deepEqual(await contents(open, sessionId, 2), [QUESTION.content, ANSWER.content]);
    const { messages } = await client.session(sessionId, { instanceId: open });
    equal(messages[0]?.externalId, 'ada of the office');
  });

  it('masks what waited when masking was switched on, and what came before it was switched off', async () => {
    const instanceId = await instanceWith(OFF);
    const sessionId = v5('chat 6', instanceId);
    const [first, firstTop] = trace({ answered: [assistant('Done.')], conversationId: 'chat 6' });
    await send([first], instanceId);
    await mask(instanceId, ON);
    await send([firstTop], instanceId);
    const [asked = ''] = await contents(instanceId, sessionId, 2);
    match(asked, /^Write to \[EMAIL_\d+\]/);

    const [second, secondTop] = trace({
      asked: [QUESTION, assistant('Done.'), user(`And ${MAIL}?`)],
      answered: [assistant('Too.')],
      conversationId: 'chat 6',
    });
    lacks(await waiting([second], instanceId), PLANTED);
    await mask(instanceId, OFF);
    await send([secondTop], instanceId);
    const all = await contents(instanceId, sessionId, 4);
    doesNotMatch(all.join(' '), /example/);
    equal(all[2], `And ${asked.match(/\[EMAIL_\d+\]/)?.[0]}?`);
  });

  it('takes what a person wrote like a token for text', async () => {
    const instanceId = await instanceWith(ON);
    const forged = `Is [EMAIL:${'a'.repeat(16)}:${'b'.repeat(60)}] a token?`;
    await send(
      trace({ asked: [user(forged)], answered: [assistant('No.')], conversationId: 'chat 7' }),
      instanceId,
    );
    const [asked = ''] = await contents(instanceId, v5('chat 7', instanceId), 2);
    ok(asked.startsWith('Is [EMAIL:aaaa'), asked);
  });
});
