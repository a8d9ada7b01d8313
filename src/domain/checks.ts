/**
 * Checks: verdicts of people on whether what was found in a conversation is there, and the share that follows from
 * them, with its interval.
 *
 * Test: test/domain/checks.test.ts.
 */
import { derivedId, UUID_PATTERN } from './ids.ts';
import { OUTCOME_WORDS, SESSION_OUTCOMES } from './session-outcomes.ts';

/** Entities that can be checked: is a session about a topic, does it show a signal, gap or repeated request, has it a label? */
export const CHECKED_ENTITIES = ['TOPIC', 'SIGNAL', 'GAP', 'REPEATED_REQUEST', 'LABEL'] as const;
export type CheckedEntity = (typeof CHECKED_ENTITIES)[number];

/** True for a kind of entity, by its name in the API, that can be checked. */
export function isCheckedEntity(kind: string): kind is CheckedEntity {
  return CHECKED_ENTITIES.some((known) => known === kind);
}

/** What else can be checked: whether a session ended so, or shows a gap of this type. By key, with its name. */
export const CHECKED_KEYS = {
  OUTCOME: Object.fromEntries(
    SESSION_OUTCOMES.map((outcome) => [outcome, OUTCOME_WORDS[outcome].label]),
  ) as Readonly<Record<string, string>>,
  GAP_TYPE: { TOOL: 'Missing ability', KNOWLEDGE: 'Missing knowledge' } as Readonly<Record<string, string>>,
} as const;

export const CHECKED = [...CHECKED_ENTITIES, 'OUTCOME', 'GAP_TYPE'] as const;
export type Checked = (typeof CHECKED)[number];

/** Why the id is none of what is checked; null: it is one. */
export function faultOfCheckedId(of: Checked, id: string): string | null {
  if (isCheckedEntity(of)) return UUID_PATTERN.test(id) ? null : 'must be a UUID';
  const keys = Object.keys(CHECKED_KEYS[of]);
  return keys.includes(id) ? null : `must be one of ${keys.join(', ')}`;
}

/** The UUID under which verdicts are stored; `id` as `faultOfCheckedId` allows it. */
export function checkedUuid(instanceId: string, of: Checked, id: string): string {
  if (isCheckedEntity(of)) return id.toLowerCase();
  return derivedId(instanceId, of === 'OUTCOME' ? 'outcome' : 'gap-type', id);
}

