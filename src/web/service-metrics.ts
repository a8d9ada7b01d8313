/**
 * The Prometheus metrics of the whole service, from the figures of ServiceHealth.
 *
 * Test: test/web/health.test.ts.
 */
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { DEGRADED_REASONS } from '../domain/service-health.ts';
import type { ServiceFigures, ServiceHealth, SharedShardFigures } from '../domain/service-health.ts';

type Labels = Readonly<Record<string, string | number>>;
type Sample = readonly [labels: Labels, value: number];

/** A metric, and its samples as a function of the figures. */
interface Definition {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels: readonly string[];
  readonly samples: (figures: ServiceFigures) => readonly Sample[];
}

const DEFINITIONS: readonly Definition[] = [
  {
    name: 'undertone_worker_heartbeat_age_seconds',
    help: 'Since a worker last told that it lives; it does so every second.',
    type: 'gauge',
    labels: ['worker'],
    samples: ({ workers }) =>
      workers.map(({ name, heartbeatAgeSeconds }) => [{ worker: name }, heartbeatAgeSeconds]),
  },
  gauge(
    'undertone_worker_lag_entries',
    'Stream entries that wait for the worker. An entry holds the messages of one or more requests.',
    ({ lag }) => lag?.entries,
  ),
  gauge(
    'undertone_worker_lag_seconds',
    'Age of the oldest stream entry that waits for the worker; 0 when none does.',
    ({ lag }) => lag?.seconds,
  ),
  shardCounter('undertone_worker_batches_total', 'Batches committed.', 'batches'),
  shardCounter('undertone_worker_messages_total', 'Messages counted.', 'messages'),
  shardCounter(
    'undertone_worker_set_aside_total',
    'Stream entries with a part that became a dead letter.',
    'entriesSetAside',
  ),
  shardCounter(
    'undertone_worker_analysis_timeouts_total',
    'Messages that count without findings because their analysis ran out of time or memory.',
    'analysisTimeouts',
  ),
  {
    name: 'undertone_writer_calls_total',
    help: 'Calls to the writer (WRITER_URL or WRITER_MODEL), by what came of them. Counted since the worker started.',
    type: 'counter',
    labels: ['worker', 'result'],
    samples: ({ workers }) =>
      workers.flatMap(({ name: worker, writer }) =>
        writer === null
          ? []
          : ([
              [{ worker, result: 'written' }, writer.written],
              [{ worker, result: 'judged' }, writer.judged],
              [{ worker, result: 'rejected' }, writer.rejected],
              [{ worker, result: 'failed' }, writer.failed],
              [{ worker, result: 'timed_out' }, writer.timedOut],
            ] as const),
      ),
  },
  {
    name: 'undertone_writer_queue',
    help: 'Names and summaries that the writer is still to be asked for.',
    type: 'gauge',
    labels: ['worker'],
    samples: ({ workers }) => workers.flatMap(({ name, writer }) => known({ worker: name }, writer?.queue)),
  },
  alertCounter(
    'undertone_alert_evaluations_total',
    'Evaluations of the alerts of an instance.',
    'evaluations',
  ),
  alertCounter('undertone_alerts_fired_total', 'What alerts had to say, digests included.', 'fired'),
  {
    name: 'undertone_alert_deliveries_total',
    help:
      'Messages of alerts by what came of them: delivered, dead (given up), and failed for each attempt that is ' +
      'repeated. Counted since the worker started.',
    type: 'counter',
    labels: ['worker', 'result'],
    samples: ({ workers }) =>
      workers.flatMap(({ name: worker, alerts }) =>
        alerts === null
          ? []
          : (['delivered', 'dead', 'failed'] as const).map(
              (result) => [{ worker, result }, alerts[result]] as const,
            ),
      ),
  },
  {
    name: 'undertone_alert_deliveries_pending',
    help: 'Messages of alerts that are still to be delivered.',
    type: 'gauge',
    labels: ['worker'],
    samples: ({ workers }) => workers.flatMap(({ name, alerts }) => known({ worker: name }, alerts?.pending)),
  },
  gauge(
    'undertone_dead_letters',
    'Dead letters that are neither replayed nor removed (npm run dead-letters).',
    ({ deadLetters }) => deadLetters,
  ),
  {
    name: 'undertone_process_restarts_total',
    help: 'How often npm start restarted a process.',
    type: 'counter',
    labels: ['process'],
    samples: ({ processes }) => processes.flatMap(({ name, restarts }) => known({ process: name }, restarts)),
  },
  {
    name: 'undertone_process_resident_memory_bytes',
    help: 'Resident memory of a process.',
    type: 'gauge',
    labels: ['process'],
    samples: ({ processes }) =>
      processes.flatMap(({ name, residentBytes }) => known({ process: name }, residentBytes)),
  },
  {
    name: 'undertone_reader_failures_total',
    help: 'How often web had to reopen the views because reading them failed.',
    type: 'counter',
    labels: [],
    samples: ({ readerFailures }) => [[{}, readerFailures]],
  },
  gauge(
    'undertone_stream_bytes',
    'Bytes that the stream of conversations holds.',
    ({ stream }) => stream?.bytes,
  ),
  gauge(
    'undertone_stream_max_bytes',
    'Bytes that the stream of conversations may hold (STREAM_MAX_BYTES).',
    ({ stream }) => stream?.maxBytes,
  ),
  gauge(
    'undertone_stream_missing_entries',
    'Entries that are gone from the midst of the stream of conversations: a file of nats-server is damaged.',
    ({ stream }) => stream?.missing,
  ),
  gauge('undertone_disk_free_bytes', 'Bytes free on the disk of DATA_DIR.', ({ disk }) => disk?.freeBytes),
  gauge('undertone_disk_size_bytes', 'Size of the disk of DATA_DIR.', ({ disk }) => disk?.sizeBytes),
  sharedShard(
    'undertone_shared_shard_behind_entries',
    'Stream entries that the owner of a shard has not published to all machines yet, at most.',
    ({ behind }) => behind,
  ),
  sharedShard(
    'undertone_shared_shard_bytes',
    'Bytes of the published files of a shard in the object store.',
    ({ bytes }) => bytes,
  ),
  sharedShard(
    'undertone_shared_shard_published_timestamp_seconds',
    'When a shard was published last, by the clock of its owner, seconds since 1970-01-01 UTC.',
    ({ publishedAt }) => (publishedAt === 0 ? null : publishedAt / 1000),
  ),
  sharedShard(
    'undertone_shared_shard_copied_timestamp_seconds',
    'When the copy was made with which another machine would go on, seconds since 1970-01-01 UTC.',
    ({ copiedAt }) => (copiedAt === null ? null : copiedAt / 1000),
  ),
];

