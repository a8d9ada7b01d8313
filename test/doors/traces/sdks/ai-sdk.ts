/**
 * A chat of two turns through the AI SDK, traced by @ai-sdk/otel. MODEL_URL: the model. AI_SDK_SPANS=legacy: the spans
 * (`ai.*`) that the SDK itself wrote before version 7.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel';
import { NodeSDK } from '@opentelemetry/sdk-node';
import {
  generateText,
  isStepCount,
  registerTelemetry,
  streamText,
  tool,
  jsonSchema,
  type ModelMessage,
} from 'ai';
import { TEXTS } from '../../../support/model-server.ts';

const sdk = new NodeSDK({ serviceName: 'lamp-shop', autoDetectResources: false });
sdk.start();
registerTelemetry(
  process.env['AI_SDK_SPANS'] === 'legacy'
    ? new LegacyOpenTelemetry()
    : new OpenTelemetry({ runtimeContext: true }),
);

const shop = createOpenAICompatible({ name: 'shop', baseURL: process.env['MODEL_URL'] ?? '' });
const recordsContent = process.env['RECORDS_CONTENT'] !== 'false';
const common = {
  model: shop('small'),
  instructions: TEXTS.system,
  maxRetries: 0,
  runtimeContext: { sessionId: 'order 17', userId: 'anna' },
  telemetry: {
    functionId: 'shop-chat',
    recordInputs: recordsContent,
    recordOutputs: recordsContent,
    includeRuntimeContext: { sessionId: true as const, userId: true as const },
  },
};

const messages: ModelMessage[] = [{ role: 'user', content: TEXTS.broken }];
const first = await generateText({ ...common, messages });
messages.push(...first.response.messages, { role: 'user', content: TEXTS.when });
const second = streamText({
  ...common,
  messages,
  stopWhen: isStepCount(3),
  tools: {
    delivery_day: tool({ inputSchema: jsonSchema({ type: 'object' }), execute: () => 'Friday' }),
  },
});
await second.consumeStream();
await sdk.shutdown();
