/**
 * Run by test/cli/command.test.ts: what each of the given files prints for `--help`, and the exit code that it asks
 * for, as JSON. In one process, as they load much of the same; a command of its own is what others run.
 */
import { join } from 'node:path';

/** What a command answered. */
export interface Help {
  readonly file: string;
  readonly code: number;
  readonly output: string;
}

const ROOT = join(import.meta.dirname, '../..');
const files = process.argv.slice(2);
const helps: Help[] = [];
const write = process.stdout.write.bind(process.stdout);
for (const file of files) {
  let output = '';
  const onOutput = (text: string | Uint8Array): boolean => {
    output += String(text);
    return true;
  };
  process.stdout.write = onOutput;
  process.stderr.write = onOutput;
  process.argv = [process.execPath, join(ROOT, file), '--help'];
  process.exitCode = undefined;
  await import(join(ROOT, file));
  helps.push({ file, code: Number(process.exitCode ?? 0), output });
}
write(JSON.stringify(helps), () => process.exit(0));
