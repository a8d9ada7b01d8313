/** `npm run mcp`: serves the tools for language models on standard input and output. */
import { loadConfig, readEnvironment } from '../config.ts';
import { createHttpDoor } from '../mcp/http-door.ts';
import { Reading } from '../mcp/reading.ts';
import { serveStandardIo } from '../mcp/server.ts';
import { action, runCommand, UsageError } from './command.ts';
import { localUrl } from './local-url.ts';

const USAGE = `Usage: npm run --silent mcp -- [options]

Serves the Model Context Protocol on standard input and output, for clients that start it themselves, and asks a
running service over HTTP. (Clients that speak HTTP need no command: the service has /mcp.) docs/mcp.md says how to
add it to a client.

  --url URL         address of the service   (default: UNDERTONE_URL, or HOST and PORT of the configuration)
  --key KEY         API key with the scope query   (default: UT_KEY)`;

const serving = action({
  options: { url: { type: 'string' }, key: { type: 'string' } },
  read(values) {
    const env = readEnvironment();
    const url = values.url ?? (env['UNDERTONE_URL'] || localUrl(loadConfig()));
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError(`--url: "${url}" is not an http address.`);
    const key = values.key ?? env['UT_KEY'] ?? '';
    if (key === '') throw new UsageError('No API key. Set UT_KEY or give --key.');
    return async (run) => {
      const ended = run.interruption();
      const reading = new Reading(createHttpDoor({ url, key }));
      const failed = (error: unknown): void => {
        process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      };
      const server = serveStandardIo({ reading, now: Date.now }, failed);
      await new Promise<void>((done) => {
        ended.addEventListener('abort', () => done());
        // A file as standard input ends without being closed.
        for (const event of ['end', 'close']) process.stdin.once(event, () => done());
      });
      await server.close();
    };
  },
});

await runCommand({ usage: USAGE, action: serving });
