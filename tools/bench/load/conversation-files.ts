/** Files of generated conversations, as large as one likes. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

export const SHAPES = ['jsonl', 'chatgpt', 'csv'] as const;
export type Shape = (typeof SHAPES)[number];

/** Messages of a conversation. */
const TURNS = 5;
/** Conversations of a table whose rows are mixed. */
const INTERLEAVED = 1000;
const TEXTS = [
  'Where is the parcel that I ordered last week? The page only says that it has left the warehouse.',
  'It is with the carrier and arrives on Thursday between ten and two.',
  'Nobody is at home on Thursday. Can you bring it to the shop in the next street instead?',
  'I cannot change the address while it is on its way, but the carrier can keep it for you.',
  'Thanks, then I will ask the carrier.',
];

/** Writes conversations until the file has this many bytes; the number of messages. */
export async function writeConversations(file: string, shape: Shape, bytes: number): Promise<number> {
  const stream = createWriteStream(file);
  const { begin, end, part } = WRITERS[shape];
  stream.write(begin);
  // The end of a list is a conversation, too: no comma follows it.
  let messages = end === '' ? 0 : TURNS;
  for (let index = 0; stream.writableLength + stream.bytesWritten < bytes; index += 1) {
    messages += part.messages;
    if (!stream.write(part.of(index))) await once(stream, 'drain');
  }
  stream.end(end);
  await once(stream, 'close');
  return messages;
}

interface Writer {
  readonly begin: string;
  readonly end: string;
  /** What is written again and again, by its number. */
  readonly part: { readonly messages: number; readonly of: (index: number) => string };
}

const text = (turn: number, index: number): string => `${TEXTS[turn] ?? ''} (${index})`;
const roleOf = (turn: number): string => (turn % 2 === 0 ? 'user' : 'assistant');
const turns = Array.from({ length: TURNS }, (_, turn) => turn);

const WRITERS: Readonly<Record<Shape, Writer>> = {
  jsonl: {
    begin: '',
    end: '',
    part: {
      messages: TURNS,
      of: (index) => {
        const spoken = turns.map((turn) => ({ role: roleOf(turn), content: text(turn, index) }));
        return `${JSON.stringify({ id: `c${index}`, turns: spoken })}\n`;
      },
    },
  },
  chatgpt: {
    begin: '[',
    end: `${JSON.stringify(chatgpt(0))}]`,
    part: { messages: TURNS, of: (index) => `${JSON.stringify(chatgpt(index + 1))},\n` },
  },
  csv: {
    begin: 'conversation_id,role,text\n',
    end: '',
    part: {
      messages: TURNS * INTERLEAVED,
      of: (index) =>
        turns
          .flatMap((turn) =>
            Array.from({ length: INTERLEAVED }, (_, of) => {
              const number = index * INTERLEAVED + of;
              return `c${number},${roleOf(turn)},"${text(turn, number)}"\n`;
            }),
          )
          .join(''),
    },
  },
};

function chatgpt(index: number): unknown {
  const nodes = turns.map((turn) => ({
    id: `n${turn}`,
    parent: turn === 0 ? null : `n${turn - 1}`,
    children: turn === TURNS - 1 ? [] : [`n${turn + 1}`],
    message: {
      author: { role: roleOf(turn) },
      create_time: 1_772_357_400 + turn,
      content: { content_type: 'text', parts: [text(turn, index)] },
      weight: 1,
      recipient: 'all',
    },
  }));
  const mapping = Object.fromEntries(nodes.map((node) => [node.id, node]));
  return { conversation_id: `c${index}`, title: 'Parcel', current_node: `n${TURNS - 1}`, mapping };
}
