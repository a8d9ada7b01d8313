/** What speaks for a repeated request, and how much. `npm run train -- repeats` makes these numbers. */
import type { Evidence } from './repeat-evidence.ts';

/** Log-odds of a repeat before any evidence, and what each adds to them. */
export const PRIOR = -2.92;
export const WEIGHTS: Readonly<Record<keyof Evidence, number>> = {
  short: -0.59,
  bare: 0.1,
  insists: 3.11,
  persists: 2.31,
  presses: 1.79,
  adds: 0.17,
  continues: -2.5,
  accepts: -1.02,
  denies: 1.04,
  question: 0.71,
  settles: -0.76,
  misses: 2.54,
  evades: 0.79,
  number: -0.02,
  long: -1.56,
  isAsked: -3.17,
  asksBack: -2.52,
  meaning: 1.88,
  nearer: 4.14,
  nearest: 1.77,
  earlier: -1.55,
  related: 1.18,
  known: 2.14,
  kept: -1.74,
  same: 1.5,
  sameAction: 0.84,
  otherThing: -0.52,
  otherLanguage: 0.81,
  newValue: -2.23,
  rejects: 1.29,
  fromAnswer: -3.82,
  onlyFromAnswer: 1.69,
  restates: 1.56,
  longer: 0.85,
  relatedPersists: 0.14,
  relatedPresses: 0.44,
  relatedNumber: -1.17,
  firstAsked: -0.78,
  firstLong: -3.12,
  firstEvades: 0.09,
  relatedFirstEvades: 1.71,
  met: -0.53,
  unmet: 0.88,
};
/** Log-odds from which a request is a repeat, and from which four of five such are. */
export const LIKELY = 0;
export const SURE = 1.5;
