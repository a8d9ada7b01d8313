import { createHash } from 'node:crypto';
import type { Usage } from '../../../../src/domain/usage.ts';
import type { Observation, ObservedMessage } from '../../../../src/doors/traces/observation.ts';

/** Numbers that a seed decides (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 to `sides` − 1. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * sides);
  }

  chance(share: number): boolean {
    return this.roll(1000) < 1000 * share;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.roll(items.length)] as T;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const left = [...items];
    return items.map(() => left.splice(this.roll(left.length), 1)[0] as T);
  }
}

/** How an application traces its conversations. */
export interface Style {
  /** What a call takes in: all that was said, the last four messages of it, or what is said now. */
  readonly history: 'full' | 'window' | 'last';
  /** Above the calls: an agent with the same content, a span without any, or nothing (then each is a trace). */
  readonly above: 'agent' | 'work' | 'nothing';
  readonly ids: 'all' | 'top' | 'none';
  /** Steps with a tool before an answer, at most; `says`: the assistant says something before it uses one. */
  readonly tools: number;
  readonly says: boolean;
}

/** What has to come out. */
export interface ExpectedConversation {
  /** Undefined: it has none, so each of its traces is a conversation. */
  readonly id: string | undefined;
  readonly messages: readonly (ObservedMessage & { readonly userId?: string; readonly trace: string })[];
  /** Input tokens of all calls. */
  readonly tokens: number;
}

/** The conversations that come out: without an id, each trace is one. */
export function conversationsIn({
  id,
  messages: expectedMessages,
}: ExpectedConversation): (readonly object[])[] {
  const conversations =
    id === undefined ? Map.groupBy(expectedMessages, ({ trace }) => trace).values() : [expectedMessages];
  const withoutTrace = (message: ExpectedConversation['messages'][number]): object =>
    Object.fromEntries(Object.entries(message).filter(([name]) => name !== 'trace'));
  return [...conversations].map((messages) => messages.map(withoutTrace));
}

const QUESTIONS = ['Yes', 'Next one, please', 'Where is it?', 'Thanks', 'And then?'];
const ANSWERS = ['Done.', 'It is on its way.', 'Anything else?', 'Here you are.'];
const SECOND = 1_000_000;

/** Times between begin and end of everything are unlike each other. */
export function conversation(
  dice: Dice,
  name: string,
  style: Style,
): { readonly expected: ExpectedConversation; readonly observations: Observation[] } {
  const { history, above, ids, tools, says } = style;
  const id = ids === 'none' ? undefined : `conversation ${name}`;
  const userId = dice.chance(0.5) ? `user ${name}` : undefined;
  const expectedMessages: (ObservedMessage & { readonly trace: string })[] = [];
  const observations: Observation[] = [];
  let now = 1_772_000_000 * SECOND + dice.roll(1000) * SECOND + dice.roll(1000);
  let spans = 0;
  /** Calls and agents take tokens, and an agent says the sum of its calls. */
  const usageOf = (inputTokens: number): { readonly usage: Usage } => ({
    usage: { inputTokens, outputTokens: null, costNanos: null },
  });
  const took = (): number => 2 ** (spans % 20);
  let tokens = 0;
  const hex = (text: string, length: number): string =>
    createHash('sha256').update(text).digest('hex').slice(0, length);
  for (let turn = 0, turns = 1 + dice.roll(4); turn < turns; turn += 1) {
    // Much is said again and again. Without a history, a question whose answer has not come yet cannot be told from the
    // same one, asked again later.
    const own = history === 'last' && tools > 0 ? ` ${turn}` : '';
    const question: ObservedMessage = { role: 'user', content: dice.pick(QUESTIONS) + own };
    const all = expectedMessages.map(({ role, content }): ObservedMessage => ({ role, content }));
    const before = history === 'last' ? [] : all.slice(history === 'full' ? 0 : -3);
    const top = hex(`${name} top ${turn}`, 16);
    const startedAt = now;
    const inside: ObservedMessage[] = [question];
    const traces: string[] = [];
    const steps = dice.roll(tools + 1);
    const tokensBefore = tokens;
    for (let step = 0; step <= steps; step += 1) {
      const isLast = step === steps;
      const words = dice.pick(ANSWERS) + (isLast ? '' : ' Let me look.');
      const answered: ObservedMessage[] = isLast || says ? [{ role: 'assistant', content: words }] : [];
      const begin = now;
      now += SECOND + dice.roll(SECOND);
      const isTop = above === 'nothing';
      const traceId = hex(`${name} trace ${turn} ${isTop ? step : ''}`, 32);
      if (step === 0) traces.push(traceId);
      if (answered.length > 0) traces.push(traceId);
      observations.push({
        traceId,
        spanId: hex(`${name} span ${(spans += 1)}`, 16),
        ...(isTop ? {} : { parentSpanId: top }),
        kind: 'chat',
        startedAt: begin,
        endedAt: now,
        ...(id !== undefined && (ids === 'all' || isTop) ? { conversationId: id } : {}),
        ...(userId !== undefined && (ids === 'all' || isTop) ? { userId } : {}),
        asked: [...before, ...inside],
        answered,
        ...(step > 0 ? { continues: true } : {}),
        lacksContent: false,
        ...usageOf(took()),
      });
      tokens += took();
      inside.push(...answered);
      now += 1 + dice.roll(SECOND);
    }
    if (above !== 'nothing') {
      const traceId = hex(`${name} trace ${turn} `, 32);
      const last = inside.slice(-1);
      const isAgent = above === 'agent';
      if (isAgent && dice.chance(0.3)) {
        observations.push({
          traceId,
          spanId: hex(`${name} span ${(spans += 1)}`, 16),
          parentSpanId: top,
          kind: 'chat',
          startedAt: startedAt + 5,
          endedAt: startedAt + 9,
          asked: [{ role: 'user', content: `Give this a title: ${question.content}` }],
          answered: [{ role: 'assistant', content: 'A title' }],
          lacksContent: false,
          ...usageOf(took()),
        });
        tokens += took();
      }
      observations.push({
        traceId,
        spanId: top,
        kind: isAgent ? 'agent' : 'other',
        startedAt: startedAt - 3,
        endedAt: now,
        ...(id === undefined ? {} : { conversationId: id }),
        ...(userId === undefined ? {} : { userId }),
        asked: isAgent ? [...before, question] : [],
        answered: isAgent ? last : [],
        lacksContent: false,
        ...(isAgent ? usageOf(tokens - tokensBefore) : {}),
      });
      // What an agent says on the way is its inner work; the application keeps what it answered.
      if (isAgent) inside.splice(1, inside.length - 1, ...last);
    }
    expectedMessages.push(...inside.map((message, index) => ({ ...message, trace: traces[index] ?? '' })));
    now += 1 + dice.roll(20 * SECOND);
  }
  const expected = expectedMessages.map((message) =>
    message.role === 'user' && userId !== undefined ? { ...message, userId } : message,
  );
  return { expected: { id, messages: expected, tokens }, observations };
}

export const STYLES: readonly Style[] = (['full', 'window', 'last'] as const).flatMap((history) =>
  (['agent', 'work', 'nothing'] as const).flatMap((above) =>
    (['all', 'top', 'none'] as const).flatMap((ids) =>
      [
        { tools: 0, says: false },
        { tools: 2, says: false },
        { tools: 2, says: true },
      ].map((more) => ({ history, above, ids, ...more })),
    ),
  ),
);
