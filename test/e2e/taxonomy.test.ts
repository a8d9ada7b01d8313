/** `npm run taxonomy`: topics that people made come in and go out as a CSV. */
import { deepEqual, equal, match } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { Client } from '../support/client.ts';
import { CANCEL, fill, PASSWORD, user, type Filled } from '../support/conversations.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { shareTestService, type TestService } from '../support/service.ts';

const FILE = `Topic;Example;Description
Cancelling;"${CANCEL[0]}";What people; who leave, say
Cancelling;${CANCEL[1]};
" Password  lost";"${PASSWORD[0]}";
Password lost;'=1+1 does not work;
cancelling;${CANCEL[1]};
`
  .replace('What people; who', '"What people; who')
  .replace('leave, say', 'leave, say"');

const WRITTEN = [
  'topic,example,description',
  `Cancelling,${CANCEL[0]},"What people; who leave, say"`,
  `Cancelling,${CANCEL[1]},`,
  `Password lost,${PASSWORD[0]},`,
  "Password lost,'=1+1 does not work,",
  '',
].join('\r\n');

describe('a taxonomy', () => {
  const folder = temporaryDirectory();
  const file = join(folder.path, 'topics.csv');
  let service: TestService;
  let client: Client;
  let shop: Filled;
  before(async () => {
    service = await shareTestService();
    client = new Client(service.url, (await service.newProject()).key);
    shop = await fill(
      client,
      [CANCEL[2], CANCEL[0], PASSWORD[1]].map((said) => [user(said, '2026-03-03T10:00:00Z')]),
    );
    await client.query({ groupBy: 'TOPIC', fields: 'messages', instanceId: shop.instanceId }, shop.position);
  });
  after(() => {
    folder.remove();
    return service.stop();
  });

  async function run(...args: readonly string[]): Promise<{ code: unknown; out: string; err: string }> {
    const command = join(import.meta.dirname, '../../src/cli/taxonomy.ts');
    const child = spawn(process.execPath, [command, ...args, '--url', service.url], {
      env: { ...process.env, UT_KEY: client.key },
    });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code, out, err };
  }

  it('makes topics that claim what came before, once, and goes out as it came in', async () => {
    const instance = ['--instance', shop.instanceId];
    equal((await run('export', ...instance)).out, 'topic,example,description\r\n');
    writeFileSync(file, `\ufeff${FILE}`);
    const made = await run('import', file, ...instance);
    deepEqual([made.code, made.out, made.err], [0, 'made 2 of 2 topics\n', '']);
    const rows = async (): Promise<string[]> => {
      const query = { groupBy: 'TOPIC', fields: 'sessions', instanceId: shop.instanceId };
      return (await client.rows(query)).map(
        ({ dimensions, fields }) => `${dimensions.topic?.name} ${fields.sessions}`,
      );
    };
    while (!(await rows()).includes('Cancelling 2')) await setTimeout(200);
    // The second topic is a record of its own, which may be counted later than the first.
    while ((await run('export', ...instance)).out !== WRITTEN) await setTimeout(200);
    const again = await run('import', file, ...instance);
    match(again.out, /left out “Cancelling”: There is already a topic named .+\n.*\nmade 0 of 2 topics\n$/);
    deepEqual([again.code, (await run('export', ...instance)).out], [0, WRITTEN]);
    const written = join(folder.path, 'written.csv');
    writeFileSync(written, WRITTEN);
    match((await run('import', written, ...instance)).out, /made 0 of 2 topics/);
  });

  it('makes nothing of a file with faults, and names their lines', async () => {
    const long = `topic,example\nA,x\n,y\nB,\n${'n'.repeat(81)},z\nC,${'e'.repeat(501)}\nE\u202ename,x\nD,"open`;
    writeFileSync(file, long);
    const { code, err } = await run('import', file);
    equal(code, 1);
    match(err, /nothing was made of it/);
    for (const fault of [
      'line 3: topic is empty',
      'line 4: example is empty',
      'line 5: topic is longer than 80 characters',
      'line 6: example is longer than 500 characters',
      'line 7: topic must ',
      'line 8: ',
    ])
      match(err, new RegExp(fault));
    for (const [content, message] of [
      ['subject,example\nA,x\n', /names no column topic/],
      ['topic,example\n', /no topic in it/],
      [`topic,example\n${Array.from({ length: 51 }, (_, at) => `A,x${at}\n`).join('')}`, /51 examples/],
    ] as const) {
      writeFileSync(file, content);
      match((await run('import', file)).err, message);
    }
    match((await run('import', join(folder.path, 'none.csv'))).err, /cannot be read \(ENOENT\)/);
    equal((await run('import')).code, 2);
  });
});
