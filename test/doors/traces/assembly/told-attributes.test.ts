import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ToldAttributes } from '../../../../src/doors/traces/assembly/told-attributes.ts';

describe('attributes of a trace', () => {
  it('are the last ones of the spans that name the conversation, or none', () => {
    const told = new ToldAttributes(new Map());
    told.add('', { model: 'small', plan: 'free' });
    told.add('a', { model: 'large' });
    told.add('b', { plan: 'pro' });
    told.add('', { version: '2' });
    deepEqual(told.of('a'), { model: 'large', version: '2', plan: 'free' });
    deepEqual(told.of('b'), { model: 'small', version: '2', plan: 'pro' });
    deepEqual(told.of('nobody'), { model: 'small', version: '2', plan: 'free' });
    told.add('', { model: 'tiny' });
    deepEqual(told.of('a'), { model: 'tiny', version: '2', plan: 'free' });
  });

  it('go on from what was kept', () => {
    const before = new ToldAttributes(new Map());
    before.add('', { model: 'small' });
    before.add('a', { plan: 'pro' });
    const told = new ToldAttributes(before.stored);
    told.add('', { model: 'large' });
    deepEqual(told.of('a'), { model: 'large', plan: 'pro' });
  });
});
