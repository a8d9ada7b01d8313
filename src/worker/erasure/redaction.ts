/**
 * Plans which places of stream records an erasure redacts. It reads the entries before the erasure twice: the first
 * pass finds the owners of sessions, the second plans each record.
 *
 * Test: test/worker/erasure/redaction.test.ts.
 */
import { quotesOf, withQuotes, type Curation } from '../../domain/curations.ts';
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

/** The subject of an erasure. */
export interface Erased {
  readonly kind: ErasedKind;
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly digest: string;
  /** Positions of messages, for the kind MESSAGES. */
  readonly positions?: readonly number[];
  /** Requests accepted after this instant stay, for the kind MESSAGES. ISO 8601; left out: no limit. */
  readonly sentBefore?: string;
}

/** The places of one record that are redacted. Only numbers, which identify nobody. */
export interface Places {
  /** Places of the requests that are redacted whole. */
  readonly whole: readonly number[];
  /** Messages of other requests: the place of the request, and indexes in it. */
  readonly messages: readonly (readonly [place: number, indexes: readonly number[]])[];
  /** Requests whose metadata describe the person. */
  readonly named: readonly number[];
  /**
   * Examples of own topics, and texts of corrections, that quote what goes: the place of the request, and indexes in
   * it. Missing in plans of version 0.4.0.
   */
  readonly quoted?: readonly (readonly [place: number, indexes: readonly number[]])[] | undefined;
}

/** The redaction of one record. */
export interface Plan extends Places {
  /** Ids of the sessions that lose messages. */
  readonly sessions: readonly string[];
  /** Number of messages that are redacted. */
  readonly count: number;
}

/** The texts of one curation, as they are compared, and the indexes of those that quote what goes. */
interface Examples {
  readonly texts: readonly string[];
  readonly quoting: Set<number>;
  isClosed: boolean;
}

/** One erasure. Reads the entries of its partition twice, each time in stream order. */
export class Redaction {
  readonly #erased: Erased;
  readonly #digestOf: ErasureDigest;
  /** Sessions of the end user; true if others took part, too. */
  readonly #shared = new Map<string, boolean>();
  /** Sessions of other users, in which the end user has not written so far. */
  readonly #others = new Set<string>();
  /** Shared sessions in which the end user was the last user to write. */
  readonly #speaking = new Set<string>();
  /** Redacted messages by request of shared sessions. A repeat reuses them, and does not change who wrote last. */
  readonly #read = new Map<string, { readonly acceptedAt: number; readonly theirs: readonly number[] }>();
  /** By request id, the times at which partly erased requests were accepted. */
  readonly #spent = new Map<string, number[]>();
  /** For MESSAGES: by request id, the messages to redact; a repeat of the request loses the same ones. */
  readonly #wanted = new Map<string, { readonly acceptedAt: number; readonly indexes: Set<number> }[]>();
  /** By id of a request that holds a curation, its texts; it is closed once the second pass has come to it. */
  readonly #examples = new Map<string, Examples>();
  readonly #sentBefore: number;
  readonly #positions: ReadonlySet<number>;
  /** Results by user name: the same people write again and again. */
  readonly #known = new Map<string, boolean>();

  constructor(erased: Erased, digestOf: ErasureDigest) {
    this.#erased = erased;
    this.#digestOf = digestOf;
    this.#positions = new Set(erased.positions);
    this.#sentBefore = erased.sentBefore === undefined ? Infinity : Date.parse(erased.sentBefore) * 1000;
  }

  /** Returns true if a session that loses messages loses all. Valid after the first pass. */
  isWhole(sessionId: string): boolean {
    return this.#erased.kind !== 'MESSAGES' && !this.#isShared(sessionId);
  }

