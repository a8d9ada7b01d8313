/**
 * Loaded into a process before its own code (`NODE_OPTIONS=--import`): ends it with SIGKILL at a chosen moment of
 * its work, without that code knowing. The file `FAULT_FILE` holds `at`, a regular expression over the moments,
 * which are named `before` or `after`, then `sql` and the statement, or `rename` and the new name; and `skip`, how
 * many are let pass. It may be written at any time, and is removed when its moment has come.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { DuckDBConnection } from '@duckdb/node-api';

const LOOK_MS = 20;
const file = process.env['FAULT_FILE'];

let wanted: RegExp | null = null;
let left = 0;

function look(): void {
  if (wanted !== null || file === undefined || !fs.existsSync(file)) return;
  const { at, skip } = JSON.parse(fs.readFileSync(file, 'utf8')) as { at: string; skip: number };
  wanted = new RegExp(at, 's');
  left = skip;
}

function reached(moment: string): void {
  if (wanted?.test(moment) !== true) return;
  left -= 1;
  if (left >= 0) return;
  fs.rmSync(file ?? '');
  fs.writeSync(2, `[fault point: ${moment.slice(0, 60).replaceAll(/\s+/g, ' ')}]\n`);
  process.kill(process.pid, 'SIGKILL');
}

if (isMainThread && file !== undefined) {
  look();
  setInterval(look, LOOK_MS).unref();
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
