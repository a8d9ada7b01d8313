/** POST and GET /v1/erasures: from the request to the ledger and the stream, in the real service. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Undertone } from '../../src/client/index.ts';
import type { UndertoneError } from '../../src/client/index.ts';
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
    const unknown = { externalId: 'ana müller' };
    await rejects(undertone.erase(unknown, { waitFor: position }), refused('NOT_FOUND'));
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
});
