/** Conversations of which no text is another's. Covered by test/tools/bench/figures.test.ts. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_DATA_DIRECTORY, readDialogues } from '../../eval/data.ts';
import { readDemoConversations } from '../../../src/doors/demo/conversations.ts';

/** Turns of a conversation, the user's first. */
export type Conversation = readonly { readonly role: string; readonly content: string }[];

const DIALOGUES: Readonly<Record<string, string>> = {
  SGD: 'sgd-train',
  'Taskmaster-4': 'taskmaster4-coffee',
  'topical chat': 'topical-chat',
  CrossWOZ: 'crosswoz-zh',
};
const THINGS = 'lamp kettle jacket saddle blanket compass hammock stove lantern rope'.split(' ');
const KINDS = 'blue small second wooden newest cheap heavy spare broken rented long'.split(' ');

/** The demo's conversations. */
export async function demoConversations(): Promise<Conversation[]> {
  const file = resolve(import.meta.dirname, '../../../examples/demo/conversations.jsonl');
  return (await readDemoConversations(file)).map(({ turns }) =>
    turns.map((content, turn) => ({ role: turn % 2 === 0 ? 'user' : 'assistant', content })),
  );
}

/** Texts to count, by name: the demo's, each time with other words, and data sets of dialogues where they lie. */
export function corpora(
  directory = DEFAULT_DATA_DIRECTORY,
): Readonly<Record<string, () => AsyncGenerator<Conversation>>> {
  const found = Object.entries(DIALOGUES).flatMap(([name, file]) => {
    const path = join(directory, 'dialogues', `${file}.jsonl.gz`);
    return existsSync(path) ? [[name, () => dialoguesOf(path)] as const] : [];
  });
  const sets = Object.fromEntries(found);
  const mixed = found.length < 2 ? {} : { mix: () => mixOf(found.map(([, open]) => open())) };
  return { demo: demoTexts, ...mixed, ...sets };
}

/** The first conversations that have so many messages together. */
export async function take(
  conversations: AsyncGenerator<Conversation>,
  messages: number,
): Promise<Conversation[]> {
  const taken: Conversation[] = [];
  let count = 0;
  for await (const conversation of conversations) {
    taken.push(conversation);
    count += conversation.length;
    if (count >= messages) break;
  }
  return taken;
}

/** Conversations again and again, until they have so many messages together. */
export function repeated(conversations: readonly Conversation[], messages: number): Conversation[] {
  const all: Conversation[] = [];
  for (let count = 0, next = 0; count < messages; next += 1) {
    const conversation = conversations[next % conversations.length] as Conversation;
    all.push(conversation);
    count += conversation.length;
  }
  return all;
}

/** Without end. */
async function* demoTexts(): AsyncGenerator<Conversation> {
  const written = await demoConversations();
  for (let copy = 0; ; copy += 1)
    for (const [number, turns] of written.entries()) {
      const kind = KINDS[(copy + number) % KINDS.length];
      const thing = THINGS[(copy * 7 + number) % THINGS.length];
      yield turns.map(({ role, content }, turn) => ({
        role,
        content:
          copy === 0
            ? content
            : `${content} It is about the ${kind} ${thing} of order ${copy}-${number}-${turn}.`,
      }));
    }
}

async function* dialoguesOf(path: string): AsyncGenerator<Conversation> {
  for await (const { turns } of readDialogues(path))
    yield turns.map(({ role, content }) => ({ role, content }));
}

/** One conversation of each in turn, until one of them has no more. */
async function* mixOf(sources: readonly AsyncGenerator<Conversation>[]): AsyncGenerator<Conversation> {
  for (;;) {
    for (const source of sources) {
      const { value, done } = await source.next();
      if (done === true) return;
      yield value;
    }
  }
}
