/** Random histories with erasures, and by hand what of them goes: written without `src/worker/erasure`. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { quotesOf, withQuotes } from '../../src/domain/curations.ts';
import { erasureRecord } from '../../src/domain/erasure-record.ts';
import type { ErasedKind, ErasureDigest } from '../../src/domain/erasures.ts';
import {
  REQUEST_MEMORY_MICROS,
  roleOf,
  type RecordedMessage,
  type RecordedRequest,
} from '../../src/domain/records.ts';
import type { Erased } from '../../src/worker/erasure/redaction.ts';
import { uuid } from './fold.ts';
import {
  AT,
  CURATION_KINDS,
  curationOf,
  instanceId,
  MINUTE,
  SENTENCES,
  writingOf,
  type ReadEntry,
  type HistoryCuration,
  type HistoryEntry,
  type HistoryWriting,
} from './worker-laws.ts';
import { most } from './laws.ts';
import { FEEDBACK_VALUES, type FeedbackValue } from '../../src/domain/feedback.ts';

/** Partition of each instance: its number modulo this. */
const PARTITIONS = 2;
const INSTANCES = 3;
const SESSIONS = 3;
const PEOPLE = 3;
/** Places of entries that decisions and writings name. */
const PLACES = 11;
/** Instance whose messages stand in the places of those that were never sent. */
const FILLER = 8;
/** Longer than a request id is remembered, microseconds. */
const REUSED_AFTER = 72 * 3600 * 1_000_000;

/** Speaker 0: the assistant; 4: a user without a name; 5: the system; others: the people. */
interface HistoryTurn {
  readonly speaker: number;
  readonly sentence: number;
  readonly minute: number;
}

interface ErasableRequest {
  readonly instance: number;
  readonly session: number;
  readonly name?: string | null | undefined;
  /** The session's attribute, from now on; null: none any more. Left out in kept cases. */
  readonly plan?: string | null | undefined;
  readonly turns: readonly HistoryTurn[];
  /** People of whom it brings metadata. */
  readonly people: readonly number[];
  readonly isOfInstance: boolean;
  /** It takes the id of an earlier request of its instance, days later. */
  readonly reused: number | null;
}

export interface ErasableEntry {
  readonly partition: number;
  readonly requests: readonly ErasableRequest[];
  readonly writings: readonly (HistoryWriting & { readonly instance: number })[];
  readonly curations: readonly (HistoryCuration & { readonly instance: number })[];
  /** Author 0: none is named. Left out in kept cases. */
  readonly feedback?: readonly {
    readonly instance: number;
    readonly session: number;
    readonly author: number;
    readonly value: FeedbackValue;
    readonly minute: number | null;
  }[];
  /** Which of the partition's earlier requests it holds once more, behind its own. */
  readonly again: readonly number[];
  readonly ends: HistoryEntry['ends'];
}

export interface HistoryErasure {
  /** So many entries stand before it. */
  readonly after: number;
  readonly kind: ErasedKind;
  readonly instance: number;
  /** Number of the session or person. */
  readonly target: number;
}

export interface ErasableHistory {
  readonly entries: readonly ErasableEntry[];
  readonly erasures: readonly HistoryErasure[];
}

const upTo = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
const orNone = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });
const ofSequence = { sequence: upTo(PLACES), index: orNone(3), instance: upTo(INSTANCES) };

