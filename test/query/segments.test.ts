import { describe, it } from 'node:test';
import { deepEqual, throws } from 'node:assert/strict';
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

  it('are refused with the name of the faulty one', () => {
    const many = (count: number, written: (at: number) => string): string =>
      Array.from({ length: count }, (_, at) => written(at)).join('&');
    const faults: readonly [string, string][] = [
      ['segment.plan=', 'segment.plan'],
      ['segment.plan=%20', 'segment.plan'],
      [`segment.plan=${'x'.repeat(201)}`, 'segment.plan'],
      ['segment.externalId=7', 'segment.externalId'],
      ['segment=pro', 'segment'],
      [many(9, (at) => `segment.a${at}=1`), 'segment'],
      [many(51, (at) => `segment.plan=${at}`), 'segment.plan'],
      ['segment.=pro', 'segment.'],
      ['segment.__proto__=pro', 'segment.__proto__'],
      ['segment[constructor]=', 'segment.constructor'],
      ['segments.plan=pro', 'segments.plan'],
    ];
    for (const [search, path] of faults)
      throws(
        () => segmentOf(search),
        (error: unknown) =>
          error instanceof AppError && error.details?.some((detail) => detail.path === path) === true,
        search,
      );
  });
});
