/** The door to the MCP library: our tools as a server, for one HTTP request or for the life of a process. */
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

/** It hears of what no caller can mend; the caller gets an error without its text. */
export type FailureListener = (error: unknown) => void;

/** The library would make a validator of JSON schemas for each server, for questions to users, which we never ask. */
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

/** One POST: its headers and what its body says. */
export interface McpRequest {
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Answers one POST of the streamable HTTP transport with JSON, in revision 2026-07-28 of the protocol and in those
 * before; no request needs another one.
 */
export async function answerPost(
  { headers, body }: McpRequest,
  context: ToolContext,
  onFailure: FailureListener,
): Promise<Response> {
  // Only the headers are looked at: the body was read before.
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
