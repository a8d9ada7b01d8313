/**
 * A chat of two turns and a response of the newer interface through `openai`, traced by OpenInference. MODEL_URL: the
 * model.
 */
import { setSession, setUser } from '@arizeai/openinference-core';
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { context } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import * as openai from 'openai';
import { TEXTS } from '../../../support/model-server.ts';

const sdk = new NodeSDK({ serviceName: 'lamp-shop', autoDetectResources: false });
sdk.start();
const instrumentation = new OpenAIInstrumentation();
instrumentation.manuallyInstrument(openai as never);

const client = new openai.OpenAI({ baseURL: process.env['MODEL_URL'], apiKey: 'none', maxRetries: 0 });
const tools = [
  { type: 'function' as const, function: { name: 'delivery_day', parameters: { type: 'object' } } },
];
const messages: openai.OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: TEXTS.system }];
const whose = setUser(setSession(context.active(), { sessionId: 'order 17' }), { userId: 'anna' });

await context.with(whose, async () => {
  messages.push({ role: 'user', content: TEXTS.broken });
  const { choices } = await client.chat.completions.create({ model: 'small', messages });
  if (choices[0] !== undefined) messages.push(choices[0].message);
});
await context.with(whose, async () => {
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
