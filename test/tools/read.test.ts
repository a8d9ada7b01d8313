import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { foundIn } from '../../tools/read/found-in.ts';

describe('npm run read', () => {
  it('shows kind, request, signals and phrases of a user turn', () => {
    const rows = foundIn('Merci infiniment', { after: 'Votre colis arrive demain.' });
    deepEqual(rows.slice(0, 2), [
      ['kind', 'reply', ''],
      ['request', 'none', ''],
    ]);
    deepEqual(
      rows.find(([found]) => found.startsWith('counts')),
      ['counts after "answered"', 'gratitude', ''],
    );
    for (const kind of ['fr/signals.json, warm', 'fr/turns.json, courtesy'])
      ok(
        rows.some(([found, words]) => found === kind && words.startsWith('Merci')),
        kind,
      );
  });

  it('says that a mere courtesy does not count in the turn that opens a session', () => {
    const rows = foundIn('Where is my parcel? I appreciate your help');
    deepEqual(rows[0], ['kind', 'request', '']);
    ok(rows.some(([found, words]) => found === 'counts as the first turn' && words === 'no signal'));
  });

  it('shows act, gap and phrases of an assistant turn', () => {
    const rows = foundIn('I cannot change your delivery address.', { role: 'assistant' });
    deepEqual(rows[0], ['act', 'unable', '']);
    ok(rows.some(([found, words]) => found === 'gap' && words.startsWith('TOOL: ')));
    ok(rows.some(([found]) => found.startsWith('en/gaps.json, ')));
  });
});
