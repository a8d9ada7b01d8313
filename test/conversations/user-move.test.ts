import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { askedSentences } from '../../src/turns/asked-sentences.ts';
import { takingOf } from '../../src/conversations/user-move.ts';
import type { Enrichment } from '../../src/domain/facts.ts';

function taken(content: string, asks = false): string {
  const enrichment: Enrichment = {
    kind: 'request',
    request: content,
    vector: null,
    sentences: [],
    signals: [],
    gap: null,
  };
  return takingOf(content, askedSentences(content, enrichment), { isAnswered: true, asks });
}

describe('how a user takes what was proposed', () => {
  it('asks for another one, in several languages', () => {
    deepEqual(
      ['Do you have any others?', 'Haben Sie noch andere?', '¿Hay otros?', '还有其他的吗？'].map((turn) =>
        taken(turn),
      ),
      ['another', 'another', 'another', 'another'],
    );
  });

  it('turns it down', () => {
    deepEqual(
      ['That is too expensive for me', 'Das ist mir zu teuer', 'Non, c’est trop cher', '太贵了'].map((turn) =>
        taken(turn),
      ),
      ['rejects', 'rejects', 'rejects', 'rejects'],
    );
    deepEqual([taken('No, Saturday', true), taken('No, Saturday')], ['rejects', 'none']);
  });

  it('does neither', () => {
    deepEqual(
      ['I have no other number', 'Not right now', 'Is breakfast included?'].map((turn) => taken(turn)),
      ['none', 'none', 'none'],
    );
  });
});
