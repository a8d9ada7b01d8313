/** Does a reader ever see a total that mixes two generations? */
import { action, wholeNumber, type Command } from '../../src/cli/command.ts';
import { soakSnapshots } from '../../test/support/snapshot-soak.ts';

const USAGE = `Usage: npm run bench -- snapshots [OPTIONS]

Does a reader ever see a total that mixes two publications of the views?

Reader processes compare the totals of many tables within one snapshot with each other and with the snapshot's sequence,
while a writer publishes, compacts and removes replaced files without a grace period. A wrong total, or a check that
could not be made, ends the run with code 1.

  --seconds N       default: 60
  --readers N       processes that read (default: 8)
  --batch N         messages of each batch (default: 100)
  --merge-rows N    rows from which a file is compacted (default: 5000)
  --json            print the figures as JSON`;

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      seconds: { type: 'string', default: '60' },
      readers: { type: 'string', default: '8' },
      batch: { type: 'string', default: '100' },
      'merge-rows': { type: 'string', default: '5000' },
      json: { type: 'boolean', default: false },
    },
    read(values) {
      const options = {
        seconds: wholeNumber('--seconds', values.seconds),
        readers: wholeNumber('--readers', values.readers),
        batch: wholeNumber('--batch', values.batch),
        compactRows: wholeNumber('--merge-rows', values['merge-rows']),
      };
      return () => measure(options, values.json);
    },
  }),
};

async function measure(options: Parameters<typeof soakSnapshots>[0], json: boolean): Promise<number> {
  const result = await soakSnapshots(options);
  const sum = (of: (reader: (typeof result.readers)[number]) => number): number =>
    result.readers.reduce((total, reader) => total + of(reader), 0);
  const [checks, wrong, failed] = [
    sum((one) => one.checks),
    sum((one) => one.wrong),
    sum((one) => one.failed),
  ];
  if (json) {
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
  return wrong > 0 || failed > 0 || checks === 0 ? 1 : 0;
}
