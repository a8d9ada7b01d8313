/**
 * The examples, as applications would run them: a model that is a server on this machine, and a service that records.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { logged } from '../../examples/ai-sdk.ts';
import { createApp as createExpressApp } from '../../examples/express.ts';
import { createApp as createFastifyApp } from '../../examples/fastify.ts';
import { ask, askStreaming } from '../../examples/openai.ts';
import { createApp as createThumbsApp } from '../../examples/thumbs.ts';
import { sessionIdOf, Undertone } from '../../src/doors/client/index.ts';
import { FakeService } from '../doors/import/fake-service.ts';
import { startChatServer, type ChatServer } from '../support/chat-server.ts';

let models: ChatServer;
let openai: OpenAI;
let service: FakeService;
let undertone: Undertone;
let instanceId: string;

before(async () => {
  models = await startChatServer();
  openai = new OpenAI({ baseURL: `${models.url}/v1`, apiKey: 'k' });
});
after(() => models.close());
beforeEach(async () => {
  service = new FakeService();
  instanceId = service.addInstance();
  undertone = new Undertone({ url: await service.listen(), key: service.key, instanceId, batchMs: 1 });
  models.answer = ({ messages }) => `Answer to ${messages.at(-1)?.content ?? ''}`;
});
afterEach(async () => {
  await undertone.close();
  await service.close();
});

/** Role, content and user of each message of a conversation; `aborted` where it is said so. */
async function loggedIn(externalId: string): Promise<unknown[][]> {
  equal((await undertone.flush()).lost, 0);
  const { messages = [], metadata } = service.sessions.get(sessionIdOf(instanceId, externalId)) ?? {};
  deepEqual(metadata, { externalId });
  return messages.map(({ role, content, userId, metadata: turnMetadata }) => [
    role,
    content,
    ...(userId === undefined ? [] : [userId]),
    ...(turnMetadata?.['aborted'] === true ? ['aborted'] : []),
  ]);
}

const TWO_TURNS = [
  ['user', 'one', 'ana'],
  ['assistant', 'Answer to one'],
  ['user', 'two', 'ana'],
  ['assistant', 'Answer to two'],
];
const model = 'small';
const chatOf = (externalId: string) => undertone.session({ externalId, userId: 'ana' });
/** The history that an SDK sends with the second turn. */
const SECOND = [
  { role: 'user', content: 'one' },
  { role: 'assistant', content: 'Answer to one' },
  { role: 'user', content: 'two' },
] as const;

describe('the example of the OpenAI SDK', () => {
  it('logs each turn once, though the history is sent again', async () => {
    const chat = chatOf('c-1');
    equal(await ask(openai, chat, { model, messages: [{ role: 'user', content: 'one' }] }), 'Answer to one');
    let streamed = '';
    for await (const part of askStreaming(openai, chat, { model, messages: [...SECOND] })) streamed += part;
    equal(streamed, 'Answer to two');
    deepEqual(await loggedIn('c-1'), TWO_TURNS);
  });

  it('logs what was said until a stream is aborted, and the question of an answer that fails', async () => {
    models.answer = () => ({ begins: 'It comes on ' });
    const abort = new AbortController();
    const messages = [
      { role: 'system', content: 'Be kind.' } as const,
      { role: 'user', content: [{ type: 'text', text: 'When?' }] } as const,
    ];
    const request = { model, messages: structuredClone(messages) as OpenAI.ChatCompletionMessageParam[] };
    for await (const part of askStreaming(openai, chatOf('c-1'), request, abort.signal))
      if (part === 'on ') abort.abort();
    models.answer = () => ({ status: 400 });
    await rejects(
      ask(openai, chatOf('c-1'), { model, messages: [{ role: 'user', content: 'Still there?' }] }),
    );
    deepEqual(await loggedIn('c-1'), [
      ['user', 'When?', 'ana'],
      ['assistant', 'It comes on ', 'aborted'],
      ['user', 'Still there?', 'ana'],
    ]);
  });
});

