/** What a writer wrote, seen by a caller of the service, and by a rebuild. */
import { deepEqual, equal, match } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChatServer, type ChatServer } from '../../support/chat-server.ts';
import { Client, toSearch, type Row } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/fold.ts';
import { writeGenerator } from '../../support/generator.ts';
import { eventually } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SUMMARY = 'Where is my parcel. I cannot track parcels.';
/** What the model would say if it were asked once more. */
const LATER = 'Parcel trouble';

describe('a service with a writer', () => {
  let endpoint: ChatServer;
  let service: TestService;
  let client: Client;
  let instanceId = '';
  before(async () => {
    endpoint = await startChatServer();
    endpoint.answer = ({ messages }) =>
      messages[0]?.content.includes('summarise') === true ? SUMMARY : 'Track late parcels';
    service = await startTestService({ WRITER_URL: endpoint.url, WRITER_IDLE_MINUTES: '0' });
    client = new Client(service.url, (await service.newProject()).key);
    for (let number = 0; number < 6; number++) {
      const { body } = await client.post({
        ...(instanceId === '' ? {} : { instanceId }),
        messages: [
          { role: 'user', content: 'Where is my parcel? It is late.', userId: `user ${number}` },
          { role: 'assistant', content: 'I am sorry, I cannot track parcels.' },
        ],
      });
      ({ instanceId } = body as { instanceId: string });
    }
  });
  after(async () => {
    await service?.stop();
    await endpoint?.close();
  });

  async function rows(groupBy: string): Promise<readonly Row[]> {
    const more = groupBy === 'SESSION' ? { dimensionFields: 'title,summary' } : {};
    const { body } = await client.get({ instanceId, groupBy, fields: 'messages', ...more });
    return (body as { elements: readonly Row[] }).elements;
  }
  const all = (): Promise<(readonly Row[])[]> =>
    Promise.all(['TOPIC', 'TOPIC_CLUSTER', 'GAP', 'SESSION'].map(rows));

  it('shows the names and summaries that the model has written', async () => {
    await eventually(
      async () => {
        const [topics = [], clusters = [], gaps = [], sessions = []] = await all();
        return (
          topics[0]?.dimensions.topic?.name === 'Track late parcels' &&
          clusters[0]?.dimensions.cluster?.name === 'Track late parcels' &&
          gaps[0]?.dimensions.gap?.name === 'Track late parcels' &&
          sessions.length === 6 &&
          sessions.every(({ dimensions: { session } }) => session?.summary === SUMMARY)
        );
      },
      () => JSON.stringify(endpoint.calls.map(({ messages }) => messages.at(-1)?.content)),
    );
  });

  it('gives the same words after a rebuild, without asking again', async () => {
    const before = await all();
    const calls = endpoint.calls.length;
    endpoint.answer = () => LATER;
    const rebuild = fork(join(ROOT, 'src/cli/rebuild.ts'), [], {
      cwd: ROOT,
      env: {
        ...process.env,
        DATA_DIR: service.dataDir,
        NATS_URL: service.nats.url,
        NATS_TOKEN: service.nats.token,
        EMBEDDING_MODEL: 'undertone-small',
        SHARDS: '1',
        WRITER_URL: endpoint.url,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    for (const stream of [rebuild.stdout, rebuild.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code] = (await once(rebuild, 'close')) as [number | null];
    equal(code, 0, output);
    match(output, /(\d+) of \1 tables equal/);
    deepEqual(await all(), before);
    equal(endpoint.calls.length, calls);
  });

  it('counts calls, and has nothing left to ask for', async () => {
    let metrics = '';
    await eventually(
      async () => {
        metrics = await (await fetch(`${service.url}/metrics`)).text();
        return /undertone_writer_queue\{[^}]*\} 0/.test(metrics);
      },
      () => metrics,
    );
    match(metrics, /undertone_writer_calls_total\{[^}]*result="written"\} (?:9|[1-9]\d+)\n/);
  });

  it('sends no conversation to be judged, as it may judge none', async () => {
    const [[topic] = [], , , [session] = []] = await all();
    const id = topic?.dimensions.topic?.id ?? '';
    const sessionId = session?.dimensions.session?.id ?? '';
    const { status } = await client.send('/v1/checks', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ instanceId, of: 'TOPIC', id, sessionId, verdict: 'YES' }),
    });
    equal(status, 201);
    // Time for two looks: the first may have begun before.
    await sleep(11_000);
    equal(endpoint.calls.filter(({ messages }) => messages[1]?.content.startsWith('{"question"')).length, 0);
    const { body } = await client.send(`/v1/checks?${toSearch({ instanceId, of: 'TOPIC', id })}`);
    equal((body as { secondReader: unknown }).secondReader, null);
  });
});

describe('a service with a model of its own', () => {
  const temporary = temporaryDirectory();
  let service: TestService;
  before(async () => {
    writeGenerator(temporary.path, ['Late', 'parcels']);
    service = await startTestService({ WRITER_MODEL: temporary.path });
  });
  after(async () => {
    await service?.stop();
    temporary.remove();
  });

  it('shows the names that it has written', async () => {
    const client = new Client(service.url, (await service.newProject()).key);
    const content = 'Where is my parcel? It is late.';
    const messages = ['a', 'b', 'c'].map((userId) => ({ role: 'user', content, userId }));
    const { body } = await client.post({ messages });
    const { instanceId } = body as { instanceId: string };
    await eventually(async () => {
      const { body: answer } = await client.get({ instanceId, groupBy: 'TOPIC', fields: 'messages' });
      const [row] = (answer as { elements: readonly Row[] }).elements;
      return row?.dimensions.topic?.name === 'Late parcels';
    });
  });
});
