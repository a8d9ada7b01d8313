/**
 * Calls an OpenAI-compatible endpoint for chat completions: Ollama, llama.cpp, vLLM and others. Errors never contain an
 * answer, which may quote users.
 *
 * Test: test/doors/writer/service.test.ts.
 */
import { z } from 'zod';
import { retryAfterOf } from '../../domain/retry-after.ts';
import { truncate } from '../../domain/truncate.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A language model that the writer calls. */
export interface TextModel {
  /** Rejects with CallError. */
  complete(messages: readonly ChatMessage[], signal: AbortSignal): Promise<Completion>;
  /** Name of the model that is asked. Rejects with CallError. */
  name(signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export interface Completion {
  readonly text: string;
  /** Name of the model that answered. */
  readonly model: string;
}

/** A call without an answer. */
export class CallError extends Error {
  readonly kind: 'failed' | 'timed_out';
  /** Pause that the endpoint asked for, milliseconds; 0: none. */
  readonly retryAfterMs: number;

  constructor(
    kind: 'failed' | 'timed_out',
    message: string,
    retryAfterMs = 0,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'CallError';
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface ChatEndpointOptions {
  /** URL of the server, of its `/v1`, or of `/v1/chat/completions`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Default: the first model that the endpoint lists. */
  readonly model?: string | undefined;
  readonly timeoutMs: number;
  /** Most tokens of an answer. Default: 800, as reasoning models need more than a name has. */
  readonly mostTokens?: number;
}

const MOST_TOKENS = 800;
/** Largest accepted answer. */
const MOST_BYTES = 256 * 1024;
const MOST_MODEL_LENGTH = 100;

const completionSchema = z.object({
  model: z.string().optional(),
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string() }),
      }),
    )
    .min(1),
});

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

/** A text model behind HTTP. Without `model`, it uses the first one that the endpoint lists. */
export class ChatEndpoint implements TextModel {
  readonly #options: ChatEndpointOptions;
  readonly #base: string;
  #model: string | undefined;

  constructor(options: ChatEndpointOptions) {
    this.#options = options;
    this.#base = baseOf(options.url);
    this.#model = options.model;
  }

  async complete(messages: readonly ChatMessage[], signal: AbortSignal): Promise<Completion> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs)]);
    const model = await this.#asked(deadline);
    const answer = await this.#ask(completionSchema, '/chat/completions', deadline, {
      model,
      messages,
      temperature: 0,
      max_tokens: this.#options.mostTokens ?? MOST_TOKENS,
      stream: false,
    });
    const [choice] = answer.choices;
    if (choice === undefined || choice.finish_reason === 'length')
      throw new CallError('failed', 'the answer was cut off');
    return { text: choice.message.content, model: modelOf(answer.model, model) };
  }

  async name(signal: AbortSignal): Promise<string> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeoutMs)]);
    return modelOf(undefined, await this.#asked(deadline));
  }

  async #asked(signal: AbortSignal): Promise<string> {
    return (this.#model ??= (await this.#ask(modelsSchema, '/models', signal)).data[0]?.id ?? '');
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #ask<T>(schema: z.ZodType<T>, path: string, signal: AbortSignal, body?: unknown): Promise<T> {
    const { apiKey } = this.#options;
    try {
      const response = await fetch(`${this.#base}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        // A redirect would send texts of users to another server.
        redirect: 'error',
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await boundedText(response);
      if (!response.ok) {
        const pauseMs = retryAfterOf(response.headers.get('retry-after'), Date.now()) ?? 0;
        throw new CallError('failed', `status ${response.status}`, pauseMs);
      }
      return schema.parse(JSON.parse(text));
    } catch (error) {
      if (error instanceof CallError) throw error;
      const timedOut = error instanceof Error && error.name === 'TimeoutError';
      // The reason does not quote the answer, which may contain texts of users.
      const reason = timedOut
        ? 'no answer in time'
        : error instanceof TypeError
          ? 'unreachable'
          : 'no completion';
      throw new CallError(timedOut ? 'timed_out' : 'failed', reason, 0, { cause: error });
    }
  }
}

/** Returns the model's name from the answer, otherwise the requested one; it is stored with the text. */
function modelOf(named: string | undefined, asked: string): string {
  const name = [named, asked].find((one) => one !== undefined && /^[\p{L}\p{N}._:/@+ -]+$/u.test(one));
  return truncate(name ?? 'unnamed', MOST_MODEL_LENGTH);
}

function baseOf(url: string): string {
  const plain = url.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  return plain.endsWith('/v1') ? plain : `${plain}/v1`;
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > MOST_BYTES) throw new CallError('failed', 'the answer is too large');
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  return text + decoder.decode();
}
