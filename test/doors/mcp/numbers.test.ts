import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beforeOf, change, counted, number, percent } from '../../../src/doors/mcp/numbers.ts';

describe('numbers of an answer', () => {
  it('have at most one place, small ones two digits, and a dash where there is none', () => {
    deepEqual([3, 2.25, -0.04, 0.00125, 0, 1234567, null, undefined, 'DSAT'].map(number), [
      '3',
      '2.3',
      '-0.04',
      '0.0013',
      '0',
      '1234567',
      '-',
      '-',
      'DSAT',
    ]);
    deepEqual([0, 0.001, 0.0123, 0.0996, 0.5, 1].map(percent), ['0%', '0.1%', '1.2%', '10%', '50%', '100%']);
  });

  it('tell how they changed, where there was something', () => {
    deepEqual(
      [change(12, 10), change(9, 10), change(10, 10), change(0, 10), change(5, 0)],
      ['+20%', '-10%', '±0%', '-100%', ''],
    );
  });

  it('stand beside those of the period before, without a change of ratios and of what is missing', () => {
    deepEqual(
      [
        beforeOf('sessions', 12, 10),
        beforeOf('waitSeconds', 9, 10),
        beforeOf('waitSeconds', null, 10),
        beforeOf('waitSeconds', 9, null),
        beforeOf('netSat', 12, 10),
        beforeOf('avgMessagesPerSession', 2, 4),
      ],
      ['10, +20%', '10, -10%', '10', '-', '10', '4'],
    );
  });

  it('say what they count in the singular where there is one', () => {
    deepEqual(
      [0, 1, 2].map((count) => counted(count, 'session')),
      ['0 sessions', '1 session', '2 sessions'],
    );
  });
});