const entry: fc.Arbitrary<ErasableEntry> = fc.record({
  partition: orNone(PARTITIONS - 1),
  requests: fc.array(
    fc.record({
      instance: upTo(INSTANCES),
      session: upTo(SESSIONS),
      name: fc.constantFrom<(string | null | undefined)[]>(
        undefined,
        undefined,
        'ticket-1',
        'ticket-2',
        null,
      ),
      plan: fc.constantFrom<(string | null | undefined)[]>(undefined, undefined, 'pro', 'free', null),
      turns: fc.array(
        fc.record({
          speaker: fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 5),
          sentence: orNone(SENTENCES.length - 1),
          minute: orNone(300),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      people: fc.uniqueArray(upTo(PEOPLE), { maxLength: 2 }),
      isOfInstance: fc.boolean(),
      reused: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: orNone(40) }),
    }),
    { maxLength: 3, size: 'max' },
  ),
  writings: fc.array(
    fc.record({
      ...ofSequence,
      target: fc.constantFrom('topic', 'cluster', 'gap', 'session', 'session'),
      session: upTo(SESSIONS),
      at: upTo(6),
      text: fc.constantFrom('Parcels', 'Refunds', 'a refund please'),
    }),
    { maxLength: 2 },
  ),
  curations: fc.array(
    fc.record({
      ...ofSequence,
      kind: fc.constantFrom(...CURATION_KINDS),
      entity: fc.constantFrom('TOPIC', 'TOPIC', 'CLUSTER', 'GAP'),
      other: upTo(PLACES),
      sentence: orNone(SENTENCES.length - 1),
      isNew: fc.boolean(),
    }),
    { maxLength: 2 },
  ),
  feedback: fc.array(
    fc.record({
      instance: upTo(INSTANCES),
      session: upTo(SESSIONS),
      author: orNone(PEOPLE),
      value: fc.constantFrom(...FEEDBACK_VALUES),
      minute: fc.oneof(orNone(300), fc.constant(null)),
    }),
    { maxLength: 3 },
  ),
  again: fc.array(orNone(40), { maxLength: 2 }),
  ends: fc.constantFrom('nothing', 'nothing', 'batch', 'worker'),
});

