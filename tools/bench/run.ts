/**
 * `npm run bench -- NAME [options]`: runs the command that tools/bench/NAME.ts exports. Covered by
 * test/tools/bench/run.test.ts.
 */
import { readdirSync } from 'node:fs';
import { action, runCommand, UsageError, type Command } from '../../src/cli/command.ts';

const NAMES = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted();

const USAGE = `Usage: npm run bench -- NAME [options]

Each benchmark answers one question about speed or load; npm run bench -- NAME --help says which, and lists its options.
check compares the quick form of all that have an alternative with tools/bench/baseline.json.

NAME is one of: ${NAMES.join(', ')}`;

const [name, ...args] = process.argv.slice(2);

if (name !== undefined && NAMES.includes(name)) {
  const { command } = (await import(`./${name}.ts`)) as { readonly command: Command };
  await runCommand(command, args);
} else {
  const noName = action({
    operands: Infinity,
    read() {
      throw new UsageError(name === undefined ? 'A NAME is needed.' : `There is no benchmark ${name}.`);
    },
  });
  await runCommand({ usage: USAGE, action: noName });
}