/** Defines a gauge of each shard that machines share, with the machine that owns it. */
function sharedShard(
  name: string,
  help: string,
  value: (figures: SharedShardFigures) => number | null,
): Definition {
  return {
    name,
    help,
    type: 'gauge',
    labels: ['shard', 'machine'],
    samples: ({ sharedShards }) =>
      sharedShards.flatMap((each) => known({ shard: each.shard, machine: each.machine }, value(each))),
  };
}

/** Returns a sample, or none for an unknown value. */
function known(labels: Labels, value: number | null | undefined): Sample[] {
  return value === null || value === undefined ? [] : [[labels, value]];
}

/** Defines a gauge of the whole service, without labels. */
function gauge(
  name: string,
  help: string,
  value: (figures: ServiceFigures) => number | null | undefined,
): Definition {
  return { name, help, type: 'gauge', labels: [], samples: (figures) => known({}, value(figures)) };
}

function shardCounter(
  name: string,
  what: string,
  member: Exclude<keyof ServiceFigures['workers'][number]['shards'][number], 'shard'>,
): Definition {
  return {
    name,
    help: `${what} Counted since the worker opened the shard.`,
    type: 'counter',
    labels: ['worker', 'shard'],
    samples: ({ workers }) =>
      workers.flatMap(({ name: worker, shards }) =>
        shards.map((shard) => [{ worker, shard: shard.shard }, shard[member]] as const),
      ),
  };
}

function alertCounter(name: string, what: string, member: 'evaluations' | 'fired'): Definition {
  return {
    name,
    help: `${what} Counted since the worker started.`,
    type: 'counter',
    labels: ['worker'],
    samples: ({ workers }) =>
      workers.flatMap(({ name: worker, alerts }) => known({ worker }, alerts?.[member])),
  };
}

/** Registers the metrics and returns a function that updates them; call it before each reading of the registry. */
export function registerServiceMetrics(registry: Registry, health: ServiceHealth): () => void {
  const degraded = new Gauge({
    name: 'undertone_degraded',
    help: '1 while /readyz says degraded for this reason.',
    labelNames: ['reason'],
    registers: [registry],
  });
  const metrics = DEFINITIONS.map(({ name, help, type, labels, samples }) => {
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    const metric = type === 'counter' ? new Counter(options) : new Gauge(options);
    return { metric, samples, labelled: labels.length > 0 };
  });
  return () => {
    const { figures, degradations } = health.read();
    for (const reason of DEGRADED_REASONS) {
      degraded.set({ reason }, degradations.some((found) => found.reason === reason) ? 1 : 0);
    }
    for (const { metric, samples, labelled } of metrics) {
      const found = samples(figures);
      metric.reset();
      // A metric without labels would show 0; an unknown value must not appear.
      if (found.length === 0 && !labelled) metric.remove();
      for (const [labels, value] of found) metric.inc({ ...labels }, value);
    }
  };
}
