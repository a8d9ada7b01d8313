import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countKeys, noGroupKeys, relationOf } from '../../src/conversations/ability-match.ts';

/** The relation of `act thing` to a group of others; `-` where it is not said. */
function relation(one: string, others: readonly string[], withActs = true): string {
  const keysOf = (said: string): { act: string | null; thing: string | null } => {
    const [act, thing] = said.split(' ').map((key) => (key === '-' ? null : key));
    return { act: act ?? null, thing: thing ?? null };
  };
  const group = noGroupKeys();
  for (const other of others) countKeys(group, keysOf(other));
  return relationOf(keysOf(one), group, withActs);
}

describe('relationOf', () => {
  it('compares with what most of a group say', () => {
    equal(relation('send email', ['send email', 'send email', 'view email']), 'same');
    equal(relation('view email', ['send email', 'send email', 'view email']), 'apart');
  });

  it('is less sure where one side says less', () => {
    equal(relation('- email', ['send email']), 'likely');
    equal(relation('send -', ['send email']), 'possible');
    equal(relation('- -', ['send email']), 'unknown');
  });

  it('compares things that the lexicon does not hold by their words alone', () => {
    equal(relation('book ~tuner', ['book ~tuner']), 'same');
    equal(relation('book ~tuner', ['book ~piano']), 'unknown');
    equal(relation('book table', ['book room']), 'apart');
  });

  it('asks for no act where none counts', () => {
    equal(relation('- restock', ['- restock'], false), 'same');
    equal(relation('- price', ['- price'], false), 'possible');
    equal(relation('- price', ['- hours'], false), 'apart');
  });
});
