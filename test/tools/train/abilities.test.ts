import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keysOfOne } from '../../../src/reader/conversations/ability-match.ts';
import { abilityExamples, readAbilities, type FoundWording } from '../../../tools/train/abilities.ts';

describe('readAbilities', () => {
  it('reads the wordings of each ability', () => {
    deepEqual(readAbilities('# Send mail|TOOL\nen|mail it|I cannot send mail.\n\n', 'office'), [
      { file: 'office', ability: 'Send mail|TOOL', user: 'mail it', assistant: 'I cannot send mail.' },
    ]);
  });
});

describe('abilityExamples', () => {
  it('pairs wordings of one ability, and those of two of the same file and type', () => {
    const wording = (ability: string, file = 'office'): FoundWording => ({
      file,
      ability,
      type: 'TOOL',
      keys: keysOfOne({ act: 'send', thing: ability }),
      vector: Float32Array.of(1, 0),
    });
    const pairs = (...found: readonly FoundWording[]): number[] =>
      [true, false].map(
        (positive) => abilityExamples(found).filter((one) => one.positive === positive).length,
      );
    deepEqual(pairs(wording('email'), wording('email')), [3, 0]);
    deepEqual(pairs(wording('email'), wording('sms')), [0, 6]);
    equal(abilityExamples([wording('email'), wording('sms', 'shop')]).length, 0);
  });
});
