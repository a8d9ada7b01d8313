/**
 * Words erasures.
 *
 * Test: test/web/page/erase-words.test.ts.
 */
import type { Erasure } from './api.ts';
import { counted } from './format.ts';

/** Erasures do not record their subject. */
export const KIND_WORDS: Readonly<Record<Erasure['kind'], string>> = {
  SESSION: 'A conversation',
  END_USER: 'A user',
  MESSAGES: 'Some messages',
  INSTANCE: 'Everything in the instance',
};

const STATE_WORDS: Readonly<Record<Exclude<Erasure['state'], 'DONE'>, string>> = {
  ACCEPTED: 'It waits its turn',
  ERASING: 'The texts are being taken out',
  RECOUNTING: 'The texts are gone, and the numbers are being counted without them',
  REBUILDING: 'It is gone from texts and numbers, and topics are being found anew without it',
  FAILED: 'It failed and is tried again',
};

/** `12 messages are gone, with 3 whole conversations.` */
export function receiptWords({
  messages,
  sessions,
  deadLetters,
  unreadableDeadLetters,
}: NonNullable<Erasure['receipt']>): string {
  const more = [
    ...(sessions > 0 ? [counted(sessions, 'whole conversation')] : []),
    ...(deadLetters > 0 ? [counted(deadLetters, 'request') + ' that could not be processed'] : []),
  ];
  const gone = `${counted(messages, 'message')} ${messages === 1 ? 'is' : 'are'} gone`;
  const all = `${[gone, ...(more.length > 0 ? [`with ${more.join(' and ')}`] : [])].join(', ')}.`;
  if (unreadableDeadLetters === 0) return all;
  return `${all} ${counted(unreadableDeadLetters, 'stored request')} cannot be read and may still hold some of it.`;
}

/** Words the state and the receipt of an erasure. */
export function progressWords({ state, receipt, fault }: Erasure): string {
  if (state === 'DONE') return receipt === null ? 'Done.' : `Done: ${receiptWords(receipt)}`;
  return `${STATE_WORDS[state]}${state === 'FAILED' && fault !== null ? `: ${fault.replace(/\.$/, '')}` : ''}.`;
}

/** As `progressWords`, in sentences that stand alone in the notice under the header. */
export function noticeWords(erasure: Erasure): string {
  const what = KIND_WORDS[erasure.kind];
  if (erasure.state !== 'DONE')
    return `${what} is being erased. ${progressWords(erasure)} Until it is done, the page may still show it.`;
  return erasure.receipt === null
    ? `${what} is erased.`
    : `${what} is erased: ${receiptWords(erasure.receipt)}`;
}
