import { deepEqual, equal } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { quotesOf, type CurationAction } from '../../../src/domain/curations.ts';
import type { Feedback } from '../../../src/domain/feedback.ts';
import type { ErasureDigest } from '../../../src/domain/erasures.ts';
import {
  positionOf,
  roleOf,
  type RecordedMessage,
  type RecordedRequest,
  type StreamRecord,
} from '../../../src/domain/records.ts';
import { Redaction, type Erased } from '../../../src/worker/erasure/redaction.ts';
import { decodeRecord, encodeRecord, encodeRequest } from '../../../src/stream/log/codec.ts';

const INSTANCE = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const PERSON = 'ana@example.com';
const SESSIONS = ['a', 'b', 'c'];

const digest: ErasureDigest = (...parts) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
const erased = (kind: Erased['kind'], name: string): Erased => ({
  kind,
  instanceId: INSTANCE,
  digest: digest(kind, INSTANCE, name),
});

function message(role: string, content: string, userId?: string): RecordedMessage {
  return { role, content, at: 1, ...(userId === undefined ? {} : { userId }) };
}

let requests = 0;

function request(sessionId: string, messages: RecordedMessage[], instanceId = INSTANCE): RecordedRequest {
  return {
    requestId: `request ${(requests += 1)}`,
    projectId: 'p',
    instanceId,
    sessionId,
    acceptedAt: 1,
    messages,
  };
}

const record = (...requests: RecordedRequest[]): StreamRecord => ({ v: 1, requests });

/** The records without what goes. */
function erase(records: readonly StreamRecord[], of: Erased): StreamRecord[] {
  const redaction = new Redaction(of, digest);
  for (const [at, one] of records.entries()) redaction.note(one, at + 1);
  return records.map((one) => {
    const plan = redaction.plan(one);
    if (plan === null) return one;
    const left = redaction.redacted(one, plan);
    deepEqual(redaction.redacted(left, plan), left);
    return left;
  });
}

/** What of each session is there, message by message; '-' where one went. */
function textsOf(records: readonly StreamRecord[], instanceId = INSTANCE): string[] {
  return records.flatMap(({ requests }) =>
    requests
      .filter((one) => one.instanceId === instanceId)
      .flatMap(({ messages }) =>
        messages.map(({ content, erased: gone }) => (gone === true ? '-' : content)),
      ),
  );
}

