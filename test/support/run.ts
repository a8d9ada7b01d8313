/**
 * Runs the tests: `npm test` all of them, `npm test -- http query` those whose path holds one of the
 * words. The counts are the closing lines whether or not something failed; the exit code says which.
 */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const root = resolve(dirname(import.meta.filename), '../..');
const words = process.argv.slice(2);
const files = globSync('test/**/*.test.ts', { cwd: root })
  .toSorted()
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));

if (files.length === 0) {
  process.stderr.write(`No test file matches ${words.join(' ')}.\n`);
  process.exit(1);
}

const events = run({
  files: files.map((file) => resolve(root, file)),
  cwd: root,
  concurrency: Math.max(1, Math.min(availableParallelism(), 4)),
});
const closingLines: string[] = [];
events.on('test:fail', (event) => {
  if (event.todo === undefined || event.todo === false) process.exitCode = 1;
});
events.on('test:diagnostic', (event) => {
  if (
    event.nesting === 0 &&
    /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /.test(event.message)
  ) {
    closingLines.push(`ℹ ${event.message}`);
  }
});
// The reporter lists the failures after the counts: say the counts once more.
const report = events.compose(new spec());
report.on('end', () => {
  if (process.exitCode === 1) process.stdout.write(`${closingLines.join('\n')}\n`);
});
report.pipe(process.stdout);
