/**
 * Serves the tools with the MCP library, for one HTTP request or the life of a process. Internal errors never reach the
 * caller.
 *
 * Test: test/web/mcp-route.test.ts.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { SERVICE_VERSION } from '../../domain/service-version.ts';
import type { ToolContext } from './tool.ts';
import { callTool, INSTRUCTIONS, TOOL_LIST } from './tools.ts';

const INFO = { name: 'undertone', title: 'Undertone', version: SERVICE_VERSION };

/** Receives internal errors; the caller gets an error without their text. */
export type FailureListener = (error: unknown) => void;

/**
 * Replaces the library's JSON schema validator, which it would create for each server; only questions to users need it.
 */
const NO_VALIDATOR = {
  getValidator: () => {
    throw new Error('no question to a user has an answer to validate');
  },
};

function createServer(context: ToolContext, onFailure: FailureListener): Server {
  const server = new Server(INFO, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    jsonSchemaValidator: NO_VALIDATOR,
  });
  server.setRequestHandler('tools/list', () => ({ tools: TOOL_LIST }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    try {
      const result = await callTool(params.name, params.arguments, context);
      if (result !== null) return result;
    } catch (error) {
      onFailure(error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'The tool failed in the service.');
    }
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `There is no tool ${params.name.slice(0, 100)}.`,
    );
  });
  return server;
}

/** Headers and parsed body of a POST. */
export interface McpRequest {
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Answers one POST of the streamable HTTP transport with JSON, in revision 2026-07-28 of the protocol and earlier ones.
 * Requests are independent of each other.
 */
export async function answerPost(
  { headers, body }: McpRequest,
  context: ToolContext,
  onFailure: FailureListener,
): Promise<Response> {
  // Carries the headers; the body is already parsed.
  const request = new Request('http://mcp.invalid/mcp', { method: 'POST', headers });
  const open = (): Server => createServer(context, onFailure);
  if (!(await isLegacyRequest(request, body))) {
    const handler = createMcpHandler(open, { legacy: 'reject' });
    return handler.fetch(request, { parsedBody: body });
  }
  const server = open();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
}

/** Serves standard input and output until the input ends. */
export function serveStandardIo(
  context: ToolContext,
  onFailure: FailureListener,
): { close(): Promise<void> } {
  return serveStdio(() => createServer(context, onFailure), { onerror: onFailure });
}