describe('redaction', () => {
  it('takes the feedback of a person, of a session and on a message', () => {
    const given = (sessionId: string, feedback: Partial<Feedback>): RecordedRequest => ({
      ...request(sessionId, []),
      feedback: { value: 1, ...feedback },
    });
    const stream: StreamRecord = {
      v: 5,
      requests: [
        request('a', [
          message('user', 'a0', PERSON),
          message('assistant', 'a1'),
          message('user', 'a2', 'bo'),
        ]),
        request('b', [message('user', 'b0', 'bo')]),
        given('a', {}),
        given('a', { userId: 'bo' }),
        given('b', { userId: PERSON }),
        given('b', { position: positionOf(1, 3) }),
      ],
    };
    const kept = (of: Erased): number[] => {
      const [left] = erase([stream], of);
      return left!.requests.flatMap(({ feedback }, place) => (feedback === undefined ? [] : [place]));
    };
    deepEqual(kept(erased('END_USER', PERSON)), [3, 5]);
    deepEqual(kept(erased('SESSION', 'b')), [2, 3]);
    deepEqual(kept({ ...erased('MESSAGES', ''), positions: [positionOf(1, 3)] }), [2, 3, 4]);
  });

  it('takes single messages, also where their request comes again, and of nobody else', () => {
    const twice = request('a', [message('user', 'a0'), message('assistant', 'a1'), message('user', 'a2')]);
    const records = [
      record(request('b', [message('user', 'b0')]), twice),
      record(request('c', [message('user', 'c0')]), request('d', [message('user', 'd0')], OTHER)),
      record(twice),
    ];
    const positions = [positionOf(1, 2), positionOf(2, 0), positionOf(2, 1), positionOf(7, 0)];
    const of = { ...erased('MESSAGES', positions.join()), positions };
    const left = erase(records, of);
    deepEqual(textsOf(left), ['b0', 'a0', '-', 'a2', '-', 'a0', '-', 'a2']);
    deepEqual(textsOf(left, OTHER), ['d0']);
    equal(left[1]!.requests[0]!.erased, true);
    deepEqual(erase(left, of), left);
  });

  it('takes sessions of the person whole, and of shared ones their messages with the replies', () => {
    const records = [
      record(
        request('a', [message('system', 'a0'), message('user', 'a1', PERSON)]),
        request('b', [message('user', 'b0', 'bo')]),
      ),
      record(
        request('b', [message('assistant', 'b1'), message('user', 'b2', PERSON), message('assistant', 'b3')]),
      ),
      record(request('a', [message('assistant', 'a2')]), request('c', [message('user', 'c0', 'bo')])),
      record(request('b', [message('tool', 'b4'), message('user', 'b5', 'bo'), message('assistant', 'b6')])),
    ];
    equal(textsOf(erase(records, erased('END_USER', PERSON))).join(' '), '- - b0 b1 - - - c0 - b5 b6');
    equal(textsOf(erase(records, erased('SESSION', 'b'))).join(' '), 'a0 a1 - - - - a2 c0 - - -');
    deepEqual(
      textsOf(erase(records, erased('INSTANCE', INSTANCE))),
      Array.from({ length: 11 }, () => '-'),
    );
  });

  it('leaves no name, session or text of what went, and a record that is read again', async () => {
    const users = { [PERSON]: { plan: 'gold' }, bo: { plan: 'free' } };
    const written = { target: 'session', id: 'a', text: 'Ana asked.', model: 'm', at: 1 } as const;
    const records = [
      record({
        ...request('a', [message('user', 'mine', PERSON)]),
        metadata: { users, session: { note: 'mine' } },
      }),
      record({ ...request('b', [message('user', 'other', 'bo')]), metadata: { users } }),
      record({ ...request('a', []), writing: written }),
    ];
    const left = erase(records, erased('END_USER', PERSON));
    const bytes = await Promise.all(left.map(({ requests }) => encodeRecord(requests.map(encodeRequest))));
    for (const [at, payload] of bytes.entries())
      deepEqual(decodeRecord(payload).requests, left[at]!.requests);
    const text = Buffer.concat(bytes).toString();
    for (const word of [PERSON, 'mine', 'Ana', 'gold', '"sessionId":"a"'])
      equal(text.includes(word), false, word);
    equal(text.includes('free'), true);
  });

  it('takes examples of own topics that quote what went, and what people said of sessions that go whole', () => {
    const decided = (action: CurationAction, id: string): RecordedRequest => ({
      ...request('', []),
      requestId: id,
      curation: { id, keyId: 'key', action },
    });
    const said = 'My name is Ana, where is my parcel? It was to come on Monday.';
    const examples = [
      'My name  is ana, where is my parcel?',
      'where is my parcel of Tuesday',
      'My name is •••, where is my parcel',
      'parcel',
      'my parcel …',
      '… •',
      'Can you wrap it as a present?',
    ];
    const made = { name: 'Own', description: '', examples, fromBeginning: true };
    const topic = decided({ kind: 'CREATE', id: 't', ...made }, 'create');
    const check = (session: string): RecordedRequest =>
      decided(
        { kind: 'CHECK', of: 'TOPIC', id: 't', session, verdict: 'YES', reader: 'm' },
        `check ${session}`,
      );
    const corrected = decided({ kind: 'ASSIGN', of: 'TOPIC', id: 't', text: said }, 'assign');
    const ended = (session: string): RecordedRequest =>
      decided({ kind: 'ASSIGN', of: 'OUTCOME', id: session, outcome: 'solved' }, `ended ${session}`);
    const other = decided({ kind: 'EXCLUDE', of: 'TOPIC', id: 't', text: 'hello' }, 'exclude');
    const before = decided({ kind: 'CREATE', id: 'u', ...made }, 'before');
    const records = [
      record(before),
      record(request('a', [message('user', said, PERSON), message('user', examples[0]!, PERSON)])),
      record(request('b', [message('user', 'hello', 'bo'), message('user', 'thanks', PERSON)])),
      record(topic, check('a'), check('b'), ended('a'), ended('b')),
      record(topic, before),
      record(corrected, other),
    ];
    const left = erase(records, erased('END_USER', PERSON));
    const examplesOf = ({ curation }: RecordedRequest): readonly string[] =>
      curation?.action.kind === 'CREATE' ? curation.action.examples : [];
    const unquoted = ['', examples[1], '', ...examples.slice(3)];
    deepEqual(left[3]!.requests.map(examplesOf), [unquoted, [], [], [], []]);
    deepEqual(
      left[3]!.requests.map((one) => one.erased === true),
      [false, true, false, true, false],
    );
    // What comes again loses the same, and what a person wrote before the message quotes nothing.
    deepEqual(left[4]!.requests.map(examplesOf), [unquoted, examples]);
    deepEqual(left[0], records[0]);
    const texts = left[5]!.requests.map(({ curation }) => quotesOf(curation!.action));
    deepEqual(texts, [[''], ['hello']]);
    deepEqual(erase(left, erased('END_USER', PERSON)), left);
  });

  it('is not misled by a request that came twice', () => {
    const asked = request('b', [message('user', 'b0', PERSON)]);
    const records = [
      record(asked),
      record(request('b', [message('user', 'b1', 'bo')])),
      record(asked, request('b', [message('assistant', 'b2')])),
    ];
    equal(textsOf(erase(records, erased('END_USER', PERSON))).join(' '), '- b1 - b2');
  });

  it('takes what was sent along with messages that all go, and leaves it where one stays', () => {
    const metadata = { session: { externalId: 'ticket-1' } };
    const records = [
      record({ ...request('b', [message('user', 'b0', PERSON)]), metadata }),
      record({ ...request('b', [message('user', 'b1', PERSON), message('user', 'b2', 'bo')]), metadata }),
    ];
    const left = erase(records, erased('END_USER', PERSON));
    deepEqual(
      left.flatMap(({ requests }) => requests.map((one) => [one.erased, one.metadata])),
      [
        [true, undefined],
        [undefined, metadata],
      ],
    );
  });

  it('takes what comes again of a request that an earlier erasure took, and hears nothing from it', () => {
    const asked = request('b', [message('user', 'b0', PERSON)]);
    const first = erase([record(asked)], erased('END_USER', PERSON));
    const later = [...first, record(request('b', [message('user', 'b1', 'bo')])), record(asked)];
    equal(textsOf(erase(later, erased('END_USER', 'bo'))).join(' '), '- - -');
  });

  it('takes a request that has the id of another, days later, for what it is', () => {
    const asked = request('b', [message('user', 'b0', PERSON), message('user', 'b1', 'bo')]);
    const messages = [message('user', 'b2', 'bo'), message('user', 'b3', PERSON)];
    const days = 3 * 86_400_000_000;
    const another = { ...asked, acceptedAt: asked.acceptedAt + days, messages };
    equal(
      textsOf(erase([record(asked), record(another)], erased('END_USER', PERSON))).join(' '),
      '- b1 b2 -',
    );
  });

  it('is the same as leaving out by hand', () => {
    const { seeded } = generator();
    for (let round = 0; round < 2000; round++) {
      const records = randomHistory(seeded);
      const of = erased('END_USER', PERSON);
      const whole = erase(records, of);
      deepEqual(textsOf(whole), leftByHand(records));
      deepEqual(textsOf(whole, OTHER), textsOf(records, OTHER));
      deepEqual(erase(whole, of), whole);
    }
  });
});

