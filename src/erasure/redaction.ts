/**
 * What of the conversations goes with an erasure. Two readings of the entries before it: the first finds out whose the
 * sessions are, the second writes entries without what goes. Covered by test/erasure/redaction.test.ts.
 */
import type { ErasedKind, ErasureDigest } from '../domain/erasures.ts';
import { roleOf, type RecordedMessage, type RecordedRequest, type StreamRecord } from '../domain/records.ts';

/** Whom an erasure is of. */
export interface Erased {
  readonly kind: ErasedKind;
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly digest: string;
}

/** What one record lost. */
export interface Redacted {
  readonly record: StreamRecord;
  readonly messages: number;
  /** Sessions of which something went, by id. */
  readonly sessions: readonly string[];
}

/** What stands at the place of a message that went. */
const ERASED_MESSAGE: RecordedMessage = { content: '', role: 'erased', at: 0, erased: true };

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
  /** By name: the same people write again and again. */
  readonly #known = new Map<string, boolean>();

  constructor(erased: Erased, digestOf: ErasureDigest) {
    this.#erased = erased;
    this.#digestOf = digestOf;
  }

  /** Whether a session of which something goes goes whole. Known after the first reading. */
  isWhole(sessionId: string): boolean {
    return !this.#isShared(sessionId);
  }

  /** The first reading. Only an end user needs it. */
  note({ requests }: StreamRecord): void {
    if (this.#erased.kind !== 'END_USER') return;
    for (const request of requests) {
      if (!this.#isOfInstance(request)) continue;
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

  /** The second reading: the record without what goes; null: nothing of it does. */
  redact(record: StreamRecord): Redacted | null {
    let messages = 0;
    const sessions = new Set<string>();
    let isChanged = false;
    const requests = record.requests.map((request) => {
      const left = this.#left(request);
      if (left === request) return request;
      isChanged = true;
      const went = left.messages.filter(
        (one, at) => one.erased === true && request.messages[at]!.erased !== true,
      );
      messages += went.length;
      if (went.length > 0) sessions.add(request.sessionId);
      return left;
    });
    return isChanged ? { record: { v: 4, requests }, messages, sessions: [...sessions] } : null;
  }

  /** A request as it is left; the same one: nothing of it goes. */
  #left(request: RecordedRequest): RecordedRequest {
    if (!this.#isOfInstance(request) || request.erased === true) return request;
    const { kind, digest, instanceId } = this.#erased;
    if (kind === 'INSTANCE') return request.erasure === undefined ? gone(request) : request;
    const { sessionId, writing } = request;
    // What was written about a session quotes it.
    const session = writing?.target === 'session' ? writing.id : sessionId;
    if (session !== '' && kind === 'SESSION' && this.#digestOf('SESSION', instanceId, session) === digest)
      return gone(request);
    if (kind !== 'END_USER') return request;
    const isShared = this.#shared.get(session);
    if (isShared === false) return gone(request);
    if (isShared === true && writing !== undefined) return gone(request);
    return this.#withoutUser(request, isShared === true);
  }

  /** Without the person's messages and the replies to them, and without what was said of them beside messages. */
  #withoutUser(request: RecordedRequest, isTheirs: boolean): RecordedRequest {
    const { sessionId, metadata } = request;
    let isChanged = false;
    const messages = !isTheirs
      ? request.messages
      : request.messages.map((message) => {
          const user = userOf(message);
          if (roleOf(message.role) === 'user' && message.erased !== true) {
            if (user !== null && this.#is(user)) this.#speaking.add(sessionId);
            else this.#speaking.delete(sessionId);
          }
          if (message.erased === true || !this.#speaking.has(sessionId)) return message;
          isChanged = true;
          return ERASED_MESSAGE;
        });
    const users = Object.entries(metadata?.users ?? {});
    const others = users.filter(([name]) => !this.#is(name));
    if (others.length === users.length) return isChanged ? { ...request, messages } : request;
    return { ...request, messages, metadata: { ...metadata, users: Object.fromEntries(others) } };
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

/** So many names are remembered; how many, changes no result. */
const MOST_KNOWN = 100_000;

/** The user whom a message names: as in the views, those of users' turns alone. */
function userOf({ role, userId, erased }: RecordedMessage): string | null {
  return userId === undefined || userId === '' || erased === true || roleOf(role) !== 'user' ? null : userId;
}

/** A request of which nothing is left but its places, and its id, which guards against its repetition. */
function gone({ requestId, projectId, instanceId, acceptedAt, messages }: RecordedRequest): RecordedRequest {
  return {
    requestId,
    projectId,
    instanceId,
    sessionId: '',
    acceptedAt,
    messages: messages.map(() => ERASED_MESSAGE),
    erased: true,
  };
}
