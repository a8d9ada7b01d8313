/**
 * Reads the demo's conversations and dates them relative to today. The same day gives the same times.
 *
 * Test: test/doors/demo/conversations.test.ts.
 */
import { readFile } from 'node:fs/promises';

/** A conversation as written in `examples/demo/conversations.jsonl`. Its turns alternate; the user begins. */
export interface WrittenConversation {
  readonly id: string;
  readonly user: string;
  /** Start relative to today: days and a UTC time of day, such as `-12 09:30`. */
  readonly at: string;
  /** The customer's plan, and the version of the shop's app: attributes of segments. */
  readonly plan: string;
  readonly version: string;
  readonly turns: readonly string[];
}

/** A conversation in the import format; every turn has a time. */
export interface DatedConversation {
  readonly source: string;
  readonly id: string;
  readonly userId: string;
  readonly metadata: { readonly plan: string; readonly version: string };
  readonly turns: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: string;
    /** UTC, ISO 8601. */
    readonly createdAt: string;
    /** Of replies: what a small model would take and cost. */
    readonly metadata?: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly costUsd: number;
    };
  }[];
}

const DEMO_SOURCE = 'undertone-demo';

const DAY_MS = 86_400_000;

/** Reads the conversations. Throws an Error that names the line of an invalid one. */
export async function readDemoConversations(path: string): Promise<WrittenConversation[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const value: unknown = JSON.parse(line);
    if (!isWritten(value)) throw new Error(`${path}:${index + 1}: not a demo conversation`);
    return [value];
  });
}

/**
 * Dates a conversation in the weeks before `now` (milliseconds since 1970). Pauses between turns grow with length, like
 * reading and typing.
 */
export function dated(conversation: WrittenConversation, now: number): DatedConversation {
  const [days = '0', time = '00:00'] = conversation.at.split(' ');
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  let at = Math.floor(now / DAY_MS) * DAY_MS + Number(days) * DAY_MS + (hours * 60 + minutes) * 60_000;
  return {
    source: DEMO_SOURCE,
    id: conversation.id,
    userId: conversation.user,
    metadata: { plan: conversation.plan, version: conversation.version },
    turns: conversation.turns.map((content, index) => {
      const role = index % 2 === 0 ? ('user' as const) : ('assistant' as const);
      if (index > 0) at += role === 'assistant' ? 1_500 + content.length * 20 : 8_000 + content.length * 350;
      const createdAt = new Date(at).toISOString();
      if (role === 'user') return { role, content, createdAt };
      const before = conversation.turns.slice(0, index).join(' ').length;
      return { role, content, createdAt, metadata: usage(before, content.length) };
    }),
  };
}

/** Characters of a token, tokens of a system prompt, and US dollars for a million tokens in and out. */
const [PER_TOKEN, PROMPT, PRICE_IN, PRICE_OUT] = [4, 600, 0.4, 1.6];

function usage(charactersIn: number, charactersOut: number) {
  const inputTokens = PROMPT + Math.round(charactersIn / PER_TOKEN);
  const outputTokens = Math.round(charactersOut / PER_TOKEN);
  const costUsd = Math.round(inputTokens * PRICE_IN + outputTokens * PRICE_OUT) / 1e6;
  return { inputTokens, outputTokens, costUsd };
}

function isWritten(value: unknown): value is WrittenConversation {
  if (typeof value !== 'object' || value === null) return false;
  const { id, user, at, plan, version, turns } = value as Record<keyof WrittenConversation, unknown>;
  return (
    typeof id === 'string' &&
    typeof user === 'string' &&
    typeof at === 'string' &&
    typeof plan === 'string' &&
    typeof version === 'string' &&
    /^-[1-9]\d* \d{2}:\d{2}$/.test(at) &&
    Array.isArray(turns) &&
    turns.length > 0 &&
    turns.every((turn) => typeof turn === 'string' && turn.trim() !== '')
  );
}
