/** Records what the SDKs export into test/fixtures/otlp: `node test/doors/traces/sdks/record.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportsOf, fixtureName, RUNS_WITHOUT_CONTENT, SDK_RUNS } from '../../../support/sdk-exports.ts';

const folder = join(import.meta.dirname, '../../../fixtures/otlp');

for (const run of [...SDK_RUNS, ...RUNS_WITHOUT_CONTENT]) {
  for (const received of await exportsOf(run)) {
    const name = fixtureName(run, received);
    writeFileSync(join(folder, name), received.bytes);
    process.stdout.write(`${name}: ${received.bytes.length} bytes\n`);
  }
}
