/**
 * `npm run golden -- write|check`: what the views hold of three histories, as digests. A change that is to leave
 * every number, id and name as it is gives the digests that `write` kept in digests.json.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { demoHistory, dialogueHistory, syntheticHistory, type Golden } from './histories.ts';

const FILE = join(import.meta.dirname, 'digests.json');
const DATA = process.env['UNDERTONE_DATA'] ?? join(import.meta.dirname, '../../../shared/data');

const mode = process.argv[2];
if (mode !== 'write' && mode !== 'check') {
  console.error('Usage: npm run golden -- write|check');
  process.exit(2);
}

const histories: Record<string, Golden> = { demo: await demoHistory() };
if (existsSync(DATA)) histories['dialogues'] = await dialogueHistory(DATA);
else console.log(`dialogues: left out, there is no ${DATA} (UNDERTONE_DATA names another folder)`);
histories['synthetic'] = await syntheticHistory();

if (mode === 'write') {
  writeFileSync(FILE, `${JSON.stringify(histories, null, 2)}\n`);
  console.log(`written: ${Object.keys(histories).join(', ')}`);
} else {
  const golden = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Golden>;
  for (const [name, found] of Object.entries(histories)) {
    const expected = golden[name];
    const differing = Object.keys({ ...expected?.tables, ...found.tables }).filter(
      (table) => expected?.tables[table] !== found.tables[table],
    );
    if (expected?.answers !== found.answers) differing.push('answers');
    console.log(`${name}: ${differing.length === 0 ? 'equal' : `DIFFERENT in ${differing.join(', ')}`}`);
    if (!isDeepStrictEqual(expected, found)) process.exitCode = 1;
  }
}
