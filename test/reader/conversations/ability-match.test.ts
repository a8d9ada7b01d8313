import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  abilityEvidence,
  addKeys,
  keysOfOne,
  noGroupKeys,
  oddsOfOne,
  type KeyedGroup,
} from '../../../src/reader/conversations/ability-match.ts';
import type { AbilityKeys } from '../../../src/reader/phrases/ability-keys.ts';

/** A group of abilities `act thing`; `-` where it is not said. */
function groupOf(...names: readonly string[]): KeyedGroup {
  const keys = noGroupKeys();
  for (const one of names) addKeys(keys, keysOfOne(keysOf(one)));
  return { keys, count: names.length };
}

function keysOf(names: string): AbilityKeys {
  const [act, thing] = names.split(' ').map((key) => (key === '-' ? null : key));
  return { act: act ?? null, thing: thing ?? null };
}

/** Log-odds; `cosine` is what strangers have. */
const odds = (one: KeyedGroup, other: KeyedGroup, withActs = true, cosine = 0.05): number =>
  oddsOfOne(one, other, cosine, withActs);

describe('oddsOfOne', () => {
  it('joins what shares act and thing, and parts what differs in one', () => {
    const emails = groupOf('send email', 'send email', 'view email');
    equal(odds(groupOf('send email'), emails) > 0, true);
    equal(odds(groupOf('view email'), emails) < -1.5, true);
    equal(odds(groupOf('send sms'), emails) < -1.5, true);
  });

  it('is surer the more is known, and the nearer the vectors are', () => {
    const one = groupOf('change address');
    const more = odds(groupOf('change address'), one);
    const less = odds(groupOf('- address'), one);
    const nothing = odds(groupOf('- -'), one);
    deepEqual([more > less, less > nothing], [true, true]);
    equal(odds(groupOf('- -'), one, true, 0.6) > nothing + 2, true);
  });

  it('does not part what only the request says', () => {
    const orders = groupOf('view order');
    const asked = { keys: keysOfOne({ act: 'cancel', thing: 'order', isActAsked: true }), count: 1 };
    equal(odds(asked, orders) > odds(groupOf('cancel order'), orders) + 1, true);
  });

  it('takes acts that are said for each other for near', () => {
    const invoices = groupOf('send invoice');
    equal(odds(groupOf('issue invoice'), invoices) > odds(groupOf('pay invoice'), invoices) + 2, true);
  });

  it('counts no act for what is called or reminded', () => {
    equal(odds(groupOf('make reminder'), groupOf('remind reminder')) > 0, true);
    equal(odds(groupOf('make ticket'), groupOf('cancel ticket')) < -1.5, true);
  });

  it('counts no act for what is not known', () => {
    equal(odds(groupOf('- price'), groupOf('- price'), false) > 0, true);
    equal(odds(groupOf('- battery'), groupOf('- noise'), false) < -1.5, true);
  });

  it('is the same both ways', () => {
    const [one, other] = [groupOf('send email', '- invoice'), groupOf('view email')];
    equal(odds(one, other), odds(other, one));
  });
});

describe('abilityEvidence', () => {
  it('compares what speaks for things as vectors', () => {
    const { things, noThing } = abilityEvidence(groupOf('- email'), groupOf('- email', '- sms'), 0, true);
    equal(things.toFixed(3), Math.SQRT1_2.toFixed(3));
    equal(noThing, 0);
    equal(abilityEvidence(groupOf('- -'), groupOf('- sms'), 0, true).noThing, 1);
  });
});

describe('addKeys', () => {
  it('keeps the keys for which most speaks', () => {
    const keys = noGroupKeys();
    for (let at = 0; at < 50; at += 1) addKeys(keys, keysOfOne({ act: 'view', thing: `~thing-${at}` }));
    for (let at = 0; at < 3; at += 1) addKeys(keys, keysOfOne({ act: 'view', thing: 'order' }));
    equal(keys.things.size, 12);
    equal(keys.thing, 'order');
    equal(keys.act, 'view');
  });

  it('names no main key that only requests say', () => {
    const keys = noGroupKeys();
    addKeys(keys, keysOfOne({ act: 'cancel', thing: 'order', isActAsked: true, isThingAsked: true }));
    deepEqual([keys.act, keys.thing], [null, null]);
  });
});
