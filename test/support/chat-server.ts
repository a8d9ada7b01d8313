import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';

/** What the endpoint was asked. */
export interface ChatCall {
  readonly authorization: string | undefined;
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly stream?: boolean;
}

/** A text; or how the endpoint fails. */
export type ChatAnswer =
  | string
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** A body as it is. */
  | { readonly body: string }
  /** This much of a streamed text, and then nothing. */
  | { readonly begins: string }
  /** Nothing, ever. */
  | 'silence';

/** A server on this machine that answers as OpenAI-compatible endpoints do. */
export interface ChatServer {
  readonly url: string;
  /** All calls so far. */
  readonly calls: ChatCall[];
  /** How it answers from now on; `number` counts calls from 1. */
  answer: (call: ChatCall, number: number) => ChatAnswer;
  close(): Promise<void>;
}

export async function startChatServer(): Promise<ChatServer> {
  const server = createServer((request, response) => void handle(request, response));
  const state: ChatServer = {
    url: '',
    calls: [],
    answer: () => 'Late parcels',
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: string, headers = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    };
    if (request.url === '/v1/models') {
      send(200, JSON.stringify({ data: [{ id: 'first-of-list' }, { id: 'second' }] }));
      return;
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (request.url !== '/v1/chat/completions' || request.method !== 'POST') {
      send(404, '{}');
      return;
    }
    const call = { ...(JSON.parse(text) as ChatCall), authorization: request.headers.authorization };
    state.calls.push(call);
    const answer = state.answer(call, state.calls.length);
    if (answer === 'silence') return;
    if (typeof answer !== 'string' && 'status' in answer) send(answer.status, '{}', answer.headers);
    else if (typeof answer !== 'string' && 'body' in answer) send(200, answer.body);
    else if (typeof answer !== 'string') stream(response, call.model, answer.begins, false);
    else if (call.stream === true) stream(response, call.model, answer, true);
    else
      send(
        200,
        JSON.stringify({
          model: call.model,
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: answer } }],
        }),
      );
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return Object.assign(state, { url: `http://127.0.0.1:${address.port}` });
}

/** Word by word, as server-sent events. */
function stream(response: ServerResponse, model: string, text: string, isWhole: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const say = (delta: object, finish: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 0, model, choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  for (const content of text.split(/(?<= )/)) say({ content }, null);
  if (!isWhole) return;
  say({}, 'stop');
  response.end('data: [DONE]\n\n');
}
