/**
 * A chat of two turns and a response of the newer interface through `openai`, traced by OpenTelemetry's own
 * instrumentation. MODEL_URL: the model.
 */
import { trace } from '@opentelemetry/api';
import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai';
import { NodeSDK } from '@opentelemetry/sdk-node';
import * as openai from 'openai';
import { TEXTS } from '../../../support/model-server.ts';

/** It declares that it supports `openai` before version 7, and works with this one: it is applied by hand. */
class Instrumentation extends OpenAIInstrumentation {
  patch(): void {
    for (const { patch } of this.init()) patch?.(openai);
  }
}

const instrumentation = new Instrumentation();
const sdk = new NodeSDK({
  instrumentations: [instrumentation],
  serviceName: 'lamp-shop',
  autoDetectResources: false,
});
sdk.start();
instrumentation.patch();

const client = new openai.OpenAI({ baseURL: process.env['MODEL_URL'], apiKey: 'none', maxRetries: 0 });
const tools = [
  { type: 'function' as const, function: { name: 'delivery_day', parameters: { type: 'object' } } },
];
const messages: openai.OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: TEXTS.system }];

/** One request of a web application: one message of a person. */
function turn(work: () => Promise<void>): Promise<void> {
  const attributes = { 'session.id': 'order 17', 'enduser.id': 'anna' };
  return trace.getTracer('shop').startActiveSpan('POST /chat', { attributes }, async (span) => {
    await work();
    span.end();
  });
}

await turn(async () => {
  messages.push({ role: 'user', content: TEXTS.broken });
  const { choices } = await client.chat.completions.create({ model: 'small', messages });
  if (choices[0] !== undefined) messages.push(choices[0].message);
});
await turn(async () => {
  messages.push({ role: 'user', content: [{ type: 'text', text: TEXTS.when }] });
  const { choices } = await client.chat.completions.create({ model: 'small', messages, tools });
  if (choices[0] !== undefined) messages.push(choices[0].message);
  messages.push({ role: 'tool', tool_call_id: 'call_1', content: 'Friday' });
  const stream = await client.chat.completions.create({ model: 'small', messages, tools, stream: true });
  for await (const chunk of stream) void chunk;
});
await client.responses.create({ model: 'small', instructions: TEXTS.system, input: TEXTS.broken });
await client.embeddings.create({ model: 'small', input: 'lamp' });
await sdk.shutdown();
