/**
 * Loaded into a process before its own code (`NODE_OPTIONS=--import`): ends it with SIGKILL at a chosen moment of
 * its work, without that code knowing. `FAULT_POINT` is a regular expression over the moments, which are named
 * `before` or `after`, then `sql` and the statement, or `rename` and the new name; `FAULT_SKIP` says how many are
 * let pass.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { DuckDBConnection } from '@duckdb/node-api';

const wanted = new RegExp(process.env['FAULT_POINT'] ?? '(?!)', 's');
let left = Number(process.env['FAULT_SKIP'] ?? 0);

function reached(moment: string): void {
  if (!wanted.test(moment)) return;
  left -= 1;
  if (left >= 0) return;
  fs.writeSync(2, `[fault point: ${moment.slice(0, 60).replaceAll(/\s+/g, ' ')}]\n`);
  process.kill(process.pid, 'SIGKILL');
}

if (isMainThread && process.env['FAULT_POINT'] !== undefined) {
  const rename = fs.renameSync;
  fs.renameSync = (from, to) => {
    const name = basename(String(to));
    reached(`before rename ${name}`);
    rename(from, to);
    reached(`after rename ${name}`);
  };
  syncBuiltinESMExports();
  // Statements without values, which all that write are.
  const run = DuckDBConnection.prototype.run;
  DuckDBConnection.prototype.run = async function (this: DuckDBConnection, ...given: Parameters<typeof run>) {
    reached(`before sql ${given[0]}`);
    const result = await run.apply(this, given);
    reached(`after sql ${given[0]}`);
    return result;
  };
}
