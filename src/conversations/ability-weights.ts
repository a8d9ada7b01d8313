/** What speaks for two groups of missing abilities being one. `npm run train -- abilities` makes these numbers. */
import type { AbilityEvidence } from './ability-match.ts';

/** Log-odds before any evidence, and what each adds to them. */
export const ABILITY_PRIOR = -7.07;
export const ABILITY_WEIGHTS: Readonly<Record<keyof AbilityEvidence, number>> = {
  knowledge: 1.17,
  meaning: 8.13,
  things: 3.61,
  thingsKnown: 2.97,
  noThing: -1.7,
  acts: 1.7,
  noAct: 0.53,
  otherActs: -1.38,
  actsAndThings: 3.93,
  thingsAlone: 4.46,
  pairs: 0,
  meaningOfPairs: -0.85,
};
/** Log-odds from which an ability joins a group, and from which two groups merge. */
export const JOINS = -1.5;
export const MERGES = -1.5;
