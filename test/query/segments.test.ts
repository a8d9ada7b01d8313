import { describe, it } from 'node:test';
import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import { parseQueryString } from '../../src/web/routes/query-route.ts';
import { AppError } from '../../src/errors.ts';

const QUERY = 'groupBy=TOPIC&fields=messages&instanceId=0192f0a0-0000-7000-8000-00000000000a';

const segmentOf = (search: string): unknown =>
  parseQueryParameters(parseQueryString(`${QUERY}&${search}`)).segment;

describe('the parameters of a segment', () => {
  it('name attributes and values, in either way of writing', () => {
    deepEqual(segmentOf('limit=1'), []);
    deepEqual(segmentOf('segment.plan=pro'), [{ name: 'plan', values: ['pro'] }]);
    deepEqual(segmentOf('segment[plan]=pro'), [{ name: 'plan', values: ['pro'] }]);
    deepEqual(segmentOf('segment.plan=team&segment.plan=pro&segment[plan]=pro&segment.app.version=3.2'), [
      { name: 'app.version', values: ['3.2'] },
      { name: 'plan', values: ['pro', 'team'] },
    ]);
    // A value may have a comma.
    deepEqual(segmentOf('segment.city=Washington,%20DC'), [{ name: 'city', values: ['Washington, DC'] }]);
  });

  it('leave out values, or nothing', () => {
    const test = { name: 'environment', values: ['test'], isLeftOut: true };
    deepEqual(segmentOf('segment.environment!=test'), [test]);
    deepEqual(segmentOf('segment[environment]!=test&segment.environment=prod'), [
      { name: 'environment', values: ['prod'] },
      test,
    ]);
    deepEqual(segmentOf('segment.environment!='), []);
    deepEqual(segmentOf('segment.environment!=&segment.environment!=test'), [test]);
    const names = (count: number, mark: string): string =>
      Array.from({ length: count }, (_, at) => `segment.a${at}${mark}=x`).join('&');
    // A query may take eight names, and leave out eight besides the four of an instance.
    equal((segmentOf(`${names(8, '')}&${names(12, '!')}`) as unknown[]).length, 20);
    throws(() => segmentOf(names(9, '')), /at most 8/);
    throws(() => segmentOf(names(13, '!')), /at most 8/);
  });

  it('are refused with the name of the faulty one', () => {
    const many = (count: number, written: (at: number) => string): string =>
      Array.from({ length: count }, (_, at) => written(at)).join('&');
    const faults: readonly [search: string, path: string, message?: string][] = [
      ['segment.plan=', 'segment.plan', 'must not be empty'],
      ['segment.plan=%20', 'segment.plan'],
      ['segment.plan=pro&segment.plan=', 'segment.plan', 'must not be empty'],
      [`segment.plan=${'x'.repeat(201)}`, 'segment.plan', 'must be at most 200 characters long'],
      // It would separate two values.
      ['segment.plan=pro%1Ffree', 'segment.plan', 'must hold no control characters'],
      [
        'segment.externalId=7',
        'segment.externalId',
        'must name an attribute: 1 to 100 characters, and not externalId',
      ],
      ['segment=pro', 'segment', 'must be written as segment.NAME=VALUE'],
      ['segment=pro&segment.plan=pro', 'segment', 'must be written as segment.NAME=VALUE'],
      [many(9, (at) => `segment.a${at}=1`), 'segment'],
      [many(51, (at) => `segment.plan=${at}`), 'segment.plan', 'must be 1 to 50 values'],
      ['segment.=pro', 'segment.'],
      ['segment.__proto__=pro', 'segment.__proto__'],
      ['segment[constructor]=', 'segment.constructor'],
      ['segments.plan=pro', 'segments.plan'],
    ];
    for (const [search, path, message] of faults)
      throws(
        () => segmentOf(search),
        (error: unknown) => {
          const found = error instanceof AppError ? error.details : undefined;
          const own = found?.find((detail) => detail.path === path);
          ok(own !== undefined, `${search}: ${JSON.stringify(found)}`);
          if (message !== undefined) equal(own.message, message, search);
          return true;
        },
      );
  });
});
