import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';

/** A request of an exporter, as it came. */
export interface ReceivedExport {
  /** `/v1/traces`, `/v1/logs` … */
  readonly path: string;
  readonly encoding: 'protobuf' | 'json';
  readonly isCompressed: boolean;
  /** Inflated. */
  readonly bytes: Buffer;
}

/** A collector that keeps what exporters send. */
export interface OtlpReceiver {
  readonly url: string;
  /** In the order of arrival. */
  readonly received: ReceivedExport[];
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const received: ReceivedExport[] = [];
  const server = createServer((request, response) => void keep(request, response, received));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function keep(
  request: IncomingMessage,
  response: ServerResponse,
  received: ReceivedExport[],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const isCompressed = request.headers['content-encoding'] === 'gzip';
  const type = request.headers['content-type'] ?? '';
  const encoding = type.startsWith('application/json') ? 'json' : 'protobuf';
  received.push({
    path: request.url ?? '',
    encoding,
    isCompressed,
    bytes: isCompressed ? gunzipSync(body) : body,
  });
  response.writeHead(200, { 'content-type': type }).end(encoding === 'json' ? '{}' : undefined);
}
