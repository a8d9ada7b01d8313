/**
 * A chat page with thumbs beside its answers: each thumb is feedback on the message that it stands beside.
 *
 *   UT_KEY=ut_live_… UT_INSTANCE=019aa3f1-… node examples/thumbs.ts
 *   # then open http://localhost:3000, and look at Satisfaction in the dashboard
 */
import { fastify, type FastifyInstance } from 'fastify';
import { Undertone } from 'undertone/client';

/** What a thumb sends: the session and the time of the answer, and 1, -1, or 0 for a thumb that is taken back. */
interface Thumb {
  readonly sessionId: string;
  readonly at: string;
  readonly value: 1 | -1 | 0;
}

const PAGE = `<!doctype html>
<meta charset="utf-8" />
<title>A chat with thumbs</title>
<main></main>
<form><input name="text" autocomplete="off" autofocus /> <button>Send</button></form>
<script>
  const chat = crypto.randomUUID();
  const post = async (path, body) =>
    (await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })).json();
  const line = (text) => {
    const p = document.createElement('p');
    p.textContent = text;
    document.querySelector('main').append(p);
    return p;
  };
  document.querySelector('form').onsubmit = async (event) => {
    event.preventDefault();
    const { text } = event.target;
    line(text.value);
    const { answer, ...message } = await post('/chat', { chat, text: text.value });
    text.value = '';
    const p = line(answer + ' ');
    for (const [face, value] of [['👍', 1], ['👎', -1]]) {
      const button = document.createElement('button');
      button.textContent = face;
      button.onclick = () => post('/thumb', { ...message, value });
      p.append(button);
    }
  };
</script>`;

export function createApp(undertone: Undertone): FastifyInstance {
  const app = fastify();

  app.get('/', (_, reply) => reply.type('text/html; charset=utf-8').send(PAGE));

  app.post<{ Body: { chat: string; text: string } }>('/chat', async ({ body: { chat, text } }) => {
    const session = undertone.session({ externalId: chat });
    await session.user(text);
    // In your application: a model.
    const answer = `You said: ${text}`;
    const at = new Date(Date.now() + 1).toISOString();
    await session.assistant(answer, { createdAt: at });
    return { answer, sessionId: session.id, at };
  });

  app.post<{ Body: Thumb }>('/thumb', async ({ body: { sessionId, at, value } }) => {
    const { position } = await undertone.feedback({ sessionId, at, value });
    return { position };
  });

  // What is logged is stored before the process ends.
  app.addHook('onClose', async () => {
    await undertone.close({ timeoutMs: 5_000 });
  });
  return app;
}

if (import.meta.main) {
  const {
    UNDERTONE_URL: url = 'http://127.0.0.1:8080',
    UT_KEY: key = '',
    UT_INSTANCE: instanceId,
  } = process.env;
  await createApp(new Undertone({ url, key, instanceId })).listen({
    port: Number(process.env['PORT'] ?? 3000),
  });
}
