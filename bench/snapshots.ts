/**
 * Does a reader ever see a total that mixes two generations?
 *
 *   npm run bench -- snapshots [--seconds 60] [--readers 8] [--batch 100] [--merge-rows 5000] [--json]
 *
 * Reader processes compare the totals of many tables within one snapshot with each other and with the
 * snapshot's sequence, while a writer publishes, merges and removes replaced files without a grace period.
 * A wrong total, or a check that could not be made, sets the exit code.
 */
import { parseArgs } from 'node:util';
import { soakSnapshots } from '../test/support/snapshot-soak.ts';

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '60' },
      readers: { type: 'string', default: '8' },
      batch: { type: 'string', default: '100' },
      'merge-rows': { type: 'string', default: '5000' },
      json: { type: 'boolean', default: false },
    },
  });
  const result = await soakSnapshots({
    seconds: Number(values.seconds),
    readers: Number(values.readers),
    batch: Number(values.batch),
    compactRows: Number(values['merge-rows']),
  });
  const sum = (of: (reader: (typeof result.readers)[number]) => number): number =>
    result.readers.reduce((total, reader) => total + of(reader), 0);
  const [checks, wrong, failed] = [
    sum((one) => one.checks),
    sum((one) => one.wrong),
    sum((one) => one.failed),
  ];
  if (values.json) {
    console.log(JSON.stringify({ ...result, checks, wrong, failed }, null, 2));
  } else {
    console.log(
      `writer: ${result.generations} generations, ${result.messages} messages, ${result.merges} merged files, ` +
        `${result.filesRemoved} files removed`,
    );
    const seen = result.readers.map((reader) => reader.generations).toSorted((a, b) => a - b);
    console.log(
      `${result.readers.length} readers: ${checks} checks, ${wrong} wrong totals (= 0 ${wrong === 0 ? '✓' : '✗'}), ` +
        `${failed} failed; ${seen[0]} to ${seen.at(-1)} generations each`,
    );
    for (const { examples } of result.readers) for (const example of examples) console.log(`  ${example}`);
  }
  if (wrong > 0 || failed > 0 || checks === 0) process.exitCode = 1;
}
