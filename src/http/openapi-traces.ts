/** How the document of the interface describes OTLP. Covered by test/http/docs.test.ts. */
import { CONTENT_ENCODING, RATE_LIMIT_HEADERS, responses, type Json } from './openapi-parts.ts';

const INSTANCE = {
  name: 'x-instance-id',
  in: 'header',
  description:
    'The instance of all that the request holds. Default: the one that spans name, else the default instance of the ' +
    'project.',
  schema: { type: 'string', format: 'uuid' },
};

/** The paths of OTLP/HTTP. Their bodies are those of opentelemetry-proto, and not repeated here. */
export function tracePaths(): Json {
  return {
    '/v1/traces/': path('exportTraces', 'ExportTraceServiceRequest', 'Spans of traces'),
    '/v1/logs/': path('exportLogs', 'ExportLogsServiceRequest', 'Log records that hold messages of spans'),
  };
}

function path(operationId: string, message: string, summary: string): Json {
  const json = { type: 'object', description: `${message} of opentelemetry-proto, as JSON.` };
  const answer = {
    type: 'object',
    properties: { partialSuccess: { type: 'object', description: 'What was rejected and why, or a hint.' } },
  };
  return {
    post: {
      operationId,
      summary,
      description:
        'OTLP/HTTP in protobuf or JSON (docs/otlp.md). Answers once all is stored durably; the messages are counted ' +
        'when their trace is complete.',
      tags: ['Ingest'],
      parameters: [CONTENT_ENCODING, INSTANCE],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: json, example: {} },
          'application/x-protobuf': { schema: { type: 'string', format: 'binary', description: message } },
        },
      },
      responses: responses(
        {
          description: 'All is stored; partialSuccess says what was rejected.',
          headers: RATE_LIMIT_HEADERS,
          content: { 'application/json': { schema: answer } },
        },
        [404, 413],
      ),
    },
  };
}
