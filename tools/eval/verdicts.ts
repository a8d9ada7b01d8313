/**
 * What is said of people, whatever the assistant's style: reactions after four kinds of assistant turns, bare replies,
 * whole conversations with their outcomes and repeats, the same customers before six styles, and a shop's first requests.
 * Sets written for this repository (`test/gold/README.md`). Covered by test/tools/eval/verdicts.test.ts.
 */
import { z } from 'zod';
import { signalsInContext } from '../../src/reader/conversations/signal-context.ts';
import { SESSION_OUTCOMES } from '../../src/domain/session-outcomes.ts';
import { findIn } from '../../src/reader/acts/finding.ts';
import { loadHeads, type Heads } from '../../src/reader/acts/heads.ts';
import { typeOf } from '../../src/reader/acts/signals.ts';
import { madeConversation, type LabelledConversation } from './conversations.ts';
import { mostCommon, shareOf } from './counts.ts';
import { readGold, type GoldPart } from './gold.ts';
import { loadPipeline, type Assigned, type Pipeline } from './pipeline.ts';
import { needsFolder, type Evaluation, type EvalTable, type Row } from './report.ts';

const PARTS = ['tuned', 'sealed'] as const satisfies readonly GoldPart[];
const FRAMES = ['plain', 'wait', 'question', 'forwarded'] as const;
const FIRST_REQUESTS = [20, 40, 65] as const;
/** A topic is right for a request when it holds at least this many of its intent. */
const LEAST_OF_INTENT = 2;

const type = z.enum(['SAT', 'DSAT']).nullable();
const reaction = z.object({ lang: z.string(), user: z.string(), type, isPlain: z.boolean() });
const frame = z.object({ frame: z.enum(FRAMES), lang: z.string(), assistant: z.string() });
const bareReply = z.object({ assistant: z.string(), user: z.string(), type });
const conversation = z.object({
  turns: z.array(
    z.object({
      role: z.enum(['user', 'assistant']),
      content: z.string(),
      type: type.optional(),
      repeats: z.int().optional(),
    }),
  ),
  outcome: z.enum(SESSION_OUTCOMES),
});
const customer = z.object({
  user: z.array(z.string()),
  type,
  assistant: z.record(z.string(), z.array(z.string())),
});
const firstRequest = z.object({ shop: z.string(), text: z.string(), intent: z.string().nullable() });

export type Verdict = z.infer<typeof type>;

/** What a user turn says behind one turn of the assistant. */
export function verdictAfter(assistant: string, user: string, heads: Heads): Verdict {
  const latestAct = findIn({ role: 'assistant', content: assistant }, heads).act ?? null;
  const { signals } = findIn({ role: 'user', content: user }, heads);
  const [key] = signalsInContext(signals, { latestAct, hasUserTurn: true });
  return key === undefined ? null : typeOf(key);
}

/** The reactions of a part, each with a verdict behind one turn of each kind, in the order of `FRAMES`. */
export function framedReactions(
  part: GoldPart,
  heads: Heads,
): (z.infer<typeof reaction> & { readonly found: readonly Verdict[] })[] {
  const turns = readGold('reaction-frames', 'tuned', frame);
  const texts = (kind: string, lang: string): string[] =>
    turns.filter((one) => one.frame === kind && one.lang === lang).map(({ assistant }) => assistant);
  return readGold('reactions', part, reaction).map((one, place) => ({
    ...one,
    found: FRAMES.map((kind) => {
      const own = texts(kind, one.lang);
      return verdictAfter(own[place % own.length]!, one.user, heads);
    }),
  }));
}

function reactionRows(part: GoldPart, heads: Heads): Row[] {
  const all = framedReactions(part, heads);
  const sets = [
    ['reactions', all.filter(({ isPlain }) => !isPlain)],
    ['plain turns', all.filter(({ isPlain }) => isPlain)],
  ] as const;
  return sets.flatMap(([name, reactions]) =>
    FRAMES.map((kind, at): Row => {
      const rightOf = (wanted: Verdict): number =>
        shareOf(reactions.filter((one) => one.type === wanted).map(({ found }) => found[at] === wanted));
      const opposite = reactions.filter(
        ({ type: wanted, found }) => found[at] !== null && wanted !== null && found[at] !== wanted,
      );
      const right = shareOf(reactions.map(({ type: wanted, found }) => found[at] === wanted));
      return [
        part,
        name,
        kind,
        right,
        rightOf('DSAT'),
        rightOf('SAT'),
        rightOf(null),
        opposite.length,
        reactions.length,
      ];
    }),
  );
}

/** The type of what was found in each turn of a stream. */
function typesIn({ signals }: Assigned): Verdict[] {
  return signals.map(([key]) => (key === undefined ? null : typeOf(key)));
}

function made(
  name: string,
  turns: readonly { role: 'user' | 'assistant'; content: string }[],
): LabelledConversation {
  return madeConversation(
    name,
    turns.map(({ role, content }) => ({ role, content, label: null })),
  );
}

