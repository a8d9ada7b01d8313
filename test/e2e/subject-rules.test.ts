/** GET /v1/subjects/{externalId}/export: everything that is held of one end user, in the real service. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Undertone, type SubjectLine } from '../../src/doors/client/index.ts';
import { subjectLineSchema } from '../../src/query/subject-schema.ts';
import { Client, faultOf } from '../support/client.ts';
import { assistant, CANCEL, CANNOT, PASSWORD, THANKS, user } from '../support/conversations.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

const ANA = 'Ana Müller/1 🧑‍🚀';
const BO = 'bo@example.com';
const METADATA_ONLY = 'only told';

let service: TestService;
let project: TestProject;
before(async () => {
  service = await shareTestService();
  project = await service.newProject();
});
after(() => service?.stop());

/** Ana's two sessions, the first of which Bo joins, one of Bo alone, and somebody who has said nothing. */
async function filled() {
  const instanceId = await service.newInstance(project);
  const client = new Client(service.url, project.key);
  const shared = await client.ingest({
    instanceId,
    messages: [
      user(CANCEL[0], '2025-03-03T10:00:00Z', ANA),
      assistant(CANNOT, '2025-03-03T10:01:00Z'),
      user(CANCEL[1], '2025-03-03T10:02:00Z', BO),
      assistant('It is cancelled.', '2025-03-03T10:03:00Z'),
      user(THANKS, '2025-03-03T10:04:00Z', ANA),
    ],
    metadata: { session: { plan: 'free' }, users: { [ANA]: { plan: 'pro', age: 41 } } },
  });
  await client.ingest({ instanceId, messages: [user(CANCEL[2], '2025-03-04T10:00:00Z', BO)] });
  const own = await client.ingest({
    instanceId,
    // Earlier than the session before it in the stream.
    messages: [user(PASSWORD[0], '2025-03-01T10:00:00Z', ANA)],
    metadata: { users: { [ANA]: { plan: 'team' }, [METADATA_ONLY]: { plan: 'free' } } },
  });
  const late = await client.ingest({
    instanceId,
    sessionId: shared.sessionId,
    messages: [user('A late word.', '2025-03-03T09:59:00Z', ANA)],
  });
  return { instanceId, client, shared: shared.sessionId, own: own.sessionId, position: late.position };
}

async function exported(undertone: Undertone, externalId: string, waitFor?: number): Promise<SubjectLine[]> {
  const lines: SubjectLine[] = [];
  for await (const line of undertone.exportSubject(externalId, { waitFor })) lines.push(line);
  return lines;
}

