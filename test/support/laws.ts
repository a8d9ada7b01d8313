import type { TestContext } from 'node:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';

/** A law: what must hold for every case. Cases are plain JSON. */
export interface Law<Case> {
  readonly name: string;
  readonly cases: fc.Arbitrary<Case>;
  /** Throws when the case breaks the law. */
  readonly check: (given: Case) => Promise<void>;
}

/** A case that once broke a law, or that is known to be tricky. */
interface Kept {
  readonly law: string;
  readonly note: string;
  readonly case: unknown;
}

const KEPT_DIRECTORY = join(import.meta.dirname, '../fixtures/view-laws');

/** One seed for all laws of a run: another one in each run, unless `VIEW_LAW_SEED` names it. */
const SEED = Number(process.env['VIEW_LAW_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** Cases over all laws. */
const RUNS = Number(process.env['VIEW_LAW_RUNS'] ?? 3);

/** Whether there is time for more than the main cases of each. */
export const isLong = RUNS > 3;

/** The most of something that a random case holds: short cases find nearly what long ones do, for a third of the time. */
export const most = (long: number, short: number): number => (isLong ? long : short);

/** For how long a failure is made smaller. */
const SHRINK_MS = 60_000;

/** A law's share of all cases, at least one. */
export function runsOf(share: number): number {
  return Math.max(1, Math.round(RUNS * share));
}

/**
 * Checks a law for random cases. The seed is told in any case; a failure shrinks, and tells the shrunk case as
 * the file that keeps it.
 */
export async function holds<Case>(
  test: TestContext,
  law: Law<Case>,
  numRuns: number,
  seed = SEED,
): Promise<void> {
  test.diagnostic(`${numRuns} random cases, VIEW_LAW_SEED=${seed}`);
  const path = process.env['VIEW_LAW_PATH'];
  let failedAt = Infinity;
  const property = fc.asyncProperty(law.cases, async (given) => {
    // Passing without a look ends the shrinking: what has failed so far is told.
    if (performance.now() > failedAt + SHRINK_MS) return;
    try {
      await law.check(given);
    } catch (error) {
      failedAt = Math.min(failedAt, performance.now());
      throw error;
    }
  });
  const found = await fc.check(property, {
    seed,
    numRuns,
    ...(path === undefined ? {} : { path }),
  });
  if (!found.failed) return;
  const kept = { law: law.name, note: 'What went wrong.', case: found.counterexample?.[0] };
  throw new Error(
    `${law.name} does not hold.
Again: VIEW_LAW_SEED=${found.seed} VIEW_LAW_PATH=${found.counterexamplePath}
(case ${found.numRuns}, shrunk ${found.numShrinks} times)
Keep as test/fixtures/view-laws/${law.name}-${found.seed}.json:
${JSON.stringify(kept)}
${found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance)}`,
    { cause: found.errorInstance },
  );
}

/** Of the kept cases those that the short form checks: every other one, from `first` on; the long form checks all. */
export function shortCases<Case>(kept: readonly Case[], first: 0 | 1 = 0): readonly Case[] {
  return isLong || kept.length < 2 ? kept : kept.filter((_, index) => index % 2 === first);
}

/** The cases that are kept for a law, by file name. */
export function keptCases<Case>(law: Law<Case>): { readonly name: string; readonly given: Case }[] {
  return readdirSync(KEPT_DIRECTORY)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => ({
      file,
      kept: JSON.parse(readFileSync(join(KEPT_DIRECTORY, file), 'utf8')) as Kept,
    }))
    .filter(({ kept }) => kept.law === law.name)
    .map(({ file, kept }) => ({ name: `${file}: ${kept.note}`, given: kept.case as Case }));
}
