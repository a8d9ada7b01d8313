import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { dimensionFieldsOf, GROUP_BYS, GROUPINGS } from '../../src/domain/groupings.ts';
import { METRICS, SORT_FIELDS } from '../../src/domain/metrics.ts';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import type { QueryParameters } from '../../src/query/parameters.ts';

const A = '0192f0a0-0000-7000-8000-00000000000a';
const B = '0192f0a0-0000-7000-8000-00000000000b';
const MAX = '9007199254740991';

type Raw = Record<string, string | string[]>;

function parse(changes: Raw = {}): QueryParameters {
  return parseQueryParameters({ groupBy: 'SESSION', instanceId: A, fields: 'messages', ...changes });
}

function faults(raw: Raw): { path: string; message: string }[] {
  let thrown: unknown;
  try {
    parseQueryParameters(raw);
  } catch (error) {
    thrown = error;
  }
  ok(thrown instanceof AppError, 'expected an AppError');
  equal(thrown.code, 'VALIDATION_ERROR');
  return [...(thrown.details ?? [])];
}

/** The valid query with changes; a null takes the parameter away. */
function faultsOf(changes: Record<string, string | string[] | null>): { path: string; message: string }[] {
  const raw: Raw = { groupBy: 'SESSION', instanceId: A, fields: 'messages' };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete raw[name];
    else raw[name] = value;
  }
  return faults(raw);
}

