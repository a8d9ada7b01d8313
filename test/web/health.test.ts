import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DEGRADED_REASONS } from '../../src/domain/service-health.ts';
import type { Degradation, ServiceFigures } from '../../src/domain/service-health.ts';
import { createHarness } from './support.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

const NOTHING: ServiceFigures = {
  workers: [],
  lag: null,
  processes: [],
  readerFailures: 0,
  deadLetters: null,
  stream: null,
  disk: null,
  sharedShards: [],
};
const SHARD = { shard: 1, batches: 2, messages: 30, entriesSetAside: 4, analysisTimeouts: 5 };
const EVERYTHING: ServiceFigures = {
  workers: [
    {
      name: 'worker',
      heartbeatAgeSeconds: 0.5,
      shards: [SHARD],
      writer: { written: 15, rejected: 16, failed: 17, timedOut: 18, queue: 19, judged: 20 },
      alerts: { evaluations: 20, fired: 21, delivered: 22, failed: 23, dead: 24, pending: 25 },
    },
  ],
  lag: { entries: 12, seconds: 3.5 },
  processes: [
    { name: 'worker', restarts: 6, residentBytes: 700 },
    { name: 'web', restarts: null, residentBytes: null },
  ],
  readerFailures: 8,
  deadLetters: 9,
  stream: { bytes: 10, maxBytes: 11, missing: 12 },
  disk: { freeBytes: 13, sizeBytes: 14 },
  sharedShards: [{ shard: 1, machine: 'a', behind: 26, bytes: 27, publishedAt: 28_000, copiedAt: 29_000 }],
};
const STUCK: Degradation = { reason: 'worker_stuck', message: 'nothing moves' };

async function get(path: string, figures: ServiceFigures, degradations: Degradation[] = []): Promise<string> {
  const { app } = createHarness({ health: { read: () => ({ degradations, figures }) } });
  const answer = await app.inject({ url: path });
  equal(answer.statusCode, 200);
  return answer.body;
}

/** Samples of our own metrics, as Prometheus reads them. */
async function samplesOf(figures: ServiceFigures, degradations: Degradation[] = []): Promise<string[]> {
  const lines = (await get('/metrics', figures, degradations)).split('\n');
  return lines.filter((line) => line.startsWith('undertone_') && !line.startsWith('undertone_http'));
}

describe('/readyz', () => {
  it('is degraded, and 200, when something else is wrong', async () => {
    deepEqual(JSON.parse(await get('/readyz', NOTHING, [STUCK])), {
      status: 'degraded',
      checks: {},
      reasons: [STUCK],
    });
    deepEqual(JSON.parse(await get('/readyz', NOTHING)), { status: 'ready', checks: {}, reasons: [] });
  });
});

