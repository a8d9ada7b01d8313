import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { DEGRADED_REASONS, type ServiceFigures } from '../../src/domain/service-health.ts';
import { createMetrics } from '../../src/web/metrics.ts';
import { readPromql } from '../support/promql.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/grafana');

/** Metrics of ours that the dashboard leaves out, and why. */
const OMITTED: Readonly<Record<string, string>> = {
  undertone_stream_missing_entries: 'the state of the service says stream_damaged',
};

/** Labels that Prometheus adds to what it scrapes. */
const TARGET_LABELS = ['job', 'instance'];

const shard = { shard: 0, batches: 1, messages: 1, entriesSetAside: 1, analysisTimeouts: 1 };
const writer = { written: 1, judged: 1, rejected: 1, failed: 1, timedOut: 1, queue: 1 };
const alerts = { evaluations: 1, fired: 1, delivered: 1, failed: 1, dead: 1, pending: 1 };
/** With something in each member, so that each metric has a sample that shows its labels. */
const FIGURES: ServiceFigures = {
  workers: [{ name: 'worker', heartbeatAgeSeconds: 1, shards: [shard], writer, alerts }],
  lag: { entries: 1, seconds: 1 },
  processes: [{ name: 'worker', restarts: 1, residentBytes: 1 }],
  readerFailures: 1,
  deadLetters: 1,
  stream: { bytes: 1, maxBytes: 1, missing: 0 },
  disk: { freeBytes: 1, sizeBytes: 1 },
  sharedShards: [{ shard: 0, machine: 'a', behind: 1, bytes: 1, publishedAt: 1, copiedAt: 1 }],
};

interface Exposed {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}

