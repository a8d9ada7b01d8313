/** How much does a tool for language models cost beside the routes that it reads? */
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import type { History } from './load/history.ts';
import { HISTORY_OPTIONS, historyCommand, historyRatios } from './load/history-benchmark.ts';
import { randomFrom } from './load/questions.ts';
import { startQueryService, type QueryService } from './load/query-service.ts';
import { median, quantile } from './load/ratios.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- mcp [OPTIONS]

How much does a tool for language models cost beside the routes that it reads?

Serves a synthetic history and asks for the overview of a week, each time another one, one request at a time: plain
GET /v1/overview; the six questions that the tool overview asks, as plain requests at the same time; and the tool, at
/mcp. Beside it: a call that asks nothing (tools/list).
${HISTORY_OPTIONS}`;

const WARM_UP = 10;
const WEEK_MS = 7 * 86_400_000;

interface Figures {
  readonly calls: readonly { readonly call: string; readonly p50: number; readonly p95: number }[];
  /** The six plain requests over the tool, at the median. */
  readonly ratio: number;
}

export const ratios = historyRatios(
  'the tool overview over the same questions as requests',
  async (history) => (await measure(history, 30)).ratio,
);

export const command = historyCommand(USAGE, { messages: 1_000_000, count: 200 }, async (history, count) => {
  const { calls, ratio } = await measure(history, count);
  const rows = calls.map(({ call, p50, p95 }) => [call, p50.toFixed(1), p95.toFixed(1)]);
  return `${table(['ms', 'p50', 'p95'], rows)}\nthe six requests over the tool: ${ratio.toFixed(2)}`;
});

async function measure(history: History, count: number): Promise<Figures> {
  const instanceId = SYNTHETIC_IDS.instance(1);
  const service = await startQueryService({
    dataDir: history.dataDir,
    instanceIds: [instanceId],
    connections: 1,
  });
  try {
    const random = randomFrom(1);
    const [first, last] = [history.start / 1000 + 2 * WEEK_MS, history.end / 1000 - WEEK_MS];
    const taken = new Map<string, number[]>(NAMES.map((name) => [name, []]));
    for (let i = -WARM_UP; i < count; i += 1) {
      const start = first + random() * (last - first);
      const week = [start, start + WEEK_MS].map((at) => new Date(Math.floor(at)).toISOString());
      // They take turns, so that none of them always finds what another has read.
      for (let turn = 0; turn < NAMES.length; turn += 1) {
        const name = NAMES[(turn + i + WARM_UP) % NAMES.length] ?? NAMES[0];
        const startedAt = performance.now();
        await CALLS[name](service, instanceId, week);
        if (i >= 0) taken.get(name)?.push(performance.now() - startedAt);
      }
    }
    const calls = NAMES.map((call) => {
      const times = taken.get(call) ?? [];
      return { call, p50: median(times), p95: quantile(times, 0.95) };
    });
    const p50 = (name: Name): number => calls.find(({ call }) => call === name)?.p50 ?? 0;
    return { calls, ratio: p50('six requests') / p50('tool overview') };
  } finally {
    await service.stop();
  }
}

type Ask = (service: QueryService, instanceId: string, week: readonly string[]) => Promise<unknown>;

const CALLS = {
  'GET /v1/overview': (service, instanceId, week) =>
    get(service, '/overview', { instanceId, ...rangeOf(week) }),
  'six requests': (service, instanceId, week) => {
    const [start = '', end = ''] = week;
    const before = [start, end].map((at) => new Date(Date.parse(at) - WEEK_MS).toISOString());
    const range = { instanceId, ...rangeOf(week) };
    const topics = { ...range, groupBy: 'TOPIC', fields: 'sessions,dsat', limit: '6' };
    return Promise.all([
      get(service, '/overview', range),
      get(service, '/overview', { instanceId, ...rangeOf(before) }),
      get(service, '/query', { ...topics, 'sort.field': 'sessions' }),
      get(service, '/query', { ...topics, 'sort.field': 'dsat', minDsat: '1' }),
      get(service, '/query', {
        ...range,
        groupBy: 'CSAT_DSAT',
        fields: 'sessions',
        'sort.field': 'sessions',
      }),
      get(service, '/query', {
        ...range,
        groupBy: 'GAP',
        fields: 'sessions',
        'sort.field': 'sessions',
        limit: '6',
      }),
    ]);
  },
  'tool overview': (service, instance, week) =>
    post(service, 'tools/call', { name: 'overview', arguments: { instance, period: week.join('/') } }),
  'tools/list': (service) => post(service, 'tools/list', {}),
} as const satisfies Readonly<Record<string, Ask>>;
type Name = keyof typeof CALLS;
const NAMES = Object.keys(CALLS) as [Name, ...Name[]];

function rangeOf([start = '', end = '']: readonly string[]): Readonly<Record<string, string>> {
  return { 'dateRange.start': start, 'dateRange.end': end };
}

async function get(
  { url, key }: QueryService,
  path: string,
  parameters: Readonly<Record<string, string>>,
): Promise<void> {
  const answer = await fetch(`${url}/v1${path}?${new URLSearchParams(parameters)}`, {
    headers: { 'x-api-key': key },
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
}

async function post({ url, key }: QueryService, method: string, params: object): Promise<void> {
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result } = (await answer.json()) as { readonly result?: { readonly isError?: boolean } };
  if (result === undefined || result.isError === true) throw new Error(JSON.stringify(result));
}
