/**
 * Ends the nats-server that a killed `npm start` left; run by its guard.
 *
 * Test: test/main/start.test.ts.
 */
import { runToEnd } from '../lifecycle.ts';
import { stopLeftServer } from '../stream/server/server.ts';
import { lockDataDirectory } from '../store/data-directory.ts';

await runToEnd(async () => {
  const dataDir = process.argv[2] ?? '';
  // If another `npm start` holds the directory, it ends the server itself.
  const lock = await lockDataDirectory(dataDir);
  await stopLeftServer(dataDir);
  lock.release();
});
