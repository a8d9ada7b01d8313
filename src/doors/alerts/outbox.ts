/** Covered by test/doors/alerts/outbox.test.ts. */
import { v5 } from 'uuid';
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket, type KeyValueWatch } from '../../stream/kv/key-value.ts';

/** Bucket of what alerts have to say: `message.<instance>.<alert>.<message>`, and `seen.<instance>`. */
const OUTBOX_BUCKET = 'alert-outbox';

/**
 * How long a message is remembered, so that it is not sent again. Longer than anything that makes the same one:
 * nothing is evaluated that lies further back.
 */
const REMEMBERED_MS = 90 * 86_400_000;

export const MESSAGE_STATES = ['pending', 'delivered', 'dead'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** What an alert has to say, and what became of it. Times are milliseconds since 1970-01-01 UTC. */
export interface Message {
  /** Also the `webhook-id` of every attempt. */
  readonly id: string;
  readonly instanceId: string;
  readonly ruleId: string;
  readonly type: 'alert' | 'digest' | 'test';
  /** What is posted, in every attempt the same. */
  readonly body: string;
  /** The same in one sentence. */
  readonly text: string;
  readonly createdAt: number;
  readonly state: MessageState;
  /** Attempts that have ended. */
  readonly attempts: number;
  /** Of a pending one: when it is sent next. */
  readonly nextAt: number;
  /** How the last attempt ended: the status of the answer, or why there was none. */
  readonly last: { readonly at: number; readonly status: number | null; readonly reason: string } | null;
}

/** How far an instance has been evaluated. */
export interface Seen {
  /** Stream sequence that the numbers contained. */
  readonly position: number;
  /** When the stream stored the newest entry of the shard by then, microseconds since 1970-01-01 UTC. */
  readonly storedAt: number;
}

/** A message as it is stored now. */
export interface Held {
  readonly message: Message;
  /** What its next change has to name. */
  readonly revision: number;
}

/**
 * The id of what an alert says of an entity in a window: evaluated again, by whomever, it is the same, and the outbox
 * takes it once. `windowStart`: microseconds since 1970-01-01 UTC.
 */
export function messageIdOf(ruleId: string, kind: string, entityId: string, windowStart: number): string {
  return v5(`${kind}:${entityId}:${windowStart}`, ruleId);
}

/** Messages before and after they are sent: each is stored before anything of it leaves. */
export class Outbox {
  readonly #bucket: KeyValueBucket;

  constructor(bucket: KeyValueBucket) {
    this.#bucket = bucket;
  }

  static async open(connection: StreamConnection, options: { replicas?: number } = {}): Promise<Outbox> {
    return new Outbox(await openKeyValue(connection, OUTBOX_BUCKET, { ...options, ttlMs: REMEMBERED_MS }));
  }

  /** Puts a message in; false when it was put in before, whatever became of it. */
  async add(message: Message): Promise<boolean> {
    return (await this.#bucket.create(keyOf(message), JSON.stringify(message))) !== null;
  }

  /** Whether a message is in, and neither delivered nor given up. */
  async isPending(message: Message): Promise<boolean> {
    const entry = await this.#bucket.get(keyOf(message));
    return entry !== null && (JSON.parse(entry.value) as Message).state === 'pending';
  }

  /** Notes what became of a message; the new revision, or null when somebody else has noted something. */
  note(message: Message, revision: number): Promise<number | null> {
    return this.#bucket.update(keyOf(message), JSON.stringify(message), revision);
  }

  /** All messages of an alert that are remembered, the newest first. */
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

  /** Follows all messages; null: it is forgotten. */
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
