/** `npm run golden -- write|check`: what the views hold of three histories, as digests. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { action, runCommand } from '../../src/cli/command.ts';
import { demoHistory, dialogueHistory, syntheticHistory, type Golden } from './histories.ts';

const FILE = join(import.meta.dirname, 'digests.json');
const DATA = process.env['UNDERTONE_DATA'] ?? join(import.meta.dirname, '../../../shared/data');

const USAGE = `Usage:
  npm run golden -- write
  npm run golden -- check

write stores digests of the views of three histories: the demo, dialogues and a synthetic one. check makes them again
and lists the tables that differ; a change that must keep every number, id and name passes it. The dialogues are read
from UNDERTONE_DATA (${DATA}), and left out where there are none.`;

async function digests(): Promise<Record<string, Golden>> {
  const histories: Record<string, Golden> = { demo: await demoHistory() };
  if (existsSync(DATA)) histories['dialogues'] = await dialogueHistory(DATA);
  else console.log(`dialogues: left out, there is no ${DATA} (UNDERTONE_DATA names another folder)`);
  histories['synthetic'] = await syntheticHistory();
  return histories;
}

const write = action({
  read: () => async () => {
    const histories = await digests();
    writeFileSync(FILE, `${JSON.stringify(histories, null, 2)}\n`);
    console.log(`written: ${Object.keys(histories).join(', ')}`);
  },
});

const check = action({
  read: () => async () => {
    const golden = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Golden>;
    let equal = true;
    for (const [name, found] of Object.entries(await digests())) {
      const expected = golden[name];
      const differing = Object.keys({ ...expected?.tables, ...found.tables }).filter(
        (table) => expected?.tables[table] !== found.tables[table],
      );
      if (expected?.answers !== found.answers) differing.push('answers');
      console.log(`${name}: ${differing.length === 0 ? 'equal' : `DIFFERENT in ${differing.join(', ')}`}`);
      equal &&= isDeepStrictEqual(expected, found);
    }
    return equal ? 0 : 1;
  },
});

await runCommand({ usage: USAGE, actions: { write, check } });
