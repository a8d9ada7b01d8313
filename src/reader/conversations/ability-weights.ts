/** What speaks for two groups of missing abilities being one. `npm run train -- abilities` makes these numbers. */
import type { AbilityEvidence } from './ability-match.ts';

/** Log-odds before any evidence, and what each adds to them. */
export const ABILITY_PRIOR = -6.66;
export const ABILITY_WEIGHTS: Readonly<Record<keyof AbilityEvidence, number>> = {
  knowledge: 0.65,
  meaning: 8.07,
  things: 3.52,
  thingsKnown: 3.42,
  noThing: -1.66,
  acts: 1.63,
  noAct: 0.61,
  otherActs: -1.42,
  actsAndThings: 3.82,
  thingsAlone: 4.52,
  pairs: 0.03,
  meaningOfPairs: -0.99,
};
/** Log-odds from which an ability joins a group, and from which two groups merge. */
export const JOINS = -1.5;
export const MERGES = -1.5;
