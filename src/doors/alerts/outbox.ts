/**
 * The outbox: messages of alerts, before and after they are sent. Keeps the invariant that a message is stored before
 * it is sent, and once under its id.
 *
 * Test: test/doors/alerts/outbox.test.ts.
 */
import { v5 } from 'uuid';
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket, type KeyValueWatch } from '../../stream/kv/key-value.ts';

/** Bucket with the keys `message.<instance>.<alert>.<message>` and `seen.<instance>`. */
const OUTBOX_BUCKET = 'alert-outbox';

/** Time for which a message is kept so that it is not sent again. Evaluation never goes further back. */
const REMEMBERED_MS = 90 * 86_400_000;

export const MESSAGE_STATES = ['pending', 'delivered', 'dead'] as const;

/** A message and its state. Times are milliseconds since 1970. */
export interface Message {
  /** Also the `webhook-id` of each attempt. */
  readonly id: string;
  readonly instanceId: string;
  readonly ruleId: string;
  readonly type: 'alert' | 'digest' | 'test';
  /** Body, identical in every attempt. */
  readonly body: string;
  /** Text of the message, for people. */
  readonly text: string;
  readonly createdAt: number;
  readonly state: (typeof MESSAGE_STATES)[number];
  /** Number of finished attempts. */
  readonly attempts: number;
  /** Time of the next attempt while pending. */
  readonly nextAt: number;
  /** Result of the last attempt: HTTP status, or the reason why there was no answer. */
  readonly last: { readonly at: number; readonly status: number | null; readonly reason: string } | null;
}

/** The last evaluated moment of an instance. */
export interface Seen {
  /** Stream sequence that the numbers included. */
  readonly position: number;
  /** Time at which the stream stored the shard's newest entry by then, microseconds since 1970. */
  readonly storedAt: number;
}

/** A message and its revision in the bucket. */
export interface Held {
  readonly message: Message;
  /** Revision that the next update must name. */
  readonly revision: number;
}

/**
 * Derives a message id from alert, entity and window: a repeated evaluation gets the same id, which the outbox accepts
 * once. `windowStart`: microseconds since 1970.
 */
export function messageIdOf(ruleId: string, kind: string, entityId: string, windowStart: number): string {
  return v5(`${kind}:${entityId}:${windowStart}`, ruleId);
}

/** Stores messages in a key-value bucket. */
export class Outbox {
  readonly #bucket: KeyValueBucket;

  constructor(bucket: KeyValueBucket) {
    this.#bucket = bucket;
  }

  static async open(connection: StreamConnection, options: { replicas?: number } = {}): Promise<Outbox> {
    return new Outbox(await openKeyValue(connection, OUTBOX_BUCKET, { ...options, ttlMs: REMEMBERED_MS }));
  }

  /** Adds a message; false if its id was added before, in any state. */
  async add(message: Message): Promise<boolean> {
    return (await this.#bucket.create(keyOf(message), JSON.stringify(message))) !== null;
  }

  /** True if the message is stored and still pending. */
  async isPending(message: Message): Promise<boolean> {
    const entry = await this.#bucket.get(keyOf(message));
    return entry !== null && (JSON.parse(entry.value) as Message).state === 'pending';
  }

  /** Updates a message; returns the new revision, or null if it was changed meanwhile. */
  note(message: Message, revision: number): Promise<number | null> {
    return this.#bucket.update(keyOf(message), JSON.stringify(message), revision);
  }

  /** Lists the stored messages of an alert, newest first. */
  async of(instanceId: string, ruleId: string): Promise<Message[]> {
    const values = await this.#bucket.list(`message.${instanceId}.${ruleId}.*`);
    return values
      .map((value) => JSON.parse(value) as Message)
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
  }

  async seen(instanceId: string): Promise<Seen | null> {
    const entry = await this.#bucket.get(`seen.${instanceId}`);
    return entry === null ? null : (JSON.parse(entry.value) as Seen);
  }

  async see(instanceId: string, seen: Seen): Promise<void> {
    await this.#bucket.put(`seen.${instanceId}`, JSON.stringify(seen));
  }

  /** Watches all messages; null means that one expired. */
  watch(onMessage: (id: string, held: Held | null) => void): KeyValueWatch {
    return this.#bucket.watch((key, value, revision) => {
      const [kind, , , id = ''] = key.split('.');
      if (kind !== 'message') return;
      onMessage(id, value === null ? null : { message: JSON.parse(value) as Message, revision });
    });
  }
}

function keyOf({ instanceId, ruleId, id }: Message): string {
  return `message.${instanceId}.${ruleId}.${id}`;
}
