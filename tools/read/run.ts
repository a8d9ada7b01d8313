/** `npm run read`: prints what the reader finds in one turn. Test: test/cli/command.test.ts, test/tools/read.test.ts. */
import Table from 'cli-table3';
import { action, runCommand, UsageError } from '../../src/cli/command.ts';
import { foundIn, ROLES } from './found-in.ts';

const USAGE = `Usage: npm run read -- TEXT [--after TEXT]
       npm run read -- TEXT --role assistant

Shows what the reader finds in one turn: its kind, its request, its signals or its gap, and the phrases of lexicon/.

  --role user|assistant  who says it (default: user)
  --after TEXT           the assistant's turn before, which decides the signals that count`;

const read = action({
  options: { role: { type: 'string', default: 'user' }, after: { type: 'string' } },
  operands: 1,
  read({ role: name, after }, [content]) {
    const role = ROLES.find((one) => one === name);
    if (role === undefined) throw new UsageError('--role takes user or assistant.');
    if (content === undefined) throw new UsageError('A text is needed.');
    return async () => {
      const style = { head: [], border: [] };
      const table = new Table({
        colWidths: [null, null, 64],
        chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
        style,
      });
      const rows = foundIn(content, { role, ...(after === undefined ? {} : { after }) });
      table.push(...rows.map((row) => [...row]));
      process.stdout.write(`${table.toString()}\n`);
    };
  },
});

await runCommand({ usage: USAGE, action: read });
