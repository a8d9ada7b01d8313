import { deepEqual, equal, match, notDeepEqual, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { v5 } from 'uuid';
import type { RecordedMessage, RecordedRequest } from '../../src/domain/records.ts';
import { openAssemblyBuckets } from '../../src/doors/traces/assembly/buckets.ts';
import { MergedSpans } from '../../src/doors/traces/assembly/merged-spans.ts';
import { encodeConversation, KEPT, type Conversation } from '../../src/doors/traces/assembly/records.ts';
import { ErasureLedger } from '../../src/stream/ledgers/erasure-ledger.ts';
import { deadLetter } from '../../src/stream/dead-letters/dead-letters.ts';
import { encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import { conversationsSubject, partitionOf } from '../../src/stream/subjects.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { isLong, sampled } from '../support/long.ts';
import { UNSEALED } from '../support/memory-keys.ts';
import { instanceId, requestsOf } from '../support/replays.ts';
import { World } from '../support/world.ts';

/** What each killed run is left, in milliseconds. The short form kills one, once the stream is without what goes. */
const KILL_PAUSES_MS = isLong ? [0, 500, 700, 900, 1200, 1600, 2200, 3000, 4000] : [];
const PERSON = 'person-to-forget@example.com';
const SECRET = 'zanzibar-quokka-8841';
/** Of a conversation each; instance 2 holds what has nothing to do with the person. */
const INSTANCES = 3;
const CONVERSATIONS = isLong ? 16 : 7;
/** Of each conversation: in the first four of a shared one, the person speaks, and somebody else does. */
const MESSAGES_EACH = isLong ? Infinity : 4;

/** Whole sessions of the person, and one that they share with somebody else, by their order in instance 0. */
const OWN = new Set([0, 1]);
const SHARED = 2;

interface ErasedMessage {
  readonly request: RecordedRequest;
  /** It goes with the person. */
  readonly goes: boolean;
}

/** One message a request, with the person in some of them. */
function history(): ErasedMessage[] {
  const counts = new Map<string, number>();
  const requests = requestsOf({ conversations: CONVERSATIONS, instances: INSTANCES, messages: 1 }).filter(
    ({ sessionId }) => {
      const count = (counts.get(sessionId) ?? 0) + 1;
      counts.set(sessionId, count);
      return count <= MESSAGES_EACH;
    },
  );
  const numbers = new Map<string, number>();
  const turns = new Map<string, number>();
  let speaks = false;
  /** The first session of instance 1, which goes by itself. */
  let erased: string | null = null;
  return requests.map((request) => {
    const { sessionId } = request;
    if (request.instanceId === instanceId(1)) {
      erased ??= sessionId;
      return { request, goes: sessionId === erased };
    }
    if (request.instanceId !== instanceId(0)) return { request, goes: false };
    const number = numbers.get(sessionId) ?? numbers.set(sessionId, numbers.size).size - 1;
    const turn = (turns.get(sessionId) ?? -1) + 1;
    turns.set(sessionId, turn);
    const [message] = request.messages as [RecordedMessage];
    const isUser = message.userId !== undefined;
    if (OWN.has(number)) {
      const content = `${message.content} ${SECRET}`;
      return {
        request: {
          ...request,
          messages: [isUser ? { ...message, content, userId: PERSON } : { ...message, content }],
        },
        goes: true,
      };
    }
    if (number !== SHARED) return { request, goes: false };
    if (isUser) speaks = turn % 4 === 0;
    const userId = speaks ? PERSON : 'somebody-else';
    const content = speaks ? `${message.content} ${SECRET}` : message.content;
    return {
      request: { ...request, messages: [{ ...message, content, ...(isUser ? { userId } : {}) }] },
      goes: speaks,
    };
  });
}

/** A message of another instance in the place of one that was never sent. */
function filler({ requestId, projectId, acceptedAt }: RecordedRequest): RecordedRequest {
  return {
    requestId,
    projectId,
    instanceId: instanceId(2),
    sessionId: v5('filler', requestId),
    acceptedAt,
    messages: [{ role: 'user', content: 'Where can I see the opening hours of the shop?', at: acceptedAt }],
  };
}

/** The answers of the instance of the person. */
const ofPerson = (answers: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(answers).filter(([question]) => question.startsWith('0 ')));

describe('erase', () => {
  const temporary = temporaryDirectory();
  let world: World;
  let never: World;
  /** Another machine, in the long form. */
  let elsewhere: World | null = null;
  let newest = 0;
  /** What can be asked of a stream without the person, and without what goes by itself. */
  let expected: Record<string, unknown> = {};
  before(async () => {
    world = await World.open(join(temporary.path, 'world'));
    never = await World.open(join(temporary.path, 'never'));
    for (const { request, goes } of history()) {
      newest = await world.publisher.publish(request);
      await never.publisher.publish(goes ? filler(request) : request);
    }
    const [erasable] = history().filter(({ goes }) => goes);
    const bytes = await encodeRecord([encodeRequest(erasable!.request)]);
    const subject = conversationsSubject(partitionOf(erasable!.request.instanceId));
    await deadLetter(world.connection, { sequence: 1, bytes, subject, timestamp: 0 }, 'a test');
    await world.count(newest);
    await never.count(newest);
    await never.close();
    expected = await never.answers();
  });
  after(async () => {
    await elsewhere?.close();
    await world?.close();
    temporary.remove();
  });

  it('leaves views equal to those of a stream without the person, beside a worker', async () => {
    const erasing = world.run('cli/erase.ts', [
      'user',
      PERSON,
      '--instance',
      instanceId(0),
      '--reason',
      'asked by mail',
    ]);
    equal(await erasing.ended, 0, erasing.output());
    match(erasing.output(), /DONE; \d+ messages, 2 whole sessions, from \d+ entries .*, 1 dead letters/);
    const answers = await world.answers();
    deepEqual(ofPerson(answers), ofPerson(expected));
    notDeepEqual(answers, expected);
  });

  it('goes on where kill -9 stopped it', async () => {
    const session = history().find(
      ({ request, goes }) => goes && request.instanceId === instanceId(1),
    )!.request;
    const ledger = await ErasureLedger.open(world.connection);
    const isAccepted = async (): Promise<boolean> =>
      (await ledger.list()).filter(({ position }) => position > 0).length === 2;
    const isRedacted = async (): Promise<boolean> =>
      (await ledger.list()).filter(({ redactedAt }) => typeof redactedAt === 'string').length === 2;
    const pauses = KILL_PAUSES_MS.map((pauseMs) => async () => {
      while (!(await isAccepted())) await sleep(10);
      await sleep(pauseMs);
    });
    const untilRedacted = async (): Promise<void> => {
      while (!(await isRedacted())) await sleep(10);
    };
    let kills = 0;
    for (const untilKilled of isLong ? pauses : [untilRedacted]) {
      const accepted = await isAccepted();
      const args = accepted
        ? ['run']
        : ['session', session.sessionId.toUpperCase(), '--instance', instanceId(1)];
      const erasing = world.run('cli/erase.ts', args);
      await untilKilled();
      erasing.process.kill('SIGKILL');
      if ((await erasing.ended) === 'SIGKILL') kills += 1;
    }
    ok(kills > 0);
    await world.untilDone(2);
    // Whatever was killed: all that went is in the receipt.
    const own = history().filter(({ request, goes }) => goes && request.instanceId === instanceId(1));
    const receipt = (await ledger.list())[0]?.receipt;
    deepEqual([receipt?.messages, receipt?.sessions], [own.length, 1]);
    deepEqual(await world.answers(), expected);
    deepEqual(world.filesWith(session.sessionId), []);
  });

  it('counts on, also what comes for a session of the same id', async () => {
    const [erasable] = history().filter(({ goes }) => goes);
    const later = {
      ...filler(erasable!.request),
      instanceId: instanceId(0),
      requestId: v5('later', instanceId(0)),
    };
    await world.count(await world.publisher.publish({ ...later, sessionId: erasable!.request.sessionId }));
    notDeepEqual(await world.answers(), expected);
  });

  it('is done again after a backup from before was restored, from a ledger that names nobody', async () => {
    const [erasable] = history().filter(({ goes }) => goes);
    const [message] = erasable!.request.messages as [RecordedMessage];
    const returned = {
      ...erasable!.request,
      requestId: v5('returned', instanceId(0)),
      sessionId: v5('s', instanceId(0)),
    };
    const messages = [{ ...message, content: `Is ${SECRET} still there?`, userId: PERSON }];
    const last = await world.publisher.publish({ ...returned, messages });
    if (isLong) {
      const other = await World.beside(join(temporary.path, 'elsewhere'), world);
      elsewhere = other;
      await other.count(last);
      ok(other.filesWith(SECRET).some((file) => file.startsWith(other.dataDir)));
    }
    await world.count(last);
    ok(world.filesWith(SECRET).some((file) => file.startsWith(world.dataDir)));
    const printed = world.run('cli/erase.ts', ['ledger']);
    equal(await printed.ended, 0);
    equal(printed.output().includes(PERSON), false);
    const file = join(temporary.path, 'ledger.ndjson');
    const other = (id: string): string => v5(id, instanceId(0));
    writeFileSync(file, printed.output().replaceAll(/(?<="id":")[^"]*/g, other));
    const again = world.run('cli/erase.ts', ['again', file]);
    equal(await again.ended, 0, again.output());
    await world.untilDone(4);
    const known = world.run('cli/erase.ts', ['again', file]);
    equal(await known.ended, 0);
    match(known.output(), /knows all of them/);
    writeFileSync(file, '{"id":"x"}\n');
    const broken = world.run('cli/erase.ts', ['again', file]);
    equal(await broken.ended, 1);
    match(broken.output(), /ledger.ndjson, line 1: this is no erasure/);
  });

  it('leaves nothing of them in any file', async () => {
    await world.publisher.drain();
    deepEqual(world.filesWith(SECRET), []);
    deepEqual(world.filesWith(PERSON), []);
    if (elsewhere !== null) {
      await elsewhere.untilDone(4);
      for (const word of [SECRET, PERSON]) deepEqual(elsewhere.filesWith(word), []);
      deepEqual(await elsewhere.answers(), await world.answers());
    }
    const done = await world.erasures();
    equal(done.length, 4);
    for (const id of sampled(done, 4)) {
      const verified = world.run('cli/erase.ts', ['verify', id]);
      equal(await verified.ended, 0, verified.output());
      match(verified.output(), /^nothing of it is left\n(looked at: .+\n){2}(not looked at: .+\n){3}$/);
    }
  });

  it('says what is left of a session out of traces', async () => {
    const erasure = (await (await ErasureLedger.open(world.connection)).list()).find(
      ({ kind, instanceId: id }) => kind === 'SESSION' && id === instanceId(1),
    );
    const { sessionId } = history().find(
      ({ request, goes }) => goes && request.instanceId === instanceId(1),
    )!.request;
    const { conversations } = await openAssemblyBuckets(world.connection);
    const at = Date.parse(erasure!.requestedAt) * 1000 - 1;
    const conversation: Conversation = {
      projectId: erasure!.projectId,
      name: { instanceId: instanceId(1), id: sessionId },
      turns: [{ role: 'user', hash: 'h'.repeat(11), at, inferred: null, trace: 't'.repeat(12) }],
      merged: new MergedSpans(KEPT.merged),
      forgotten: false,
      outbox: [],
      emissions: 1,
    };
    await conversations.put('planted', encodeConversation(conversation, UNSEALED));
    const verified = world.run('cli/erase.ts', ['verify', erasure!.id]);
    equal(await verified.ended, 1, verified.output());
    match(verified.output(), /^1 conversations .* hold digests of turns from before it\nlooked at: /);
  });
});
