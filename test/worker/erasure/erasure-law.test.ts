import { describe, it } from 'node:test';
import { erasureLaw, leftLaw } from '../../support/erasure-law.ts';
import { VIEWS } from '../../support/fold.ts';
import { holds, isLong, keptCases } from '../../support/laws.ts';

/** `CASES=500` checks more; `VIEW_LAW_SEED` says which ones, `VIEW_LAW_PATH` which one of them. */
const CASES = Number(process.env['CASES'] ?? (isLong ? 20 : 1));
const SEED = Number(process.env['VIEW_LAW_SEED'] ?? 4711);

describe('laws of erasures', () => {
  const law = erasureLaw(VIEWS);
  for (const { name, given } of keptCases(law)) it(name, () => law.check(given));
  it('views are those of a stream in which what went was never sent', (test) =>
    holds(test, law, CASES, SEED));
  for (const { name, given } of keptCases(leftLaw)) it(name, () => leftLaw.check(given));
  it('what is left names nobody whom they are of, and is all else', (test) =>
    holds(test, leftLaw, CASES * 100, SEED));
});