describe('/metrics', () => {
  it('tells what is known of the service', async () => {
    const samples = await samplesOf(EVERYTHING, [STUCK]);
    const of = (name: string): string[] => samples.filter((line) => line.startsWith(name));
    deepEqual(of('undertone_worker_'), [
      'undertone_worker_heartbeat_age_seconds{worker="worker"} 0.5',
      'undertone_worker_lag_entries 12',
      'undertone_worker_lag_seconds 3.5',
      'undertone_worker_batches_total{worker="worker",shard="1"} 2',
      'undertone_worker_messages_total{worker="worker",shard="1"} 30',
      'undertone_worker_set_aside_total{worker="worker",shard="1"} 4',
      'undertone_worker_analysis_timeouts_total{worker="worker",shard="1"} 5',
    ]);
    deepEqual(of('undertone_writer_'), [
      'undertone_writer_calls_total{worker="worker",result="written"} 15',
      'undertone_writer_calls_total{worker="worker",result="judged"} 20',
      'undertone_writer_calls_total{worker="worker",result="rejected"} 16',
      'undertone_writer_calls_total{worker="worker",result="failed"} 17',
      'undertone_writer_calls_total{worker="worker",result="timed_out"} 18',
      'undertone_writer_queue{worker="worker"} 19',
    ]);
    deepEqual(of('undertone_alert'), [
      'undertone_alert_evaluations_total{worker="worker"} 20',
      'undertone_alerts_fired_total{worker="worker"} 21',
      'undertone_alert_deliveries_total{worker="worker",result="delivered"} 22',
      'undertone_alert_deliveries_total{worker="worker",result="dead"} 24',
      'undertone_alert_deliveries_total{worker="worker",result="failed"} 23',
      'undertone_alert_deliveries_pending{worker="worker"} 25',
    ]);
    deepEqual(of('undertone_process_'), [
      'undertone_process_restarts_total{process="worker"} 6',
      'undertone_process_resident_memory_bytes{process="worker"} 700',
    ]);
    ok(samples.includes('undertone_degraded{reason="worker_stuck"} 1'));
    equal(of('undertone_degraded').filter((line) => line.endsWith(' 0')).length, DEGRADED_REASONS.length - 1);
    for (const [name, value] of Object.entries({
      dead_letters: 9,
      reader_failures_total: 8,
      stream_bytes: 10,
      stream_max_bytes: 11,
      stream_missing_entries: 12,
      disk_free_bytes: 13,
      disk_size_bytes: 14,
    })) {
      deepEqual(of(`undertone_${name} `), [`undertone_${name} ${value}`]);
    }
  });

  it('says nothing of what is not known', async () => {
    const samples = (await samplesOf(NOTHING)).filter((line) => !line.startsWith('undertone_degraded'));
    deepEqual(samples, ['undertone_reader_failures_total 0']);
  });

  it('tells the figures of the moment, whichever way they went', async () => {
    let figures = EVERYTHING;
    const harness = createHarness({ health: { read: () => ({ degradations: [], figures }) } });
    const { app } = harness;
    await app.inject({ url: '/metrics' });
    figures = { ...NOTHING, lag: { entries: 1, seconds: 2 }, readerFailures: 8 };
    harness.time += 1000;
    const { body } = await app.inject({ url: '/metrics' });
    match(body, /^undertone_worker_lag_entries 1$/m);
    match(body, /^undertone_reader_failures_total 8$/m);
    ok(!/^undertone_(?:worker_batches_total|dead_letters) ?\{?/m.test(body.replaceAll(/^#.*$/gm, '')));
  });
});

describe('/metrics, asked often', () => {
  it('gathers once a second, whoever asks', async () => {
    let gathered = 0;
    const read = (): { degradations: Degradation[]; figures: ServiceFigures } => {
      gathered += 1;
      return { degradations: [], figures: { ...NOTHING, lag: { entries: gathered, seconds: 0 } } };
    };
    const harness = createHarness({ health: { read } });
    const lags = async (): Promise<(string | undefined)[]> => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => harness.app.inject({ url: '/metrics' })),
      );
      return answers.map(({ body }) => /^undertone_worker_lag_entries (\d+)$/m.exec(body)?.[1]);
    };
    deepEqual(new Set([...(await lags()), ...(await lags())]), new Set(['1']));
    harness.time += 999;
    deepEqual(new Set(await lags()), new Set(['1']));
    harness.time += 1;
    deepEqual(new Set(await lags()), new Set(['2']));
    harness.time -= 3_600_000;
    deepEqual(new Set(await lags()), new Set(['3']));
    equal(gathered, 3);
  });
});

describe('docs/operations.md', async () => {
  const exposition = await get('/metrics', EVERYTHING);
  const types = new Map(
    [...exposition.matchAll(/^# TYPE (undertone_\w+) (\w+)$/gm)].map(([, name, type]) => [name ?? '', type]),
  );

  it('lists every metric that there is with its type, and every reason', () => {
    const listed = [...DOCUMENT.matchAll(/^\| `(undertone_\w+)` +\| (\w+)/gm)].map(([, name, type]) => [
      name,
      type,
    ]);
    deepEqual(listed.toSorted(), [...types].toSorted());
    const reasons = [...DOCUMENT.matchAll(/^\| `([a-z]+_?[a-z_]*)` +\| /gm)].map(
      ([, reason]) => reason ?? '',
    );
    deepEqual(
      reasons.filter((reason) => !reason.startsWith('undertone_')),
      [...DEGRADED_REASONS],
    );
  });
});
