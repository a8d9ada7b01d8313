import { equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { createHarness, INSTANCE, KEY } from './support.ts';

describe('http: a draft', () => {
  it('is stopped at once for a caller who left while the request waited for its position', async () => {
    const [waiting, reached, begun] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<boolean>(),
      Promise.withResolvers<AbortSignal>(),
    ];
    const { app } = createHarness({
      waitFor: () => {
        waiting.resolve();
        return reached.promise;
      },
      drafter: {
        draft: async (_, signal) => {
          begun.resolve(signal);
          return { text: '', model: 'scribe' };
        },
      },
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    try {
      const connected = once(app.server, 'connection');
      const leaving = new AbortController();
      const { port } = app.server.address() as AddressInfo;
      const asked = fetch(`http://127.0.0.1:${port}/v1/gaps/${INSTANCE}/draft/?instanceId=${INSTANCE}`, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'x-wait-for-position': '1' },
        signal: leaving.signal,
      }).catch((error: unknown) => error);
      const [socket] = (await connected) as [Socket];
      await waiting.promise;
      const closed = once(socket, 'close');
      leaving.abort();
      await closed;
      equal(((await asked) as Error).name, 'AbortError');
      reached.resolve(true);
      ok((await begun.promise).aborted);
    } finally {
      await app.close();
    }
  });
});
