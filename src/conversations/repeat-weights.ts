/** What speaks for a repeated request, and how much. `npm run train -- repeats` makes these numbers. */
import type { Evidence } from './repeat-evidence.ts';

/** Log-odds of a repeat before any evidence, and what each adds to them. */
export const PRIOR = -2.66;
export const WEIGHTS: Readonly<Record<keyof Evidence, number>> = {
  short: -0.61,
  bare: 0.22,
  insists: 3.15,
  persists: 2.26,
  presses: 1.79,
  adds: 0.17,
  continues: -2.5,
  accepts: -1.07,
  denies: 1.02,
  question: 0.7,
  settles: -0.75,
  misses: 2.56,
  evades: 0.79,
  number: 0.01,
  long: -1.54,
  isAsked: -3.21,
  asksBack: -2.52,
  meaning: 1.92,
  related: 1.14,
  known: 2.22,
  kept: -1.78,
  same: 1.5,
  sameAction: 0.83,
  otherThing: -0.47,
  otherLanguage: 0.81,
  newValue: -2.22,
  rejects: 1.26,
  fromAnswer: -3.83,
  onlyFromAnswer: 1.82,
  restates: 1.53,
  longer: 0.86,
  relatedPersists: 0.17,
  relatedPresses: 0.43,
  relatedNumber: -1.23,
  firstAsked: -0.73,
  firstLong: -3.1,
  firstEvades: 0.08,
  relatedFirstEvades: 1.74,
  met: -0.5,
  unmet: 0.95,
  nearer: 4.22,
  nearest: 1.5,
  earlier: -1.54,
};
/** Log-odds from which a request is a repeat, and from which four of five such are. */
export const LIKELY = 0;
export const SURE = 1.5;
