/**
 * What of the conversations goes with an erasure. Two readings of the entries before it: the first finds out whose the
 * sessions are, the second what of each entry goes. Covered by test/worker/erasure/redaction.test.ts.
 */
import { ERASED_MESSAGE, erasedRequest } from '../../domain/erased-records.ts';
import type { ErasedKind, ErasureDigest } from '../../domain/erasures.ts';
import {
  positionOf,
  REQUEST_MEMORY_MICROS,
  roleOf,
  type RecordedMessage,
  type RecordedRequest,
  type StreamRecord,
} from '../../domain/records.ts';

/** Whom an erasure is of. */
export interface Erased {
  readonly kind: ErasedKind;
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly digest: string;
  /** Of messages: where they stand. */
  readonly positions?: readonly number[];
  /** Of messages: what was accepted later stays. ISO 8601; left out: nothing was. */
  readonly sentBefore?: string;
}

/** Where what goes of one record stands: numbers alone, that name nobody. */
export interface Places {
  /** Requests of which nothing is left, by their place in the record. */
  readonly whole: readonly number[];
  /** Messages that go of others, by the request's place, and theirs in it. */
  readonly messages: readonly (readonly [place: number, indexes: readonly number[]])[];
  /** Requests that say something of the person beside their messages. */
  readonly named: readonly number[];
}

/** What of one record goes. */
export interface Plan extends Places {
  /** Sessions of which something goes, by id. */
  readonly sessions: readonly string[];
  /** How many messages go. */
  readonly count: number;
}

/** One erasure, as it reads the entries of its partition in their order, twice. */
export class Redaction {
  readonly #erased: Erased;
  readonly #digestOf: ErasureDigest;
  /** Of an end user: their sessions; true: somebody else took part in it. */
  readonly #shared = new Map<string, boolean>();
  /** Sessions with users of other names, as far as theirs had none of this one. */
  readonly #others = new Set<string>();
  /** Shared sessions in which the last user who wrote is the one who goes. */
  readonly #speaking = new Set<string>();
  /** Of shared sessions, what went of a request: one that repeats it says nothing of whom the next reply is to. */
  readonly #read = new Map<string, { readonly acceptedAt: number; readonly theirs: readonly number[] }>();
  /** By id, when requests were accepted of which an earlier erasure took something. */
  readonly #spent = new Map<string, number[]>();
  /** Of messages: by request, which of its messages go, also where the request comes once more. */
  readonly #wanted = new Map<string, { readonly acceptedAt: number; readonly indexes: Set<number> }[]>();
  readonly #sentBefore: number;
  readonly #positions: ReadonlySet<number>;
  /** By name: the same people write again and again. */
  readonly #known = new Map<string, boolean>();

  constructor(erased: Erased, digestOf: ErasureDigest) {
    this.#erased = erased;
    this.#digestOf = digestOf;
    this.#positions = new Set(erased.positions);
    this.#sentBefore = erased.sentBefore === undefined ? Infinity : Date.parse(erased.sentBefore) * 1000;
  }

  /** Whether a session of which something goes goes whole. Known after the first reading. */
  isWhole(sessionId: string): boolean {
    return this.#erased.kind !== 'MESSAGES' && !this.#isShared(sessionId);
  }

