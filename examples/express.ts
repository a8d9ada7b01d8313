/**
 * A chat route in Express that answers at once and logs the conversation.
 *
 *   const undertone = new Undertone({ url, key, instanceId });
 *   const server = createApp({ openai: new OpenAI(), undertone, model }).listen(3000);
 *   process.on('SIGTERM', () => server.close(() => void undertone.close({ timeoutMs: 5_000 })));
 */
import express, { type Express, type Request } from 'express';
import type OpenAI from 'openai';
import type { Undertone } from 'undertone/client';
import { ask } from './openai.ts';

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

export function createApp({ openai, undertone, model }: Parts): Express {
  const app = express();
  /** In your application: a database. */
  const histories = new Map<string, OpenAI.ChatCompletionMessageParam[]>();
  app.use(express.json());

  app.post('/chat', async (request: Request<object, unknown, Partial<Turn> | undefined>, response) => {
    const { id, userId, text } = request.body ?? {};
    if (typeof id !== 'string' || typeof userId !== 'string' || typeof text !== 'string' || text === '') {
      response.status(400).json({ error: 'id, userId and text are required' });
      return;
    }
    const messages = histories.get(id) ?? [];
    histories.set(id, messages);
    messages.push({ role: 'user', content: text });
    // The same id is the same session, in every process.
    const chat = undertone.session({ externalId: id, userId });
    const answer = await ask(openai, chat, { model, messages });
    messages.push({ role: 'assistant', content: answer });
    response.json({ answer });
  });
  return app;
}
