import { bySome, shareOf, type EntryFormat } from './format.ts';

/** Our own lines. The importer maps them by `mapLine`; nothing is converted. */
export const undertone: EntryFormat = {
  kind: 'entries',
  name: 'undertone',
  title: 'Undertone conversations',
  recognise({ values }) {
    return bySome(
      shareOf(
        values,
        ({ turns, messages, id }) => Array.isArray(turns) || (id !== undefined && isPlain(messages)),
      ),
      0.9,
      'entries have turns, or an id and messages',
    );
  },
  /** Never called: see `mapValue`. */
  read: () => ({ fault: 'not to be converted' }),
};

function isPlain(messages: unknown): boolean {
  return (
    Array.isArray(messages) &&
    messages.every(
      (message) =>
        typeof message === 'object' &&
        message !== null &&
        'role' in message &&
        (!('content' in message) || typeof message.content === 'string'),
    )
  );
}
