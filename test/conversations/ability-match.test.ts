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

  it('does not part what only the request says', () => {
    const group = noGroupKeys();
    countKeys(group, { act: 'view', thing: 'order' });
    equal(relationOf({ act: 'cancel', thing: 'order' }, group, true), 'apart');
    equal(relationOf({ act: 'cancel', thing: 'order', isActAsked: true }, group, true), 'unknown');
    equal(relationOf({ act: 'view', thing: 'email', isThingAsked: true }, group, true), 'unknown');
    const asked = noGroupKeys();
    countKeys(asked, { act: 'view', thing: 'order', isActAsked: true });
    equal(relationOf({ act: 'cancel', thing: 'order' }, asked, true), 'unknown');
  });

  it('counts no act for what is told or switched', () => {
    equal(relation('book seat', ['change seat']), 'same');
    equal(relation('- reminder', ['make reminder']), 'same');
    equal(relation('- warranty', ['- warranty'], false), 'same');
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
