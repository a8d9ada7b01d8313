/** How long a message takes from its acceptance until a query counts it, for a caller who sends little. */
import { totalIn, totalPath, Visibility } from './attacks/visibility.ts';
import { sharedMs } from './clock.ts';
import { Measurements, paced, type ConnectionPool } from './http-load.ts';

const SENT_PER_SECOND = 2;
const LOOKS_PER_SECOND = 20;
/** How long the last messages are waited for. */
const PATIENCE_MS = 60_000;

export interface FreshnessOptions {
  readonly pool: ConnectionPool;
  readonly key: string;
  readonly instanceId: string;
}

/**
 * Sends two messages a second, and looks at the total of their instance, until `until` settles. Milliseconds from each
 * acceptance to the first total that counts it; a message that is not counted a minute later is told as a failure.
 */
export async function freshnessUntil(
  until: Promise<unknown>,
  { pool, key, instanceId }: FreshnessOptions,
): Promise<Measurements> {
  const headers = { 'x-api-key': key };
  const seen = new Visibility();
  const running = { sending: true, looking: true };
  const content = 'Where is my parcel?';
  const send = async (): Promise<void> => {
    const body = { instanceId, messages: [{ role: 'user', content, userId: 'ada' }] };
    const answer = await pool.post('/v1/ingest/', headers, JSON.stringify(body));
    if (answer.status !== 200) throw new Error(`ingest: status ${answer.status}`);
    const position = Number(answer.headers.get('x-stream-position'));
    seen.accepted({ at: sharedMs(), position, messages: 1 });
  };
  const before = await totalOf(pool, instanceId, headers);
  const look = async (): Promise<void> => {
    const askedAt = sharedMs();
    const total = await totalOf(pool, instanceId, headers);
    seen.seen({ askedAt, at: sharedMs(), total: total - before });
  };
  const sending = paced({ rate: SENT_PER_SECOND, ended: () => !running.sending }, send);
  const looking = paced({ rate: LOOKS_PER_SECOND, ended: () => !running.looking, most: 4 }, look);
  await until;
  running.sending = false;
  await sending;
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!seen.isComplete && performance.now() < giveUpAt) await new Promise((done) => setTimeout(done, 50));
  running.looking = false;
  await looking;
  const measurements = new Measurements();
  for (const { ms } of seen.freshness())
    if (ms === Infinity) measurements.fail('not counted');
    else measurements.add(ms);
  return measurements;
}

async function totalOf(
  pool: ConnectionPool,
  instanceId: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const answer = await pool.get(totalPath(instanceId), headers);
  if (answer.status !== 200) throw new Error(`query: status ${answer.status}`);
  return totalIn(answer.body);
}
