import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { DEGRADED_REASONS } from './service-health.ts';
import type { ServiceFigures, ServiceHealth } from './service-health.ts';

type Labels = Readonly<Record<string, string | number>>;
type Sample = readonly [labels: Labels, value: number];

/** One metric, and how its samples follow from the figures. */
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
  {
    name: 'undertone_worker_lag_entries',
    help: 'Stream entries that wait for the worker. An entry holds the messages of one or more requests.',
    type: 'gauge',
    labels: [],
    samples: ({ lag }) => (lag === null ? [] : [[{}, lag.entries]]),
  },
  {
    name: 'undertone_worker_lag_seconds',
    help: 'Age of the oldest stream entry that waits for the worker; 0 when none does.',
    type: 'gauge',
    labels: [],
    samples: ({ lag }) => (lag === null ? [] : [[{}, lag.seconds]]),
  },
  shardCounter('undertone_worker_batches_total', 'Batches committed.', 'batches'),
  shardCounter('undertone_worker_messages_total', 'Messages counted.', 'messages'),
  shardCounter(
    'undertone_worker_set_aside_total',
    'Stream entries of which something was set aside as a dead letter.',
    'entriesSetAside',
  ),
  shardCounter(
    'undertone_worker_analysis_timeouts_total',
    'Messages that count without findings because their analysis ran out of time or memory.',
    'analysisTimeouts',
  ),
  {
    name: 'undertone_dead_letters',
    help: 'Entries set aside that nobody has replayed or removed (npm run dead-letters).',
    type: 'gauge',
    labels: [],
    samples: ({ deadLetters }) => (deadLetters === null ? [] : [[{}, deadLetters]]),
  },
  {
    name: 'undertone_process_restarts_total',
    help: 'How often npm start has started a process again.',
    type: 'counter',
    labels: ['process'],
    samples: ({ processes }) =>
      processes.flatMap(({ name, restarts }) => (restarts === null ? [] : [[{ process: name }, restarts]])),
  },
  {
    name: 'undertone_process_resident_memory_bytes',
    help: 'Memory that a process has resident.',
    type: 'gauge',
    labels: ['process'],
    samples: ({ processes }) =>
      processes.flatMap(({ name, residentBytes }) =>
        residentBytes === null ? [] : [[{ process: name }, residentBytes]],
      ),
  },
  {
    name: 'undertone_reader_failures_total',
    help: 'How often reading the views failed so that they had to be opened anew.',
    type: 'counter',
    labels: [],
    samples: ({ readerFailures }) => [[{}, readerFailures]],
  },
  {
    name: 'undertone_stream_bytes',
    help: 'Bytes that the stream of conversations holds.',
    type: 'gauge',
    labels: [],
    samples: ({ stream }) => (stream === null ? [] : [[{}, stream.bytes]]),
  },
  {
    name: 'undertone_stream_max_bytes',
    help: 'Bytes that the stream of conversations may hold (STREAM_MAX_BYTES).',
    type: 'gauge',
    labels: [],
    samples: ({ stream }) => (stream === null ? [] : [[{}, stream.maxBytes]]),
  },
  {
    name: 'undertone_disk_free_bytes',
    help: 'Bytes free on the disk of DATA_DIR.',
    type: 'gauge',
    labels: [],
    samples: ({ disk }) => (disk === null ? [] : [[{}, disk.freeBytes]]),
  },
  {
    name: 'undertone_disk_size_bytes',
    help: 'Size of the disk of DATA_DIR.',
    type: 'gauge',
    labels: [],
    samples: ({ disk }) => (disk === null ? [] : [[{}, disk.sizeBytes]]),
  },
];

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

/** Registers what is told of the whole service; it is read once for each reading of the registry. */
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
      const known = samples(figures);
      metric.reset();
      // Without labels it would be left at 0; what is not known is not said.
      if (known.length === 0 && !labelled) metric.remove();
      for (const [labels, value] of known) metric.inc({ ...labels }, value);
    }
  };
}
