import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Masking } from '../../../src/domain/masking.ts';
import type { RecordedRequest } from '../../../src/domain/records.ts';
import { AppError } from '../../../src/errors.ts';
import { openRegistry, type Registry } from '../../../src/web/registry/registry.ts';
import { encodeRequest } from '../../../src/stream/log/codec.ts';
import { openConnection, type StreamConnection } from '../../../src/stream/connection.ts';
import { temporaryDirectory } from '../../support/fold.ts';
import { openTestMasker, type TestMasker } from '../../support/masker.ts';
import { writeNamesModel } from '../../support/names-model.ts';
import { startTestServer, type TestServer } from '../../support/nats.ts';

const TEXTS: Masking = { texts: true, userIds: 'asSent' };
const IDS: Masking = { texts: false, userIds: 'digest' };

function requestOf(
  messages: readonly (Partial<RecordedRequest['messages'][number]> & { readonly content: string })[],
  more: Partial<RecordedRequest> = {},
): RecordedRequest {
  return {
    requestId: randomUUID(),
    projectId: 'p',
    instanceId: randomUUID(),
    sessionId: randomUUID(),
    acceptedAt: 1,
    messages: messages.map((message) => ({ role: 'user', at: 1, ...message })),
    ...more,
  };
}

/** The request with placeholders that have no numbers. */
function unnumbered(request: RecordedRequest): RecordedRequest {
  return JSON.parse(JSON.stringify(request).replace(/\[([A-Z]+)_\d+\]/g, '[$1]')) as RecordedRequest;
}

