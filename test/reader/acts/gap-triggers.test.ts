import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GAP_PHRASE_KINDS } from '../../../src/reader/acts/gap-phrases.ts';
import { MAY_CLAIM } from '../../../src/reader/acts/gap-triggers.ts';
import { readGapGold } from '../../../tools/eval/gap-gold.ts';
import { loadPhraseFiles } from '../../../src/reader/phrases/phrase-files.ts';

const CLAIMS = ['unable', 'unseen', 'unknown', 'not-found', 'failed'] as const;

describe('MAY_CLAIM', () => {
  it('matches every example of a claim in the lexicon', () => {
    const files = loadPhraseFiles({ purpose: 'gaps', kinds: GAP_PHRASE_KINDS });
    const examples = files.flatMap(({ kinds }) =>
      CLAIMS.flatMap((kind) => kinds[kind]?.examples.fires ?? []),
    );
    deepEqual(
      examples.filter((text) => !MAY_CLAIM.test(text)),
      [],
    );
  });

  it('matches every gap of the gold', () => {
    const gaps = readGapGold('tuned').filter(({ gap }) => gap !== null);
    deepEqual(
      gaps.filter(({ assistant }) => !MAY_CLAIM.test(assistant)),
      [],
    );
  });

  it('does not match what says nothing of the kind', () => {
    for (const text of ['Your table is set for eight.', 'Hier sind drei Hotels.', '好的，已经为您预订。'])
      equal(MAY_CLAIM.test(text), false, text);
  });
});
