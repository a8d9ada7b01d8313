/** Erasure of what came as spans, in the real service: no file holds it, and nothing of it comes back. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { zstdDecompressSync } from 'node:zlib';
import { v5 } from 'uuid';
import { Undertone } from '../../src/doors/client/index.ts';
import { openAssemblyBuckets } from '../../src/doors/traces/assembly/buckets.ts';
import { openConnection } from '../../src/stream/connection.ts';
import { Client } from '../support/client.ts';
import { exportRequest, type SpanDraft } from '../support/otlp.ts';
import { startTestService, type TestProject, type TestService } from '../support/service.ts';

const PERSON = 'wolpertinger@example.com';
const GIVE_UP_MS = 60_000;
/** Each look asks the service, and each look into files reads all of them. */
const LOOK_MS = 500;
const HOUR_MS = 3_600_000;
const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;

describe('erasure of what came as spans', () => {
  let service: TestService;
  let project: TestProject;
  let client: Client;
  let traces = 0;
  before(async () => {
    service = await startTestService({ TRACE_WAIT_MS: '2000' });
    project = await service.newProject();
    client = new Client(service.url, project.key);
  });
  after(() => service?.stop());

  async function send(drafts: readonly SpanDraft[], instanceId: string): Promise<void> {
    const { headers, ...request } = exportRequest(drafts);
    const response = await fetch(`${service.url}/v1/traces`, {
      ...request,
      headers: {
        ...(headers as Record<string, string>),
        'x-api-key': client.key,
        'x-instance-id': instanceId,
      },
    });
    equal(response.status, 200, await response.text());
  }

  /** A trace of an agent and of a call in it. */
  function trace(startedAt: number, call: Partial<SpanDraft>): readonly [call: SpanDraft, agent: SpanDraft] {
    const name = `trace ${(traces += 1)}`;
    const times = { trace: name, startedAt, endedAt: startedAt + 1000 };
    const agent = { ...times, span: `${name} agent` };
    return [{ ...times, span: `${name} call`, parent: agent.span, operation: 'chat', ...call }, agent];
  }

  async function contents(instanceId: string, sessionId: string, messages: number): Promise<string[]> {
    for (const deadline = performance.now() + GIVE_UP_MS; ; await sleep(LOOK_MS)) {
      const answer = await client.getSession(sessionId, { instanceId });
      if (answer.status !== 200 && performance.now() < deadline) continue;
      const session = await client.session(sessionId, { instanceId });
      if (session.messages.length < messages && performance.now() < deadline) continue;
      equal(session.messages.length, messages, JSON.stringify(session.messages));
      return session.messages.map(({ content }) => content ?? '');
    }
  }

  async function erased(undertone: Undertone, target: Parameters<Undertone['erase']>[0]): Promise<void> {
    const { id } = await undertone.erase(target);
    for (const deadline = performance.now() + GIVE_UP_MS; ; await sleep(LOOK_MS)) {
      const { state, fault } = await undertone.erasure(id);
      if (state === 'DONE') return;
      ok(performance.now() < deadline, `${state}: ${fault}`);
    }
  }

  it('leaves nothing of a person in any file, also of what waited', async () => {
    const instanceId = await service.newInstance(project);
    const undertone = new Undertone({ url: service.url, key: project.key, instanceId });
    const begin = Date.now() - HOUR_MS;
    const ids = { conversationId: 'chat 1', userId: PERSON };
    const first = [user('Where is parcel tatzelwurm-11?'), assistant('Parcel lindworm-12 is here.')] as const;
    const second = [user('And parcel elwetritsch-13?'), assistant('It left rasselbock-14.')] as const;
    const calls = [
      trace(begin, { ...ids, asked: [first[0]], answered: [first[1]] }),
      trace(begin + 60_000, { ...ids, asked: [...first, second[0]], answered: [second[1]] }),
    ];
    for (const spans of calls) await send(spans, instanceId);
    const alone = trace(begin, {
      userId: PERSON,
      asked: [user('No id: aufhocker-15')],
      answered: [second[1]],
    });
    await send(alone, instanceId);
    const others = { conversationId: 'chat 2', userId: 'bo' };
    const kept = [user('Do you ship klabauter-16?'), assistant('We do.')] as const;
    await send(trace(begin, { ...others, asked: [kept[0]], answered: [kept[1]] }), instanceId);
    const [mine, theirs] = [v5('chat 1', instanceId), v5('chat 2', instanceId)];
    await contents(instanceId, mine, 4);
    await contents(instanceId, theirs, 2);
    const gone = ['tatzelwurm-11', 'lindworm-12', 'elwetritsch-13', 'rasselbock-14', 'aufhocker-15'];
    deepEqual(await inFiles(['tatzelwurm-11']), ['tatzelwurm-11']);

    const [waits] = trace(begin + 120_000, {
      ...ids,
      asked: [user('And nachtkrapp-17?')],
      answered: [second[1]],
    });
    await send([waits], instanceId);
    await erased(undertone, { externalId: PERSON });
    const left = ['klabauter-16'];
    deepEqual(await inFiles([...gone, 'nachtkrapp-17', PERSON, ...left]), left);
    const turnsOf = async (id: string) =>
      (await conversations()).flatMap(({ name, turns }) => (name?.id === id ? [turns.length] : []));
    // The span that waited may be put together after the erasure: its turns go when it is refused.
    for (const deadline = performance.now() + GIVE_UP_MS; ; await sleep(LOOK_MS)) {
      const turns = [await turnsOf('chat 1'), await turnsOf('chat 2')];
      if (turns.flat()[0] !== 0 && performance.now() < deadline) continue;
      deepEqual(turns, [[0], [2]]);
      break;
    }
    match(await verified(undertone), /^nothing of it is left\n/);

    // What was exported before comes again, and so does a span from before that was late.
    for (const spans of [...calls, alone]) await send(spans, instanceId);
    await send(
      trace(begin + 180_000, { ...ids, asked: [user('Late: bahkauv-18')], answered: [first[1]] }),
      instanceId,
    );
    // Both conversations go on, and repeat what was said.
    const now = Date.now();
    const asked = [...first, ...second, user('And my second parcel?')];
    await send(trace(now, { ...ids, asked, answered: [assistant('On its way.')] }), instanceId);
    await send(
      trace(now, { ...others, asked: [...kept, user('When?')], answered: [assistant('Today.')] }),
      instanceId,
    );
    deepEqual(await contents(instanceId, theirs, 4), [
      'Do you ship klabauter-16?',
      'We do.',
      'When?',
      'Today.',
    ]);
    deepEqual(await contents(instanceId, mine, 2), ['And my second parcel?', 'On its way.']);
    await untilNotInFiles([...gone, 'bahkauv-18']);
    deepEqual(await contents(instanceId, mine, 2), ['And my second parcel?', 'On its way.']);
  });

  it('leaves nothing of a session or an instance', async () => {
    const [one, all] = [await service.newInstance(project), await service.newInstance(project)];
    const clientOf = (instanceId: string): Undertone =>
      new Undertone({ url: service.url, key: project.key, instanceId });
    const begin = Date.now() - HOUR_MS;
    const chats = [
      [one, 'chat 3', 'ilmentritsch-21'],
      [one, 'chat 4', 'dilldapp-22'],
      [all, 'chat 5', 'hanghuhn-23'],
    ] as const;
    for (const [instanceId, conversationId, word] of chats)
      await send(
        trace(begin, { conversationId, asked: [user(word)], answered: [assistant('Yes.')] }),
        instanceId,
      );
    for (const [instanceId, id] of chats) await contents(instanceId, v5(id, instanceId), 2);
    const words = chats.map(([, , word]) => word);
    deepEqual(await inFiles(words), words);
    // Both in one run.
    await Promise.all([
      erased(clientOf(one), { sessionId: v5('chat 3', one) }),
      erased(clientOf(all), { everything: true }),
    ]);
    deepEqual(await inFiles(words), ['dilldapp-22']);
    for (const instanceId of [one, all])
      match(await verified(clientOf(instanceId)), /^nothing of it is left\n/);
  });

  /** What `npm run erase -- verify` says of the newest erasure of an instance. */
  async function verified(undertone: Undertone): Promise<string> {
    const [newest] = (await undertone.erasures()).elements;
    const env = {
      ...process.env,
      DATA_DIR: service.dataDir,
      NATS_URL: service.nats.url,
      NATS_TOKEN: service.nats.token,
    };
    return promisify(execFile)(process.execPath, ['src/cli/erase.ts', 'verify', newest!.id], { env }).then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => `${stdout}${stderr}`,
    );
  }

  /** What is known of conversations. */
  async function conversations(): Promise<{ name?: { id?: string }; turns: unknown[] }[]> {
    const connection = await openConnection({ ...service.nats.address, name: 'test' });
    try {
      const { conversations: bucket } = await openAssemblyBuckets(connection);
      return (await bucket.list('*')).map((value) => JSON.parse(value) as { turns: unknown[] });
    } finally {
      await connection.close();
    }
  }

  async function untilNotInFiles(words: readonly string[]): Promise<void> {
    for (const deadline = performance.now() + GIVE_UP_MS; ; await sleep(LOOK_MS)) {
      const found = await inFiles(words);
      if (found.length === 0) return;
      ok(performance.now() < deadline, found.join());
    }
  }

  /** Those of the words that are in a file of the service or of its server, also in what is compressed there. */
  async function inFiles(words: readonly string[]): Promise<string[]> {
    const found = new Set<string>();
    for (const folder of [service.dataDir, service.nats.dataDir])
      for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (!file.isFile()) continue;
        // A file may go meanwhile.
        const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0));
        const texts = [bytes, ...inflated(bytes)];
        for (const word of words) if (texts.some((text) => text.includes(word))) found.add(word);
      }
    return words.filter((word) => found.has(word));
  }
});

const FRAME = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** The same at the beginning of a value of a bucket, which is base64 behind a `z`. */
const VALUE = /zKLUv\/[\w+/]+=*/g;

/** What frames of zstd in a file hold. What follows a frame is no part of it. */
function inflated(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = bytes.indexOf(FRAME); at >= 0; at = bytes.indexOf(FRAME, at + 1))
    frames.push(bytes.subarray(at));
  for (const [value] of bytes.toString('latin1').matchAll(VALUE))
    frames.push(Buffer.from(value.slice(1), 'base64'));
  return frames.flatMap((frame) => {
    try {
      return [zstdDecompressSync(frame)];
    } catch {
      return [];
    }
  });
}
