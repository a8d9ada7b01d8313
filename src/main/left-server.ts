/** Run by the guard of `npm start`: ends the nats-server that a killed `npm start` left. */
import { runToEnd } from '../lifecycle.ts';
import { stopLeftServer } from '../stream/server/server.ts';
import { lockDataDirectory } from '../store/data-directory.ts';

await runToEnd(async () => {
  const dataDir = process.argv[2] ?? '';
  // Another `npm start` that has the directory by now ends the server itself.
  const lock = await lockDataDirectory(dataDir);
  await stopLeftServer(dataDir);
  lock.release();
});
