/** What do the alerts of an instance cost the worker? */
import { readWorkerStatuses } from '../../src/health/process-status.ts';
import { benchmark } from './load/benchmark.ts';
import { countConversations } from './load/counting.ts';
import { demoConversations, repeated } from './load/distinct-texts.ts';
import { median } from './load/ratios.ts';
import { request, startMeasuredService } from './load/service.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- alerts [OPTIONS]

What do the alerts of an instance cost the worker?

Sends the demo's conversations again and again, in turns to an instance without alerts and to one with many, until all
are counted: messages a second, and processor time of the worker for 1,000 messages. The alerts are of every kind, and
wait for what does not happen, so that each is decided anew each time.

  --alerts N     alerts of the second instance (default: 100)
  --messages N   of a turn, about (default: 10000)
  --turns N      of each instance (default: 5)`;

export const command = benchmark(USAGE, { alerts: 100, messages: 10_000, turns: 5 }, measure);

/** A turn of an instance. */
interface Turn {
  readonly messagesPerSecond: number;
  /** Processor time of the worker, milliseconds for 1,000 messages. */
  readonly processorMs: number;
}

async function measure(options: { alerts: number; messages: number; turns: number }): Promise<number> {
  const { alerts, messages, turns } = options;
  const demo = await demoConversations();
  const service = await startMeasuredService({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  try {
    const { id: plain } = await request<{ id: string }>(service, 'instances', {});
    const { id: watched } = await request<{ id: string }>(service, 'instances', {});
    for (let index = 0; index < alerts; index += 1)
      await request(service, 'alerts', {
        instanceId: watched,
        name: `Alert ${index}`,
        condition: CONDITIONS[index % CONDITIONS.length],
        delivery: { url: 'http://127.0.0.1:9/' },
      });
    const found = new Map<string, Turn[]>([
      [plain, []],
      [watched, []],
    ]);
    const conversations = repeated(demo, messages);
    for (let turn = -1; turn < turns; turn += 1) {
      // Both grow alike, and neither always comes first.
      for (const instance of turn % 2 === 0 ? [plain, watched] : [watched, plain]) {
        const { messages: sent, seconds, use } = await countConversations(service, instance, conversations);
        const processorMs = ((use.get('worker')?.processorMs ?? 0) / sent) * 1000;
        if (turn >= 0) found.get(instance)?.push({ messagesPerSecond: sent / seconds, processorMs });
      }
    }
    const worker = readWorkerStatuses(service.dataDir).find(({ ended }) => !ended)?.status;
    print(alerts, found.get(plain) ?? [], found.get(watched) ?? [], worker?.alerts?.evaluations ?? 0);
  } finally {
    await service.stop();
  }
  return 0;
}

const MUCH = 1_000_000;
const CONDITIONS = [
  ...(['TOPIC', 'GAP', 'CSAT_DSAT'] as const).flatMap((groupBy) =>
    (['HOUR', 'DAY', 'WEEK'] as const).flatMap((window) => [
      { kind: 'count', groupBy, window, atLeast: MUCH },
      { kind: 'rising', groupBy, window },
    ]),
  ),
  { kind: 'new_topic', atLeast: MUCH },
  { kind: 'dsat_share', window: 'DAY', above: 1 },
];

/** Medians of both instances, and their ratio. */
function print(alerts: number, plain: readonly Turn[], watched: readonly Turn[], evaluations: number): void {
  const medians = (of: (turn: Turn) => number): number[] =>
    [plain, watched].map((turns) => median(turns.map(of)));
  const row = (what: string, [without = 0, beside = 0]: readonly number[]): string[] => [
    what,
    without.toFixed(0),
    beside.toFixed(0),
    (beside / without).toFixed(2),
  ];
  console.log(
    table(
      ['', 'without alerts', `with ${alerts}`, 'ratio'],
      [
        row(
          'messages/s',
          medians(({ messagesPerSecond }) => messagesPerSecond),
        ),
        row(
          'worker ms per 1,000 messages',
          medians(({ processorMs }) => processorMs),
        ),
      ],
    ),
  );
  console.log(`${evaluations} evaluations`);
}
