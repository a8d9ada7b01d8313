import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { goneWords, mayAsk, titleOf } from '../../../src/web/page/client/transcript-words.ts';

describe('a transcript says', () => {
  it('that its text was removed, in place of the title', () => {
    equal(titleOf({ title: 'Where is it?' }, 'Orders', 'Without a title'), 'Where is it?');
    const removed = { title: null, outcome: 'RESOLVED', language: 'en' };
    equal(titleOf(removed, 'Orders', 'Without a title'), 'Orders · text removed');
    equal(titleOf(removed, null, 'Without a title'), 'Text removed');
    const unsaid = { title: null, outcome: null, language: null };
    equal(titleOf(unsaid, null, 'Without a title'), 'Without a title');
  });

  it('why a text is gone', () => {
    equal(goneWords('EXPIRED', 30), 'Removed: texts are kept for 30 days.');
    equal(goneWords('EXPIRED', 1), 'Removed: texts are kept for 1 day.');
    equal(goneWords('EXPIRED', null), 'Removed: the text was kept long enough.');
    equal(goneWords('ERASED', 30), 'The text was erased.');
  });

  it('which turns may be requests', () => {
    const turn = { content: 'I want to cancel it', signals: [], repeatedRequest: null, topic: null };
    const topic = { id: 'cancel', name: 'Cancel' };
    equal(mayAsk(turn, null), true);
    equal(mayAsk({ ...turn, topic }, null), true);
    equal(mayAsk({ ...turn, topic }, 'password'), true);
    equal(mayAsk({ ...turn, content: 'ok, I will do that', topic }, 'cancel'), false);
    equal(mayAsk({ ...turn, topic, repeatedRequest: topic }, 'cancel'), true);
    equal(mayAsk({ ...turn, content: 'yes please' }, null), false);
  });
});
