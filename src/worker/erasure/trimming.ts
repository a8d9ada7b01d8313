/**
 * Removes from the entries of an instance the data whose retention has ended. The first pass finds the time of the last
 * message of each session and end user, the second trims records.
 *
 * Test: test/worker/erasure/trimming.test.ts.
 */
import type { Curation } from '../../domain/curations.ts';
import { ERASED_MESSAGE, erasedRequest } from '../../domain/erased-records.ts';
import type { Feedback } from '../../domain/feedback.ts';
import type { RecordedMessage, RecordedRequest, StreamRecord } from '../../domain/records.ts';
import type { Cutoffs } from '../../domain/retention.ts';

/** One retention run of an instance. */
export class Trimming {
  readonly #instanceId: string;
  readonly #cutoffs: Cutoffs;
  readonly #nobodyOf: (externalId: string) => string;
  /** Messages, in the second pass, that have no text (removed now or before) or no longer count. */
  expired = 0;
  /** Time of the last message, microseconds, by session and by end user. */
  readonly #sessions = new Map<string, number>();
  readonly #people = new Map<string, number>();
  /** For end users that only metadata name: time of the last message beside it. */
  readonly #named = new Map<string, number>();

  /** `nobodyOf`: maps the name of an end user to a pseudonym, and a pseudonym to itself. */
  constructor(instanceId: string, cutoffs: Cutoffs, nobodyOf: (externalId: string) => string) {
    this.#instanceId = instanceId;
    this.#cutoffs = cutoffs;
    this.#nobodyOf = nobodyOf;
  }

  /** First pass. */
  note({ requests }: StreamRecord): void {
    for (const request of requests) {
      if (!this.#isOfInstance(request)) continue;
      for (const message of request.messages) {
        if (message.erased === true) continue;
        later(this.#sessions, request.sessionId, message.at);
        // A userId counts in messages of every role.
        if (message.userId !== undefined) later(this.#people, message.userId, message.at);
        for (const name of Object.keys(request.metadata?.users ?? {})) later(this.#named, name, message.at);
      }
      // Whoever only gives feedback was there when it was accepted.
      const rater = request.feedback?.userId;
      if (rater !== undefined) later(this.#named, rater, request.acceptedAt);
    }
  }

  /** Second pass: returns the trimmed record, or null if nothing changes. Idempotent. */
  trimmed(record: StreamRecord): StreamRecord | null {
    let isChanged = false;
    const requests = record.requests.map((request) => {
      if (!this.#isOfInstance(request) || request.erased === true) return request;
      const left = this.#requestWithout(request);
      if (left !== request) isChanged = true;
      return left;
    });
    return isChanged ? { v: record.v === 5 ? 5 : 4, requests } : null;
  }

  #requestWithout(request: RecordedRequest): RecordedRequest {
    const { writing, curation, feedback, messages, sessionId, metadata } = request;
    if (feedback !== undefined) return this.#feedbackWithout(request, feedback);
    if (curation !== undefined) return this.#correctionWithout(request, curation);
    if (writing !== undefined)
      return writing.target === 'session' && this.#isOld(writing.id, this.#cutoffs.texts)
        ? erasedRequest(request)
        : request;
    if (messages.length === 0) return request;
    const left = messages.map((message) => this.#messageWithout(sessionId, message));
    if (left.every(({ erased }) => erased === true)) return erasedRequest(request);
    const about = this.#metadataWithout(sessionId, metadata);
    const isSame = about === metadata && left.every((message, index) => message === messages[index]);
    if (isSame) return request;
    const { metadata: _, ...rest } = request;
    return { ...rest, messages: left, ...(about === undefined ? {} : { metadata: about }) };
  }

  /** A correction quotes what somebody wrote; examples of own topics are what people typed. */
  #correctionWithout(request: RecordedRequest, curation: Curation): RecordedRequest {
    const { action } = curation;
    const { texts } = this.#cutoffs;
    if (!('text' in action) || action.text === '' || texts === null || request.acceptedAt >= texts)
      return request;
    return { ...request, curation: { ...curation, action: { ...action, text: '' } } };
  }

  /** A comment goes with the texts of its time, and an author with the names. */
  #feedbackWithout(request: RecordedRequest, feedback: Feedback): RecordedRequest {
    const { texts } = this.#cutoffs;
    const { comment, userId, ...rest } = feedback;
    const isOld = comment !== undefined && texts !== null && request.acceptedAt < texts;
    const author = userId === undefined || !this.#isGone(userId) ? userId : this.#nobodyOf(userId);
    if (!isOld && author === userId) return request;
    const left = {
      ...rest,
      ...(comment === undefined || isOld ? {} : { comment }),
      ...(author === undefined ? {} : { userId: author }),
    };
    return { ...request, feedback: left };
  }

  #messageWithout(sessionId: string, message: RecordedMessage): RecordedMessage {
    const { texts, counts } = this.#cutoffs;
    if (message.erased === true) return message;
    if (counts !== null && message.at < counts) {
      this.expired += 1;
      return ERASED_MESSAGE;
    }
    const named = this.#withoutName(message);
    if (message.expired === true) {
      this.expired += 1;
      return named;
    }
    if (!this.#isOld(sessionId, texts)) return named;
    const { metadata: _, ...rest } = named;
    this.expired += 1;
    return { ...rest, content: '', expired: true };
  }

  #withoutName(message: RecordedMessage): RecordedMessage {
    const { userId } = message;
    if (userId === undefined || !this.#isGone(userId)) return message;
    const nobody = this.#nobodyOf(userId);
    return nobody === userId ? message : { ...message, userId: nobody };
  }

  #metadataWithout(sessionId: string, metadata: RecordedRequest['metadata']): RecordedRequest['metadata'] {
    if (metadata === undefined) return metadata;
    const { session, users, ...rest } = metadata;
    const isOld = session !== undefined && this.#isOld(sessionId, this.#cutoffs.people);
    const all = Object.entries(users ?? {});
    const left = all.filter(([name]) => !this.#isGone(name));
    if (!isOld && left.length === all.length) return metadata;
    return {
      ...rest,
      ...(session === undefined || isOld ? {} : { session }),
      ...(left.length === 0 ? {} : { users: Object.fromEntries(left) }),
    };
  }

  #isOld(sessionId: string, before: number | null): boolean {
    return before !== null && (this.#sessions.get(sessionId) ?? Infinity) < before;
  }

  /** Returns true if the last message of an end user is older than the cutoff. */
  #isGone(externalId: string): boolean {
    const { people } = this.#cutoffs;
    const last = this.#people.get(externalId) ?? this.#named.get(externalId) ?? Infinity;
    return people !== null && last < people;
  }

  #isOfInstance({ instanceId }: RecordedRequest): boolean {
    return instanceId.toLowerCase() === this.#instanceId;
  }
}

function later(times: Map<string, number>, key: string, at: number): void {
  if (at > (times.get(key) ?? -Infinity)) times.set(key, at);
}
