import type { Client, Ids } from './client.ts';

/** Messages for whole flows: the words are plain enough that what they mean is beyond dispute. */
export interface Message {
  readonly role?: string;
  readonly userId?: string;
  readonly content: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Four ways to ask for the same thing, which nothing else here is about. */
export const CANCEL = [
  'I want to cancel my hotel booking.',
  'Please cancel my hotel booking.',
  'How do I cancel a hotel booking?',
  'Cancel the hotel booking please.',
] as const;

/** The same for a thing that has nothing to do with it. */
export const PASSWORD = [
  'I forgot my password and need to reset it.',
  'Please reset my password.',
  'How do I reset my password?',
  'I need to reset the password.',
] as const;

export const THANKS = 'Thank you so much!';
export const COMPLAINT = 'That is wrong, this is not what I asked for!';
export const DONE = 'I have done that for you.';
/** An assistant that cannot do something. */
export const CANNOT = "I'm sorry, I am not able to cancel bookings.";
/** An assistant that does not know something. */
export const UNKNOWN = "I'm sorry, I don't have any information about that hotel.";
export const GREETING = 'Hello! How can I help you today?';

/** A user turn at an event time (ISO 8601); of `ada` unless said otherwise. `userId` null: left out. */
export function user(content: string, at: string, userId: string | null = 'ada'): Message {
  return { role: 'user', ...(userId === null ? {} : { userId }), content, metadata: { createdAt: at } };
}

export function assistant(content: string, at: string): Message {
  return { role: 'assistant', content, metadata: { createdAt: at } };
}

/** A turn of any role. */
export function turn(role: string, content: string, at: string): Message {
  return { role, content, metadata: { createdAt: at } };
}

/** An instance that was filled, and the position to wait for. */
export interface Filled {
  readonly instanceId: string;
  /** Session ids, in the order of the conversations. */
  readonly sessions: readonly string[];
  readonly position: number;
}

/** Makes a label of an instance; the position to wait for. */
export async function label(
  client: Client,
  instanceId: string,
  examples: readonly string[],
): Promise<number> {
  const { status, headers, body } = await client.send('/v1/labels', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ instanceId, name: 'Wants out', examples }),
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return Number(headers.get('x-stream-position'));
}

/** Ingests each conversation as a session of a new instance, one after the other. */
export async function fill(client: Client, conversations: readonly (readonly Message[])[]): Promise<Filled> {
  const accepted: Ids[] = [];
  for (const messages of conversations) {
    const instanceId = accepted[0]?.instanceId;
    accepted.push(await client.ingest({ ...(instanceId === undefined ? {} : { instanceId }), messages }));
  }
  return {
    instanceId: accepted[0]?.instanceId ?? '',
    sessions: accepted.map(({ sessionId }) => sessionId),
    position: accepted.at(-1)?.position ?? 0,
  };
}
