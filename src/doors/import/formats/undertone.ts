/**
 * Our own line format. `mapValue` reads its lines; nothing is converted.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { byShare, type EntryFormat } from './format.ts';

export const undertone: EntryFormat = {
  kind: 'entries',
  name: 'undertone',
  title: 'Undertone conversations',
  recognise: byShare({
    holds: ({ turns, messages, id }) => Array.isArray(turns) || (id !== undefined && isPlain(messages)),
    confidence: 0.9,
    reason: 'entries have turns, or an id and messages',
    alwaysSure: true,
  }),
  /** Never called: `mapValue` reads these lines. */
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
