import { deepEqual, equal, match, notEqual, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { v5 } from 'uuid';
import { Undertone, type Message, type UndertoneError } from '../../../src/doors/client/index.ts';
import { sessionIdOf } from '../../../src/doors/client/session-id.ts';
import { USER_ROLES } from '../../../src/doors/client/session.ts';
import { namesOf } from '../../../src/domain/records.ts';

const INSTANCE = '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10';

/** A client whose requests are kept instead of sent. */
function recording() {
  const bodies: { instanceId: string; sessionId: string; messages: Message[]; metadata?: unknown }[] = [];
  const errors: UndertoneError[] = [];
  const undertone = new Undertone({
    url: 'http://undertone.test',
    key: 'k',
    instanceId: INSTANCE,
    onError: (error) => errors.push(error),
    fetch: async (_, { body }) => {
      bodies.push(JSON.parse(String(body)) as (typeof bodies)[number]);
      return Response.json({ instanceId: INSTANCE, sessionId: bodies.at(-1)?.sessionId });
    },
  });
  return { undertone, bodies, errors };
}

describe("a session's id", () => {
  it('is the chosen one, or follows from instance and externalId, or is new', async () => {
    const { undertone, bodies } = recording();
    const chosen = '5b1f0c52-7c55-4b0e-9f5e-1d2f3a4b5c6d';
    equal(undertone.session({ sessionId: chosen, externalId: 'ticket-123' }).id, chosen);
    const named = undertone.session({ externalId: 'ticket-123', metadata: { session: { plan: 'free' } } });
    equal(named.id, v5('ticket-123', INSTANCE));
    notEqual(undertone.session().id, undertone.session().id);
    match(undertone.session().id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    await named.user('Hi');
    await undertone.flush();
    deepEqual(bodies[0]?.metadata, { session: { plan: 'free', externalId: 'ticket-123' } });
    deepEqual([bodies[0]?.instanceId, bodies[0]?.sessionId], [INSTANCE, named.id]);
  });

  it('is the UUIDv5 that every language makes, whatever the length and letters of the name', () => {
    for (let length = 0; length <= 130; length += 1) {
      const name = 'ü😀x'.repeat(60).slice(0, length).toWellFormed();
      equal(sessionIdOf(INSTANCE, name), v5(name, INSTANCE), String(length));
    }
    equal(sessionIdOf(INSTANCE.toUpperCase(), 'a'), v5('a', INSTANCE));
  });

  it('cannot be known without an instance', () => {
    const undertone = new Undertone({ url: 'http://undertone.test', key: 'k' });
    throws(() => undertone.session({ externalId: 'ticket-123' }), TypeError);
    throws(() => undertone.session({ externalId: 'ticket-123', instanceId: 'shop' }), TypeError);
    equal(
      undertone.session({ externalId: 'ticket-123', instanceId: INSTANCE }).id,
      v5('ticket-123', INSTANCE),
    );
  });
});

describe('a logged message', () => {
  it('gets the time of the call, and keeps its place when the clock is set back', async (context) => {
    const noon = Date.parse('2026-11-22T12:00:00Z');
    context.mock.timers.enable({ apis: ['Date'], now: noon });
    const { undertone, bodies } = recording();
    const session = undertone.session();
    await session.user('1');
    context.mock.timers.setTime(noon + 5);
    await session.assistant('2');
    context.mock.timers.setTime(noon - 60_000);
    await session.user('3');
    await session.log({ content: '4', createdAt: '2020-01-01T00:00:00Z' });
    await session.log({ content: '5', metadata: { createdAt: '2021-01-01T00:00:00Z' } });
    await undertone.flush();
    deepEqual(
      bodies[0]?.messages.map(({ role, createdAt }) => [role, createdAt]),
      [
        ['user', '2026-11-22T12:00:00.000Z'],
        ['assistant', '2026-11-22T12:00:00.005Z'],
        ['user', '2026-11-22T12:00:00.005Z'],
        [undefined, '2020-01-01T00:00:00Z'],
        [undefined, '2021-01-01T00:00:00Z'],
      ],
    );
  });

  it("is the session's end user's when it is a user turn that names none", async () => {
    const { undertone, bodies } = recording();
    const session = undertone.session({ userId: 'ada' });
    await session.log([
      { content: '1' },
      { role: 'Customer', content: '2' },
      { role: 'user', userId: 'bob', content: '3' },
      { role: 'assistant', content: '4' },
      { role: 'tool', content: '5' },
    ]);
    await undertone.flush();
    deepEqual(
      bodies[0]?.messages.map(({ userId }) => userId),
      ['ada', 'ada', 'bob', undefined, undefined],
    );
    deepEqual(USER_ROLES, namesOf('user'));
  });

  it('is reported when it cannot be written, and takes no other with it', async () => {
    const { undertone, bodies, errors } = recording();
    const session = undertone.session();
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    await session.log([
      { content: '1' },
      { content: '2', metadata: circular },
      { content: '3', metadata: { amount: 5n } },
      null as unknown as Message,
      {
        get content(): string {
          throw new Error('no content');
        },
      },
      { content: '6' },
      { content: '7', toJSON: () => undefined } as Message,
    ]);
    equal((await undertone.flush()).lost, 5);
    deepEqual(
      bodies[0]?.messages.map(({ content }) => content),
      ['1', '6'],
    );
    deepEqual(
      errors.map(({ code }) => code),
      Array.from({ length: 5 }, () => 'INVALID_MESSAGE'),
    );
    await undertone.session({ metadata: { session: circular } }).user('8');
    await undertone.flush();
    deepEqual([errors.at(-1)?.code, errors.length], ['INVALID_MESSAGE', 6]);
  });

  it('that is lost is said on the console once a minute, without what it says', async (context) => {
    const sent: unknown[] = [];
    context.mock.method(console, 'error', (line: unknown) => sent.push(line));
    const noon = Date.parse('2026-11-22T12:00:00Z');
    context.mock.timers.enable({ apis: ['Date'], now: noon });
    const refusal = { success: false, error: { code: 'MISSING_API_KEY', message: 'A key is required.' } };
    const undertone = new Undertone({
      url: 'http://undertone.test',
      key: '',
      instanceId: INSTANCE,
      fetch: async () => Response.json(refusal, { status: 401 }),
    });
    for (const at of [0, 1, 2, 60_000]) {
      context.mock.timers.setTime(noon + at);
      await undertone.session().log([{ content: 'my secret' }, { content: 'my other secret' }]);
      await undertone.flush();
    }
    deepEqual(sent, [
      'undertone: 2 messages were lost. MISSING_API_KEY: A key is required.',
      'undertone: 6 messages were lost. MISSING_API_KEY: A key is required.',
    ]);
  });

  it('is taken as it is at that moment', async () => {
    const { undertone, bodies } = recording();
    const metadata = { step: 1 };
    await undertone.session().user('Hi', { metadata });
    metadata.step = 2;
    await undertone.flush();
    deepEqual(bodies[0]?.messages[0]?.metadata, { step: 1 });
  });
});