export const erasableHistory: fc.Arbitrary<ErasableHistory> = fc.record({
  entries: fc.array(entry, { minLength: 1, maxLength: most(10, 6), size: 'max' }),
  erasures: fc.array(
    fc.record({
      after: orNone(10),
      kind: fc.constantFrom<ErasedKind[]>(
        'END_USER',
        'END_USER',
        'END_USER',
        'SESSION',
        'SESSION',
        'INSTANCE',
      ),
      instance: upTo(INSTANCES),
      target: upTo(PEOPLE),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

export const digest: ErasureDigest = (...parts) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

const person = (number: number): string => `person ${number}`;
const sessionIdOf = (instance: number, session: number): string => uuid(7, instance * 10 + session);

export interface StreamEntry extends ReadEntry {
  readonly partition: number;
}

/** An erasure as it stands in the stream. */
export interface PlacedErasure extends Erased {
  /** Sequence of its record. */
  readonly position: number;
  readonly partition: number;
  /** Session id or external id; '' for an instance. */
  readonly name: string;
}

export interface ReadErasable {
  readonly entries: readonly StreamEntry[];
  readonly erasures: readonly PlacedErasure[];
}

/** The stream that a history stands for. */
export function readErasable({ entries, erasures }: ErasableHistory): ReadErasable {
  const stream: StreamEntry[] = [];
  const placed: PlacedErasure[] = [];
  const earlier: RecordedRequest[][] = Array.from({ length: PARTITIONS }, () => []);
  let number = 0;
  const place = (partition: number, requests: RecordedRequest[], ends: HistoryEntry['ends']): void => {
    stream.push({ sequence: stream.length + 1, partition, instance: partition, requests, ends });
  };
  const placeErasures = (after: number): void => {
    for (const given of erasures.filter((one) => Math.min(one.after, entries.length) === after)) {
      const erased = placedErasure(given, stream.length + 1);
      placed.push(erased);
      const record = erasureRecord({
        ...erased,
        id: uuid(2, placed.length),
        projectId: uuid(0, 1 + (given.instance % 2)),
        requestedAt: new Date(AT / 1000).toISOString(),
      });
      place(erased.partition, [record], 'nothing');
    }
  };
  // Every shard has something to publish.
  for (let partition = 0; partition < PARTITIONS; partition++)
    place(partition, [beginning(partition)], 'nothing');
  for (const [index, given] of entries.entries()) {
    placeErasures(index);
    const { partition } = given;
    const isOwn = ({ instance }: { readonly instance: number }): boolean =>
      instance % PARTITIONS === partition;
    const known = earlier[partition]!;
    const first = known.length;
    for (const one of given.requests.filter(isOwn))
      known.push(withIdOf(requestOf(one, (number += 1)), one.reused, known));
    known.push(
      ...given.writings.filter(isOwn).map((one) => writingOf(one.instance, one, (number += 1))),
      ...given.curations.filter(isOwn).map((one) => curationOf(one.instance, one, (number += 1))),
      ...(given.feedback ?? []).filter(isOwn).map((one) => feedbackOf(one, (number += 1))),
    );
    const own = known.slice(first);
    const again = given.again.flatMap((which) => newestOfId(known, known[which % Math.max(1, known.length)]));
    place(partition, [...own, ...again], given.ends);
  }
  placeErasures(entries.length);
  return { entries: stream, erasures: placed };
}

function beginning(partition: number): RecordedRequest {
  const request = { acceptedAt: AT, projectId: uuid(0, 1), instanceId: instanceId(FILLER) };
  return {
    ...request,
    requestId: uuid(1, 1000 + partition),
    sessionId: uuid(7, 999),
    messages: [{ content: SENTENCES[0], role: 'user', at: AT }],
  };
}

function placedErasure({ kind, instance, target }: HistoryErasure, position: number): PlacedErasure {
  const id = instanceId(instance);
  const name = kind === 'SESSION' ? sessionIdOf(instance, target) : kind === 'END_USER' ? person(target) : '';
  const digested = digest(kind, id, kind === 'INSTANCE' ? id : name);
  return { kind, instanceId: id, digest: digested, position, partition: instance % PARTITIONS, name };
}

function requestOf(given: ErasableRequest, number: number): RecordedRequest {
  const { instance, session, turns, name, plan, people, isOfInstance } = given;
  return {
    requestId: uuid(8, number),
    projectId: uuid(0, 1 + (instance % 2)),
    instanceId: instanceId(instance),
    sessionId: sessionIdOf(instance, session),
    acceptedAt: AT + number,
    messages: turns.map((turn) => messageOf(turn)),
    metadata: {
      ...(isOfInstance && { instance: { request: number } }),
      session: {
        request: number,
        ...(name !== undefined && { externalId: name }),
        ...(plan !== undefined && { plan }),
      },
      users: Object.fromEntries(people.map((one) => [person(one), { request: number }])),
    },
  };
}

function feedbackOf(
  { instance, session, author, value, minute }: NonNullable<ErasableEntry['feedback']>[number],
  number: number,
): RecordedRequest {
  return {
    requestId: uuid(8, number),
    projectId: uuid(0, 1 + (instance % 2)),
    instanceId: instanceId(instance),
    sessionId: sessionIdOf(instance, session),
    acceptedAt: AT + number,
    messages: [],
    feedback: {
      value,
      ...(minute !== null && { at: AT + minute * MINUTE }),
      ...(author > 0 && { userId: person(author) }),
    },
  };
}

/** A caller may use an idempotency key for another request once it is forgotten. */
function withIdOf(
  request: RecordedRequest,
  reused: number | null,
  known: readonly RecordedRequest[],
): RecordedRequest {
  // Of one instance: others may be applied in another order.
  const own = known.filter(
    ({ instanceId: of, messages }) => of === request.instanceId && messages.length > 0,
  );
  const earlier = reused === null ? undefined : own[reused % Math.max(1, own.length)];
  if (earlier === undefined) return request;
  const { requestId } = earlier;
  const last = Math.max(...known.filter((one) => one.requestId === requestId).map((one) => one.acceptedAt));
  return { ...request, requestId, acceptedAt: last + REUSED_AFTER };
}

/** What comes again is what was sent last under an id. */
function newestOfId(known: readonly RecordedRequest[], one: RecordedRequest | undefined): RecordedRequest[] {
  const newest = known.findLast(({ requestId }) => requestId === one?.requestId);
  return newest === undefined ? [] : [newest];
}

function messageOf({ speaker, sentence, minute }: HistoryTurn): RecordedMessage {
  const role = speaker === 0 ? 'assistant' : speaker === 5 ? 'system' : 'user';
  const isNamed = speaker > 0 && speaker <= PEOPLE;
  return {
    content: SENTENCES[sentence] as string,
    role,
    ...(isNamed && { userId: person(speaker) }),
    at: AT + minute * MINUTE,
  };
}

/** A request that counts, and what is left of it. */
interface Counted {
  readonly sequence: number;
  readonly request: RecordedRequest;
  isGone: boolean;
  /** By place. */
  readonly gone: Set<number>;
  readonly unnamed: Set<string>;
  /** Indexes of examples that quote what goes. */
  readonly unquoted: Set<number>;
}

/**
 * The stream in which what the erasures are of had never been sent: messages of another instance stand in the places
 * of what goes, and of requests that come again.
 */
export function neverSent({ entries, erasures }: ReadErasable): StreamEntry[] {
  const counted = new Map<RecordedRequest, Counted>();
  for (const { sequence, requests } of countedOf(entries))
    for (const request of requests)
      counted.set(request, {
        sequence,
        request,
        isGone: false,
        gone: new Set(),
        unnamed: new Set(),
        unquoted: new Set(),
      });
  const all = [...counted.values()];
  for (const erasure of erasures) unquote(all, erasure, () => eraseByHand(all, erasure));
  const seen = new Set<RecordedRequest>();
  let number = 0;
  return entries.map((entry) => ({
    ...entry,
    ends: 'nothing',
    requests: entry.requests.flatMap((request) => {
      const left = seen.has(request) ? undefined : counted.get(request);
      seen.add(request);
      if (left === undefined || left.isGone || request.erasure !== undefined)
        return [filler(request, request.messages, (number += 1))];
      if (left.unquoted.size > 0) return [withoutQuotes(request, left.unquoted)];
      if (left.gone.size + left.unnamed.size === 0) return [request];
      const users = Object.entries(request.metadata?.users ?? {}).filter(([name]) => !left.unnamed.has(name));
      return [
        { ...request, messages: [], metadata: { ...request.metadata, users: Object.fromEntries(users) } },
        ...request.messages.map((message, index) =>
          left.gone.has(index)
            ? filler(request, [message], (number += 1))
            : withoutMetadata(request, [message], (number += 1)),
        ),
      ];
    }),
  }));
}

/** A stream without requests that repeat others. */
export function countedOf(entries: readonly StreamEntry[]): StreamEntry[] {
  const acceptedAt = new Map<string, number>();
  return entries.map((entry) => ({
    ...entry,
    requests: entry.requests.filter((request) => {
      const before = acceptedAt.get(request.requestId);
      if (before !== undefined && before >= request.acceptedAt - REQUEST_MEMORY_MICROS) return false;
      acceptedAt.set(request.requestId, request.acceptedAt);
      return true;
    }),
  }));
}

function withoutQuotes(request: RecordedRequest, unquoted: ReadonlySet<number>): RecordedRequest {
  const { curation } = request;
  if (curation === undefined) throw new Error('only a curation quotes');
  const left = quotesOf(curation.action).map((text, index) => (unquoted.has(index) ? '' : text));
  return { ...request, curation: { ...curation, action: withQuotes(curation.action, left) } };
}

/** Takes examples out that say what is erased; of sentences of histories, each is another or the same. */
function unquote(counted: readonly Counted[], erasure: PlacedErasure, erase: () => void): void {
  const left = (): Set<string> =>
    new Set(
      counted.flatMap(({ request, isGone, gone }) =>
        isGone
          ? []
          : request.messages.flatMap((_, index) =>
              gone.has(index) ? [] : [`${request.requestId} ${request.acceptedAt} ${index}`],
            ),
      ),
    );
  const before = left();
  erase();
  const after = left();
  const texts = new Set<string>();
  for (const { sequence, request, isGone, unquoted } of counted) {
    if (sequence >= erasure.position || request.instanceId !== erasure.instanceId) continue;
    request.messages.forEach(({ content, role }, index) => {
      const place = `${request.requestId} ${request.acceptedAt} ${index}`;
      if (before.has(place) && !after.has(place) && roleOf(role) === 'user') texts.add(content.toLowerCase());
    });
    const action = request.curation?.action;
    if (isGone || action === undefined) continue;
    quotesOf(action).forEach((example, index) => {
      const said = [...texts].some(
        (text) =>
          text === example.toLowerCase() || (example.length >= 20 && text.includes(example.toLowerCase())),
      );
      if (said) unquoted.add(index);
    });
  }
}

function eraseByHand(counted: readonly Counted[], erasure: PlacedErasure): void {
  const before = counted.filter(
    ({ sequence, isGone, request }) =>
      sequence < erasure.position && !isGone && request.instanceId === erasure.instanceId,
  );
  const ofSession = (session: string): Counted[] =>
    before.filter(({ request }) => sessionOf(request) === session);
  const goWhole = (some: readonly Counted[]): void => some.forEach((one) => (one.isGone = true));
  if (erasure.kind === 'INSTANCE')
    return goWhole(before.filter(({ request }) => request.erasure === undefined));
  if (erasure.kind === 'SESSION') return goWhole(ofSession(erasure.name));
  for (let session = 1; session <= SESSIONS * INSTANCES * 10; session++) {
    const own = ofSession(uuid(7, session));
    const given = own.flatMap(({ request, gone }) =>
      request.messages.flatMap((message, index) => (gone.has(index) ? [] : [{ message, index, gone }])),
    );
    const users = given.map(({ message }) => message).filter(({ role }) => roleOf(role) === 'user');
    if (!users.some(({ userId }) => userId === erasure.name)) continue;
    if (!users.some(({ userId }) => userId !== undefined && userId !== erasure.name)) {
      goWhole(own);
      continue;
    }
    goWhole(own.filter(({ request }) => request.writing !== undefined));
    goWhole(
      own.filter(({ request: { feedback } }) => feedback !== undefined && feedback.userId === undefined),
    );
    let speaks = false;
    for (const { message, index, gone } of given) {
      if (roleOf(message.role) === 'user') speaks = message.userId === erasure.name;
      if (speaks) gone.add(index);
    }
    goWhole(own.filter(({ request, gone }) => gone.size > 0 && gone.size === request.messages.length));
  }
  goWhole(before.filter(({ request }) => request.feedback?.userId === erasure.name));
  for (const { request, unnamed } of before)
    if (request.metadata?.users?.[erasure.name] !== undefined) unnamed.add(erasure.name);
}

/** The session that a request is of, or that a writing, a check or the correction of an outcome is about. */
function sessionOf({ sessionId, writing, curation }: RecordedRequest): string {
  const action = curation?.action;
  if (action?.kind === 'CHECK') return action.session;
  if (action !== undefined && 'outcome' in action) return action.id;
  return writing?.id ?? sessionId;
}

function filler(
  { acceptedAt, projectId }: RecordedRequest,
  messages: readonly RecordedMessage[],
  number: number,
): RecordedRequest {
  return {
    requestId: uuid(1, number),
    projectId,
    instanceId: instanceId(FILLER),
    sessionId: uuid(7, 999),
    acceptedAt,
    messages: messages.map(() => ({ content: SENTENCES[0], role: 'user', at: AT })),
  };
}

function withoutMetadata(
  { projectId, instanceId: ofInstance, sessionId, acceptedAt }: RecordedRequest,
  messages: readonly RecordedMessage[],
  number: number,
): RecordedRequest {
  return { requestId: uuid(1, number), projectId, instanceId: ofInstance, sessionId, acceptedAt, messages };
}
