/**
 * The Procfile's `nats`: finds or fetches nats-server, writes its configuration and becomes it.
 *
 * Test: test/main/nats.test.ts.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { runToEnd, SETUP_FAULT_CODE } from '../lifecycle.ts';
import { prepareDataDirectory } from '../store/data-directory.ts';
import { prepareServer } from '../stream/server/server.ts';
import { concernAboutServer } from '../stream/server/version.ts';

const CACHE_DIR = join(import.meta.dirname, '../../.cache');

await runToEnd(async () => {
  const config = loadConfig();
  if (config.natsUrl !== undefined) {
    // Listens before printing: a reader of the line may send a signal at once.
    const signalled = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
    process.stdout.write('NATS_URL is set: no nats-server of our own is started\n');
    // Keeps running, because a Procfile runner ends everything when one process ends.
    const stay = setInterval(() => undefined, 2 ** 30);
    await signalled;
    clearInterval(stay);
    return;
  }
  // Without a parent, nobody would end the server.
  process.on('disconnect', () => process.exit(1));
  for (const concern of prepareDataDirectory(config.dataDir)) process.stdout.write(`${concern}\n`);
  const { binary, args, url } = await prepareServer({
    dataDir: config.dataDir,
    port: config.natsPort,
    cacheDir: CACHE_DIR,
    onProgress: (sentence) => process.stdout.write(`${sentence}\n`),
  });
  process.stdout.write(`nats-server ${binary.version} (${binary.file}) on ${url}\n`);
  const concern = concernAboutServer(binary.version);
  if (concern !== null) process.stdout.write(`${concern}\n`);
  // Replaces this process, so that signals, exit code and kill -9 apply to the server itself.
  if (process.execve === undefined) throw new Error('this platform cannot replace a process');
  process.execve(binary.file, [binary.file, ...args]);
}, SETUP_FAULT_CODE);
