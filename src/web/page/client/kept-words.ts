/**
 * Words an instance's retention and its last run.
 *
 * Test: test/web/page/kept-words.test.ts.
 */
import type { RetentionAnswer } from './api.ts';
import { counted } from './format.ts';

/** Periods that the page can set. */
export type KeptDays = 'textDays' | 'peopleDays' | 'countDays';

/** Days; null: no limit. */
export type Days = Readonly<Record<KeptDays, number | null>>;

/** `where`: ends the sentence. */
const WARNINGS: Readonly<Record<KeptDays, (days: string, where: string) => string>> = {
  textDays: (days, where) =>
    `Texts, titles and summaries of conversations without a message for ${days} will be removed${where}.`,
  peopleDays: (days, where) => `Names of users without a message for ${days} will be removed${where}.`,
  countDays: (days, where) => `Messages older than ${days} no longer count${where}.`,
};

/** The instances that a change of days concerns. */
const WHERE = { ALL: ' in all instances that have no days of their own', OWN: '' } as const;

/** Returns a sentence for each period that becomes shorter, and what that means; '' if none does. */
export function warningOf(days: Days, before: Days, where: keyof typeof WHERE): string {
  const shorter = (Object.keys(WARNINGS) as KeptDays[]).flatMap((name) => {
    const kept = days[name] ?? Infinity;
    return kept < (before[name] ?? Infinity) ? [WARNINGS[name](counted(kept, 'day'), WHERE[where])] : [];
  });
  if (shorter.length === 0) return '';
  return `${shorter.join(' ')} Removal begins within a minute and cannot be undone.`;
}

const SHORT: Readonly<Record<KeptDays, string>> = {
  textDays: 'texts',
  peopleDays: 'names',
  countDays: 'messages',
};

/** Asks before an instance gives up its own days, for which those of its project take over. */
export function giveUpWords(own: Days, project: Days): string {
  const limited = (Object.keys(SHORT) as KeptDays[]).filter(
    (name) => own[name] !== null || project[name] !== null,
  );
  const daysIn = (days: Days): string =>
    limited
      .map((name) => `${limited.length > 1 ? `${SHORT[name]} ` : ''}${days[name] ?? 'for ever'}`)
      .join(', ');
  const warning = warningOf(project, own, 'OWN') || 'nothing is removed by that.';
  const isUnset = Object.keys(SHORT).every((name) => project[name as KeptDays] === null);
  const next = isUnset ? 'the project has none' : `the project's ${daysIn(project)} hold again`;
  return `Give up this instance's own days (${daysIn(own) || 'for ever'}); ${next}: ${warning}`;
}

/** The note under the days. */
export function keptNote({ countDays }: Days): string {
  return `An empty field means for ever.${countDays === null ? ' Numbers stay exact when texts and names go.' : ''}`;
}

type Run = NonNullable<RetentionAnswer['lastRun']>;

/** `at`: formatted time of its end, or of its start if it is not done. */
export function runWords({
  at,
  doneAt,
  texts,
  people,
  messages,
  fault,
}: Pick<Run, 'doneAt' | 'texts' | 'people' | 'messages' | 'fault'> & { readonly at: string }): string {
  if (fault !== null && doneAt === null) return `The last run failed and is tried again: ${fault}`;
  if (doneAt === null) return `Since ${at}, what is old enough is being taken out.`;
  const gone = [
    ...(texts > 0 ? [`texts of ${counted(texts, 'conversation')}`] : []),
    ...(people > 0 ? [`names of ${counted(people, 'user')}`] : []),
    ...(messages > 0 ? [counted(messages, 'message')] : []),
  ];
  const what = gone.length === 0 ? 'nothing was old enough' : `${gone.join(', ')} went`;
  return `Last run, ${at}: ${what}.`;
}
