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

const WARNINGS: Readonly<Record<KeptDays, (days: string) => string>> = {
  textDays: (days) => `Texts, titles and summaries of conversations that had no message for ${days} go.`,
  peopleDays: (days) => `Names of users who said nothing for ${days} go.`,
  countDays: (days) => `Messages older than ${days} go, and nothing counts them any more.`,
};

/** Returns a sentence for each period that becomes shorter. */
export function warningsOf(days: Days, before: Days): string[] {
  return (Object.keys(WARNINGS) as KeptDays[]).flatMap((name) => {
    const kept = days[name] ?? Infinity;
    return kept < (before[name] ?? Infinity) ? [WARNINGS[name](counted(kept, 'day'))] : [];
  });
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
