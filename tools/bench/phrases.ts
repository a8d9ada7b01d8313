/** What does it cost to find phrases, in ordinary texts and in the worst ones, and to read a turn as a whole? */
import Table from 'cli-table3';
import { collect, readDialogues } from '../eval/data.ts';
import { action, type Command } from '../../src/cli/command.ts';
import { roleOf } from '../../src/domain/records.ts';
import { findIn, type ReadTurn } from '../../src/reader/acts/finding.ts';
import { loadHeads } from '../../src/reader/acts/heads.ts';
import { PhraseMatcher } from '../../src/reader/phrases/phrase-matcher.ts';
import { shippedPhraseFiles } from '../../test/support/shipped-phrases.ts';
import { worstTexts } from '../../test/support/phrase-prefixes.ts';

const USAGE = `Usage: npm run bench -- phrases [FILE]

What does it cost to find phrases, and to read a turn as a whole? Prints ms a KB (1,000 characters) for the worst
texts of each language, and turns a second over the dialogues in FILE.`;

const LENGTH = 50_000;
const TURNS = 2000;

function milliseconds(work: () => void): number {
  let best = Infinity;
  for (let turn = 0; turn < 3; turn++) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

function worst(): void {
  const table = new Table({
    head: ['phrases', 'nodes', 'ms a KB, worst', 'steps a character', 'text'],
    style: { head: [], border: [] },
  });
  for (const [purpose, files] of shippedPhraseFiles()) {
    const start = performance.now();
    const matcher = new PhraseMatcher(files);
    console.log(`${purpose}: ${matcher.size} nodes, built in ${Math.round(performance.now() - start)} ms`);
    for (const file of files) {
      const texts = worstTexts(file, matcher, LENGTH);
      const measured = texts.map((text) => ({
        text,
        perKb: (milliseconds(() => matcher.match(text)) / LENGTH) * 1000,
        steps: matcher.match(text).steps / LENGTH,
      }));
      const most = measured.reduce((one, other) => (other.perKb > one.perKb ? other : one));
      const nodes = new PhraseMatcher([file]).size;
      const name = `${file.language}.${purpose}`;
      table.push([name, nodes, most.perKb.toFixed(2), most.steps.toFixed(1), most.text.slice(0, 40)]);
    }
  }
  console.log(table.toString());
}

async function ordinary(path: string): Promise<void> {
  const dialogues = await collect(readDialogues(path));
  const turns: ReadTurn[] = dialogues
    .flatMap((dialogue) => dialogue.turns)
    .slice(0, TURNS)
    .map(({ role, content }) => ({ role: roleOf(role), content }));
  const heads = loadHeads();
  const took = milliseconds(() => turns.forEach((turn) => findIn(turn, heads)));
  const matchers = [...shippedPhraseFiles()].map(
    ([purpose, files]) => [purpose, new PhraseMatcher(files)] as const,
  );
  console.log(`findIn: ${Math.round((turns.length / took) * 1000)} turns a second of ${turns.length}`);
  for (const [purpose, matcher] of matchers) {
    const alone = milliseconds(() => turns.forEach(({ content }) => matcher.match(content)));
    console.log(`phrases of ${purpose} alone: ${Math.round((turns.length / alone) * 1000)} turns a second`);
  }
}

export const command: Command = {
  usage: USAGE,
  action: action({
    operands: 1,
    read(_options, [file]) {
      return async () => {
        worst();
        if (file !== undefined) await ordinary(file);
      };
    },
  }),
};
