/** What went because it was kept long enough, in sentences. Covered by test/http/dashboard/kept-words.test.ts. */
import type { RetentionAnswer } from './api.ts';
import { counted } from './format.ts';

/** The days that can be set. */
export type KeptDays = 'textDays' | 'peopleDays' | 'countDays';

type Run = NonNullable<RetentionAnswer['lastRun']>;

/** `at`: when it was done, or begun, as it is shown. */
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
