import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dimensionFieldsOf, GROUP_BYS, type GroupBy, GROUPINGS } from '../../../src/domain/groupings.ts';
import { printReport } from '../../../src/doors/demo/report.ts';
import type { QueryAnswer, QueryElement } from '../../../src/doors/import/client.ts';

const INSTANCE = '01900000-0000-7000-8000-000000000001';

function answer(elements: readonly QueryElement[], total = elements.length): QueryAnswer {
  return { elements, pagination: { total, limit: 10, offset: 0 }, lastProcessedAt: null };
}

async function reportOf(
  elementsOf: (groupBy: string) => QueryAnswer,
): Promise<{ text: string; asked: Record<string, string>[] }> {
  const asked: Record<string, string>[] = [];
  const printed: string[] = [];
  await printReport(
    INSTANCE,
    (params) => {
      asked.push({ ...params });
      return Promise.resolve(elementsOf(params['groupBy'] ?? ''));
    },
    (text) => printed.push(text),
    false,
  );
  return { text: printed.join('\n'), asked };
}

describe('printReport', () => {
  it('asks for each grouping once, and only for what the grouping has', async () => {
    const { asked } = await reportOf(() => answer([]));
    deepEqual(asked.map(({ groupBy }) => groupBy).toSorted(), [...GROUP_BYS].toSorted());
    for (const params of asked) {
      const groupBy = params['groupBy'] as GroupBy;
      equal(params['instanceId'], INSTANCE);
      const fields = params['fields']?.split(',') ?? [];
      equal(
        fields.every((field) => GROUPINGS[groupBy].metrics.some((metric) => metric === field)),
        true,
        groupBy,
      );
      const dimensions = params['dimensionFields']?.split(',') ?? [];
      equal(
        dimensions.every((field) => dimensionFieldsOf(groupBy).includes(field)),
        true,
        groupBy,
      );
    }
  });

  it('shows what names say, not what a terminal would obey', async () => {
    const { text } = await reportOf(() =>
      answer([{ dimensions: { topic: { name: '\u001b[2J\u009b\u202e' } }, fields: {} }]),
    );
    match(text, /\\u001b\[2J\\u009b\\u202e/);
    equal(/[\p{Cc}\u202e]/u.test(text.replaceAll('\n', '')), false);
  });

  it('shows names and numbers, and how many rows there are in all', async () => {
    const { text } = await reportOf((groupBy) =>
      groupBy === 'GAP'
        ? answer(
            [
              {
                dimensions: {
                  gap: { gapType: 'TOOL', name: 'Cancel an order', topics: [{ id: 't', name: 'Orders' }] },
                },
                fields: { messages: 12, sessions: 7, users: 6 },
              },
            ],
            31,
          )
        : answer([]),
    );
    match(text, /\(TOOL\) or did not know \(KNOWLEDGE\) \(1 of 31\)/);
    match(text, /TOOL\s*│ Cancel an order\s*│ Orders\s*│\s*12 │\s*7 │\s*6 │/);
  });

  it('shows a dash for null, one decimal for fractions, and cuts what is too long', async () => {
    const { text } = await reportOf((groupBy) => {
      if (groupBy === 'TOPIC') {
        const topic = { id: 't', name: 'x'.repeat(60), clusterId: null };
        return answer([
          {
            dimensions: { topic },
            fields: { sessions: 3, users: 2, messages: 0, sat: 0, dsat: 1, netSat: null },
          },
        ]);
      }
      if (groupBy === 'SESSION') {
        const session = { id: 's', title: null, language: 'ja' };
        return answer([
          {
            dimensions: { session },
            fields: { messages: 2, lastActiveAt: '2026-05-17T09:05:01.560Z', sat: 0, dsat: 0 },
          },
        ]);
      }
      return answer([]);
    });
    match(text, new RegExp(`│ ${'x'.repeat(39)}… │\\s*3 │\\s*2 │\\s*0 │\\s*0 │\\s*1 │\\s*– │`));
    match(text, /│\s*2026-05-17 09:05\s*│ ja\s*│ –\s*│/);
  });
});
