/** That no path, however it is written, is a fault of ours: over real connections, which change nothing of it. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { errorEnvelopeSchema } from '../../src/contract/errors.ts';
import { createHarness, KEY, type Harness } from './support.ts';

/** Where files are served, and where they are not. */
const BASES = [
  '/docs',
  '/docs/static',
  '/docs/static/theme',
  '/dashboard',
  '',
  '/openapi.json',
  '/v1',
  '/mcp',
];

const UPS = [
  '..',
  '%2e%2e',
  '%2E.',
  '.%2e',
  '..%2f',
  '%2e%2e%2f',
  '..%5c',
  '..\\',
  '%252e%252e',
  '..;',
  '....',
];

/** What stands behind the base; spaces part them. */
const ODD =
  String.raw`. ./ / // /./ /%2f /%2Fetc%2Fpasswd //etc/passwd /~ /.git/config /.env /%00 /index.css%00.html
 /%0a /%0d%0aX-A:%20b /%ff /%c0%ae%c0%ae /%ed%a0%80 /% /%zz /%e0%a4%a /* /:name /__proto__ /constructor /toString
 /hasOwnProperty /CON /swagger-ui-bundle.js/ /swagger-ui-bundle.js/x /package.json /csp.json /index.html ? ?a
 ?__proto__=1 ?%zz ?a[]=1&a[b]=2 # ;a=b /page.js;a /page.js%20 /page.js.map /PAGE.JS /../docs`.split(/\s+/);
const LONG = [`/${'a'.repeat(5000)}`, `/${'a/'.repeat(500)}`, `/${'../'.repeat(500)}`];
const OUT = UPS.flatMap((up) => [
  `/${up}`,
  `/${up}/${up}/${up}/${up}/etc/passwd`,
  `/${up}/package.json`,
  `/x/${up}`,
]);
const ENDS = [...OUT, ...ODD, ...LONG];

const PATHS = BASES.flatMap((base) => ENDS.map((end) => `${base}${end}`));

/** Requests whose target is no path at all. */
const TARGETS = [
  'http://elsewhere.example/docs/../etc/passwd',
  'http://[::1',
  'file:///etc/passwd',
  '*',
  '../../etc/passwd',
  'docs',
  '?',
  '/\\..\\..\\windows\\win.ini',
  '/docs/\u00e9',
];

interface Answer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

describe('a hostile path', () => {
  let harness: Harness;
  let port: number;

  before(async () => {
    harness = createHarness({ limits: { requestsPerSecond: 1_000_000, openRequestsPerSecond: 1_000_000 } });
    await harness.app.listen({ host: '127.0.0.1', port: 0 });
    ({ port } = harness.app.server.address() as AddressInfo);
  });
  after(() => harness.app.close());

  /** Sends a request line as it is. */
  function send(line: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`${line}\r\nHost: x\r\nConnection: close\r\nx-api-key: ${KEY}\r\n\r\n`, 'latin1'),
      );
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', reject);
      socket.on('close', () => {
        const text = Buffer.concat(chunks).toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
        resolve({ status, headers: text.slice(0, end).toLowerCase(), body: text.slice(end + 4) });
      });
    });
  }

  async function check(line: string): Promise<number> {
    const { status, headers, body } = await send(line);
    ok(status >= 200 && status < 500, `${line.slice(0, 100)}: ${status} ${body.slice(0, 200)}`);
    ok(!/root:.*:0:0:|"name": ?"undertone"/.test(body), `${line.slice(0, 100)} shows a file`);
    if (status < 400) return status;
    ok(headers.includes('x-content-type-options: nosniff'), line.slice(0, 100));
    ok(headers.includes('cache-control: no-store'), line.slice(0, 100));
    // The protocol of /mcp has errors of its own.
    if (line.startsWith('HEAD') || status === 405) return status;
    errorEnvelopeSchema.parse(JSON.parse(body));
    return status;
  }

  it('is answered with what is there, or with a refusal in the envelope, and nothing is logged', async () => {
    const statuses = new Set<number>();
    for (const path of PATHS) statuses.add(await check(`GET ${path} HTTP/1.1`));
    for (const path of ENDS) await check(`HEAD /docs/static${path} HTTP/1.1`);
    for (const method of ['OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'])
      for (const path of ['/docs/static/../../x', '/dashboard/..%2f', '/', '*'])
        await check(`${method} ${path} HTTP/1.1`);
    for (const target of TARGETS) await check(`GET ${target} HTTP/1.1`);
    deepEqual([...statuses].toSorted(), [200, 400, 404, 405]);
    deepEqual(harness.errors, []);
  });

  it('out of a folder of files is a 404', async () => {
    for (const path of ['/docs/static', '/dashboard'])
      for (const up of ['..', '%2e%2e', '..%2f'])
        equal(await check(`GET ${path}/${up}/${up}/${up}/${up}/etc/passwd HTTP/1.1`), 404);
  });
});