  /** The first reading, for what end users and messages leave. `sequence`: of the entry that holds the record. */
  note({ requests }: StreamRecord, sequence: number): void {
    if (this.#erased.kind === 'MESSAGES') this.#want(requests, sequence);
    for (const request of requests)
      if (this.#isOfInstance(request) && isSpent(request))
        this.#spent.set(request.requestId, [
          ...(this.#spent.get(request.requestId) ?? []),
          request.acceptedAt,
        ]);
    if (this.#erased.kind !== 'END_USER') return;
    for (const request of requests) {
      if (!this.#isOfInstance(request) || this.#repeatsSpent(request)) continue;
      const { sessionId } = request;
      for (const message of request.messages) {
        const user = userOf(message);
        if (user === null) continue;
        if (this.#is(user))
          this.#shared.set(sessionId, this.#others.has(sessionId) || this.#isShared(sessionId));
        else if (this.#shared.has(sessionId)) this.#shared.set(sessionId, true);
        else this.#others.add(sessionId);
      }
    }
  }

  #want(requests: readonly RecordedRequest[], sequence: number): void {
    let first = 0;
    for (const request of requests) {
      const { requestId, acceptedAt, messages } = request;
      const from = first;
      first += messages.length;
      if (!this.#isOfInstance(request) || acceptedAt > this.#sentBefore) continue;
      const indexes = messages.flatMap((_, index) =>
        this.#positions.has(positionOf(sequence, from + index)) ? [index] : [],
      );
      if (indexes.length === 0) continue;
      const earlier = this.#wanted.get(requestId) ?? [];
      this.#wanted.set(requestId, [...earlier, { acceptedAt, indexes: new Set(indexes) }]);
    }
  }

  /** Of single messages: which of a request's go, also where it comes once more. */
  #wantedOf({ requestId, acceptedAt, messages }: RecordedRequest): number[] {
    const wanted = (this.#wanted.get(requestId) ?? []).filter((one) => isRepeat(acceptedAt, one.acceptedAt));
    return messages.flatMap((_, index) => (wanted.some(({ indexes }) => indexes.has(index)) ? [index] : []));
  }

  /** The second reading: what of a record goes; null: nothing does. */
  plan({ requests }: StreamRecord): Plan | null {
    const whole: number[] = [];
    const messages: [number, readonly number[]][] = [];
    const named: number[] = [];
    const sessions = new Set<string>();
    let count = 0;
    for (const [place, request] of requests.entries()) {
      if (!this.#isOfInstance(request) || request.erased === true) continue;
      const there = request.messages.flatMap(({ erased }, index) => (erased === true ? [] : [index]));
      const goes = this.#isWholeRequest(request);
      const indexes = goes ? there : this.#theirs(request);
      // Without any of its messages it would not have been sent.
      const isWhole = goes || (there.length > 0 && indexes.length === there.length);
      if (isWhole) whole.push(place);
      else {
        if (indexes.length > 0) messages.push([place, indexes]);
        if (this.#names(request)) named.push(place);
      }
      if (indexes.length > 0) sessions.add(request.sessionId);
      count += indexes.length;
    }
    if (whole.length + messages.length + named.length === 0) return null;
    return { whole, messages, named, sessions: [...sessions], count };
  }

  /** A record without what goes. It can be done again. */
  redacted(record: StreamRecord, { whole, messages, named }: Places): StreamRecord {
    const gone = new Map(messages.map(([place, indexes]) => [place, new Set(indexes)]));
    const requests = record.requests.map((request, place) => {
      if (request.erased === true) return request;
      if (whole.includes(place)) return erasedRequest(request);
      const indexes = gone.get(place);
      const left =
        indexes === undefined
          ? request
          : {
              ...request,
              messages: request.messages.map((message, index) =>
                indexes.has(index) ? ERASED_MESSAGE : message,
              ),
            };
      return named.includes(place) ? this.#unnamed(left) : left;
    });
    return { v: 4, requests };
  }

  /** Whether all of a request goes. */
  #isWholeRequest(request: RecordedRequest): boolean {
    const { sessionId, writing, erasure, messages } = request;
    const { kind, digest, instanceId } = this.#erased;
    if (kind === 'MESSAGES') {
      return messages.length > 0 && this.#wantedOf(request).length === messages.length;
    }
    if (kind === 'INSTANCE') return erasure === undefined;
    // It counts no more than what it repeats, and would bring back what went.
    if (this.#repeatsSpent(request)) return true;
    // What was written about a session quotes it.
    const session = writing?.target === 'session' ? writing.id : sessionId;
    if (session === '') return false;
    if (kind === 'SESSION') return this.#digestOf('SESSION', instanceId, session) === digest;
    const isShared = this.#shared.get(session);
    return isShared === false || (isShared === true && writing !== undefined);
  }

  /** The messages that go one by one; of a person: theirs in a shared session, and the replies to them. */
  #theirs(request: RecordedRequest): readonly number[] {
    const { requestId, sessionId, acceptedAt, messages } = request;
    if (this.#erased.kind === 'MESSAGES')
      return this.#wantedOf(request).filter((index) => messages[index]?.erased !== true);
    if (this.#erased.kind !== 'END_USER' || !this.#isShared(sessionId)) return [];
    const earlier = this.#read.get(requestId);
    if (earlier !== undefined && isRepeat(acceptedAt, earlier.acceptedAt))
      return earlier.theirs.filter((index) => messages[index]?.erased !== true);
    const theirs = messages.flatMap((message, index) => {
      if (message.erased === true) return [];
      if (roleOf(message.role) === 'user') {
        if (this.#isTheirs(message)) this.#speaking.add(sessionId);
        else this.#speaking.delete(sessionId);
      }
      return this.#speaking.has(sessionId) ? [index] : [];
    });
    this.#read.set(requestId, { acceptedAt, theirs });
    return theirs;
  }

  #isTheirs(message: RecordedMessage): boolean {
    const user = userOf(message);
    return user !== null && this.#is(user);
  }

  #names({ metadata }: RecordedRequest): boolean {
    return (
      this.#erased.kind === 'END_USER' && Object.keys(metadata?.users ?? {}).some((name) => this.#is(name))
    );
  }

  /** Without what is said of the person beside their messages. */
  #unnamed(request: RecordedRequest): RecordedRequest {
    const users = Object.entries(request.metadata?.users ?? {}).filter(([name]) => !this.#is(name));
    return { ...request, metadata: { ...request.metadata, users: Object.fromEntries(users) } };
  }

  /** Whether a request comes again of which an earlier erasure took something. */
  #repeatsSpent(request: RecordedRequest): boolean {
    const spentAt = this.#spent.get(request.requestId);
    return !isSpent(request) && (spentAt?.some((at) => isRepeat(request.acceptedAt, at)) ?? false);
  }

  #isShared(sessionId: string): boolean {
    return this.#shared.get(sessionId) === true;
  }

  #isOfInstance({ instanceId }: RecordedRequest): boolean {
    return instanceId.toLowerCase() === this.#erased.instanceId;
  }

  /** Whether somebody's name is the one that goes. */
  #is(user: string): boolean {
    const known = this.#known.get(user);
    if (known !== undefined) return known;
    const { instanceId, digest } = this.#erased;
    const is = this.#digestOf('END_USER', instanceId, user) === digest;
    if (this.#known.size < MOST_KNOWN) this.#known.set(user, is);
    return is;
  }
}

/** Whether something of a request went. */
function isSpent({ erased, messages }: RecordedRequest): boolean {
  return erased === true || messages.some((message) => message.erased === true);
}

/** Whether two requests of an id are one that came twice, by when they were accepted: days apart, they are not. */
function isRepeat(acceptedAt: number, otherAt: number): boolean {
  return Math.abs(acceptedAt - otherAt) <= REQUEST_MEMORY_MICROS;
}

/** So many names are remembered; how many, changes no result. */
const MOST_KNOWN = 100_000;

/** The user whom a message names: as in the views, those of users' turns alone. */
function userOf({ role, userId, erased }: RecordedMessage): string | null {
  return userId === undefined || userId === '' || erased === true || roleOf(role) !== 'user' ? null : userId;
}
