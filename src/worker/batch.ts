/**
 * Turns decoded stream entries into a numbered batch. Numbers are given out in stream order, and a repeated request
 * gets none, so any division of the stream into batches gives the same numbers.
 *
 * Test: test/worker/batch.test.ts, test/worker/many-users.test.ts.
 */
import { usageOf } from '../domain/usage.ts';
import { derivedId, isExternalId, UUID_PATTERN } from '../domain/ids.ts';
import { attributeValue, isAttributeName } from '../domain/attributes.ts';
import type { Turn } from '../domain/facts.ts';
import { readable } from '../domain/printable.ts';
import {
  positionOf,
  REQUEST_MEMORY_MICROS,
  roleOf,
  type RecordedMessage,
  type RecordedRequest,
} from '../domain/records.ts';
import type { Interlude, PlacedCuration } from '../domain/curations.ts';
import type { PlacedWriting } from '../domain/writings.ts';
import type { Batch, Counters, Deferral, DeferredPart } from '../store/live/batch.ts';

/** A request that cannot be counted. No version of this service would have accepted it. */
export class RecordError extends Error {
  constructor(fault: string, options?: { cause?: unknown }) {
    super(fault, options);
    this.name = 'RecordError';
  }
}

/** A stream entry, decoded. */
export interface Entry {
  readonly sequence: number;
  readonly requests: readonly RecordedRequest[];
  /** Places of requests that cannot be processed. Their messages keep their positions and are not counted. */
  readonly leftOut: ReadonlySet<number>;
  /** The place of each request; left out when the entry is complete. */
  readonly places?: readonly RequestPlace[];
  /** The change to the deferred parts that this entry brings. */
  readonly deferral?: Deferral;
}

/** The place of a request, or of a part of it, in its entry. */
export interface RequestPlace {
  /** Place of the request in the entry. */
  readonly place: number;
  /** Place of the first of these messages among all messages of the entry. */
  readonly index: number;
  /** Place of the first of these messages in the request. Above 0, earlier messages were applied before. */
  readonly from: number;
}

/** The look-ups that numbering needs. */
export interface Lookups {
  readonly counters: Counters;
  findInstances(ids: readonly string[]): Promise<readonly { instance: number; id: string }[]>;
  findSessions(ids: readonly string[]): Promise<readonly { session: number; instance: number; id: string }[]>;
  findEndUsers(ids: readonly string[]): Promise<readonly { endUser: number; id: string }[]>;
  /** The time at which each id was last accepted; only ids that one of these requests repeats. */
  findRequests(requests: readonly { id: string; acceptedAt: number }[]): Promise<ReadonlyMap<string, number>>;
}

/** Entries with their records numbered: a batch without the results of enrich and assign. */
export interface NumberedBatch extends Pick<
  Batch,
  'instances' | 'endUsers' | 'requests' | 'metadata' | 'attributes' | 'sessionNames' | 'feedback' | 'counters'
> {
  readonly turns: readonly Turn[];
  readonly interludes: readonly Interlude[];
  /** For each turn, its index among the messages of the entries; repeated requests leave gaps. */
  readonly sources: readonly number[];
  /** Number of requests that were applied before and are left out. */
  readonly repeated: number;
}

/** A message of the entries, with its place and the text for enrich. */
export interface SourceMessage extends Pick<Turn, 'role' | 'content'> {
  readonly entry: Entry;
  /** The request, with the messages of this part only. */
  readonly request: RecordedRequest;
  readonly message: RecordedMessage;
  /** Index of the message in the whole request. */
  readonly index: number;
}

/** Messages of the entries in stream order, repeated requests included: enrich runs ahead of numbering. */
export function messagesOf(entries: readonly Entry[]): SourceMessage[] {
  return entries.flatMap((entry) =>
    entry.requests.flatMap((request, place) =>
      request.messages.map((message, index) => ({
        entry,
        request,
        message,
        index: index + (entry.places?.[place]?.from ?? 0),
        role: roleOf(message.role),
        content: readable(message.content),
      })),
    ),
  );
}

