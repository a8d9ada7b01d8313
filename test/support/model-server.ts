import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A shop's assistant that says the same each time: what real SDKs talk to in tests. */
export interface ModelServer {
  /** With `/v1`. */
  readonly url: string;
  close(): Promise<void>;
}

/** What the scripts in test/doors/traces/sdks say and hear. */
export const TEXTS = {
  system: 'You help customers of a lamp shop.',
  broken: 'My lamp came broken. What now?',
  sorry: 'I am sorry. I can send you a new one.',
  when: 'Yes, please. When does it come?',
  friday: 'It comes on Friday.',
} as const;

interface Asked {
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly messages?: readonly { readonly role: string; readonly content?: unknown }[];
}

const USAGE = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 };

/** Serves chat completions, streamed or not, responses and embeddings. */
export async function startModelServer(): Promise<ModelServer> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  if (request.url === '/v1/embeddings') {
    send(response, {
      object: 'list',
      model: 'small',
      data: [{ index: 0, embedding: [0.5, 0.25] }],
      usage: USAGE,
    });
    return;
  }
  if (request.url === '/v1/responses') {
    const content = [{ type: 'output_text', text: TEXTS.sorry, annotations: [] }];
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }];
    const usage = { input_tokens: 20, output_tokens: 8, total_tokens: 28 };
    const conversation = { id: 'conv_17' };
    send(response, {
      id: 'resp_1',
      object: 'response',
      model: 'small',
      status: 'completed',
      output,
      usage,
      conversation,
    });
    return;
  }
  if (request.url !== '/v1/chat/completions') {
    response.writeHead(404).end('{}');
    return;
  }
  const asked = JSON.parse(text) as Asked;
  const message = replyTo(asked);
  const finish = message.content === null ? 'tool_calls' : 'stop';
  const head = { id: 'chatcmpl-1', created: 1_772_357_400, model: 'small' };
  if (asked.stream !== true) {
    const choices = [{ index: 0, message, finish_reason: finish }];
    send(response, { ...head, object: 'chat.completion', choices, usage: USAGE });
    return;
  }
  const chunks = [
    ...(message.content?.match(/\S+\s*/g) ?? []).map((content) => ({
      choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }],
    })),
    ...(message.tool_calls ?? []).map((call, index) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] }, finish_reason: null }],
    })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }], usage: USAGE },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks)
    response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })}\n\n`);
  response.end('data: [DONE]\n\n');
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** With tools it asks for the day of delivery before it says it. */
function replyTo({ messages = [], tools = [] }: Asked): {
  role: 'assistant';
  content: string | null;
  tool_calls?: readonly object[];
} {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { role: 'assistant', content: TEXTS.friday };
  if (tools.length === 0) return { role: 'assistant', content: TEXTS.sorry };
  const call = { name: 'delivery_day', arguments: '{"item":"lamp"}' };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: call }],
  };
}
