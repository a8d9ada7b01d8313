/**
 * Says whether a process of the service is well, for containers and supervisors: node deploy/health.mjs
 * web|live|worker|nats. Exits with 0, or with 1 and a sentence. Plain JavaScript without imports of ours: it runs every
 * few seconds, and nothing has to be loaded or stripped for it.
 */
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

const { DATA_DIR = './data', PORT = '8080', NATS_PORT = '4222' } = process.env;
/** A worker writes its status each second; one that has not for so long hangs. */
const WORKER_SILENT_MS = 30_000;

const CHECKS = {
  /** web can do its own work. */
  web: () => ask('/readyz'),
  /** web runs. */
  live: () => ask('/livez'),
  worker() {
    const folder = join(DATA_DIR, 'status');
    const ages = readdirSync(folder)
      .filter((name) => /^worker-\d+\.json$/.test(name))
      .map((name) => Date.now() - statSync(join(folder, name)).mtimeMs);
    if (!ages.some((age) => age < WORKER_SILENT_MS)) throw new Error('no worker has written its status');
  },
  async nats() {
    const socket = connect(Number(NATS_PORT), '127.0.0.1');
    const [greeting] = await once(socket, 'data');
    socket.destroy();
    if (!String(greeting).startsWith('INFO ')) throw new Error('it is no NATS server that answers');
  },
};

async function ask(path) {
  const { status } = await fetch(`http://127.0.0.1:${PORT}${path}`);
  if (status !== 200) throw new Error(`${path} answers ${status}`);
}

const name = process.argv[2] ?? '';
try {
  if (!Object.hasOwn(CHECKS, name)) throw new Error(`say which: ${Object.keys(CHECKS).join(', ')}`);
  await CHECKS[name]();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${name}: ${error.cause?.message ?? error.message}\n`);
  process.exit(1);
}