describe('masker', () => {
  let server: TestServer;
  let connection: StreamConnection;
  let registry: Registry;
  let masker: TestMasker;
  let other: TestMasker;
  let aside: TestMasker;

  before(async () => {
    server = await startTestServer();
    connection = await openConnection({ ...server.address, name: 'test' });
    registry = await openRegistry(connection);
    await registry.whenReady();
    [masker, other] = [openTestMasker(registry), openTestMasker(registry)];
    aside = openTestMasker(registry, { inlineBytes: 0 });
  });
  after(async () => {
    for (const one of [masker, other, aside]) await one.close();
    await registry.close();
    await connection.close();
    await server.stop();
  });

  async function masked(request: RecordedRequest, masking: Masking, by = masker): Promise<RecordedRequest> {
    const { parts } = await by.mask(encodeRequest(request), request.sessionId, masking);
    return JSON.parse(Buffer.concat(parts).toString()) as RecordedRequest;
  }

  const contents = ({ messages }: RecordedRequest): string[] => messages.map(({ content }) => content);
  /** The placeholders in a text. */
  const placeholders = (text = ''): string[] => text.match(/\[[A-Z]+_\d+\]/g) ?? [];

  it('masks texts of no session alike, wherever they are masked', async () => {
    const owner = { projectId: 'p', instanceId: randomUUID() };
    const texts = ['Write to ann@example.com', 'Nothing', 'ann@example.com and bob@example.com'];
    const stored = await masker.texts(owner, texts, TEXTS);
    match(stored[0]!, /^Write to \[EMAIL_\d+\]$/);
    equal(stored[1], 'Nothing');
    const [first] = /\[EMAIL_\d+\]/.exec(stored[0]!) ?? [];
    equal(stored[2]!.startsWith(`${first} and [EMAIL_`), true);
    deepEqual(await aside.texts(owner, texts, TEXTS), stored);
    deepEqual(await masker.texts(owner, texts, IDS), texts);
    deepEqual(await masker.texts(owner, [], TEXTS), []);
  });

  it('puts placeholders in place of values, the same for equal ones', async () => {
    const request = requestOf([
      { content: 'Write to Anna@example.com or call 0171 5550199' },
      { content: 'anna@example.com or bob@example.com, order 4839201', role: 'assistant' },
    ]);
    const [first = '', second = ''] = contents(await masked(request, TEXTS));
    match(first, /^Write to \[EMAIL_\d+\] or call \[PHONE_\d+\]$/);
    match(second, /^\[EMAIL_\d+\] or \[EMAIL_\d+\], order 4839201$/);
    equal(placeholders(first)[0], placeholders(second)[0]);
    equal(new Set(placeholders(first + second)).size, 3);
  });

  it('are the same over requests, processes and retries of a session, and others in another', async () => {
    const first = requestOf([{ content: 'mail a@example.com' }]);
    const { instanceId, sessionId } = first;
    const second = requestOf([{ content: 'mail b@example.com, not a@example.com' }], {
      instanceId,
      sessionId,
    });
    const [a] = placeholders(contents(await masked(first, TEXTS))[0]);
    deepEqual(placeholders(contents(await masked(second, TEXTS, other))[0])[1], a);
    deepEqual(await masked(second, TEXTS), await masked(second, TEXTS, other));
    const elsewhere = await masked({ ...first, sessionId: randomUUID() }, TEXTS);
    notEqual(placeholders(contents(elsewhere)[0])[0], a);
  });

  it('masks large requests on a thread, with the same result', async () => {
    const request = requestOf(
      [
        { content: 'My name is Dorothy Pemberton, mail a@example.com' },
        { content: 'Dorothy again', userId: 'ann' },
      ],
      { metadata: { users: { ann: { email: 'a@example.com' } } } },
    );
    const both: Masking = { texts: true, userIds: 'digest' };
    deepEqual(await masked(request, both, aside), await masked(request, both));
    match(contents(await masked(request, both, aside))[1] ?? '', /^\[NAME_\d+\] again$/);
  });

  it('masks names that a model finds and no rule does, where there is one', async () => {
    const folder = temporaryDirectory();
    writeNamesModel(folder.path, { persons: ['quilla', 'venn'] });
    const withModel = openTestMasker(registry, { inlineBytes: 0, namesModel: folder.path });
    try {
      const request = requestOf(
        [
          { content: 'does quilla venn answer a@example.com', metadata: { note: 'ask quilla' } },
          { content: 'quilla venn does', role: 'assistant' },
        ],
        { metadata: { session: { desk: 'venn' } } },
      );
      const result = await masked(request, TEXTS, withModel);
      const [first = '', second = ''] = contents(result);
      match(first, /^does \[NAME_\d+\] answer \[EMAIL_\d+\]$/);
      equal(placeholders(second)[0], placeholders(first)[0]);
      match(String(result.messages[0]?.metadata?.['note']), /^ask \[NAME_\d+\]$/);
      match(String(result.metadata?.session?.['desk']), /^\[NAME_\d+\]$/);
      deepEqual(await masked(request, TEXTS, withModel), result);
      deepEqual(contents(await masked(request, TEXTS))[1], 'quilla venn does');
    } finally {
      await withModel.close();
      folder.remove();
    }
  });

  it('reads metadata of messages, sessions and users with the names of its members', async () => {
    const request = requestOf(
      [
        {
          content: 'Hello',
          metadata: { contact: { phone: '0171 5550199' }, tags: ['a@example.com'], plan: 'gold' },
        },
      ],
      {
        metadata: {
          instance: { name: 'a@example.com' },
          session: { externalId: 'ticket-4839201', passportNo: '533401287', order: '4839201' },
          users: { ann: { email: 'a@example.com', age: 42 } },
        },
      },
    );
    const { messages, metadata } = unnumbered(await masked(request, TEXTS));
    deepEqual(messages[0]?.metadata, { contact: { phone: '[PHONE]' }, tags: ['[EMAIL]'], plan: 'gold' });
    deepEqual(metadata, {
      instance: { name: 'a@example.com' },
      session: { externalId: 'ticket-4839201', passportNo: '[ID]', order: '4839201' },
      users: { ann: { email: '[EMAIL]', age: 42 } },
    });
  });

  it('puts digests in place of ids of end users, the same for the same id of an instance', async () => {
    const request = requestOf(
      [{ content: 'a@example.com', userId: 'ann' }, { content: 'b' }, { content: 'c', userId: 'bob' }],
      { metadata: { users: { ann: { plan: 'gold' } } } },
    );
    const { messages, metadata } = await masked(request, IDS);
    const [ann, nobody, bob] = messages.map(({ userId }) => userId);
    match(ann ?? '', /^user_[\w-]{22}$/);
    equal(nobody, undefined);
    notEqual(ann, bob);
    equal(messages[0]?.content, 'a@example.com');
    deepEqual(metadata?.users, { [ann ?? '']: { plan: 'gold' } });
    equal(ann, masker.userId(request.instanceId, 'ann', IDS));
    notEqual(ann, masker.userId(randomUUID(), 'ann', IDS));
    equal(masker.userId(request.instanceId, 'ann', TEXTS), 'ann');
  });

  it('gives a request without anything personal back as it is', async () => {
    const harmless = encodeRequest(requestOf([{ content: 'Where is order 4839201?' }]));
    equal(await masker.mask(harmless, randomUUID(), TEXTS), harmless);
  });

  it('refuses metadata that is nested too deeply to be read', async () => {
    let deep: unknown = 'a@example.com';
    for (let level = 0; level < 300; level += 1) deep = [deep];
    const request = requestOf([{ content: 'Hello', metadata: { deep } }]);
    await rejects(
      masked(request, TEXTS),
      (error) => error instanceof AppError && error.code === 'VALIDATION_ERROR',
    );
  });
});
