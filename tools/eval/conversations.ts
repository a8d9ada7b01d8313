/**
 * Labelled conversations out of the data sets: what people asked, and what annotators say that they asked for. Each set
 * comes in a fixed mixed order that has nothing to do with its labels.
 * Covered by test/tools/eval/topics.test.ts.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { roleOf } from '../../src/domain/records.ts';
import { mostCommon } from './counts.ts';
import {
  collect,
  dataSetPath,
  readDialogues,
  readIntents,
  type Dialogue,
  type IntentExample,
} from './data.ts';
import type { EvalOptions } from './report.ts';

export interface LabelledTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** What the turn asks for, where the data say so and it is a request; else null. */
  readonly label: string | null;
  /** Where one conversation has several; else it has the conversation's. */
  readonly domain?: string;
}
export interface LabelledConversation {
  readonly id: string;
  readonly language: string | null;
  readonly domain: string;
  readonly turns: readonly LabelledTurn[];
}

/** Labels that name no request: greetings, thanks, yes and no, bare answers. */
export const NO_REQUEST: ReadonlySet<string> = new Set([
  'openinggreeting',
  'closinggreeting',
  'thankyou',
  'confirmation',
  'rejection',
  'contentonly',
  'outofdomain',
]);

/** Whether an example of a set is taken. */
export type Keep = (example: IntentExample) => boolean;

export const withoutSmallTalk: Keep = ({ domain }) => domain !== 'small_talk';

/** A set to measure on, and how many of its examples. */
export interface SetChoice {
  readonly title: string;
  /** Of `intents/`, or `sgd` for the conversations of Schema-Guided Dialogue. */
  readonly set: string;
  readonly limit: number;
  readonly keep?: Keep;
}
export interface ConversationSet {
  readonly title: string;
  readonly conversations: readonly LabelledConversation[];
}

/** The sets of an evaluation; the one file that it is given takes their place. */
export async function conversationSets(
  options: EvalOptions,
  choices: readonly SetChoice[],
): Promise<ConversationSet[]> {
  if (options.file !== null) {
    const title = basename(options.file).replace(/\.jsonl(\.gz)?$/, '');
    return [{ title, conversations: await conversationsIn(options.file, title) }];
  }
  return Promise.all(
    choices.map(async ({ title, set, limit, keep }) => ({
      title,
      conversations:
        set === 'sgd'
          ? await schemaGuidedConversations(options, limit)
          : await intentConversations(options, set, limit, keep),
    })),
  );
}

/**
 * Conversations of a set of `intents/`, at most `limit` examples: one turn each, or the customer's side of whole
 * conversations where the set keeps them together.
 */
export async function intentConversations(
  options: EvalOptions,
  set: string,
  limit: number,
  keep?: Keep,
): Promise<LabelledConversation[]> {
  const name = `intents/${set}`;
  return conversationsIn(dataSetPath(options.dataDirectory, name), name, limit, keep);
}

async function conversationsIn(
  path: string,
  name: string,
  limit = Number.POSITIVE_INFINITY,
  keep: Keep = () => true,
): Promise<LabelledConversation[]> {
  const examples = await collect(readIntents(path));
  const identified = examples.map((example, index) => ({ example, id: example.conv ?? `${name}-${index}` }));
  const byId = Map.groupBy(
    identified.filter(({ example }) => keep(example)),
    ({ id }) => id,
  );
  const conversations = [...byId].map(([id, members]) => ({
    id,
    language: members[0]!.example.lang ?? null,
    domain: members[0]!.example.domain ?? '',
    turns: members.map(({ example: { text, intent } }) =>
      userTurn(text, NO_REQUEST.has(intent) ? null : intent),
    ),
  }));
  return limited(mixed(conversations), limit);
}

/**
 * Conversations of Schema-Guided Dialogue; a user turn's label is the intent that begins with it. In a conversation of
 * several services, a turn has the domain in which its intent is most frequent.
 */
export async function schemaGuidedConversations(
  options: EvalOptions,
  limit: number,
): Promise<LabelledConversation[]> {
  const dialogues = await collect(readDialogues(dataSetPath(options.dataDirectory, 'dialogues/sgd-train')));
  const domainOf = domainsOfIntents(dialogues);
  const conversations = dialogues.map((dialogue) => {
    const services = servicesOf(dialogue);
    const intents = (dialogue.labels?.['turn_intents'] ?? []) as readonly (readonly string[] | null)[];
    let before: readonly string[] = [];
    const turns = dialogue.turns.map((turn, index): LabelledTurn => {
      if (roleOf(turn.role) !== 'user') return { role: 'assistant', content: turn.content, label: null };
      const now = intents[index] ?? [];
      const label = now.find((intent) => !before.includes(intent)) ?? null;
      before = now;
      const domain = services.length > 1 && label !== null ? domainOf.get(label) : undefined;
      return { ...userTurn(turn.content, label), ...(domain === undefined ? {} : { domain }) };
    });
    return {
      id: dialogue.id,
      language: dialogue.lang ?? null,
      domain: services[0] ?? '',
      turns,
    };
  });
  return limited(mixed(conversations), limit);
}

/** Without the numbers that tell services of one domain apart. */
function servicesOf({ labels }: Dialogue): string[] {
  const services = (labels?.['services'] ?? []) as readonly string[];
  return services.map((service) => service.replace(/_\d+$/, ''));
}

/** The domain of each intent: that of most turns with it, in conversations of one service. */
function domainsOfIntents(dialogues: readonly Dialogue[]): Map<string, string> {
  const seen = dialogues.flatMap((dialogue) => {
    const services = servicesOf(dialogue);
    if (services.length !== 1) return [];
    const turns = (dialogue.labels?.['turn_intents'] ?? []) as readonly (readonly string[] | null)[];
    return turns.flatMap((intents) => intents ?? []).map((intent) => ({ intent, domain: services[0]! }));
  });
  return new Map(
    [...Map.groupBy(seen, ({ intent }) => intent)].map(([intent, all]) => [
      intent,
      mostCommon(all.map(({ domain }) => domain))!,
    ]),
  );
}

export function userTurn(content: string, label: string | null = null): LabelledTurn {
  return { role: 'user', content, label };
}

/** A conversation that no data set holds. */
export function madeConversation(id: string, turns: readonly LabelledTurn[]): LabelledConversation {
  return { id, language: null, domain: '', turns };
}

/** An order that has nothing to do with labels or file order, and is the same every time; each salt gives another. */
export function mixed<T extends { readonly id: string }>(items: readonly T[], salt = ''): T[] {
  return items
    .map((item) => ({ item, key: createHash('sha256').update(salt).update(item.id).digest('hex') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}

function limited(conversations: readonly LabelledConversation[], limit: number): LabelledConversation[] {
  let turns = 0;
  return conversations.filter((conversation) => {
    if (turns >= limit) return false;
    turns += conversation.turns.length;
    return true;
  });
}
