/**
 * Says what an import makes up where a file does not tell it: the time of a message, the end user of a conversation.
 *
 * Test: test/doors/import/made-up.test.ts.
 */
import { count } from '../../domain/progress.ts';
import type { IngestMessage } from './mapper.ts';

/** How often something was made up. */
export interface MadeUp {
  /** Messages without a time. */
  readonly times: number;
  /** Conversations that name no end user. */
  readonly users: number;
}

/** Counts the messages that get the time of their import. */
export function untimedIn(messages: readonly IngestMessage[]): number {
  return messages.filter(({ metadata }) => metadata?.['createdAt'] === undefined).length;
}

/** Returns a sentence for each thing that was made up; [] for none. */
export function madeUpWords({ times, users }: MadeUp): string[] {
  const [message, conversation] = [
    times === 1 ? 'message has' : 'messages have',
    users === 1 ? 'conversation names' : 'conversations name',
  ];
  return [
    ...(times === 0
      ? []
      : [`${count(times)} ${message} no time in the file, and the time of the import stands in its place.`]),
    ...(users === 0
      ? []
      : [
          `${count(users)} ${conversation} no end user, and one is made up for each (--user ID names one for all).`,
        ]),
  ];
}
