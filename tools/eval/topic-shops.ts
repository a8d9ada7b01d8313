/**
 * The first requests of a small shop: whether they have a topic, and the right one.
 * Covered by test/tools/eval/topic-shops.test.ts.
 */
import { createHash } from 'node:crypto';
import {
  conversationSets,
  intentConversations,
  mixed,
  type Keep,
  type LabelledConversation,
} from './conversations.ts';
import { knownMean, mostCommon } from './counts.ts';
import { markedTitle, meansBySeen } from './model-training.ts';
import type { Pipeline } from './pipeline.ts';
import type { EvalOptions, EvalTable, Row } from './report.ts';
import { byTopic, snapshotsAt, type TopicSnapshot } from './topic-run.ts';

const SIZES = [20, 50] as const;
/** Shops of each kind: the same conversations in other orders. */
const SHOPS = 10;
/** Conversations that hold more than the requests that are measured. */
const MOST_CONVERSATIONS = 150;
/** A topic is right for a request when it holds at least this many of its label. */
const LEAST_OF_LABEL = 2;
const MULTIDOGO = 'multidogo-fastfood-media-software';

/** What people ask a bank most, most frequent first; the n-th is asked 1/n times as often as the first. */
const BANK_LABELS: readonly string[] = [
  'card_arrival',
  'lost_or_stolen_card',
  'declined_card_payment',
  'balance_not_updated_after_bank_transfer',
  'change_pin',
  'request_refund',
  'top_up_failed',
  'exchange_rate',
  'activate_my_card',
  'edit_personal_details',
  'passcode_forgotten',
  'terminate_account',
];

interface ShopKind {
  readonly title: string;
  readonly conversations: readonly LabelledConversation[];
  /** Labels by how often they are asked, most frequent first; null: as often as the data have them. */
  readonly ranked: readonly string[] | null;
}

export interface ShopScores {
  /** Share of requests with a topic. */
  readonly covered: number;
  /** Share with a topic whose main label is the request's, and that holds enough of it. */
  readonly right: number;
}

export function shopScores(snapshot: TopicSnapshot): ShopScores {
  const { requests, topicOf } = snapshot;
  const covered = topicOf.filter((topic) => topic !== null).length;
  let right = 0;
  for (const members of byTopic(snapshot).values()) {
    const main = mostCommon(members.map(({ label }) => label));
    const own = members.filter(({ label }) => label === main).length;
    if (own >= LEAST_OF_LABEL) right += own;
  }
  return { covered: covered / requests.length, right: right / requests.length };
}

async function shopKinds(options: EvalOptions, seen: ReadonlySet<string> | null): Promise<ShopKind[]> {
  if (options.file !== null) {
    const sets = await conversationSets(options, []);
    return sets.map(({ title, conversations }) => ({ title, conversations, ranked: null }));
  }
  const kind = async (
    title: string,
    set: string,
    keep: Keep,
    ranked: readonly string[] | null = null,
  ): Promise<ShopKind> => ({
    title: markedTitle(title, set, seen),
    ranked,
    conversations: await intentConversations(options, set, Number.POSITIVE_INFINITY, keep),
  });
  const domains = ['fastfood', 'media', 'software'];
  return [
    await kind('dstc11', 'dstc11-development-insurance', () => true),
    ...(await Promise.all(
      domains.map((name) => kind(`multidogo, ${name}`, MULTIDOGO, ({ domain }) => domain === name)),
    )),
    await kind(
      'banking77, 12 labels',
      'banking77',
      ({ intent }) => BANK_LABELS.includes(intent),
      BANK_LABELS,
    ),
  ];
}

/** The first conversations of one shop. */
export function openingOf(
  { conversations, ranked }: Omit<ShopKind, 'title'>,
  salt: string,
): LabelledConversation[] {
  const own = mixed(conversations, salt);
  const skewed =
    ranked === null
      ? own
      : own.filter(({ id, turns }) => {
          const rank = ranked.indexOf(turns[0]?.label ?? '') + 1;
          return rank > 0 && numberOf(`${salt} ${id}`) < 1 / rank;
        });
  return skewed.slice(0, MOST_CONVERSATIONS);
}

/** A number from 0 up to, not including, 1 that depends on the text alone. */
function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32LE() / 2 ** 32;
}

/** `seen`: the sets of the model's training, or null. */
export async function shopTable(
  options: EvalOptions,
  pipeline: Pipeline,
  seen: ReadonlySet<string> | null,
): Promise<EvalTable> {
  const rows: Row[] = [];
  for (const kind of await shopKinds(options, seen)) {
    const scores = SIZES.map(() => [] as ShopScores[]);
    for (let shop = 1; shop <= SHOPS; shop += 1) {
      const run = pipeline.topicRun();
      const opening = await pipeline.enrich(openingOf(kind, `shop ${shop}`));
      const snapshots = snapshotsAt(run, opening, SIZES);
      SIZES.forEach((size, index) => {
        const snapshot = snapshots.get(size);
        if (snapshot !== undefined) scores[index]!.push(shopScores(snapshot));
      });
      run.close();
    }
    rows.push([
      kind.title,
      ...scores.flatMap((all) => [
        knownMean(all.map(({ covered }) => covered)),
        knownMean(all.map(({ right }) => right)),
      ]),
    ]);
  }
  const columns = ['data', ...SIZES.flatMap((size) => [`${size}: with a topic`, `${size}: the right one`])];
  return {
    title: 'The first requests of a shop',
    columns,
    rows: [...rows, ...meansBySeen(rows, columns.map((_, column) => column).slice(1))],
    notes: [
      `Means over ${SHOPS} shops with one domain each. the right one: the label of most of the topic’s requests is the`,
      `request’s, and the topic holds at least ${LEAST_OF_LABEL} of it. banking77: the n-th label is asked ` +
        '1/n times as often as the first.',
    ],
  };
}
