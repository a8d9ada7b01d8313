import { derivedId, isExternalId, UUID_PATTERN } from '../domain/ids.ts';
import type { Turn } from '../domain/facts.ts';
import { positionOf, roleOf, type RecordedRequest } from '../domain/records.ts';
import type { Batch, Counters } from '../store/live/batch.ts';

/** A request of which nothing can be counted, as no version of us would have taken it. */
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
  /** Places of requests that cannot be processed: their messages keep their positions and are not counted. */
  readonly leftOut: ReadonlySet<number>;
}

/** What a number-giver must be able to look up. */
export interface Lookups {
  readonly counters: Counters;
  findInstances(ids: readonly string[]): Promise<readonly { instance: number; id: string }[]>;
  findSessions(ids: readonly string[]): Promise<readonly { session: number; instance: number; id: string }[]>;
  findEndUsers(ids: readonly string[]): Promise<readonly { endUser: number; id: string }[]>;
  findRequests(requests: readonly { id: string; acceptedAt: number }[]): Promise<ReadonlySet<string>>;
}

/** Entries with their records numbered: all of a batch but what enrich and assign find out. */
export interface NumberedBatch extends Pick<
  Batch,
  'instances' | 'endUsers' | 'requests' | 'metadata' | 'sessionNames' | 'counters'
> {
  readonly turns: readonly Turn[];
  /** For each turn, its place among the messages of the entries (repeated requests left out leave gaps). */
  readonly sources: readonly number[];
  /** Requests that had been applied before, and were left out. */
  readonly repeated: number;
}

/** A message of the entries: where it stands, and what enrich works on. */
export interface SourceMessage extends Pick<Turn, 'role' | 'content'> {
  readonly entry: Entry;
  readonly request: RecordedRequest;
  /** Its place in the request. */
  readonly index: number;
}

/** Messages of the entries in stream order, repeated requests included: what enrich works on ahead of numbering. */
export function messagesOf(entries: readonly Entry[]): SourceMessage[] {
  return entries.flatMap((entry) =>
    entry.requests.flatMap((request) =>
      request.messages.map((message, index) => ({
        entry,
        request,
        index,
        role: roleOf(message.role),
        content: message.content,
      })),
    ),
  );
}

/** The entry with some of its messages without their text: they count, and nothing is read of them. */
export function withoutTexts(
  entry: Entry,
  isWithout: (message: { readonly requestId: string; readonly index: number }) => boolean,
): Entry {
  const requests = entry.requests.map((request) => {
    const { requestId } = request;
    if (!request.messages.some((_, index) => isWithout({ requestId, index }))) return request;
    const messages = request.messages.map((message, index) =>
      isWithout({ requestId, index }) ? { ...message, content: '' } : message,
    );
    return { ...request, messages };
  });
  return { ...entry, requests };
}

/** How many sessions and end users are kept by id, to spare look-ups. */
const REMEMBERED = 20_000;

/**
 * Gives numbers to instances, sessions and end users in stream order and drops requests that were applied
 * before. Remembers numbers across batches; `forget` after a batch that was not committed.
 */
export class Numbering {
  readonly #lookups: Lookups;
  #instances = new Map<string, number>();
  /** By instance and UUID: instances of different projects may have sessions of the same UUID. */
  #sessions = new Map<string, number>();
  #endUsers = new Map<string, number>();

  constructor(lookups: Lookups) {
    this.#lookups = lookups;
  }

  forget(): void {
    this.#instances = new Map();
    this.#sessions = new Map();
    this.#endUsers = new Map();
  }

