/** POST and GET /v1/erasures: from the request to the ledger and the stream, in the real service. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Undertone } from '../../src/doors/client/index.ts';
import type { Erasure, UndertoneError } from '../../src/doors/client/index.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

let service: TestService;
let project: TestProject;
before(async () => {
  service = await shareTestService();
  project = await service.newProject();
});
after(() => service?.stop());

const clientOf = ({ key }: TestProject, instanceId?: string): Undertone =>
  new Undertone({ url: service.url, key, instanceId });
/** A busy machine may need more than one wait. */
async function untilCounted(undertone: Undertone, position: number | null): Promise<void> {
  while ((await undertone.overview({ waitFor: position })).waitResult !== 'reached');
}
const refused = (code: UndertoneError['code']) => ({ name: 'UndertoneError', code });

describe('erasures', () => {
  it('are of sessions and end users that are known, and are kept without their names', async () => {
    const instanceId = await service.newInstance(project);
    const undertone = clientOf(project, instanceId);
    const question = { role: 'user', content: 'Do you ship to Norway?' };
    const { sessionId } = await undertone.ingest({ messages: [question] });
    const { position } = await undertone.ingest({
      messages: [{ role: 'user', userId: 'Ana Müller', content: 'Where is my parcel?' }],
      metadata: { users: { 'Bo Told': { plan: 'free' } } },
    });
    await untilCounted(undertone, position);
    const unknown = { externalId: 'ana müller' };
    await rejects(undertone.erase(unknown), refused('NOT_FOUND'));
    for (const externalId of ['a\u0000b', '\ud800', "'", '🧑‍🚀'.repeat(50)])
      await rejects(undertone.erase({ externalId }), refused('NOT_FOUND'));
    const other = '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d';
    await rejects(undertone.erase({ sessionId: other }), refused('NOT_FOUND'));

    const targets = [
      { externalId: 'Bo Told' },
      { externalId: 'Ana Müller', reason: 'Request 4711' },
      { sessionId },
      { everything: true },
    ] as const;
    const kinds = ['END_USER', 'END_USER', 'SESSION', 'INSTANCE'];
    for (const [index, target] of targets.entries()) {
      const options = { idempotencyKey: `${instanceId} ${index}` };
      const erasure = await undertone.erase(target, options);
      deepEqual([erasure.kind, erasure.requestedBy], [kinds[index], project.keyId]);
      ok((erasure.position ?? 0) > (position ?? 0));
      const again = await undertone.erase(target, options);
      deepEqual([again.id, again.position], [erasure.id, erasure.position]);
      const read = await undertone.erasure(erasure.id);
      deepEqual([read.id, read.reason], [erasure.id, index === 1 ? 'Request 4711' : null]);
    }
    const { elements } = await undertone.erasures({ limit: 10 });
    deepEqual(
      elements.map(({ kind }) => kind),
      kinds.toReversed(),
    );
    ok(!/digest|Ana|Told|Müller/.test(JSON.stringify(elements)));
  });

  it('need the scope erase, and show nothing to other projects', async () => {
    const instanceId = await service.newInstance(project);
    const { id } = await clientOf(project, instanceId).erase({ everything: true });
    const stranger = clientOf(await service.newProject(), instanceId);
    await rejects(stranger.erase({ everything: true }), refused('NOT_FOUND'));
    await rejects(stranger.erasure(id), refused('NOT_FOUND'));
    equal((await stranger.erasures()).elements.length, 0);
    const reader = clientOf(await service.newKey(project, 'test', ['ingest', 'query', 'curate']), instanceId);
    await rejects(reader.erase({ everything: true }), refused('FORBIDDEN'));
    await rejects(reader.erasure(id), refused('FORBIDDEN'));
    await rejects(reader.erasures(), refused('FORBIDDEN'));
  });

  it('are done by the worker, and then nothing is left but what others said', async () => {
    const instanceId = await service.newInstance(project);
    const undertone = clientOf(project, instanceId);
    const turnOf = (userId: string, content: string) => ({ role: 'user', userId, content });
    const reply = { role: 'assistant', content: 'It left our warehouse yesterday.' };
    const alone = await undertone.ingest({
      messages: [turnOf('ana', 'Where is my parcel?'), reply, turnOf('ana', 'Thanks, that helps a lot!')],
    });
    const both = await undertone.ingest({
      messages: [
        turnOf('bo', 'Can I pay by invoice?'),
        reply,
        turnOf('ana', 'I live at Elm Street 7.'),
        reply,
      ],
    });
    const other = await undertone.ingest({ messages: [turnOf('cy', 'Do you ship to Norway?'), reply] });
    const { position } = other;
    const sessions = async () => {
      const { elements } = await undertone.query({ groupBy: 'SESSION', fields: ['messages'] });
      return new Map(elements.map(({ dimensions: { session }, fields }) => [session.id, fields.messages]));
    };
    const endUsers = async () => {
      const { elements } = await undertone.query({
        groupBy: 'END_USER',
        fields: ['messages'],
        dimensionFields: ['externalId'],
      });
      return new Map(
        elements.map(({ dimensions, fields }) => [dimensions.endUser.externalId, fields.messages]),
      );
    };
    await untilCounted(undertone, position);
    equal((await sessions()).size, 3);

    const erasure = await undertone.erase({ externalId: 'ana' });
    const done = await untilDone(undertone, erasure.id);
    deepEqual([done.fault, done.receipt?.messages, done.receipt?.sessions], [null, 5, 1]);
    ok(done.receipt!.entries >= 2 && done.receipt!.bytes > 0, JSON.stringify(done));

    deepEqual(
      await endUsers(),
      new Map([
        ['bo', 2],
        ['cy', 2],
      ]),
    );
    deepEqual(
      await sessions(),
      new Map([
        [both.sessionId, 2],
        [other.sessionId, 2],
      ]),
    );
    const read = async (id: string) => {
      const answer = await fetch(`${service.url}/v1/sessions/${id}?instanceId=${instanceId}`, {
        headers: { 'x-api-key': project.key },
      });
      return [answer.status, await answer.text()] as const;
    };
    equal((await read(alone.sessionId))[0], 404);
    const [status, shared] = await read(both.sessionId);
    equal(status, 200);
    ok(shared.includes('Can I pay by invoice?') && !/Elm Street|ana/.test(shared), shared);
    match((await read(other.sessionId))[1], /Do you ship to Norway\?.*It left our warehouse yesterday\./);
    const ready = await fetch(`${service.url}/readyz`);
    const health = await ready.text();
    equal(ready.status, 200, health);
    ok(!health.includes('stream_damaged'), health);
    await rejects(undertone.erase({ externalId: 'ana' }), refused('NOT_FOUND'));

    // Whoever was erased may come back, as somebody new.
    const back = await undertone.ingest({ messages: [turnOf('ana', 'Where is my second parcel?')] });
    await untilCounted(undertone, back.position);
    equal((await endUsers()).get('ana'), 1);
  });

  it('of a session and of everything leave no text in any file, and none of them is found again', async () => {
    const turnOf = (content: string) => ({ role: 'user', userId: 'ana', content });
    const [one, all] = await Promise.all([service.newInstance(project), service.newInstance(project)]);
    const [ofOne, ofAll] = [clientOf(project, one), clientOf(project, all)];
    const gone = await ofOne.ingest({ messages: [turnOf('Where is parcel wolpertinger-17?')] });
    const kept = await ofOne.ingest({ messages: [turnOf('Where is parcel lindworm-18?')] });
    const whole = await ofAll.ingest({ messages: [turnOf('Where is parcel tatzelwurm-19?')] });
    await untilCounted(ofAll, whole.position);
    const { id } = await ofOne.erase({ sessionId: gone.sessionId });
    const { id: everything } = await ofAll.erase({ everything: true });
    const done = [await untilDone(ofOne, id), await untilDone(ofAll, everything)];
    deepEqual(
      done.map(({ kind, receipt }) => [kind, receipt?.messages]),
      [
        ['SESSION', 1],
        ['INSTANCE', 1],
      ],
    );
    deepEqual(
      await Promise.all(['wolpertinger-17', 'tatzelwurm-19', 'lindworm-18'].map((word) => isInFiles(word))),
      [false, false, true],
    );
    equal((await ofAll.query({ groupBy: 'SESSION', fields: ['messages'] })).elements.length, 0);
    const { elements } = await ofOne.query({ groupBy: 'SESSION', fields: ['messages'] });
    deepEqual(
      elements.map(({ dimensions: { session } }) => session.id),
      [kept.sessionId],
    );
    for (const { sessionId } of [gone, whole])
      await rejects(ofOne.erase({ sessionId }), refused('NOT_FOUND'), sessionId);
    await rejects(ofOne.erasure('5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d'), refused('NOT_FOUND'));
    const nowhere = clientOf(project, '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d');
    await rejects(nowhere.erase({ everything: true }), refused('NOT_FOUND'));
  });
});

/** Whether a word stands in a file of the service or of its server. */
async function isInFiles(word: string): Promise<boolean> {
  for (const folder of [service.dataDir, service.nats.dataDir])
    for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      // A file may go meanwhile.
      const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0));
      if (bytes.includes(word)) return true;
    }
  return false;
}

const LOOK_MS = 500;
/** No assertion: the end of waiting. */
const DONE_WITHIN_MS = 120_000;

async function untilDone(undertone: Undertone, id: string): Promise<Erasure> {
  const deadline = Date.now() + DONE_WITHIN_MS;
  for (;;) {
    const erasure = await undertone.erasure(id);
    if (erasure.state === 'DONE') return erasure;
    if (Date.now() > deadline) throw new Error(`not done: ${JSON.stringify(erasure)}`);
    await sleep(LOOK_MS);
  }
}