/** Numbers below a bound, the same in every run. */
function generator(): { seeded: (below: number) => number } {
  let state = 0x2545f491;
  return {
    seeded: (below) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    },
  };
}

function randomHistory(seeded: (below: number) => number): StreamRecord[] {
  let number = 0;
  const one = (): RecordedMessage => {
    const role = ['user', 'user', 'assistant', 'system'][seeded(4)]!;
    const user = [PERSON, PERSON, 'bo', undefined][seeded(4)];
    return message(role, String(number++), user);
  };
  const some = (): RecordedRequest =>
    request(
      SESSIONS[seeded(SESSIONS.length)]!,
      Array.from({ length: 1 + seeded(3) }, one),
      seeded(5) === 0 ? OTHER : INSTANCE,
    );
  return Array.from({ length: 1 + seeded(6) }, () => record(...Array.from({ length: 1 + seeded(3) }, some)));
}

/** The same, session by session, from its messages in their order. */
function leftByHand(records: readonly StreamRecord[]): string[] {
  const own = records.flatMap(({ requests }) =>
    requests
      .filter(({ instanceId }) => instanceId === INSTANCE)
      .flatMap(({ sessionId, messages }) => messages.map((turn) => ({ sessionId, turn }))),
  );
  const gone = new Set<string>();
  for (const session of SESSIONS) {
    const ofSession = own.filter(({ sessionId }) => sessionId === session).map((one) => one.turn);
    const users = ofSession.filter(({ role }) => roleOf(role) === 'user').map(({ userId }) => userId);
    if (!users.includes(PERSON)) continue;
    const isShared = users.some((user) => user !== undefined && user !== PERSON);
    let speaks = false;
    for (const { role, userId, content } of ofSession) {
      if (roleOf(role) === 'user') speaks = userId === PERSON;
      if (!isShared || speaks) gone.add(content);
    }
  }
  return own.map(({ turn: { content } }) => (gone.has(content) ? '-' : content));
}
