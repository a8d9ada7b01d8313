import { deepEqual } from 'node:assert/strict';
import { it } from 'node:test';
import { localUrl } from '../../src/cli/local-url.ts';

it('reaches the web process at its own address, or by loopback when it listens everywhere', () => {
  deepEqual(
    ['127.0.0.1', '0.0.0.0', '::', '::1', 'chat.internal'].map((host) => localUrl({ host, port: 8080 })),
    [
      'http://127.0.0.1:8080',
      'http://127.0.0.1:8080',
      'http://127.0.0.1:8080',
      'http://[::1]:8080',
      'http://chat.internal:8080',
    ],
  );
});