  /** First pass. `sequence`: sequence of the entry. */
  note({ requests }: StreamRecord, sequence: number): void {
    if (this.#erased.kind === 'MESSAGES') this.#want(requests, sequence);
    for (const request of requests) this.#noteExamples(request);
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

  #noteExamples(request: RecordedRequest): void {
    const { requestId, curation } = request;
    if (curation === undefined || this.#examples.has(requestId)) return;
    const quotes = quotesOf(curation.action);
    if (quotes.length === 0) return;
    // Those of an instance go whole.
    if (this.#erased.kind === 'INSTANCE' || !this.#isOfInstance(request)) return;
    this.#examples.set(requestId, { texts: quotes.map(comparable), quoting: new Set(), isClosed: false });
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

  /** For MESSAGES: the messages to redact in a request, which may be a repeat. */
  #wantedOf({ requestId, acceptedAt, messages }: RecordedRequest): number[] {
    const wanted = (this.#wanted.get(requestId) ?? []).filter((one) => isRepeat(acceptedAt, one.acceptedAt));
    return messages.flatMap((_, index) => (wanted.some(({ indexes }) => indexes.has(index)) ? [index] : []));
  }

  /** Second pass: plans the redaction of a record; null if nothing is redacted. */
  plan({ requests }: StreamRecord): Plan | null {
    const whole: number[] = [];
    const messages: [number, readonly number[]][] = [];
    const named: number[] = [];
    const quoted: [number, readonly number[]][] = [];
    const sessions = new Set<string>();
    let count = 0;
    for (const [place, request] of requests.entries()) {
      if (!this.#isOfInstance(request) || request.erased === true) continue;
      const there = request.messages.flatMap(({ erased }, index) => (erased === true ? [] : [index]));
      const goes = this.#isWholeRequest(request);
      const indexes = goes ? there : this.#theirs(request);
      // A request that loses all its messages goes whole: nobody would have sent it without them.
      const isWhole = goes || (there.length > 0 && indexes.length === there.length);
      if (isWhole) whole.push(place);
      else {
        if (indexes.length > 0) messages.push([place, indexes]);
        if (this.#names(request)) named.push(place);
        const examples = this.#quotesIn(request);
        if (examples.length > 0) quoted.push([place, examples]);
      }
      for (const index of indexes) this.#markQuotes(request.messages[index]!);
      if (indexes.length > 0) sessions.add(request.sessionId);
      count += indexes.length;
    }
    if (whole.length + messages.length + named.length + quoted.length === 0) return null;
    return { whole, messages, named, quoted, sessions: [...sessions], count };
  }

  /** Returns the redacted record. Idempotent. */
  redacted(record: StreamRecord, { whole, messages, named, quoted = [] }: Places): StreamRecord {
    const gone = new Map(messages.map(([place, indexes]) => [place, new Set(indexes)]));
    const quotes = new Map(quoted.map(([place, indexes]) => [place, new Set(indexes)]));
    const requests = record.requests.map((request, place) => {
      if (request.erased === true) return request;
      if (whole.includes(place)) return erasedRequest(request);
      const examples = quotes.get(place);
      if (examples !== undefined) return withoutExamples(request, examples);
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
    return { v: record.v === 5 ? 5 : 4, requests };
  }

  /** Returns true if the whole request is redacted. */
  #isWholeRequest(request: RecordedRequest): boolean {
    const { sessionId, writing, curation, feedback, erasure, messages } = request;
    const { kind, digest, instanceId } = this.#erased;
    if (kind === 'MESSAGES') {
      const target = feedback?.position;
      if (target !== undefined) return this.#positions.has(target);
      return messages.length > 0 && this.#wantedOf(request).length === messages.length;
    }
    if (kind === 'INSTANCE') return erasure === undefined;
    // It does not count, as it repeats a request, but it still contains the erased data.
    if (this.#repeatsSpent(request)) return true;
    // A writing about a session quotes it; a check or a correction of its outcome names it.
    const session = judgedBy(curation) ?? (writing?.target === 'session' ? writing.id : sessionId);
    if (session === '') return false;
    if (kind === 'SESSION') return this.#digestOf('SESSION', instanceId, session) === digest;
    const isShared = this.#shared.get(session);
    // Without an author it may be theirs.
    if (feedback !== undefined && isShared === true)
      return feedback.userId === undefined || this.#is(feedback.userId);
    if (feedback?.userId !== undefined && this.#is(feedback.userId)) return true;
    return isShared === false || (isShared === true && writing !== undefined);
  }

  /** The single messages to redact. For END_USER: the user's messages in a shared session, and the replies to them. */
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

  /** Marks the examples that quote a text that goes. The messages that a person quotes come before. */
  #markQuotes({ role, content, erased }: RecordedMessage): void {
    if (this.#examples.size === 0 || erased === true || roleOf(role) !== 'user') return;
    const text = comparable(content);
    for (const { isClosed, texts, quoting } of this.#examples.values()) {
      if (isClosed) continue;
      for (const [index, example] of texts.entries())
        if (!quoting.has(index) && quotes(example, text)) quoting.add(index);
    }
  }

  /** Indexes of the examples that quote; a repeat of the request loses the same ones. */
  #quotesIn({ requestId }: RecordedRequest): readonly number[] {
    const examples = this.#examples.get(requestId);
    if (examples === undefined) return [];
    examples.isClosed = true;
    return [...examples.quoting];
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

  /** Returns the request without metadata of the person. */
  #unnamed(request: RecordedRequest): RecordedRequest {
    const users = Object.entries(request.metadata?.users ?? {}).filter(([name]) => !this.#is(name));
    return { ...request, metadata: { ...request.metadata, users: Object.fromEntries(users) } };
  }

  /** Returns true if the request repeats one that an earlier erasure redacted. */
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

  /** Returns true if the user is the subject of the erasure. */
  #is(user: string): boolean {
    const known = this.#known.get(user);
    if (known !== undefined) return known;
    const { instanceId, digest } = this.#erased;
    const is = this.#digestOf('END_USER', instanceId, user) === digest;
    if (this.#known.size < MOST_KNOWN) this.#known.set(user, is);
    return is;
  }
}

/** The session that a curation is a judgement of, or null. */
function judgedBy(curation: Curation | undefined): string | null {
  if (curation === undefined) return null;
  const { action } = curation;
  if (action.kind === 'CHECK') return action.session;
  return 'outcome' in action ? action.id : null;
}

/** Returns true if a part of the request was erased. */
function isSpent({ erased, messages }: RecordedRequest): boolean {
  return erased === true || messages.some((message) => message.erased === true);
}

/** Returns true if two requests with one id are repeats; further apart, they are different requests. */
function isRepeat(acceptedAt: number, otherAt: number): boolean {
  return Math.abs(acceptedAt - otherAt) <= REQUEST_MEMORY_MICROS;
}

/** Leaves an empty text in the place of each example, so that the others keep their indexes. */
function withoutExamples(request: RecordedRequest, indexes: ReadonlySet<number>): RecordedRequest {
  const { curation } = request;
  if (curation === undefined) return request;
  const left = quotesOf(curation.action).map((text, index) => (indexes.has(index) ? '' : text));
  return { ...request, curation: { ...curation, action: withQuotes(curation.action, left) } };
}

/** A text as it is compared: the page collapses white space, and people change capitals. */
function comparable(text: string): string {
  // Half a character at the end is what a cut left.
  return text
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/\ufffd$/u, '')
    .toLowerCase();
}

/** Marks of what was left out of a wording that the service showed. */
const LEFT_OUT = /[•…]+/u;
/** Least length of a part of a text that quotes it, UTF-16 units: shorter ones are common. */
const LEAST_QUOTE = 20;

/** True if an example is a text, or a part of it, with marks where something was left out. Both are `comparable`. */
function quotes(example: string, text: string): boolean {
  if (example === '') return false;
  if (example === text) return true;
  const parts = example
    .split(LEFT_OUT)
    .map((part) => part.trim())
    .filter(Boolean);
  if (parts.reduce((sum, { length }) => sum + length, 0) < LEAST_QUOTE) return false;
  let from = 0;
  return parts.every((part) => {
    const at = text.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}

/** Size of the cache of names. It changes no result. */
const MOST_KNOWN = 100_000;

/** The end user of a message. Only user turns have one, as in the views. */
function userOf({ role, userId, erased }: RecordedMessage): string | null {
  return userId === undefined || userId === '' || erased === true || roleOf(role) !== 'user' ? null : userId;
}