/** Returns the entry with the texts of some messages removed. Those messages count, without findings. */
export function withoutTexts(
  entry: Entry,
  isWithout: (message: { readonly requestId: string; readonly index: number }) => boolean,
): Entry {
  const requests = entry.requests.map((request, place) => {
    const { requestId } = request;
    const from = entry.places?.[place]?.from ?? 0;
    const messages = request.messages.map((message, index) =>
      isWithout({ requestId, index: from + index }) ? { ...message, content: '' } : message,
    );
    return { ...request, messages };
  });
  return { ...entry, requests };
}

/** Sessions and end users whose numbers are cached by id. */
const REMEMBERED = 20_000;

/**
 * Gives numbers to instances, sessions and end users in stream order, and drops requests that were applied before.
 * Keeps the numbers across batches; call `forget` after a batch that was not committed.
 */
export class Numbering {
  readonly #lookups: Lookups;
  #instances = new Map<string, number>();
  /** Keyed by instance and UUID: instances of different projects may have sessions of the same UUID. */
  #sessions = new Map<string, number>();
  #endUsers = new Map<string, number>();
  /** Repeated requests of which more parts may come, by sequence and place. */
  readonly #dropped = new Set<string>();
  /** Derived ids of end users by instance and external id. Each costs a digest, and every turn needs one. */
  readonly #endUserIds = new Map<string, string>();

  constructor(lookups: Lookups) {
    this.#lookups = lookups;
  }

  forget(): void {
    this.#instances = new Map();
    this.#sessions = new Map();
    this.#endUsers = new Map();
  }

  async number(entries: readonly Entry[]): Promise<NumberedBatch> {
    const isFresh = await this.#areFresh(entries);
    const requestsLeft = entries.flatMap(({ requests }, number) =>
      requests.filter((_, place) => isFresh[number]![place]),
    );
    // Ids of end users and topics are derived from the instance id.
    if (requestsLeft.some(({ instanceId }) => !UUID_PATTERN.test(instanceId)))
      throw new RecordError('instanceId is no UUID');
    await this.#recall(requestsLeft);
    const numbered = new Numbered({ ...this.#lookups.counters });
    for (const [number, entry] of entries.entries()) {
      let index = 0;
      for (const [place, request] of entry.requests.entries()) {
        const at = entry.places?.[place];
        if (at !== undefined) ({ index } = at);
        if (!isFresh[number]![place]) numbered.leaveOut(request.messages.length);
        else if (request.erasure !== undefined || request.erased === true)
          numbered.passOver(request, request.messages.length);
        else if (request.writing !== undefined) this.#numberWriting(numbered, request, entry.sequence);
        else if (request.curation !== undefined)
          this.#numberCuration(numbered, request, entry.sequence, index);
        else if (request.feedback !== undefined)
          this.#numberFeedback(numbered, request, {
            sequence: entry.sequence,
            index,
            place: at?.place ?? place,
          });
        else this.#numberRequest(numbered, request, entry.sequence, index, at?.from ?? 0);
        index += request.messages.length;
      }
    }
    this.#trim();
    return numbered.finish();
  }

  /**
   * Moves deferred parts past requests that were dropped. The first part of a request decides for all of it, so the
   * rest of a repeated request is not applied.
   */
  withoutDropped(parts: readonly DeferredPart[]): DeferredPart[] {
    return parts.map((part) =>
      part.message > 0 && this.#dropped.has(keyOf(part.sequence, String(part.place)))
        ? { ...part, place: part.place + 1, message: 0 }
        : part,
    );
  }

