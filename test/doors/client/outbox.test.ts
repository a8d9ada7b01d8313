import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Ingested } from '../../../src/doors/client/answers.ts';
import { UndertoneError } from '../../../src/doors/client/errors.ts';
import { Outbox, type Lost, type OutboxOptions, type Target } from '../../../src/doors/client/outbox.ts';

/** A request that is on its way. */
interface Sent {
  readonly target: Target;
  readonly messages: readonly string[];
  store(): void;
  fail(error: UndertoneError): void;
}

/** An outbox whose requests are answered by the test, or stored at once where it gives an answer. */
function scripted(
  options: Partial<OutboxOptions> = {},
  answer: ((messages: readonly string[]) => UndertoneError | null) | null = null,
) {
  const sent: Sent[] = [];
  const stored: string[][] = [];
  const lost: (Lost & { code: string })[] = [];
  const outbox = new Outbox({
    batchMs: 3_600_000,
    batchMessages: 10,
    maxMessages: 100,
    maxUnits: 1_000_000,
    concurrency: 2,
    whenFull: 'wait',
    onLost: (error, what) => lost.push({ ...what, code: error.code }),
    now: () => 0,
    send: (target, messages, _since, signal) =>
      new Promise<Ingested>((resolve, fail) => {
        const store = (): void => {
          stored.push(messages.map(contentOf));
          const position = stored.length;
          resolve({ instanceId: 'i', sessionId: target.sessionId, position, warnings: null });
        };
        sent.push({ target, messages: messages.map(contentOf), store, fail });
        signal.addEventListener('abort', () => fail(signal.reason as UndertoneError));
        if (signal.aborted) fail(signal.reason as UndertoneError);
        const error = answer?.(messages.map(contentOf));
        if (error !== undefined && error !== null) fail(error);
        else if (answer !== null) store();
      }),
    ...options,
  });
  const add = (sessionId: string, ...contents: string[]): Promise<void> =>
    outbox.add(
      { sessionId, instanceId: undefined, metadata: undefined },
      contents.map((content) => JSON.stringify({ content })),
    );
  return { outbox, sent, stored, lost, add };
}

const contentOf = (json: string): string => (JSON.parse(json) as { content: string }).content;
const refusal = (code: UndertoneError['code'], ...places: string[]): UndertoneError =>
  new UndertoneError(code, 'No.', { details: places.map((path) => ({ path, message: 'is wrong' })) });
