import { deepEqual, equal, match, notEqual, throws } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { newSecret, signedHeaders } from '../../../src/doors/alerts/signature.ts';

const ROOT = join(import.meta.dirname, '../../..');

describe('signatures', () => {
  const body = '{"text":"‘Čancel’ & more"}';

  it('are those of the Standard Webhooks specification', () => {
    const secret = newSecret();
    const headers = signedHeaders(secret, {
      id: 'f0000000-0000-5000-8000-000000000001',
      at: Date.now(),
      body,
    });
    new Webhook(secret).verify(body, headers);
    throws(() => new Webhook(secret).verify(`${body} `, headers));
    throws(() => new Webhook(newSecret()).verify(body, headers));
    throws(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'another' }));
  });

  it('are checked by the sample for Express, which refuses a message of somebody else', async () => {
    const [, sample = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8')) ?? [];
    const secret = newSecret();
    process.env['UNDERTONE_SECRET'] = secret;
    const file = join(ROOT, '.cache/alerts-sample.mjs');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      sample.replace('express()\n', 'export const server = express()\n').replace('3000', '0'),
    );
    const { server } = (await import(pathToFileURL(file).href)) as { readonly server: Server };
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const text = '{"type":"alert.test","data":{}}';
    const signed = signedHeaders(secret, { id: 'a', at: Date.now(), body: text });
    const statusOf = async (headers: Readonly<Record<string, string>>): Promise<number> => {
      const options = {
        method: 'POST',
        body: text,
        headers: { 'content-type': 'application/json', ...headers },
      };
      return (await fetch(`http://127.0.0.1:${port}/undertone`, options)).status;
    };
    try {
      deepEqual(
        [await statusOf(signed), await statusOf({ ...signed, 'webhook-id': 'b' }), await statusOf({})],
        [204, 401, 401],
      );
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('have the time of the attempt in whole seconds', () => {
    const headers = signedHeaders(newSecret(), { id: 'x', at: 1_700_000_000_999, body });
    equal(headers['webhook-timestamp'], '1700000000');
    match(headers['webhook-signature'], /^v1,[A-Za-z0-9+/]{43}=$/);
  });

  it('take secrets that nobody can guess', () => {
    match(newSecret(), /^whsec_[A-Za-z0-9+/]{43}=$/);
    notEqual(newSecret(), newSecret());
  });
});