describe('query parameters: what is accepted', () => {
  it('fills in the defaults', () => {
    deepEqual(parse(), {
      instanceId: A,
      groupBy: 'SESSION',
      range: { start: null, end: null },
      granularity: 'ALL',
      timeZone: null,
      fields: ['messages'],
      dimensionFields: [],
      segment: [],
      ids: null,
      topicIds: null,
      clusterIds: null,
      signalIds: null,
      repeatedRequestIds: null,
      gapIds: null,
      labelIds: null,
      endUserIds: null,
      gapType: null,
      signalSource: null,
      lifeStates: null,
      signals: null,
      language: null,
      outcome: null,
      externalId: null,
      titleContains: null,
      textContains: null,
      segmentKey: null,
      limit: 50,
      offset: 0,
      sort: null,
      bounds: [],
    });
  });

  const rows: [rule: string, raw: Raw, expected: Partial<QueryParameters>][] = [
    ['lowers UUIDs', { instanceId: A.toUpperCase(), ids: A.toUpperCase() }, { instanceId: A, ids: [A] }],
    [
      'takes the nil UUID',
      { ids: '00000000-0000-0000-0000-000000000000' },
      { ids: ['00000000-0000-0000-0000-000000000000'] },
    ],
    [
      'takes the all-f UUID in any case',
      { ids: 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF' },
      { ids: ['ffffffff-ffff-ffff-ffff-ffffffffffff'] },
    ],
    ['reads lists', { ids: `${A},${B}` }, { ids: [A, B] }],
    ['allows blanks around commas', { fields: 'messages, sat' }, { fields: ['messages', 'sat'] }],
    [
      'collapses repetitions in lists',
      { ids: `${A},${A.toUpperCase()},${B}`, fields: 'sat,sat' },
      { ids: [A, B], fields: ['sat'] },
    ],
    [
      'reads instants to the microsecond',
      { 'dateRange.start': '1970-01-01T00:00:01.234567Z' },
      { range: { start: 1_234_567, end: null } },
    ],
    [
      'takes instants without seconds',
      { 'dateRange.end': '1970-01-01T00:01Z' },
      { range: { start: null, end: 60_000_000 } },
    ],
    ['takes the least and the most limit', { limit: '10000' }, { limit: 10_000 }],
    ['takes the largest offset', { offset: MAX }, { offset: Number(MAX) }],
    ['takes leading zeros', { limit: '007' }, { limit: 7 }],
    ['sorts descending by default', { 'sort.field': 'sat' }, { sort: { field: 'sat', order: 'DESC' } }],
    [
      'sorts ascending when asked to',
      { 'sort.field': 'createdAt', 'sort.order': 'ASC' },
      { sort: { field: 'createdAt', order: 'ASC' } },
    ],
    ['ignores an order without a field', { 'sort.order': 'ASC' }, { sort: null }],
    [
      'joins both bounds of a metric',
      { minSat: '1', maxSat: '3', maxMessages: MAX },
      {
        bounds: [
          { metric: 'messages', min: null, max: Number(MAX) },
          { metric: 'sat', min: 1, max: 3 },
        ],
      },
    ],
    ['takes a language of ten characters', { language: 'zh-Hant-TW' }, { language: 'zh' }],
    ['takes outcomes, each once', { outcome: 'solved, open,solved' }, { outcome: ['solved', 'open'] }],
    ['takes the language of a tag, in any case', { language: 'EN-us' }, { language: 'en' }],
    [
      'takes a plain date for its midnight in UTC',
      { 'dateRange.start': '2026-11-01', 'dateRange.end': '2026-12-01' },
      { range: { start: Date.UTC(2026, 10) * 1000, end: Date.UTC(2026, 11) * 1000 } },
    ],
    [
      'takes instants with an offset',
      { 'dateRange.start': '2026-11-01T01:00:00+01:00', 'dateRange.end': '2026-11-30T19:00-0500' },
      { range: { start: Date.UTC(2026, 10) * 1000, end: Date.UTC(2026, 11) * 1000 } },
    ],
    [
      'takes a space before an offset for the plus that a query string turns into one',
      { 'dateRange.start': '2026-11-01T01:00:00 01:00', 'dateRange.end': '2026-12-01 01:00:00.0 0100' },
      { range: { start: Date.UTC(2026, 10) * 1000, end: Date.UTC(2026, 11) * 1000 } },
    ],
    [
      "takes a caller's own name of a session",
      { externalId: 'Ticket 1,2 😀' },
      { externalId: 'Ticket 1,2 😀' },
    ],
    [
      'takes such a name of 255 characters',
      { externalId: '😀'.repeat(255) },
      { externalId: '😀'.repeat(255) },
    ],
    [
      'takes every session filter',
      { topicIds: A, clusterIds: A, signalIds: A, repeatedRequestIds: A, gapIds: A, endUserIds: A },
      {
        topicIds: [A],
        clusterIds: [A],
        signalIds: [A],
        repeatedRequestIds: [A],
        gapIds: [A],
        endUserIds: [A],
      },
    ],
    [
      'takes a text of titles, trimmed and composed',
      { titleContains: ' Cafe\u0301 % ' },
      { titleContains: 'Caf\u00e9 %' },
    ],
    ['takes clusterIds for end users', { groupBy: 'END_USER', clusterIds: A }, { clusterIds: [A] }],
    ['takes topicIds for end users', { groupBy: 'END_USER', topicIds: A }, { topicIds: [A] }],
    ['takes gapType for gaps', { groupBy: 'GAP', gapType: 'TOOL' }, { gapType: 'TOOL' }],
    ['takes each granularity', { timeGranularity: 'WEEK' }, { granularity: 'WEEK' }],
  ];
  for (const [rule, raw, expected] of rows) {
    it(rule, () => {
      const parsed = parse(raw);
      deepEqual(parsed, { ...parsed, ...expected });
    });
  }

  const keyOf = (groupBy: string): Raw => (groupBy === 'SEGMENT' ? { segmentKey: 'plan' } : {});
  for (const groupBy of GROUP_BYS) {
    it(`gives ${groupBy} exactly its metrics, dimension fields and sort fields`, () => {
      for (const metric of METRICS) {
        const attempt = (): QueryParameters => parse({ groupBy, fields: metric, ...keyOf(groupBy) });
        if (GROUPINGS[groupBy].metrics.includes(metric)) deepEqual(attempt().fields, [metric]);
        else throws(attempt, AppError);
      }
      for (const field of [
        'title',
        'summary',
        'topics',
        'language',
        'outcome',
        'externalId',
        'topTopics',
        'createdAt',
        'lastActiveAt',
      ]) {
        const attempt = (): QueryParameters => parse({ groupBy, dimensionFields: field, ...keyOf(groupBy) });
        if (dimensionFieldsOf(groupBy).includes(field)) deepEqual(attempt().dimensionFields, [field]);
        else throws(attempt, AppError);
      }
      const sortable: readonly string[] = [...GROUPINGS[groupBy].metrics, ...GROUPINGS[groupBy].sorts];
      for (const field of SORT_FIELDS) {
        const attempt = (): QueryParameters => parse({ groupBy, 'sort.field': field, ...keyOf(groupBy) });
        if (sortable.includes(field)) equal(attempt().sort?.field, field);
        else throws(attempt, AppError);
      }
    });
  }
});

describe('query parameters: what is refused', () => {
  const rows: [
    rule: string,
    changes: Record<string, string | string[] | null>,
    path: string,
    message: RegExp,
  ][] = [
    ['groupBy missing', { groupBy: null }, 'groupBy', /required/],
    ['segmentKey missing', { groupBy: 'SEGMENT' }, 'segmentKey', /required/],
    ['segmentKey of topics', { groupBy: 'TOPIC', segmentKey: 'plan' }, 'segmentKey', /groupBy=SEGMENT only/],
    ['segmentKey empty', { groupBy: 'SEGMENT', segmentKey: '' }, 'segmentKey', /attribute/],
    ['groupBy unknown', { groupBy: 'topic' }, 'groupBy', /TOPIC_CLUSTER/],
    ['instanceId missing', { instanceId: null }, 'instanceId', /required/],
    ['instanceId no UUID', { instanceId: 'x' }, 'instanceId', /UUID/],
    ['instanceId of version 9', { instanceId: '0192f0a0-0000-9000-8000-00000000000a' }, 'instanceId', /UUID/],
    [
      'instanceId of a wrong variant',
      { instanceId: '0192f0a0-0000-7000-c000-00000000000a' },
      'instanceId',
      /UUID/,
    ],
    ['fields missing', { fields: null }, 'fields', /required/],
    ['fields empty', { fields: '' }, 'fields', /must be one of/],
    ['fields with an empty item', { fields: 'sat,,dsat' }, 'fields', /must be one of/],
    ['fields unknown', { fields: 'csat' }, 'fields', /must be one of/],
    [
      'fields of another grouping',
      { fields: 'messages,users' },
      'fields',
      /^users not available: SESSION has messages, duration/,
    ],
    ['start malformed', { 'dateRange.start': '2025-1-1' }, 'dateRange.start', /date-time that exists/],
    ['start without a zone', { 'dateRange.start': '2025-01-01T00:00' }, 'dateRange.start', /date-time/],
    [
      'start of day without a zone',
      { 'dateRange.start': '2025-01-01 12:00' },
      'dateRange.start',
      /date-time/,
    ],
    ['start no calendar date', { 'dateRange.start': '2025-02-29T00:00:00Z' }, 'dateRange.start', /exists/],
    ['end malformed', { 'dateRange.end': 'now' }, 'dateRange.end', /date-time/],
    ['end empty', { 'dateRange.end': '' }, 'dateRange.end', /date-time/],
    [
      'start after end',
      { 'dateRange.start': '2025-01-02T00:00Z', 'dateRange.end': '2025-01-01T00:00Z' },
      'dateRange.start',
      /before/,
    ],
    [
      'start equal to end',
      { 'dateRange.start': '2025-01-01T00:00Z', 'dateRange.end': '2025-01-01T00:00:00.0Z' },
      'dateRange.start',
      /before/,
    ],
    ['timeGranularity unknown', { timeGranularity: 'YEAR' }, 'timeGranularity', /MONTH/],
    ['ids no UUIDs', { ids: `${A},x` }, 'ids', /UUID/],
    ['ids empty', { ids: '' }, 'ids', /UUID/],
    ['topicIds for a topic', { groupBy: 'TOPIC', topicIds: A }, 'topicIds', /SESSION and END_USER only/],
    ['signalIds for an end user', { groupBy: 'END_USER', signalIds: A }, 'signalIds', /SESSION only/],
    [
      'clusterIds for a topic',
      { groupBy: 'TOPIC', clusterIds: A },
      'clusterIds',
      /SESSION and END_USER only/,
    ],
    ['endUserIds for an end user', { groupBy: 'END_USER', endUserIds: A }, 'endUserIds', /SESSION only/],
    ['titleContains for a topic', { groupBy: 'TOPIC', titleContains: 'a' }, 'titleContains', /SESSION only/],
    ['textContains for a user', { groupBy: 'END_USER', textContains: 'a' }, 'textContains', /SESSION only/],
    ['titleContains without a text', { titleContains: ' ' }, 'titleContains', /empty/],
    ['titleContains too long', { titleContains: 'a'.repeat(201) }, 'titleContains', /at most 200/],
    ['gapIds for a gap', { groupBy: 'GAP', gapIds: A }, 'gapIds', /SESSION only/],
    [
      'repeatedRequestIds for a repeated request',
      { groupBy: 'REPEATED_REQUEST', repeatedRequestIds: A },
      'repeatedRequestIds',
      /SESSION only/,
    ],
    ['gapType for a session', { gapType: 'TOOL' }, 'gapType', /GAP only/],
    ['gapType unknown', { groupBy: 'GAP', gapType: 'POLICY' }, 'gapType', /TOOL, KNOWLEDGE/],
    ['language for a topic', { groupBy: 'TOPIC', language: 'en' }, 'language', /SESSION only/],
    ['language too long', { language: 'abcdefghijk' }, 'language', /at most 10/],
    ['language empty', { language: '' }, 'language', /empty/],
    ['language that there is none', { language: 'xx' }, 'language', /tag of a language, such as en/],
    ['language no tag', { language: 'english' }, 'language', /tag of a language/],
    ['outcome for a topic', { groupBy: 'TOPIC', outcome: 'open' }, 'outcome', /SESSION only/],
    [
      'outcome that there is none',
      { outcome: 'open,done' },
      'outcome',
      /^must be one of solved, thanked, handed_over, gave_up, not_possible, open$/,
    ],
    [
      'externalId for a topic',
      { groupBy: 'TOPIC', externalId: 'a' },
      'externalId',
      /SESSION and END_USER only/,
    ],
    ['externalId empty', { externalId: '' }, 'externalId', /1 to 255 characters/],
    ['externalId too long', { externalId: 'x'.repeat(256) }, 'externalId', /1 to 255 characters/],
    [
      'dimensionFields of another grouping',
      { dimensionFields: 'title,topTopics' },
      'dimensionFields',
      /^topTopics not available: SESSION has title, summary, topics, language, outcome, externalId/,
    ],
    [
      'dimensionFields of signals',
      { groupBy: 'CSAT_DSAT', dimensionFields: 'title' },
      'dimensionFields',
      /CSAT_DSAT has source, checkedSessions, precisionLow, precisionHigh/,
    ],
    ['limit 0', { limit: '0' }, 'limit', /from 1 to 10000/],
    ['limit 10001', { limit: '10001' }, 'limit', /from 1 to 10000/],
    ['limit with a fraction', { limit: '1.0' }, 'limit', /whole number/],
    ['limit in exponent form', { limit: '1e2' }, 'limit', /whole number/],
    ['limit with a sign', { limit: '+1' }, 'limit', /whole number/],
    ['limit hexadecimal', { limit: '0x10' }, 'limit', /whole number/],
    ['offset negative', { offset: '-1' }, 'offset', /whole number/],
    ['offset too large', { offset: '9007199254740992' }, 'offset', /whole number/],
    ['bound too large', { minSat: '99999999999999999999' }, 'minSat', /whole number/],
    ['bound empty', { maxMessages: '' }, 'maxMessages', /whole number/],
    [
      'bound on a metric that the grouping lacks',
      { minSessions: '1' },
      'minSessions',
      /^sessions not available: SESSION has/,
    ],
    ['sort.field unknown', { 'sort.field': 'name' }, 'sort.field', /must be one of/],
    [
      'sort.field of another grouping',
      { 'sort.field': 'users' },
      'sort.field',
      /^users not available: SESSION sorts by/,
    ],
    [
      'createdAt sorting topics',
      { groupBy: 'TOPIC', 'sort.field': 'createdAt' },
      'sort.field',
      /TOPIC sorts by/,
    ],
    ['sort.order unknown', { 'sort.field': 'sat', 'sort.order': 'asc' }, 'sort.order', /ASC, DESC/],
    ['a parameter unknown', { sort: 'x' }, 'sort', /not a parameter/],
    ['a parameter named like a prototype', { constructor: 'x' }, 'constructor', /not a parameter/],
    ['a parameter repeated', { limit: ['1', '1'] }, 'limit', /once/],
    ['a list repeated', { fields: ['sat', 'dsat'] }, 'fields', /once/],
  ];
  for (const [rule, changes, path, message] of rows) {
    it(rule, () => {
      const found = faultsOf(changes).find((fault) => fault.path === path);
      ok(found !== undefined, `no fault at ${path}`);
      ok(message.test(found.message), found.message);
    });
  }

  it('reports every fault at once, each once', () => {
    const paths = faults({ groupBy: 'TOPIC', fields: 'x,y', ids: 'x,y,z', limit: '0', other: '1' }).map(
      ({ path }) => path,
    );
    deepEqual(paths.toSorted(), ['fields', 'ids', 'instanceId', 'limit', 'other']);
  });

  it('reports at most 100 faults', () => {
    const raw = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, '1']));
    equal(faults(raw).length, 100);
  });
});