describe('what is held of an end user', () => {
  it('is exported whole: sessions in the order of the stream, messages as transcripts have them', async () => {
    const { instanceId, client, shared, own, position } = await filled();
    const undertone = new Undertone({ url: service.url, key: project.key, instanceId });
    // Waits as long as a busy machine needs.
    await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
    const lines = await exported(undertone, ANA);

    const [first] = lines;
    ok(first?.kind === 'END_USER');
    const [row] = await client.rows({ instanceId, groupBy: 'END_USER', fields: 'messages', externalId: ANA });
    const { id, ...rest } = first;
    equal(id, row?.dimensions.endUser?.id);
    deepEqual(rest, {
      kind: 'END_USER',
      externalId: ANA,
      createdAt: '2025-03-01T10:00:00.000Z',
      lastActiveAt: '2025-03-03T10:04:00.000Z',
      sessions: 2,
      messages: 5,
      metadata: { age: 41, plan: 'team' },
    });
    deepEqual(
      lines.slice(1).map((line) => {
        if (line.kind === 'MESSAGE') return [line.sessionId, line.role, line.content, line.isTheirs];
        return line.kind === 'SESSION' ? [line.id, line.isTheirs, line.metadata] : line;
      }),
      [
        [shared, true, { plan: 'free' }],
        [shared, 'user', 'A late word.', true],
        [shared, 'user', CANCEL[0], true],
        [shared, 'assistant', CANNOT, true],
        [shared, 'user', CANCEL[1], false],
        [shared, 'assistant', 'It is cancelled.', false],
        [shared, 'user', THANKS, true],
        [own, true, {}],
        [own, 'user', PASSWORD[0], true],
      ],
    );
    ok(!JSON.stringify(lines).includes(BO));
    for (const sessionId of [shared, own]) {
      const { session, messages } = await client.session(sessionId, { instanceId });
      const { endUser: _, ...sessionRest } = session;
      const line = lines.find((one) => one.kind === 'SESSION' && one.id === sessionId);
      deepEqual(line, { kind: 'SESSION', ...sessionRest, isTheirs: true });
      const found = lines.flatMap((one) =>
        one.kind === 'MESSAGE' && one.sessionId === sessionId ? [one] : [],
      );
      deepEqual(
        found.map(({ position: at, signals, gap, metadata, createdAt }) => [
          at,
          signals,
          gap && { id: gap.id, name: gap.name, gapType: gap.gapType },
          metadata,
          createdAt,
        ]),
        messages.map(({ position: at, signals, gap, metadata, createdAt }) => [
          at,
          signals,
          gap,
          metadata,
          createdAt,
        ]),
      );
    }
    const gap = lines.flatMap((line) => (line.kind === 'MESSAGE' && line.gap !== null ? [line.gap] : []));
    deepEqual(
      gap.map(({ isNamed }) => isNamed),
      [false],
    );

    // Somebody who has joined: theirs are the others.
    const bo = await exported(undertone, BO);
    deepEqual(
      bo.flatMap((line) => (line.kind === 'SESSION' ? [[line.id === shared, line.isTheirs]] : [])),
      [
        [true, false],
        [false, true],
      ],
    );
    deepEqual(
      bo.flatMap((line) => (line.kind === 'MESSAGE' ? [line.isTheirs] : [])),
      [false, false, false, true, true, false, true],
    );
    ok(!JSON.stringify(bo).includes('Ana'));

    // Somebody of whom only metadata tells.
    const [sessionRest, ...nothing] = await exported(undertone, METADATA_ONLY);
    ok(sessionRest?.kind === 'END_USER');
    deepEqual(
      [sessionRest.createdAt, sessionRest.sessions, sessionRest.metadata, nothing],
      [null, 0, { plan: 'free' }, []],
    );
  });

  it('is the same each time, ends with how many lines there were, and is audited without the name', async () => {
    const { instanceId, client, position } = await filled();
    await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
    const url = `${service.url}/v1/subjects/${encodeURIComponent(ANA)}/export?instanceId=${instanceId}`;
    const read = async (): Promise<string> =>
      (await fetch(url, { headers: { 'x-api-key': project.key } })).text();
    const text = await read();
    equal(await read(), text);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => subjectLineSchema.parse(JSON.parse(line)));
    deepEqual(lines.at(-1), { kind: 'END', lines: lines.length - 1 });
    const audit = await client.send('/v1/audit?limit=2');
    const { elements } = audit.body as { elements: { action: string; instanceId: string; target: string }[] };
    deepEqual(
      elements.map((element) => [element.action, element.instanceId]),
      [
        ['EXPORT_SUBJECT', instanceId],
        ['EXPORT_SUBJECT', instanceId],
      ],
    );
    equal(elements[0]?.target, elements[1]?.target);
    ok(!JSON.stringify(elements).includes('Ana'));
  });

  it('is shown to keys of the project that may query, and of nobody who is unknown', async () => {
    const { instanceId, client, position } = await filled();
    await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' }, position);
    const path = (name: string): string =>
      `/v1/subjects/${encodeURIComponent(name)}/export?instanceId=${instanceId}`;
    for (const name of ['ana müller/1 🧑‍🚀', "'", 'a\u0000b', 'Ana'])
      faultOf(await client.send(path(name)), 404, 'NOT_FOUND');
    const stranger = new Client(service.url, (await service.newProject()).key);
    faultOf(await stranger.send(path(ANA)), 404, 'NOT_FOUND');
    const sender = await service.newKey(project, 'test', ['ingest', 'curate', 'erase']);
    faultOf(await new Client(service.url, sender.key).send(path(ANA)), 403, 'FORBIDDEN');
    const empty = await service.newInstance(project);
    const undertone = new Undertone({ url: service.url, key: project.key, instanceId: empty });
    await rejects(exported(undertone, ANA), { name: 'UndertoneError', code: 'NOT_FOUND' });
  });
});