  async number(entries: readonly Entry[]): Promise<NumberedBatch> {
    const fresh = await this.#withoutRepeated(entries);
    const requestsLeft = fresh.flatMap((entry) => entry.requests.filter((request) => request !== null));
    // Ids of end users and topics are derived from it.
    if (requestsLeft.some(({ instanceId }) => !UUID_PATTERN.test(instanceId)))
      throw new RecordError('instanceId is no UUID');
    await this.#recall(requestsLeft);
    const counters = { ...this.#lookups.counters };
    const instances = new Map<number, Batch['instances'][number]>();
    const endUsers: Batch['endUsers'][number][] = [];
    const requests: Batch['requests'][number][] = [];
    const metadata = new Map<string, Batch['metadata'][number]>();
    const names = new Map<number, string | null>();
    const turns: Turn[] = [];
    const sources: number[] = [];
    let source = 0;
    let repeated = 0;
    for (const entry of fresh) {
      let index = 0;
      for (const [place, request] of entry.requests.entries()) {
        const { messages } = entry.all[place] as RecordedRequest;
        if (request === null) {
          repeated += 1;
          index += messages.length;
          source += messages.length;
          continue;
        }
        const instance = this.#instances.get(request.instanceId) ?? (counters.instances += 1);
        this.#instances.set(request.instanceId, instance);
        instances.set(instance, {
          instance,
          id: request.instanceId,
          projectId: request.projectId,
          lastSequence: entry.sequence,
        });
        const sessionKey = keyOf(instance, request.sessionId);
        const session = this.#sessions.get(sessionKey) ?? (counters.sessions += 1);
        this.#sessions.set(sessionKey, session);
        requests.push({ id: request.requestId, acceptedAt: request.acceptedAt });
        collectMetadata(metadata, instance, request);
        const name = request.metadata?.session?.['externalId'];
        if (name === null || isExternalId(name)) names.set(session, name);
        for (const message of messages) {
          const role = roleOf(message.role);
          let user: number | null = null;
          if (role === 'user' && message.userId !== undefined && message.userId !== '') {
            const id = derivedId(request.instanceId, 'end-user', message.userId);
            const found = this.#endUsers.get(id);
            user = found ?? (counters.endUsers += 1);
            if (found === undefined) {
              this.#endUsers.set(id, user);
              endUsers.push({ instance, endUser: user, id, externalId: message.userId });
            }
          }
          turns.push({
            position: positionOf(entry.sequence, index),
            instance,
            instanceId: request.instanceId,
            session,
            sessionId: request.sessionId,
            role,
            user,
            content: message.content,
            at: message.at,
          });
          sources.push(source);
          index += 1;
          source += 1;
        }
      }
    }
    this.#trim();
    return {
      turns,
      sources,
      repeated,
      instances: [...instances.values()],
      endUsers,
      requests,
      metadata: [...metadata.values()],
      sessionNames: [...names].map(([session, externalId]) => ({ session, externalId })),
      counters,
    };
  }

  async #withoutRepeated(
    entries: readonly Entry[],
  ): Promise<{ sequence: number; all: readonly RecordedRequest[]; requests: (RecordedRequest | null)[] }[]> {
    const seen = new Set(
      await this.#lookups.findRequests(
        entries.flatMap((entry) =>
          entry.requests.flatMap(({ requestId, acceptedAt }, place) =>
            entry.leftOut.has(place) ? [] : [{ id: requestId, acceptedAt }],
          ),
        ),
      ),
    );
    return entries.map((entry) => ({
      sequence: entry.sequence,
      all: entry.requests,
      requests: entry.requests.map((request, place) => {
        if (entry.leftOut.has(place) || seen.has(request.requestId)) return null;
        seen.add(request.requestId);
        return request;
      }),
    }));
  }

  async #recall(requests: readonly RecordedRequest[]): Promise<void> {
    const missing = (ids: Iterable<string>, known: ReadonlyMap<string, unknown>): string[] =>
      [...new Set(ids)].filter((id) => !known.has(id));
    for (const row of await this.#lookups.findInstances(
      missing(
        requests.map((request) => request.instanceId),
        this.#instances,
      ),
    )) {
      this.#instances.set(row.id, row.instance);
    }
    const sessions = requests.filter(({ instanceId, sessionId }) => {
      const instance = this.#instances.get(instanceId);
      return instance !== undefined && !this.#sessions.has(keyOf(instance, sessionId));
    });
    for (const row of await this.#lookups.findSessions([
      ...new Set(sessions.map(({ sessionId }) => sessionId)),
    ])) {
      this.#sessions.set(keyOf(row.instance, row.id), row.session);
    }
    const users = requests.flatMap((request) =>
      request.messages
        .filter(
          (message) =>
            message.userId !== undefined && message.userId !== '' && roleOf(message.role) === 'user',
        )
        .map((message) => derivedId(request.instanceId, 'end-user', message.userId as string)),
    );
    for (const row of await this.#lookups.findEndUsers(missing(users, this.#endUsers)))
      this.#endUsers.set(row.id, row.endUser);
  }

  #trim(): void {
    for (const map of [this.#sessions, this.#endUsers, this.#instances]) {
      if (map.size <= 2 * REMEMBERED) continue;
      let surplus = map.size - REMEMBERED;
      for (const key of map.keys()) {
        if (surplus-- <= 0) break;
        map.delete(key);
      }
    }
  }
}

function keyOf(instance: number, sessionId: string): string {
  return `${instance} ${sessionId}`;
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
