import { describe, it } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import { route } from '../../src/query/routing.ts';

const at = (text: string): number => Date.parse(text) * 1000;
const OPEN = [-Infinity, Infinity] as const;

describe('route', () => {
  const rows: [
    name: string,
    granularity: Parameters<typeof route>[0],
    start: number,
    end: number,
    expected: ReturnType<typeof route>,
  ][] = [
    [
      'all time is one bucket of the rollup',
      'ALL',
      ...OPEN,
      { rollup: { from: -Infinity, to: Infinity }, cuts: [] },
    ],
    [
      'all time by day reads the rollup alone',
      'DAY',
      ...OPEN,
      { rollup: { from: -Infinity, to: Infinity }, cuts: [] },
    ],
    [
      'ALL over a range has no bucket',
      'ALL',
      at('2026-01-01T00:00Z'),
      at('2026-02-01T00:00Z'),
      {
        rollup: null,
        cuts: [{ start: at('2026-01-01T00:00Z'), end: at('2026-02-01T00:00Z'), bucket: -Infinity }],
      },
    ],
    [
      'an aligned range reads the rollup alone',
      'MONTH',
      at('2026-01-01T00:00Z'),
      at('2026-03-01T00:00Z'),
      { rollup: { from: at('2026-01-01T00:00Z'), to: at('2026-03-01T00:00Z') }, cuts: [] },
    ],
    [
      'weeks start on Monday',
      'WEEK',
      at('2026-01-05T00:00Z'),
      at('2026-01-19T00:00Z'),
      { rollup: { from: at('2026-01-05T00:00Z'), to: at('2026-01-19T00:00Z') }, cuts: [] },
    ],
    [
      'both cut buckets are read from facts',
      'DAY',
      at('2026-01-01T06:00Z'),
      at('2026-01-04T12:30Z'),
      {
        rollup: { from: at('2026-01-02T00:00Z'), to: at('2026-01-04T00:00Z') },
        cuts: [
          { start: at('2026-01-01T06:00Z'), end: at('2026-01-02T00:00Z'), bucket: at('2026-01-01T00:00Z') },
          { start: at('2026-01-04T00:00Z'), end: at('2026-01-04T12:30Z'), bucket: at('2026-01-04T00:00Z') },
        ],
      },
    ],
    [
      'a range inside one bucket is one cut',
      'DAY',
      at('2026-01-01T06:00Z'),
      at('2026-01-01T07:00Z'),
      {
        rollup: null,
        cuts: [
          { start: at('2026-01-01T06:00Z'), end: at('2026-01-01T07:00Z'), bucket: at('2026-01-01T00:00Z') },
        ],
      },
    ],
    [
      'a range over one bucket edge has two cuts and no whole bucket',
      'DAY',
      at('2026-01-01T23:00Z'),
      at('2026-01-02T01:00Z'),
      {
        rollup: null,
        cuts: [
          { start: at('2026-01-01T23:00Z'), end: at('2026-01-02T00:00Z'), bucket: at('2026-01-01T00:00Z') },
          { start: at('2026-01-02T00:00Z'), end: at('2026-01-02T01:00Z'), bucket: at('2026-01-02T00:00Z') },
        ],
      },
    ],
    [
      'an open start cuts only the end',
      'HOUR',
      -Infinity,
      at('2026-01-02T01:30Z'),
      {
        rollup: { from: -Infinity, to: at('2026-01-02T01:00Z') },
        cuts: [
          { start: at('2026-01-02T01:00Z'), end: at('2026-01-02T01:30Z'), bucket: at('2026-01-02T01:00Z') },
        ],
      },
    ],
    [
      'an open end cuts only the start',
      'HOUR',
      at('2026-01-02T01:30Z'),
      Infinity,
      {
        rollup: { from: at('2026-01-02T02:00Z'), to: Infinity },
        cuts: [
          { start: at('2026-01-02T01:30Z'), end: at('2026-01-02T02:00Z'), bucket: at('2026-01-02T01:00Z') },
        ],
      },
    ],
  ];
  for (const [name, granularity, start, end, expected] of rows) {
    it(name, () => deepEqual(route(granularity, { start, end }), expected));
  }
});
