/** Is anything slower than it was, compared with its alternative? Covered by test/tools/bench/run.test.ts. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { action, type Command } from '../../src/cli/command.ts';
import { temporaryDirectory } from '../../test/support/fold.ts';
import { median, type Ratios } from './load/ratios.ts';
import { checkReadme } from './load/readme-figures.ts';
import { table, verdict } from './load/table.ts';

const FILE = join(import.meta.dirname, 'baseline.json');
/** Each ratio is the median of so many. */
const TIMES = 3;
/** A ratio may fall to this part of what it was, … */
const LEAST = 0.75;
/** … where its alternative is a fixed amount, to this: what is measured has then grown by a quarter. */
const LEAST_OF_FIXED: Readonly<Record<string, number>> = { analysis: 0.8, count: 0.8 };

/** Stands for the figures of docs/requirements.md among the names of benchmarks. */
const README = 'readme';

/** Ratios by benchmark and name. */
type Baseline = Readonly<Record<string, Readonly<Record<string, number>>>>;

const USAGE = `Usage: npm run bench -- check [NAME…] [--write]

Is anything slower than it was? Runs the quick form of each named benchmark, or of every one that has an alternative in
the same run, and compares the ratio of the two with tools/bench/baseline.json. The baseline has no absolute times, so any
machine can check it. Each ratio is the median of ${TIMES}. A fall by more than a quarter (count and analysis: by a fifth,
so what they cost has grown by a quarter) ends the run with code 1, and so does a figure of docs/requirements.md that is off by more than a third (NAME readme: these alone). Its times and rates are
compared by the fixed loop of npm run bench -- count; they need a machine with nothing else to do.

  --write   keep the ratios of this run as the baseline`;

export const command: Command = {
  usage: USAGE,
  action: action({
    options: { write: { type: 'boolean', default: false } },
    operands: Infinity,
    read:
      ({ write }, names) =>
      async () => {
        const readme = names.length === 0 || names.includes(README) ? await printReadme() : true;
        const measured = names.join() === README ? {} : await measure(names);
        const kept = readBaseline();
        const baseline = write ? (names.length === 0 ? measured : { ...kept, ...measured }) : kept;
        if (write) writeFileSync(FILE, `${JSON.stringify(baseline, null, 2)}\n`);
        const compared = compare(baseline, measured).filter(
          ({ benchmark }) => names.length === 0 || names.includes(benchmark),
        );
        console.log(
          table(
            ['ratio', 'baseline', 'now', ''],
            compared.map(({ name, before, now, holds }) => [
              name,
              before?.toFixed(2) ?? 'new',
              now?.toFixed(2) ?? 'gone',
              verdict(holds),
            ]),
          ),
        );
        return readme && compared.every(({ holds }) => holds) ? 0 : 1;
      },
  }),
};

/** Each ratio of either, and whether it has not fallen too far. One that is new or gone needs `--write`. */
export function compare(
  baseline: Baseline,
  measured: Baseline,
): {
  benchmark: string;
  name: string;
  before: number | undefined;
  now: number | undefined;
  holds: boolean;
}[] {
  const benchmarks = [...new Set([...Object.keys(baseline), ...Object.keys(measured)])].toSorted();
  return benchmarks.flatMap((benchmark) =>
    Object.keys({ ...baseline[benchmark], ...measured[benchmark] }).map((ratio) => {
      const before = baseline[benchmark]?.[ratio];
      const now = measured[benchmark]?.[ratio];
      const holds =
        before !== undefined && now !== undefined && now >= before * (LEAST_OF_FIXED[benchmark] ?? LEAST);
      return { benchmark, name: `${benchmark}: ${ratio}`, before, now, holds };
    }),
  );
}

/** False when a figure does not hold. */
async function printReadme(): Promise<boolean> {
  const checked = await checkReadme();
  console.log(
    table(
      ['requirements.md', 'printed', 'measured', ''],
      checked.map(({ name, printed, measured, holds }) => [
        name,
        printed.toPrecision(3),
        measured.toPrecision(3),
        verdict(holds),
      ]),
    ),
  );
  return checked.every(({ holds }) => holds);
}

function readBaseline(): Baseline {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Baseline) : {};
}

async function measure(names: readonly string[]): Promise<Baseline> {
  const measured: Record<string, Record<string, number>> = {};
  const keep = temporaryDirectory();
  try {
    for (const file of readdirSync(import.meta.dirname).toSorted()) {
      if (!file.endsWith('.ts') || file === 'run.ts') continue;
      const name = file.slice(0, -'.ts'.length);
      if (names.length > 0 && !names.includes(name)) continue;
      const { ratios } = (await import(`./${file}`)) as { readonly ratios?: Ratios };
      if (ratios === undefined) continue;
      const startedAt = performance.now();
      const samples = await ratios({ times: TIMES, keep: keep.path });
      measured[name] = Object.fromEntries(
        Object.entries(samples).map(([ratio, numbers]) => [ratio, Number(median(numbers).toPrecision(3))]),
      );
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      console.error(`${name} (${seconds} s): ${JSON.stringify(samples)}`);
    }
  } finally {
    keep.remove();
  }
  return measured;
}
