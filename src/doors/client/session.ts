/**
 * A conversation that a program logs. Messages without a time of their own get ascending times in the order of the
 * calls.
 *
 * Test: test/doors/client/session.test.ts.
 */
import type { IngestMetadata, Message } from './answers.ts';
import { UndertoneError } from './errors.ts';
import type { Flushed, Outbox, Target } from './outbox.ts';
import { sessionIdOf } from './session-id.ts';

export interface SessionOptions {
  /** A UUID of your choice. Default: derived from `externalId`, else a new one. */
  readonly sessionId?: string | undefined;
  /** Your own name for the session, at most 255 characters. The session id derives from it and the instance. */
  readonly externalId?: string | undefined;
  /** Default: the client's instance, else the default instance of the key's project. */
  readonly instanceId?: string | undefined;
  /** End user of user turns that name none. */
  readonly userId?: string | undefined;
  readonly metadata?: IngestMetadata | undefined;
}

/** Roles of user turns. @internal */
export const USER_ROLES: readonly string[] = [
  'user',
  'human',
  'customer',
  'end_user',
  'end-user',
  'enduser',
  'client',
  'visitor',
  'guest',
  'contact',
];

/** Members of a message besides role and content. */
export type Extra = Omit<Message, 'role' | 'content'>;

/**
 * One conversation. `log` never throws or rejects: messages that cannot be stored go to `onError`. It resolves at once,
 * or when the buffer has room.
 */
export class Session {
  /** Known from the start and equal in every query. */
  readonly id: string;
  readonly #outbox: Outbox;
  readonly #target: Target;
  readonly #userId: string | undefined;
  /** Time of the previous message, milliseconds: a clock that is set back does not change the order. */
  #lastAt = 0;

  /** @internal */
  constructor(options: SessionOptions, outbox: Outbox) {
    const { sessionId, externalId, instanceId, metadata } = options;
    this.id = sessionId ?? (externalId === undefined ? crypto.randomUUID() : idOf(instanceId, externalId));
    this.#outbox = outbox;
    this.#userId = options.userId;
    const named = externalId === undefined ? {} : { session: { ...metadata?.session, externalId } };
    this.#target = {
      sessionId: this.id,
      instanceId,
      metadata: externalId === undefined ? metadata : { ...metadata, ...named },
    };
  }

  /** Logs messages in order. A message without `createdAt` gets the time of this call. */
  log(messages: Message | readonly Message[]): Promise<void> {
    const list: readonly Message[] = Array.isArray(messages) ? messages : [messages as Message];
    return this.#outbox.add(
      this.#target,
      list.flatMap((message) => this.#write(message)),
    );
  }

  /** Logs a user turn. */
  user(content: string, extra: Extra = {}): Promise<void> {
    return this.log({ ...extra, role: 'user', content });
  }

  /** Logs an assistant turn. */
  assistant(content: string, extra: Extra = {}): Promise<void> {
    return this.log({ ...extra, role: 'assistant', content });
  }

  /** Sends waiting messages of all sessions; resolves when they are stored or lost. */
  flush(): Promise<Flushed> {
    return this.#outbox.flush();
  }

  /** Serialises a message; reports it if that fails. */
  #write(message: Message): string[] {
    try {
      const json: string | undefined = JSON.stringify(this.#complete(message));
      if (json === undefined) throw new TypeError('The message has no JSON.');
      return [json];
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#outbox.refuse(this.#target, new UndertoneError('INVALID_MESSAGE', reason, { cause }));
      return [];
    }
  }

  #complete(message: Message): Message {
    const isUser = USER_ROLES.includes((message.role ?? 'user').toLowerCase());
    const userId = message.userId ?? (isUser ? this.#userId : undefined);
    const createdAt = message.createdAt ?? message.metadata?.createdAt ?? this.#now();
    return { ...message, createdAt, ...(userId === undefined ? {} : { userId }) };
  }

  #now(): string {
    this.#lastAt = Math.max(this.#lastAt, Date.now());
    return new Date(this.#lastAt).toISOString();
  }
}

function idOf(instanceId: string | undefined, externalId: string): string {
  if (instanceId !== undefined) return sessionIdOf(instanceId, externalId);
  throw new TypeError(
    'A session with an externalId needs an instanceId, for its id follows from both. ' +
      'Give the client or the session one.',
  );
}
