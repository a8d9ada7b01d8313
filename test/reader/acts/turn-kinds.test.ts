import { equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findIn } from '../../../src/reader/acts/finding.ts';
import { loadHeads } from '../../../src/reader/acts/heads.ts';

/** A user turn of our own, with the assistant turn before it. The rules were written by the half that is not sealed. */
interface GoldTurn {
  readonly lang: string;
  readonly domain: string;
  readonly assistant?: string;
  readonly user: string;
  readonly kind: 'request' | 'reply' | 'about-assistant';
  readonly sealed: boolean;
}

const gold = readFileSync(join(import.meta.dirname, '../../gold/turn-kinds.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as GoldTurn);
const heads = loadHeads();

/** The share of turns of a kind that are found to be of it. */
function shareOf(kind: GoldTurn['kind'], sealed: boolean): number {
  const turns = gold.filter((turn) => turn.kind === kind && turn.sealed === sealed);
  const right = turns.filter(({ user }) => findIn({ role: 'user', content: user }, heads).kind === kind);
  return right.length / turns.length;
}

describe('the kinds of turns', () => {
  for (const sealed of [false, true]) {
    it(`are those of the gold turns, ${sealed ? 'sealed' : 'open'} half`, () => {
      ok(shareOf('request', sealed) >= 0.97, `requests ${shareOf('request', sealed)}`);
      ok(
        shareOf('about-assistant', sealed) >= 0.8,
        `about the assistant ${shareOf('about-assistant', sealed)}`,
      );
      // Bare names are told by what was asked before, which a turn alone does not show.
      ok(shareOf('reply', sealed) >= 0.7, `replies ${shareOf('reply', sealed)}`);
    });
  }

  it('take thanks for no request, and a wish beside them for one', () => {
    const kindOf = (content: string): string => findIn({ role: 'user', content }, heads).kind;
    const thanks = [
      'je vous suis très reconnaissante',
      'Je tiens à vous remercier pour votre aide',
      "I can't thank you enough",
    ];
    for (const text of thanks) equal(kindOf(text), 'reply', text);
    equal(kindOf('je tiens à vous remercier de me rappeler demain'), 'request');
  });
});
