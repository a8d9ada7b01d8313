/** undertone/client against the service (docs/client.md). */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Undertone, UndertoneError } from '../../src/client/index.ts';
import { CANCEL, DONE, THANKS } from '../support/conversations.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

let service: TestService;
let project: TestProject;
let undertone: Undertone;
const errors: UndertoneError[] = [];

before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  undertone = new Undertone({
    url: service.url,
    key: project.key,
    batchMs: 1,
    onError: (error) => errors.push(error),
  });
});
after(() => service.stop());

describe('a session', () => {
  it('is stored under the id that the caller knew at once, in the order of its messages', async () => {
    const session = undertone.session({ userId: 'ada', metadata: { session: { plan: 'free' } } });
    void session.user(CANCEL[0]);
    void session.assistant(DONE);
    await session.user(THANKS);
    const { position, lost } = await undertone.flush();
    equal(lost, 0);
    const { session: found, messages } = await undertone.transcript(session.id, { waitFor: position });
    deepEqual([found.metadata, found.endUser?.externalId], [{ plan: 'free' }, 'ada']);
    deepEqual(
      messages.map(({ role, content, externalId }) => [role, content, externalId]),
      [
        ['user', CANCEL[0], 'ada'],
        ['assistant', DONE, null],
        ['user', THANKS, 'ada'],
      ],
    );
  });
});

describe('a query', () => {
  it('has the metrics and dimension fields that were asked for, with their types', async () => {
    const page = await undertone.query({
      groupBy: 'SESSION',
      fields: ['messages', 'sat'],
      dimensionFields: ['title'],
      timeGranularity: 'DAY',
    });
    const row = page.elements[0];
    ok(row !== undefined);
    const title: string | null = row.dimensions.session.title;
    const date: string = row.dimensions.date;
    const sat: number = row.fields.sat;
    deepEqual([typeof title, date.slice(10), row.fields.messages, sat], ['string', 'T00:00:00Z', 3, 1]);
    // @ts-expect-error: it was not asked for.
    equal(row.fields.dsat, undefined);
    // @ts-expect-error: it was not asked for.
    equal(row.dimensions.session.summary, undefined);
  });

  it('rejects with the code and details of the service', async () => {
    await rejects(
      // @ts-expect-error: sessions have no users.
      undertone.query({ groupBy: 'SESSION', fields: ['users'] }),
      (error) =>
        error instanceof UndertoneError &&
        error.code === 'VALIDATION_ERROR' &&
        error.status === 400 &&
        error.details[0]?.path === 'fields',
    );
  });
});
