import type { IngestMetadata, Message } from './answers.ts';
import { UndertoneError } from './errors.ts';
import type { Flushed, Outbox, Target } from './outbox.ts';
import { sessionIdOf } from './session-id.ts';

export interface SessionOptions {
  /** A UUID that you chose. Default: that of `externalId`, else a new one. */
  readonly sessionId?: string | undefined;
  /** Your own name for the session, at most 255 characters. The session's id follows from it and the instance. */
  readonly externalId?: string | undefined;
  /** Default: the client's instance, else the default instance of the key's project. */
  readonly instanceId?: string | undefined;
  /** Of user turns that name none. */
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

/** What a message may have besides role and content. */
export type Extra = Omit<Message, 'role' | 'content'>;

/**
 * One conversation. `log` never throws and never rejects: what cannot be stored goes to `onError`. It resolves at once,
 * or when there is room in the buffer.
 */
export class Session {
  /** Known from the start, and the same in every query. */
  readonly id: string;
  readonly #outbox: Outbox;
  readonly #target: Target;
  readonly #userId: string | undefined;
  /** Of the message before, milliseconds: a clock that is set back does not change the order of messages. */
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

  /** Takes messages in their order. A message without `createdAt` gets the time of this call. */
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

  /** Sends what waits, that of other sessions too; resolves when it is stored or given up. */
  flush(): Promise<Flushed> {
    return this.#outbox.flush();
  }

  /** As JSON; what cannot be written is reported. */
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