async function conversationRow(pipeline: Pipeline, part: GoldPart): Promise<Row> {
  const gold = readGold('conversations', part, conversation);
  const assigned = await pipeline.assign(gold.map(({ turns }, place) => made(`${part}-${place}`, turns)));
  const found = typesIn(assigned);
  const turns = gold
    .flatMap((one) => one.turns)
    .map((turn, at) => ({ ...turn, found: found[at]!, isRepeat: assigned.repeated[at]! }))
    .filter(({ role }) => role === 'user');
  const opposite = turns.filter(
    (turn) => turn.found !== null && turn.type !== null && turn.found !== turn.type,
  );
  const repeatTurns = turns.filter(({ isRepeat }) => isRepeat);
  const repeats = turns.filter((turn) => turn.repeats !== undefined);
  const outcomes = gold.map(({ outcome }, place) => ({
    wanted: outcome,
    found: assigned.sessions.get(`${part}-${place}`)?.outcome ?? null,
  }));
  const solved = outcomes.filter(({ found }) => found === 'solved');
  return [
    part,
    shareOf(turns.map((turn) => turn.found === turn.type)),
    opposite.length,
    turns.length,
    shareOf(repeatTurns.map((turn) => turn.repeats !== undefined)),
    shareOf(repeats.map(({ isRepeat }) => isRepeat)),
    shareOf(outcomes.map(({ wanted, found }) => wanted === found)),
    shareOf(solved.map(({ wanted }) => wanted === 'solved')),
    gold.length,
  ];
}

/** How one style fares: the share of customers whose last judgement is theirs, and (SAT − DSAT) / turns × 100. */
export async function styleRows(pipeline: Pipeline, part: GoldPart): Promise<Row[]> {
  const customers = readGold('assistant-styles', part, customer);
  const rows: Row[] = [];
  for (const style of Object.keys(customers[0]?.assistant ?? {})) {
    const conversations = customers.map(({ user, assistant }, place) =>
      made(
        `${part}-${style}-${place}`,
        user.flatMap((content, at) => [
          { role: 'user' as const, content },
          { role: 'assistant' as const, content: assistant[style]![at]! },
        ]),
      ),
    );
    const found = typesIn(await pipeline.assign(conversations));
    const count = (wanted: Verdict): number => found.filter((one) => one === wanted).length;
    let start = 0;
    const right = customers.map((one, place) => {
      const own = found.slice(start, (start += conversations[place]!.turns.length));
      return (own.findLast((verdict) => verdict !== null) ?? null) === one.type;
    });
    const netSat = (100 * (count('SAT') - count('DSAT'))) / found.length;
    rows.push([part, style, right.filter(Boolean).length, customers.length, netSat]);
  }
  return rows;
}

async function shopRows(pipeline: Pipeline, part: GoldPart): Promise<Row[]> {
  const byShop = Map.groupBy(readGold('first-requests', part, firstRequest), ({ shop }) => shop);
  const rows: Row[] = [];
  for (const [shop, all] of byShop)
    for (const count of FIRST_REQUESTS) {
      const own = all.slice(0, count);
      const conversations = own.map(({ text }, at) => made(String(at), [{ role: 'user', content: text }]));
      const { topicAt } = await pipeline.assign(conversations);
      const asked = own.map(({ intent }, at) => ({ intent, topic: topicAt[at]! }));
      const requests = asked.filter(({ intent }) => intent !== null);
      const topics = Map.groupBy(
        requests.filter(({ topic }) => topic !== null),
        ({ topic }) => topic,
      );
      let right = 0;
      for (const members of topics.values()) {
        const main = mostCommon(members.map(({ intent }) => intent!));
        const held = members.filter(({ intent }) => intent === main).length;
        if (held >= LEAST_OF_INTENT) right += held;
      }
      rows.push([
        part,
        shop,
        count,
        shareOf(requests.map(({ topic }) => topic !== null)),
        right / requests.length,
        asked.filter(({ intent, topic }) => intent === null && topic !== null).length,
      ]);
    }
  return rows;
}

export const evaluation: Evaluation = {
  name: 'verdicts',
  async run(options): Promise<EvalTable[]> {
    needsFolder(options);
    const heads = loadHeads();
    const pipeline = await loadPipeline(options);
    const bare = PARTS.map((part): Row => {
      const replies = readGold('bare-replies', part, bareReply);
      const right = replies.map((one) => verdictAfter(one.assistant, one.user, heads) === one.type);
      return [part, shareOf(right), replies.length];
    });
    const [conversations, styles, shops]: Row[][] = [[], [], []];
    for (const part of PARTS) {
      conversations!.push(await conversationRow(pipeline, part));
      styles!.push(...(await styleRows(pipeline, part)));
      shops!.push(...(await shopRows(pipeline, part)));
    }
    await pipeline.close();
    return [
      {
        title: 'Reactions after four kinds of assistant turns',
        columns: [
          'part',
          'set',
          'after',
          'right',
          'DSAT found',
          'SAT found',
          'null silent',
          'opposite',
          'of',
        ],
        rows: PARTS.flatMap((part) => reactionRows(part, heads)),
      },
      {
        title: 'Bare replies to questions, refusals and the like',
        columns: ['part', 'right', 'of'],
        rows: bare,
      },
      {
        title: 'Whole conversations',
        columns: [
          'part',
          'turns right',
          'opposite',
          'turns',
          'repeats: precision',
          'recall',
          'outcome right',
          '“solved” is',
          'conversations',
        ],
        rows: conversations!,
      },
      {
        title: 'The same customers before six styles of assistant',
        columns: ['part', 'style', 'right', 'of', 'netSat'],
        rows: styles!,
      },
      {
        title: 'The first requests of a small shop, each in other words',
        columns: ['part', 'shop', 'first', 'with a topic', 'the right one', 'no request with a topic'],
        rows: shops!,
      },
    ];
  },
};