describe('the example of the AI SDK', () => {
  const sdkModel = () =>
    createOpenAICompatible({ name: 'local', baseURL: `${models.url}/v1`, apiKey: 'k' }).chatModel(model);

  it('logs each turn once, whether streamed or not, and tried again', async () => {
    models.answer = ({ messages }, number) =>
      number % 2 === 1
        ? { status: 503, headers: { 'retry-after-ms': '1' } }
        : `Answer to ${messages.at(-1)?.content}`;
    models.calls.length = 0;
    const chat = chatOf('c-2');
    const first = await generateText({ model: logged(sdkModel(), chat), prompt: 'one' });
    equal(first.text, 'Answer to one');
    const second = streamText({ model: logged(sdkModel(), chat), messages: [...SECOND] });
    equal(await second.text, 'Answer to two');
    equal(models.calls.length, 4);
    deepEqual(await loggedIn('c-2'), TWO_TURNS);
  });

  it('logs what was said until a stream is aborted', async () => {
    models.answer = () => ({ begins: 'It comes on ' });
    const abort = new AbortController();
    const result = streamText({
      model: logged(sdkModel(), chatOf('c-2')),
      prompt: 'When?',
      abortSignal: abort.signal,
    });
    for await (const part of result.textStream) if (part === 'on ') abort.abort();
    deepEqual(await loggedIn('c-2'), [
      ['user', 'When?', 'ana'],
      ['assistant', 'It comes on ', 'aborted'],
    ]);
  });
});

/** Sends a turn to a chat route. */
function say(url: string, turn: object, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify(turn);
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/chat`, { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) });
}

describe('the chat route in Fastify', () => {
  it('streams answers and logs two turns, the second one cut off by whoever asked', async () => {
    const app = createFastifyApp({ openai, undertone, model });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    equal(await (await say(url, { id: 'c-3', userId: 'ana', text: 'one' })).text(), 'Answer to one');
    const refused = await say(url, { id: 'c-3', userId: 'ana', text: '' });
    equal(refused.status, 400);
    await refused.body?.cancel();
    models.answer = () => ({ begins: 'It comes on ' });
    const abort = new AbortController();
    const response = await say(url, { id: 'c-3', userId: 'ana', text: 'two' }, abort.signal);
    await response.body?.getReader().read();
    abort.abort();
    let messages = await loggedIn('c-3');
    while (messages.length < 4) {
      await immediate();
      messages = await loggedIn('c-3');
    }
    // Node does not count a connection as idle on which nothing was sent yet.
    app.server.closeAllConnections();
    await app.close();
    deepEqual(messages.slice(0, 3), TWO_TURNS.slice(0, 3));
    deepEqual([messages.length, messages[3]?.at(-1)], [4, 'aborted']);
    deepEqual(
      models.calls.at(-1)?.messages.map(({ content }) => content),
      ['one', 'Answer to one', 'two'],
    );
  });
});

describe('the chat route in Express', () => {
  it('answers and logs two turns', async () => {
    const server = createExpressApp({ openai, undertone, model }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const text of ['one', 'two']) {
      const response = await say(url, { id: 'c-4', userId: 'ana', text });
      deepEqual(await response.json(), { answer: `Answer to ${text}` });
    }
    equal((await say(url, { id: 'c-4', text: 'three' })).status, 400);
    server.closeAllConnections();
    server.close();
    deepEqual(await loggedIn('c-4'), TWO_TURNS);
  });
});

describe('the chat with thumbs', () => {
  it('gives feedback on the answer that a thumb stands beside', async () => {
    const app = createThumbsApp(undertone);
    const post = async (url: string, payload: object): Promise<Record<string, unknown>> => {
      const answer = await app.inject({ method: 'POST', url, payload });
      equal(answer.statusCode, 200, answer.body);
      return answer.json();
    };
    const { answer, ...first } = await post('/chat', { chat: 'c-9', text: 'one' });
    equal(answer, 'You said: one');
    // Two messages of one millisecond have one name.
    await sleep(5);
    await post('/chat', { chat: 'c-9', text: 'two' });
    deepEqual(await loggedIn('c-9'), [
      ['user', 'one'],
      ['assistant', 'You said: one'],
      ['user', 'two'],
      ['assistant', 'You said: two'],
    ]);
    await post('/thumb', { ...first, value: -1 });
    deepEqual(service.feedback, [{ instanceId, ...first, value: -1 }]);
    const { messages = [] } = service.sessions.get(String(first['sessionId'])) ?? {};
    deepEqual(
      messages
        .filter((message) => 'createdAt' in message && message.createdAt === first['at'])
        .map(({ content }) => content),
      [answer],
    );
    await app.close();
  });
});