/** The metrics of a web that has seen everything once. */
async function exposedMetrics(): Promise<ReadonlyMap<string, Exposed>> {
  const metrics = createMetrics({
    now: () => 0,
    health: { read: () => ({ degradations: [], figures: FIGURES }) },
    connections: async () => 1,
    assembly: () => ({ waiting: 1, waitingSpans: 1, traces: 1, messages: 1, lostFeedback: 1, refused: 1 }),
  });
  metrics.received('traces', { spans: 1, rejected: 1, lacksContent: 1, observations: 1 });
  metrics.answered({ method: 'GET', route: '/v1/query', status: 200 }, 1);
  metrics.warned('unknown-role', 1);
  metrics.dropped('limit');
  const { text } = await metrics.read();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  return new Map(
    [...types].map(([name, type]) => {
      const samples = [
        ...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? `, 'gm')),
      ];
      const labels = samples.flatMap(([, list = '']) =>
        [...list.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
      );
      return [name, { type, labels: new Set(labels) }];
    }),
  );
}

const exposed = await exposedMetrics();

/** The metric that a name in an expression stands for: of a histogram, its buckets, sum or count. */
function metricNamed(name: string): { readonly name: string; readonly labels: readonly string[] } | null {
  const found = exposed.get(name);
  if (found !== undefined) return found.type === 'histogram' ? null : { name, labels: [...found.labels] };
  const [, base = '', suffix] = /^(\w+)_(bucket|sum|count)$/.exec(name) ?? [];
  const histogram = exposed.get(base);
  if (histogram?.type !== 'histogram') return null;
  return {
    name: base,
    labels: [...histogram.labels].filter((label) => label !== 'le' || suffix === 'bucket'),
  };
}

/** The metrics that an expression names. Throws when one of them, or a label, does not exist. */
function checked(expression: string, templates: readonly string[] = []): string[] {
  const { metrics, grouped } = readPromql(expression.replaceAll('$__rate_interval', '5m'));
  ok(metrics.length > 0, expression);
  const all = new Set(TARGET_LABELS);
  const names = metrics.flatMap(({ name, labels, values }) => {
    if (name === 'up') return [];
    const metric = metricNamed(name);
    ok(metric !== null, `${name} does not exist: ${expression}`);
    for (const label of [...metric.labels, ...TARGET_LABELS]) all.add(label);
    for (const label of labels)
      ok(metric.labels.includes(label) || TARGET_LABELS.includes(label), `${name} has no ${label}`);
    for (const reason of metric.name === 'undertone_degraded' ? (values['reason']?.split('|') ?? []) : [])
      ok(
        DEGRADED_REASONS.some((known) => known === reason),
        reason,
      );
    return [metric.name];
  });
  for (const label of grouped) ok(all.has(label), `no metric of ${expression} has ${label}`);
  for (const template of templates)
    for (const [, label = ''] of template.matchAll(/(?:\{\{ *|\$labels\.)(\w+)/g))
      if (label !== '') ok(all.has(label) && isKept(label, grouped, expression), `${label} in ${template}`);
  return names;
}

/** An aggregation keeps the labels that it groups by. */
function isKept(label: string, grouped: readonly string[], expression: string): boolean {
  return grouped.includes(label) || !/\b(?:sum|max|min|avg|count)\b/.test(expression);
}

const datasource = z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });
const target = z.object({ refId: z.string(), datasource, expr: z.string(), legendFormat: z.string() });
const panel = z.object({
  id: z.int(),
  title: z.string().min(1),
  type: z.enum(['row', 'stat', 'timeseries', 'state-timeline']),
  gridPos: z.object({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
  description: z.string().optional(),
  datasource: datasource.optional(),
  targets: z.array(target).optional(),
});
const dashboard = z
  .object({
    title: z.string(),
    schemaVersion: z.int().min(42),
    templating: z.object({
      list: z.array(z.object({ type: z.string(), name: z.string(), definition: z.string().optional() })),
    }),
    panels: z.array(panel),
  })
  .parse(JSON.parse(readFileSync(join(FOLDER, 'undertone.json'), 'utf8')));
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets);

describe('the Grafana dashboard', () => {
  it('names metrics and labels that /metrics has', () => {
    ok(queries.length > 30);
    for (const { expr, legendFormat } of queries) checked(expr, [legendFormat]);
  });

  it('shows every metric of ours, but for those that are left out on purpose', () => {
    const names = new Set(queries.flatMap(({ expr }) => checked(expr)));
    const missing = [...exposed.keys()].filter((name) => name.startsWith('undertone_') && !names.has(name));
    deepEqual(missing.toSorted(), Object.keys(OMITTED).toSorted());
  });

  it('takes any data source and any job', () => {
    deepEqual(
      dashboard.templating.list.map(({ type, name }) => [type, name]),
      [
        ['datasource', 'datasource'],
        ['query', 'job'],
      ],
    );
    const [, metric = ''] =
      /^label_values\((\w+), job\)$/.exec(dashboard.templating.list[1]?.definition ?? '') ?? [];
    ok(exposed.has(metric), metric);
    for (const { expr } of queries)
      for (const { name, values } of readPromql(expr.replaceAll('$__rate_interval', '5m')).metrics)
        equal(values['job'], '$job', `${name} of ${expr}`);
    const text = readFileSync(join(FOLDER, 'undertone.json'), 'utf8');
    for (const [, uid] of text.matchAll(/"uid": "([^"]*)"/g)) equal(uid, '${datasource}');
  });

  it('has panels that explain themselves and do not overlap', () => {
    const taken = new Map<string, string>();
    equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
    for (const { title, type, description, gridPos, targets } of dashboard.panels) {
      if (type !== 'row') ok(description !== undefined && (targets?.length ?? 0) > 0, title);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          ok(x < 24 && !taken.has(`${x} ${y}`), `${title} lies over ${taken.get(`${x} ${y}`)}`);
          taken.set(`${x} ${y}`, title);
        }
    }
  });
});

describe('the configuration of Prometheus', () => {
  const read = (file: string): unknown => parse(readFileSync(join(FOLDER, file), 'utf8'));

  it('has alert rules that name only what there is', () => {
    const { groups } = z
      .strictObject({
        groups: z.array(
          z.strictObject({
            name: z.string(),
            rules: z.array(
              z.strictObject({
                alert: z.string().regex(/^Undertone\w+$/),
                expr: z.string(),
                for: z
                  .string()
                  .regex(/^\d+[smh]$/)
                  .optional(),
                labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
                annotations: z.strictObject({ summary: z.string() }),
              }),
            ),
          }),
        ),
      })
      .parse(read('alerts.yml'));
    const rules = groups.flatMap((group) => group.rules);
    ok(rules.length > 10);
    equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, expr, annotations } of rules) {
      const names = checked(expr, [annotations.summary]);
      ok(names.length > 0 || expr.startsWith('up{job="undertone"}'), `${alert} looks at no metric of ours`);
    }
  });

  it('scrapes web as the job that the rules name', () => {
    const { rule_files: files, scrape_configs: jobs } = z
      .object({
        rule_files: z.array(z.string()),
        scrape_configs: z.array(z.object({ job_name: z.string(), metrics_path: z.string() })),
      })
      .parse(read('prometheus.yml'));
    deepEqual([files, jobs], [['alerts.yml'], [{ job_name: 'undertone', metrics_path: '/metrics' }]]);
  });
});

describe('the reader of PromQL', () => {
  it('finds metrics and labels, and nothing else', () => {
    deepEqual(
      readPromql(`sum by (le, route) (rate(a_bucket{job=~"$job",route!~'x|y'}[5m])) / on (job) b > 1e-3`),
      {
        metrics: [
          { name: 'a_bucket', labels: ['job', 'route'], values: { job: '$job', route: 'x|y' } },
          { name: 'b', labels: [], values: {} },
        ],
        grouped: ['le', 'route', 'job'],
      },
    );
    deepEqual(
      readPromql('sum(a) without (b) and max_over_time(c[1h] offset 5m)').metrics.map(({ name }) => name),
      ['a', 'c'],
    );
    for (const wrong of ['sum(a', 'a)', '{job="x"}', 'a ? b', 'sum(a]'])
      throws(() => readPromql(wrong), Error, wrong);
  });

  it('sees a metric or a label that is gone', () => {
    throws(() => checked('undertone_http_request_total'), /does not exist/);
    throws(() => checked('undertone_http_request_duration_seconds'), /does not exist/);
    throws(() => checked('undertone_dead_letters_bucket'), /does not exist/);
    throws(() => checked('undertone_dead_letters{shard="1"}'), /has no shard/);
    throws(() => checked('sum by (shard) (undertone_dead_letters)'), /has shard/);
    throws(() => checked('undertone_http_request_duration_seconds_sum{le="1"}'), /has no le/);
    throws(() => checked('undertone_degraded{reason="tired"}'), /tired/);
    throws(() => checked('sum(undertone_http_requests_total)', ['{{route}}']), /route in/);
  });
});
