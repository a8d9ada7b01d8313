/**
 * A chat route in Fastify that streams the answer and logs the conversation.
 *
 *   const app = createApp({ openai: new OpenAI(), undertone: new Undertone({ url, key, instanceId }), model });
 *   await app.listen({ port: 3000 });
 *   // curl -N localhost:3000/chat -H 'content-type: application/json' -d '{"id":"c-1","userId":"ana","text":"Hi"}'
 */
import { Readable } from 'node:stream';
import { fastify, type FastifyInstance } from 'fastify';
import type OpenAI from 'openai';
import type { Undertone } from 'undertone/client';
import { askStreaming } from './openai.ts';

interface Parts {
  readonly openai: OpenAI;
  readonly undertone: Undertone;
  readonly model: string;
}

/** What a browser sends: the conversation's id, of any form, who writes, and what. */
interface Turn {
  readonly id: string;
  readonly userId: string;
  readonly text: string;
}

interface Thumb {
  readonly id: string;
  readonly userId: string;
  readonly value: 1 | -1 | 0;
}

const thumbSchema = {
  type: 'object',
  required: ['id', 'userId', 'value'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 255 },
    userId: { type: 'string' },
    value: { enum: [1, -1, 0] },
  },
};

const turnSchema = {
  type: 'object',
  required: ['id', 'userId', 'text'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 255 },
    userId: { type: 'string' },
    text: { type: 'string', minLength: 1 },
  },
};

export function createApp({ openai, undertone, model }: Parts): FastifyInstance {
  const app = fastify();
  /** In your application: a database. */
  const histories = new Map<string, OpenAI.ChatCompletionMessageParam[]>();

  app.post<{ Body: Turn }>('/chat', { schema: { body: turnSchema } }, (request, reply) => {
    const { id, userId, text } = request.body;
    const messages = histories.get(id) ?? [];
    histories.set(id, messages);
    messages.push({ role: 'user', content: text });
    // The same id is the same session, in every process.
    const chat = undertone.session({ externalId: id, userId });
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());

    async function* answer(): AsyncGenerator<string> {
      let answerText = '';
      for await (const part of askStreaming(openai, chat, { model, messages }, gone.signal)) {
        answerText += part;
        yield part;
      }
      messages.push({ role: 'assistant', content: answerText });
    }
    return reply.type('text/plain; charset=utf-8').send(Readable.from(answer()));
  });

  // The thumbs beside an answer: 1, -1, or 0 for a thumb that is taken back.
  app.post<{ Body: Thumb }>('/thumb', { schema: { body: thumbSchema } }, async ({ body }) => {
    const { id: sessionId } = undertone.session({ externalId: body.id });
    await undertone.feedback({ sessionId, value: body.value, userId: body.userId });
  });

  // What is logged is stored before the process ends.
  app.addHook('onClose', async () => {
    await undertone.close({ timeoutMs: 5_000 });
  });
  return app;
}
