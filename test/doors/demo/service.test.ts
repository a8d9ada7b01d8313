import { equal, match, rejects } from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  answers,
  createKey,
  isReady,
  startService,
  waitUntilReady,
} from '../../../src/doors/demo/service.ts';

const KEY = `ut_test_${'a1B2'.repeat(8)}`;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-service-'));
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function script(name: string, source: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, source);
  return path;
}

describe('startService', () => {
  it('takes the key from its file, keeps the output, and ends the service when told to', async () => {
    const keyFile = join(folder, 'first-key');
    const path = await script(
      'start.mjs',
      `import { writeFileSync } from 'node:fs';
       import { createServer } from 'node:http';
       const server = createServer((request, response) => response.end('{}')).listen(0, '127.0.0.1', () => {
         writeFileSync('${keyFile}', '${KEY}\\n');
         console.log('listening on ' + server.address().port);
       });
       process.on('SIGTERM', () => { console.log('closing in order'); process.exit(0); });`,
    );
    const logFile = join(folder, 'start.log');
    const service = startService({ script: path, cwd: folder, env: process.env, logFile, keyFile });
    equal(service.key(), null);
    let log = '';
    while (!log.includes('listening')) log = await readFile(logFile, 'utf8').catch(() => '');
    const url = `http://127.0.0.1:${/listening on (\d+)/.exec(log)?.[1]}`;
    await waitUntilReady(url, 5_000, service.ended);
    equal(await answers(url), true);
    equal(service.key(), KEY);
    await service.stop();
    equal(await service.ended, 0);
    match(await readFile(logFile, 'utf8'), /closing in order/);
    equal(await isReady(url), false);
    equal(await answers(url), false);
  });

  it('gives up waiting when the service ends before it is ready', async () => {
    const path = await script('broken.mjs', `console.error('port taken'); process.exit(3);`);
    const logFile = join(folder, 'broken.log');
    const service = startService({
      script: path,
      cwd: folder,
      env: process.env,
      logFile,
      keyFile: join(folder, 'none'),
    });
    await rejects(waitUntilReady('http://127.0.0.1:9', 60_000, service.ended), /ended before it was ready/);
    equal(await service.ended, 3);
    equal(service.key(), null);
    await service.stop();
  });
});

describe('createKey', () => {
  it('returns the key that the command shows', async () => {
    const path = await script(
      'keys.mjs',
      `console.log(process.argv.slice(2).join(' ') === 'create --project shop' && '${KEY} (keep it)');`,
    );
    equal(await createKey({ project: 'shop', script: path, cwd: folder, env: process.env }), KEY);
  });

  it('passes on what the command said when it shows none', async () => {
    const path = await script('none.mjs', `console.error('the registry is unreachable'); process.exit(1);`);
    await rejects(
      createKey({ project: 'shop', script: path, cwd: folder, env: process.env }),
      /the registry is unreachable/,
    );
  });
});
