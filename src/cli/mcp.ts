/**
 * `npm run mcp`: serves the MCP tools on standard input and output.
 *
 * Test: test/e2e/mcp-rules.test.ts.
 */
import { createHttpDoor } from '../doors/mcp/http-door.ts';
import { Reading } from '../doors/mcp/reading.ts';
import { serveStandardIo } from '../doors/mcp/server.ts';
import { action, runCommand } from './command.ts';
import { ACCESS_OPTIONS, accessOf } from './local-url.ts';

const USAGE = `Usage: npm run --silent mcp -- [options]

Serves the Model Context Protocol on standard input and output, for clients that start it themselves, and asks a
running service over HTTP. (Clients that speak HTTP need no command: the service has /mcp.) docs/mcp.md says how to
add it to a client.

  --url URL         address of the service   (default: UNDERTONE_URL, or HOST and PORT of the configuration)
  --key KEY         API key with the scope query   (default: UT_KEY)`;

const serving = action({
  options: ACCESS_OPTIONS,
  read(values) {
    const access = accessOf(values);
    return async (run) => {
      const ended = run.interruption();
      const reading = new Reading(createHttpDoor(access));
      const failed = (error: unknown): void => {
        process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      };
      const server = serveStandardIo({ reading, now: Date.now }, failed);
      await new Promise<void>((done) => {
        ended.addEventListener('abort', () => done());
        // A file as standard input ends without a close event.
        for (const event of ['end', 'close']) process.stdin.once(event, () => done());
      });
      await server.close();
    };
  },
});

await runCommand({ usage: USAGE, action: serving });
