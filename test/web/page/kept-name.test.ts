import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keptNameOf } from '../../../src/web/page/client/kept-name.ts';

const target = { id: 'topic' };
const pin = { curationId: 'pin', action: 'PIN', status: 'APPLIED', target } as const;
const rename = { curationId: 'rename', action: 'RENAME', status: 'APPLIED', target } as const;

describe('the page offers to keep a name', () => {
  it('until a decision keeps it, and again once that is undone', () => {
    equal(keptNameOf([], 'topic'), null);
    equal(keptNameOf([pin], 'topic'), 'pin');
    equal(keptNameOf([pin, rename], 'topic'), 'pin');
    equal(keptNameOf([{ ...pin, status: 'UNDONE' }], 'topic'), null);
    equal(keptNameOf([{ ...pin, status: 'REFUSED' }], 'topic'), null);
  });

  it('also where a later name or another topic is decided about', () => {
    equal(keptNameOf([rename, pin], 'topic'), null);
    equal(keptNameOf([{ ...rename, status: 'UNDONE' }, pin], 'topic'), 'pin');
    equal(keptNameOf([pin], 'other'), null);
  });
});