/** Everything that is ready to run has run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const storeAll = (): null => null;

describe('messages', () => {
  it('of a session go in one request, and the next when it is answered', async () => {
    const { outbox, sent, add } = scripted();
    await add('a', '1', '2');
    await add('a', '3');
    equal(sent.length, 0);
    const flushed = outbox.flush();
    await add('a', '4');
    await settled();
    deepEqual(
      sent.map(({ messages }) => messages),
      [['1', '2', '3']],
    );
    sent[0]?.store();
    deepEqual(await flushed, { position: 1, lost: 0 });
    deepEqual(sent[1]?.messages, ['4']);
    equal(outbox.size, 1);
    sent[1]?.store();
    deepEqual(await outbox.flush(), { position: 2, lost: 0 });
    equal(outbox.size, 0);
  });

  it('go without a wait when there are enough for a request', async () => {
    const { outbox, stored, add } = scripted({ batchMessages: 2 }, storeAll);
    await add('a', '1');
    await add('a', '2', '3', '4', '5');
    await settled();
    await outbox.flush();
    deepEqual(stored, [['1', '2'], ['3', '4'], ['5']]);
  });

  it('go after a while, however few', async () => {
    const { sent, add } = scripted({ batchMs: 1 }, storeAll);
    await add('a', '1');
    while (sent.length === 0) await settled();
    deepEqual(sent[0]?.messages, ['1']);
  });

  it('say since when they wait, the first of a request', async () => {
    let now = 5;
    const waited: number[] = [];
    const { outbox, add } = scripted({
      now: () => now,
      send: async (target, _messages, since) => {
        waited.push(since);
        return { instanceId: 'i', sessionId: target.sessionId, position: 1, warnings: null };
      },
    });
    await add('a', '1');
    now = 9;
    await add('a', '2');
    await add('b', '3');
    await outbox.flush();
    deepEqual(waited, [5, 9]);
  });

  it('of several sessions go side by side, so many at a time', async () => {
    const { outbox, sent, add } = scripted({ concurrency: 2 });
    await Promise.all(['a', 'b', 'c'].map((session) => add(session, session)));
    const flushed = outbox.flush();
    await settled();
    deepEqual(
      sent.map(({ target }) => target.sessionId),
      ['a', 'b'],
    );
    sent[1]?.store();
    await settled();
    deepEqual(sent[2]?.target.sessionId, 'c');
    for (const request of sent) request.store();
    await flushed;
  });

  it('carry what is said of their session, the last write of each member', async () => {
    const { outbox, sent } = scripted({}, storeAll);
    const target = { sessionId: 'a', instanceId: undefined };
    await outbox.add({ ...target, metadata: { session: { plan: 'free', seats: 1 } } }, ['{}']);
    await outbox.add({ ...target, metadata: undefined }, ['{}']);
    await outbox.add({ ...target, metadata: { session: { plan: 'pro' }, users: { ada: {} } } }, ['{}']);
    await outbox.flush();
    deepEqual(sent[0]?.target.metadata, {
      instance: {},
      session: { plan: 'pro', seats: 1 },
      users: { ada: {} },
    });
  });
});

describe('a refusal', () => {
  it('takes only the messages that it names', async () => {
    const { outbox, stored, lost, add } = scripted({}, (messages) =>
      messages.includes('bad')
        ? refusal('VALIDATION_ERROR', `messages.${messages.indexOf('bad')}.content`)
        : null,
    );
    await add('a', '1', 'bad', '2', 'bad', '3');
    deepEqual(await outbox.flush(), { position: 1, lost: 2 });
    deepEqual(stored, [['1', '2', '3']]);
    deepEqual(
      lost.map(({ code, sessionId, messages }) => [code, sessionId, messages]),
      [
        ['VALIDATION_ERROR', 'a', [{ content: 'bad' }]],
        ['VALIDATION_ERROR', 'a', [{ content: 'bad' }]],
      ],
    );
  });

  it('of anything else takes all of them', async () => {
    for (const error of [
      refusal('VALIDATION_ERROR', 'messages.0.content', 'metadata.session'),
      refusal('VALIDATION_ERROR', 'messages'),
      refusal('VALIDATION_ERROR'),
      refusal('CONFLICT', 'messages.0'),
    ]) {
      const { outbox, sent, lost, add } = scripted({}, () => error);
      await add('a', '1', '2');
      equal((await outbox.flush()).lost, 2);
      deepEqual([sent.length, lost.length], [1, 1]);
    }
  });

  it('of a large body halves it', async () => {
    const { outbox, stored, lost, add } = scripted({}, (messages) =>
      messages.join('').length > 4 ? refusal('PAYLOAD_TOO_LARGE') : null,
    );
    await add('a', '1', '22', '33333', '4', '5');
    equal((await outbox.flush()).lost, 1);
    deepEqual(stored, [
      ['1', '22'],
      ['4', '5'],
    ]);
    deepEqual(lost[0]?.messages, [{ content: '33333' }]);
  });

  it('is no matter of the messages that follow', async () => {
    const { outbox, stored, add } = scripted({ batchMessages: 1 }, (messages) =>
      messages.includes('bad') ? refusal('FORBIDDEN') : null,
    );
    await add('a', 'bad', '1');
    await outbox.flush();
    deepEqual(stored, [['1']]);
  });

  it('goes to a hook that may throw', async () => {
    const { outbox, add } = scripted(
      {
        onLost: () => {
          throw new Error('hook');
        },
      },
      () => refusal('FORBIDDEN'),
    );
    await add('a', '1');
    equal((await outbox.flush()).lost, 1);
  });
});

describe('a full buffer', () => {
  it('holds back whoever waits for it', async () => {
    const { outbox, sent, lost, add } = scripted({ maxMessages: 3 });
    await add('a', '1', '2');
    let isThrough = false;
    const held = add('a', '3').then(() => (isThrough = true));
    void outbox.flush();
    await settled();
    equal(isThrough, false);
    sent[0]?.store();
    await held;
    deepEqual([outbox.size, lost.length], [0, 0]);
  });

  it('counts the length of messages', async () => {
    const { outbox, sent, add } = scripted({ maxUnits: 20 });
    let isThrough = false;
    const held = add('a', 'a long message').then(() => (isThrough = true));
    void outbox.flush();
    await settled();
    equal(isThrough, false);
    sent[0]?.store();
    await held;
  });

  it('takes twice as much from whoever does not wait, and loses the rest', async () => {
    const { outbox, lost, add } = scripted({ maxMessages: 2 });
    for (const content of ['1', '2', '3', '4', '5', '6']) void add('a', content);
    equal(outbox.size, 4);
    deepEqual(
      lost.map(({ code, messages }) => [code, messages]),
      [
        ['BUFFER_FULL', [{ content: '5' }]],
        ['BUFFER_FULL', [{ content: '6' }]],
      ],
    );
    await outbox.close(0);
  });

  it('loses what is new, where that is wanted', async () => {
    const { outbox, lost, add } = scripted({ maxMessages: 2, whenFull: 'drop' });
    for (const content of ['1', '2', '3']) await add('a', content);
    deepEqual([outbox.size, lost.length], [2, 1]);
    await outbox.close(0);
  });

  it('lets through what is larger than it is', async () => {
    const { outbox, stored, add } = scripted({ maxMessages: 2 }, storeAll);
    const held = add('a', '1', '2', '3', '4', '5', '6');
    await outbox.flush();
    await held;
    deepEqual(stored.flat().length, 6);
  });
});

describe('the end', () => {
  it('waits for what was taken, and for what comes meanwhile, and takes nothing more', async () => {
    const { outbox, sent, stored, lost, add } = scripted();
    await add('a', '1');
    const closed = outbox.close();
    await add('b', '2');
    sent[0]?.store();
    while (sent.length < 2) await settled();
    sent[1]?.store();
    deepEqual(await closed, { position: 2, lost: 0 });
    await add('a', '3');
    deepEqual([stored, lost.map(({ code }) => code)], [[['1'], ['2']], ['CLOSED']]);
  });

  it('gives up after its time, with everything that is left', async () => {
    const { outbox, lost, add } = scripted({ batchMessages: 1, concurrency: 1 });
    await add('a', '1', '2');
    await add('b', '3');
    deepEqual(await outbox.close(1), { position: null, lost: 3 });
    ok(lost.every(({ code }) => code === 'CLOSED'));
  });

  it('gives up what waits behind the requests on their way, however few there may be', async () => {
    const { outbox, lost, add } = scripted({ concurrency: 0 });
    await add('a', '1');
    await add('b', '2');
    deepEqual(await outbox.close(1), { position: null, lost: 2 });
    deepEqual(
      lost.map(({ sessionId }) => sessionId),
      ['a', 'b'],
    );
  });

  it('has nothing to wait for when nothing was sent', async () => {
    deepEqual(await scripted().outbox.close(), { position: null, lost: 0 });
  });
});