  /** `index`: place of the first message in the entry. `from`: its place in the request. */
  #numberRequest(
    into: Numbered,
    request: RecordedRequest,
    sequence: number,
    index: number,
    from: number,
  ): void {
    const { instanceId, sessionId } = request;
    const instance = this.#numberInstance(into, request, sequence);
    const sessionKey = keyOf(instance, sessionId);
    const session = this.#sessions.get(sessionKey) ?? (into.counters.sessions += 1);
    this.#sessions.set(sessionKey, session);
    if (from === 0) {
      into.requests.push({ id: request.requestId, acceptedAt: request.acceptedAt });
      collectMetadata(into.metadata, instance, request);
    }
    // Later parts name and describe the session, too: in the first one all messages may be erased, so the session does
    // not exist yet.
    collectAttributes(into.attributes, instance, session, request);
    const name = request.metadata?.session?.['externalId'];
    if (name === null || isExternalId(name)) into.names.set(session, name);
    for (const [place, message] of request.messages.entries()) {
      if (message.erased === true) {
        into.skip(1);
        continue;
      }
      const usage = usageOf(message.metadata);
      into.add({
        position: positionOf(sequence, index + place),
        instance,
        instanceId,
        session,
        sessionId,
        role: roleOf(message.role),
        user: this.#userOf(into, instance, instanceId, message),
        ...(message.userId !== undefined && roleOf(message.role) === 'user' && { userId: message.userId }),
        content: readable(message.content),
        at: message.at,
        ...(usage === undefined ? {} : { usage }),
      });
    }
  }

  #numberInstance(into: Numbered, { instanceId, projectId }: RecordedRequest, sequence: number): number {
    const instance = this.#instances.get(instanceId) ?? (into.counters.instances += 1);
    this.#instances.set(instanceId, instance);
    into.instances.set(instance, { instance, id: instanceId, projectId, lastSequence: sequence });
    return instance;
  }

  /** A curation may precede the first message of its instance. */
  #numberCuration(into: Numbered, request: RecordedRequest, sequence: number, index: number): void {
    const { instanceId, requestId, acceptedAt, curation } = request;
    if (curation === undefined) return;
    into.requests.push({ id: requestId, acceptedAt });
    const instance = this.#numberInstance(into, request, sequence);
    const position = positionOf(sequence, index);
    into.pass({ instance, instanceId, session: null, position, acceptedAt, curation });
  }

  /** Feedback may precede the first message of its session: the views keep it until then. */
  #numberFeedback(
    into: Numbered,
    request: RecordedRequest,
    { sequence, index, place }: { readonly sequence: number; readonly index: number; readonly place: number },
  ): void {
    const { instanceId, sessionId, requestId, acceptedAt, feedback } = request;
    if (feedback === undefined) return;
    if (!UUID_PATTERN.test(sessionId)) throw new RecordError('sessionId of feedback is no UUID');
    into.requests.push({ id: requestId, acceptedAt });
    const { value, at = null, position = null, rating = null, userId = '' } = feedback;
    into.feedback.push({
      position: positionOf(sequence, index),
      place,
      instance: this.#numberInstance(into, request, sequence),
      instanceId,
      sessionId,
      author: userId === '' ? null : derivedId(instanceId, 'end-user', userId),
      value,
      at,
      target: position,
      rating,
      givenAt: acceptedAt,
    });
  }

  /** A writing about an unknown instance or session is skipped. */
  #numberWriting(into: Numbered, request: RecordedRequest, sequence: number): void {
    const { instanceId, projectId, requestId, acceptedAt, writing } = request;
    // A skipped writing is recorded, too: when it is repeated, its target may be known.
    into.requests.push({ id: requestId, acceptedAt });
    const instance = this.#instances.get(instanceId);
    if (instance === undefined || writing === undefined) return;
    const session =
      writing.target === 'session' ? (this.#sessions.get(keyOf(instance, writing.id)) ?? null) : null;
    if (writing.target === 'session' && session === null) return;
    into.instances.set(instance, { instance, id: instanceId, projectId, lastSequence: sequence });
    into.pass({ instance, instanceId, session, writing });
  }

  /** The number of the end user of a user turn; null when the turn names none. */
  #userOf(into: Numbered, instance: number, instanceId: string, message: RecordedMessage): number | null {
    const id = this.#endUserIdOf(instanceId, message);
    if (id === null) return null;
    const found = this.#endUsers.get(id);
    if (found !== undefined) return found;
    const endUser = (into.counters.endUsers += 1);
    this.#endUsers.set(id, endUser);
    into.endUsers.push({ instance, endUser, id, externalId: message.userId! });
    return endUser;
  }

  /**
   * Returns for each request of each entry true if it counts. A request is a repeat when its id was accepted within
   * REQUEST_MEMORY_MICROS before it, in whatever batch.
   */
  async #areFresh(entries: readonly Entry[]): Promise<boolean[][]> {
    const seen = new Map(
      await this.#lookups.findRequests(
        entries.flatMap((entry) =>
          entry.requests.flatMap(({ requestId, acceptedAt }, place) =>
            entry.leftOut.has(place) || isContinued(entry, place) ? [] : [{ id: requestId, acceptedAt }],
          ),
        ),
      ),
    );
    return entries.map((entry) =>
      entry.requests.map(({ requestId, acceptedAt }, place) => {
        if (entry.leftOut.has(place)) return false;
        const key = keyOf(entry.sequence, String(entry.places?.[place]?.place));
        if (isContinued(entry, place)) return !this.#dropped.has(key);
        const before = seen.get(requestId) ?? -Infinity;
        if (before >= acceptedAt - REQUEST_MEMORY_MICROS) {
          if (entry.places !== undefined) this.#dropped.add(key);
          return false;
        }
        seen.set(requestId, Math.max(before, acceptedAt));
        return true;
      }),
    );
  }

  async #recall(requests: readonly RecordedRequest[]): Promise<void> {
    const missing = (ids: Iterable<string>, known: ReadonlyMap<string, unknown>): string[] =>
      [...new Set(ids)].filter((id) => !known.has(id));
    const instanceIds = requests.map(({ instanceId }) => instanceId);
    for (const row of await this.#lookups.findInstances(missing(instanceIds, this.#instances)))
      this.#instances.set(row.id, row.instance);
    const sessions = requests.filter(
      ({ instanceId, sessionId, writing, curation, feedback, erasure, erased }) => {
        const instance = this.#instances.get(instanceId);
        if (curation !== undefined || feedback !== undefined) return false;
        if (erasure !== undefined || erased === true) return false;
        if (writing !== undefined && writing.target !== 'session') return false;
        return instance !== undefined && !this.#sessions.has(keyOf(instance, sessionId));
      },
    );
    const sessionIds = new Set(sessions.map(({ sessionId }) => sessionId));
    for (const row of await this.#lookups.findSessions([...sessionIds]))
      this.#sessions.set(keyOf(row.instance, row.id), row.session);
    const users = requests.flatMap(({ instanceId, messages }) =>
      messages.map((message) => this.#endUserIdOf(instanceId, message)).filter((id) => id !== null),
    );
    for (const row of await this.#lookups.findEndUsers(missing(users, this.#endUsers)))
      this.#endUsers.set(row.id, row.endUser);
  }

  #endUserIdOf(instanceId: string, { role, userId }: RecordedMessage): string | null {
    if (userId === undefined || userId === '' || roleOf(role) !== 'user') return null;
    const key = `${instanceId} ${userId}`;
    const known = this.#endUserIds.get(key);
    if (known !== undefined) return known;
    const id = derivedId(instanceId, 'end-user', userId);
    this.#endUserIds.set(key, id);
    return id;
  }

  #trim(): void {
    for (const key of this.#dropped) {
      if (this.#dropped.size <= REMEMBERED) break;
      this.#dropped.delete(key);
    }
    for (const map of [this.#sessions, this.#endUsers, this.#endUserIds, this.#instances]) {
      if (map.size <= 2 * REMEMBERED) continue;
      let surplus = map.size - REMEMBERED;
      for (const key of map.keys()) {
        if (surplus-- <= 0) break;
        map.delete(key);
      }
    }
  }
}

/** The batch under construction. */
class Numbered {
  readonly counters: { -readonly [Name in keyof Counters]: Counters[Name] };
  readonly instances = new Map<number, Batch['instances'][number]>();
  readonly endUsers: Batch['endUsers'][number][] = [];
  readonly requests: Batch['requests'][number][] = [];
  readonly metadata = new Map<string, Batch['metadata'][number]>();
  readonly attributes = new Map<string, Batch['attributes'][number]>();
  readonly names = new Map<number, string | null>();
  readonly feedback: Batch['feedback'][number][] = [];
  readonly #turns: Turn[] = [];
  readonly #interludes: Interlude[] = [];
  readonly #sources: number[] = [];
  #source = 0;
  #repeated = 0;

  constructor(counters: Counters) {
    this.counters = counters;
  }

  add(turn: Turn): void {
    this.#turns.push(turn);
    this.#sources.push(this.#source++);
  }

  pass(interlude: Omit<PlacedWriting, 'before'> | Omit<PlacedCuration, 'before'>): void {
    this.#interludes.push({ ...interlude, before: this.#turns.length });
  }

  /** Skips places whose messages are gone. */
  skip(messages: number): void {
    this.#source += messages;
  }

  /** Skips the messages of a request, but records the request, so that a repeat of it does not count either. */
  passOver({ requestId, acceptedAt }: RecordedRequest, messages: number): void {
    this.requests.push({ id: requestId, acceptedAt });
    this.skip(messages);
  }

  /** Skips a repeated request. */
  leaveOut(messages: number): void {
    this.#repeated += 1;
    this.#source += messages;
  }

  finish(): NumberedBatch {
    return {
      turns: this.#turns,
      interludes: this.#interludes,
      sources: this.#sources,
      repeated: this.#repeated,
      instances: [...this.instances.values()],
      endUsers: this.endUsers,
      requests: this.requests,
      metadata: [...this.metadata.values()],
      attributes: [...this.attributes.values()],
      sessionNames: [...this.names].map(([session, externalId]) => ({ session, externalId })),
      feedback: this.feedback,
      counters: this.counters,
    };
  }
}

function keyOf(number: number, text: string): string {
  return `${number} ${text}`;
}

/** Returns true if earlier messages of the request were applied before. */
function isContinued(entry: Entry, place: number): boolean {
  return (entry.places?.[place]?.from ?? 0) > 0;
}

function written(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new RecordError('its metadata is nested too deeply, or too long, to be stored', { cause });
  }
}

/** The last write of each member wins (docs/api.md). */
function collectMetadata(
  into: Map<string, Batch['metadata'][number]>,
  instance: number,
  request: RecordedRequest,
): void {
  const keep = (record: 'instance' | 'session' | 'user', key: string, members: unknown): void => {
    if (members === null || typeof members !== 'object') return;
    for (const [member, value] of Object.entries(members)) {
      into.set(JSON.stringify([instance, record, key, member]), {
        instance,
        record,
        key,
        member,
        value: written(value),
      });
    }
  };
  keep('instance', request.instanceId, request.metadata?.instance);
  keep('session', request.sessionId, request.metadata?.session);
  for (const [externalId, members] of Object.entries(request.metadata?.users ?? {}))
    keep('user', externalId, members);
}

/** Also of values that are no attributes: one may have been there before. */
function collectAttributes(
  into: Map<string, Batch['attributes'][number]>,
  instance: number,
  session: number,
  request: RecordedRequest,
): void {
  for (const [name, value] of Object.entries(request.metadata?.session ?? {})) {
    if (isAttributeName(name))
      into.set(keyOf(session, name), { instance, session, name, value: attributeValue(value) });
  }
}