/** UNSURE: the session is passed over. */
export const VERDICTS = ['YES', 'NO', 'UNSURE'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Limit of the checks of one instance: each takes memory while the instance is in work. */
export const MOST_CHECKS = 20_000;
/** The same of the verdicts of language models, which take nothing from the limit of people. */
export const MOST_READER_CHECKS = 20_000;

/** Sessions that were found, or not found, and the verdicts on a random sample of them. */
export interface Stratum {
  readonly sessions: number;
  /** Number of verdicts YES or NO; at most `sessions`. */
  readonly checked: number;
  readonly yes: number;
}

/** Shares from 0 to 1; the share lies between `low` and `high` with a confidence of 95 %. */
export interface Interval {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Likelihood that the truth lies below an interval, and that it lies above. */
const TAIL = 0.025;
/** Sessions of a stratum that is as good as endless. */
const ENDLESS = 2 ** 40;

/**
 * Estimates the share of a stratum that truly is YES: the exact interval for a finite population (hypergeometric), with
 * the mid-P correction (Lancaster, J. Am. Stat. Assoc. 56, 1961). `error`: share of verdicts that are wrong, below 0.5;
 * it is taken out of the share (Rogan and Gladen, Am. J. Epidemiol. 107, 1978). Null if nothing was checked.
 */
export function intervalOf(stratum: Stratum, error = 0): Interval | null {
  const said = midP(error === 0 ? stratum : { ...stratum, sessions: ENDLESS });
  if (said === null || error === 0) return said;
  const truly = (share: number): number => Math.min(1, Math.max(0, (share - error) / (1 - 2 * error)));
  return { share: truly(said.share), low: truly(said.low), high: truly(said.high) };
}

/** One that was checked as a whole is known. */
function midP({ sessions, checked, yes }: Stratum): Interval | null {
  if (checked === 0) return null;
  const share = yes / checked;
  if (checked >= sessions) return { share, low: share, high: share };
  // A NO is a YES of the opposite.
  const low = (sessions - mostYes({ sessions, checked, yes: checked - yes })) / sessions;
  const high = mostYes({ sessions, checked, yes }) / sessions;
  return { share, low: Math.min(low, share), high: Math.max(high, share) };
}

/** The most sessions that can be YES so that as few as were said to be are likely enough. */
function mostYes({ sessions, checked, yes }: Stratum): number {
  let likely = Math.floor((yes / checked) * sessions);
  let unlikely = sessions - (checked - yes) + 1;
  while (unlikely - likely > 1) {
    const truly = Math.floor((likely + unlikely) / 2);
    if (fewerLikelihood({ sessions, checked, yes }, truly) > TAIL) likely = truly;
    else unlikely = truly;
  }
  return likely;
}

/**
 * Likelihood of fewer YES than were said, and half of that of as many, if `truly` sessions are YES: no fewer than the
 * share that was said, so that the sum begins with its largest part.
 */
function fewerLikelihood({ sessions, checked, yes }: Stratum, truly: number): number {
  const no = checked - yes;
  // Of the C(checked, yes) orders, each is as likely as all YES first.
  let log = 0;
  for (let drawn = 0; drawn < yes; drawn += 1)
    log += Math.log(((checked - drawn) / (yes - drawn)) * ((truly - drawn) / (sessions - drawn)));
  for (let drawn = 0; drawn < no; drawn += 1)
    log += Math.log((sessions - truly - drawn) / (sessions - yes - drawn));
  let likelihood = Math.exp(log);
  let sum = likelihood / 2;
  for (let fewer = yes; fewer > 0 && likelihood > 0; fewer -= 1) {
    likelihood *=
      (fewer / (checked - fewer + 1)) * ((sessions - truly - checked + fewer) / (truly - fewer + 1));
    sum += likelihood;
  }
  return sum;
}

/**
 * Estimates the share of YES among the sessions of all strata: each stratum by its size. The interval is made of those
 * of the strata (MOVER: Zou and Donner, Stat. Med. 27, 2008). `error`: as in `intervalOf`. Null unless each stratum
 * with sessions was checked.
 */
export function shareOf(strata: readonly Stratum[], error = 0): Interval | null {
  const all = strata.reduce((sum, { sessions }) => sum + sessions, 0);
  if (all === 0) return null;
  let [share, below, above] = [0, 0, 0];
  for (const stratum of strata) {
    if (stratum.sessions === 0) continue;
    const own = intervalOf(stratum, error);
    if (own === null) return null;
    const weight = stratum.sessions / all;
    share += weight * own.share;
    below += (weight * (own.share - own.low)) ** 2;
    above += (weight * (own.high - own.share)) ** 2;
  }
  return { share, low: Math.max(0, share - Math.sqrt(below)), high: Math.min(1, share + Math.sqrt(above)) };
}

/** Numbers of sessions on which two readers said YES or NO: `yesNo` are those with YES of the first, NO of the second. */
export interface Agreements {
  readonly yesYes: number;
  readonly yesNo: number;
  readonly noYes: number;
  readonly noNo: number;
}

/**
 * Cohen's kappa (Educ. Psychol. Meas. 20, 1960): the agreement beyond that of two readers who say YES as often, but by
 * chance. From −1 to 1; null if there is no session, or both always said the same word.
 */
export function kappaOf({ yesYes, yesNo, noYes, noNo }: Agreements): number | null {
  const all = yesYes + yesNo + noYes + noNo;
  // Whole numbers until the last step, so that what is undefined is exactly zero.
  const byChance = (yesYes + yesNo) * (yesYes + noYes) + (noYes + noNo) * (yesNo + noNo);
  const rest = all * all - byChance;
  return rest === 0 ? null : ((yesYes + noNo) * all - byChance) / rest;
}
