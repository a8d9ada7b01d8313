import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withLeftOut } from '../../../src/doors/alerts/segment.ts';

describe('the segment of an alert', () => {
  const leaveOut = { environment: ['test'], plan: ['free'] };

  it('leaves out what the instance leaves out, but for attributes that it names itself', () => {
    deepEqual(withLeftOut(undefined, leaveOut), { 'environment!': ['test'], 'plan!': ['free'] });
    deepEqual(withLeftOut({ plan: 'free' }, leaveOut), { plan: 'free', 'environment!': ['test'] });
    deepEqual(withLeftOut(undefined, leaveOut, 'environment'), { 'plan!': ['free'] });
    deepEqual(withLeftOut(undefined, { environment: ['test'] }, 'environment'), undefined);
  });
});
