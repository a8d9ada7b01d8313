import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../support/client.ts';
import { exportRequest, type SpanDraft } from '../support/otlp.ts';
import { noFigures, type FaultOptions, type Figures } from './support/figures.ts';
import { Random } from './support/random.ts';
import { Stack } from './support/stack.ts';

const CONVERSATIONS = 24;
const LONG_CONVERSATIONS = 60;
const TURNS = 4;
const EXPORTERS = 4;
/** Nobody exports what ended longer ago. */
const START = Date.parse('2026-02-01T08:00:00Z');

/**
 * kill -9 of web while exporters send spans: each conversation's agents and calls, in small batches, the calls of many
 * traces in flight at any moment. An export without an answer is repeated, as exporters do. In the end each message of
 * each conversation was counted once.
 */
export async function traces({ long, rounds, seed, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const stack = given ?? (await Stack.start());
  try {
    const key = await stack.newKey(`traces ${seed}`);
    const client = new Client(stack.url, key);
    const answer = await client.send('/v1/instances', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    const { id: instanceId } = answer.body as { readonly id: string };
    const conversations = long ? LONG_CONVERSATIONS : CONVERSATIONS;
    const batches = batchesOf(random, `${seed}`, conversations);
    let left = batches.length;
    const exporter = async (): Promise<void> => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
        await exported(stack, key, instanceId, batch);
        left -= 1;
      }
    };
    const exporting = Promise.all(Array.from({ length: EXPORTERS }, exporter));
    for (let round = 1; round <= rounds; round += 1) {
      const until = (left * (rounds - round + 1)) / (rounds - round + 2);
      await stack.until(
        () => left <= until,
        () => `${left} batches are left`,
      );
      await stack.kill('web');
      figures.kills += 1;
      figures.rounds += 1;
      say(`round ${round}: web killed, ${left} batches of spans to go`);
    }
    await exporting;
    await settled(stack, client, { instanceId, conversations }, figures);
    return figures;
  } finally {
    if (given === undefined) await stack.stop();
  }
}

function batchesOf(random: Random, seed: string, conversations: number): SpanDraft[][] {
  const spans = Array.from({ length: conversations }, (_, number) =>
    Array.from({ length: TURNS }, (__, turn) => turnOf(`${seed} ${number}`, turn)),
  ).flat(2);
  const batches: SpanDraft[][] = [];
  while (spans.length > 0) {
    const size = random.between(1, 4);
    batches.push(
      Array.from({ length: Math.min(size, spans.length) }, () => {
        const [span] = spans.splice(random.between(0, Math.min(12, spans.length - 1)), 1);
        return span as SpanDraft;
      }),
    );
  }
  return batches;
}

function turnOf(name: string, turn: number): SpanDraft[] {
  const startedAt = START + turn * 60_000;
  const history = Array.from({ length: turn + 1 }, (_, index) => [
    { role: 'user' as const, content: `Where is parcel ${index % 2} of ${name}?` },
    { role: 'assistant' as const, content: `Parcel ${index % 2} of ${name} is on its way.` },
  ]).flat();
  const [asked, answered] = [history.slice(0, -1), history.slice(-1)];
  const [trace, agent] = [`trace ${name} ${turn}`, `agent ${name} ${turn}`];
  const operation = 'chat' as const;
  return [
    {
      trace,
      span: `call ${name} ${turn}`,
      parent: agent,
      operation,
      startedAt,
      endedAt: startedAt + 900,
      asked,
      answered,
    },
    {
      trace,
      span: agent,
      operation: 'invoke_agent',
      startedAt,
      endedAt: startedAt + 1000,
      conversationId: `conversation ${name}`,
      asked: asked.slice(-1),
      answered,
    },
  ];
}

async function exported(
  stack: Stack,
  key: string,
  instanceId: string,
  batch: readonly SpanDraft[],
): Promise<void> {
  const { headers, ...request } = exportRequest(batch);
  for (;;) {
    try {
      const response = await fetch(`${stack.url}/v1/traces`, {
        ...request,
        headers: { ...(headers as Record<string, string>), 'x-api-key': key, 'x-instance-id': instanceId },
        signal: AbortSignal.timeout(15_000),
      });
      await response.arrayBuffer();
      if (response.status === 200) return;
    } catch {
      // Nobody listens, or the link broke.
    }
    await sleep(50);
  }
}

/** Waits until all is counted, and says what is not as it should be. */
async function settled(
  stack: Stack,
  client: Client,
  { instanceId, conversations }: { readonly instanceId: string; readonly conversations: number },
  figures: Figures,
): Promise<void> {
  const wanted = conversations * TURNS * 2;
  let counts: number[] = [];
  const look = async (): Promise<number> => {
    const parameters = { instanceId, groupBy: 'SESSION', fields: 'messages', limit: 1000 };
    const rows = await client.rows(parameters).catch(() => []);
    counts = rows.map(({ fields }) => fields.messages ?? 0);
    return counts.reduce((sum, count) => sum + count, 0);
  };
  await stack.until(
    async () => (await look()) >= wanted,
    () => `${counts.reduce((sum, count) => sum + count, 0)} of ${wanted} messages of traces are counted`,
  );
  const wrong = counts.filter((count) => count !== TURNS * 2);
  figures.accepted += wanted;
  figures.counted += counts.reduce((sum, count) => sum + count, 0);
  if (counts.length !== conversations || wrong.length > 0)
    figures.wrong.push(`${counts.length} sessions of ${conversations}, with ${wrong.join(', ')} messages`);
}
