import { basename } from 'node:path';
import { v5 } from 'uuid';
import { roleOf } from '../../domain/records.ts';
import { isObject } from '../traces/values.ts';
import { DigestCounts } from './digest-counts.ts';
import { readTime, TIME_RULE } from './times.ts';

/** A message as POST /v1/ingest/ takes it. `metadata.createdAt` is its event time. */
export interface IngestMessage {
  readonly content: string;
  readonly role: string;
  readonly userId?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const EXAMPLE_TURN = '{"role": "user", "content": "Where is my parcel?"}';

/** Of an id that is sent as the session's `externalId`, code points. */
const MAX_ID_LENGTH = 255;

/** One line of a file, ready to be sent. `source` and `id` together name the conversation. */
export interface Conversation {
  readonly line: number;
  readonly source: string;
  readonly id: string;
  readonly messages: readonly IngestMessage[];
  /** Nobody says who its end user is: it has one of its own. */
  readonly isAnonymous: boolean;
  /** Where each message stands in the line, such as `turns.4`. */
  readonly places: readonly string[];
  /** Kept with the session: the line's own metadata, source and id, and as `externalId` the id as it was written. */
  readonly session: Readonly<Record<string, unknown>>;
}

/** A line as understood: a conversation with the indices of its empty turns, or the reason why not. */
export type MappedLine =
  | { readonly conversation: Conversation; readonly emptyTurns: readonly number[] }
  | { readonly fault: string };

/** The source of lines that name none: the file's name without folder and endings. */
export function sourceOfFile(path: string): string {
  const name = basename(path).replace(
    /(?:\.(?:gz|gzip|zst|zstd|zip|jsonl|ndjson|json|txt|csv|tsv|parquet)){1,4}$/i,
    '',
  );
  return name === '' ? basename(path) : name;
}

/**
 * Gives the second and later conversations of one file that carry the same source and id a suffix
 * (`#2`, `#3`, …) in file order, so that each of them is a session of its own on every run.
 */
export class DuplicateIds {
  /** How often each name came, the last suffix that was given to it. */
  readonly #seen = new DigestCounts();

  /** The id to use for this occurrence; the first keeps its own. */
  next(source: string, id: string): string {
    const name = nameOf(source, id);
    const before = this.#seen.get(name);
    if (before === 0) {
      this.#seen.set(name, 1);
      return id;
    }
    let count = before;
    let suffixed: string;
    do {
      count += 1;
      suffixed = `${id}#${count}`;
    } while (this.#seen.get(nameOf(source, suffixed)) > 0);
    this.#seen.set(name, count);
    this.#seen.set(nameOf(source, suffixed), 1);
    return suffixed;
  }
}

/** One string per (source, id); no two pairs share one. */
export function nameOf(source: string, id: string): string {
  return JSON.stringify([source, id]);
}

/** Names the end users that we make up. */
const AUTHOR_NAMESPACE = '6f1b5c8e-40a7-5d52-9c0e-2b8a6d3f7e94';

/**
 * The end user of a conversation that names none. It has no word of the source: words of an end user's id are taken for
 * a name and hidden in titles, and a file may be called after what its conversations are about.
 */
function authorOf(source: string, id: string): string {
  return v5(nameOf(source, id), AUTHOR_NAMESPACE);
}

/** What a line does not say of itself. */
export interface LineContext {
  readonly line: number;
  /** Of lines that name none; '': their ids alone name them. */
  readonly source: string;
  readonly duplicates: DuplicateIds;
  /** Names a conversation that has no id. Default: its line. */
  readonly unnamed?: string;
  /** The end user of a conversation that names none. Default: one of its own, by source and id. */
  readonly user?: string;
}

/** Reads one line as `mapValue` does. */
export function mapLine(text: string, context: LineContext): MappedLine {
  try {
    return mapValue(JSON.parse(text), context);
  } catch (error) {
    return { fault: `not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/**
 * Reads a conversation: `{"id", "source"?, "turns": [{"role", "content", "userId"?, "createdAt"?,
 * "metadata"?}], "userId"?, "metadata"?}`; `messages` may stand for `turns`. Other members (labels,
 * ratings, licences) are left behind. A conversation without `id` is named after its line.
 */
export function mapValue(value: unknown, context: LineContext): MappedLine {
  if (!isObject(value)) return { fault: 'not a JSON object' };

  const source = value['source'] ?? context.source;
  if (typeof source !== 'string') return { fault: 'source: must be a string' };
  const given = value['id'] ?? null;
  if (given !== null && (typeof given !== 'string' || given === '') && typeof given !== 'number') {
    return { fault: 'id: must be a non-empty string or a number' };
  }
  const id = given === null ? (context.unnamed ?? `line-${context.line}`) : String(given);
  if (given === null && source === '') return { fault: 'id: missing, and there is no source beside it' };
  if ([...id].length > MAX_ID_LENGTH)
    return { fault: `id: must be at most ${MAX_ID_LENGTH} characters long` };
  const turnsName = value['turns'] === undefined && value['messages'] !== undefined ? 'messages' : 'turns';
  const turns = value[turnsName];
  if (!Array.isArray(turns))
    return { fault: `turns: missing; expected an array of objects such as ${EXAMPLE_TURN}` };
  if (turns.length === 0) return { fault: `${turnsName}: empty` };
  const author = value['userId'];
  if (author !== undefined && author !== null && (typeof author !== 'string' || author === '')) {
    return { fault: 'userId: must be a non-empty string' };
  }
  const sessionMetadata = value['metadata'] ?? {};
  if (!isObject(sessionMetadata)) return { fault: 'metadata: must be an object' };

  const messages: IngestMessage[] = [];
  const places: string[] = [];
  const emptyTurns: number[] = [];
  for (const [index, turn] of turns.entries()) {
    const mapped = mapTurn(turn, `${turnsName}.${index}`);
    if ('fault' in mapped) return mapped;
    if (mapped.message === null) emptyTurns.push(index);
    else {
      messages.push(mapped.message);
      places.push(`${turnsName}.${index}`);
    }
  }
  if (messages.length === 0) return { fault: `${turnsName}: every turn is empty` };

  const uniqueId = context.duplicates.next(source, id);
  return {
    conversation: {
      line: context.line,
      source,
      id: uniqueId,
      isAnonymous:
        typeof author !== 'string' &&
        context.user === undefined &&
        messages.every(({ userId }) => userId === undefined),
      messages: withAuthor(
        messages,
        author ?? context.user ?? authorOf(source, uniqueId),
        typeof author === 'string',
      ),
      places,
      session: {
        ...sessionMetadata,
        ...(given === null ? {} : { externalId: id }),
        ...(source === '' ? {} : { source }),
        id: uniqueId,
      },
    },
    emptyTurns,
  };
}

/** End users that a conversation's user turns name. */
export function usersOf(conversation: Conversation): Set<string> {
  const users = new Set<string>();
  for (const message of conversation.messages) {
    if (message.userId !== undefined && isUserTurn(message)) users.add(message.userId);
  }
  return users;
}

function isUserTurn(message: IngestMessage): boolean {
  return roleOf(message.role) === 'user';
}

/**
 * Fills in the author of user turns. An author that the file states for the whole line fills every gap;
 * one that we made up only stands where no user turn names anyone, since mixing it with the file's own
 * names would invent a second person.
 */
function withAuthor(messages: readonly IngestMessage[], author: string, stated: boolean): IngestMessage[] {
  const someNamed = messages.some((message) => isUserTurn(message) && message.userId !== undefined);
  if (someNamed && !stated) return [...messages];
  return messages.map((message) =>
    isUserTurn(message) && message.userId === undefined ? { ...message, userId: author } : message,
  );
}

function mapTurn(turn: unknown, path: string): { message: IngestMessage | null } | { fault: string } {
  if (!isObject(turn)) {
    const is = typeof turn === 'string' ? 'is a string, but ' : '';
    return { fault: `${path}: ${is}must be an object such as ${EXAMPLE_TURN}` };
  }
  const role = turn['role'];
  const content = turn['content'];
  const userId = turn['userId'];
  if (typeof role !== 'string' || role.trim() === '') {
    return { fault: `${path}.role: must be a non-empty string such as "user" or "assistant"` };
  }
  if (content !== undefined && content !== null && typeof content !== 'string') {
    return { fault: `${path}.content: must be a string` };
  }
  if (userId !== undefined && userId !== null && (typeof userId !== 'string' || userId === '')) {
    return { fault: `${path}.userId: must be a non-empty string` };
  }
  const metadata = turn['metadata'] ?? {};
  if (!isObject(metadata)) return { fault: `${path}.metadata: must be an object` };
  const [timeName, time] =
    (metadata['createdAt'] ?? null) === null
      ? ['createdAt', turn['createdAt'] ?? null]
      : ['metadata.createdAt', metadata['createdAt']];
  const createdAt = time === null ? null : readTime(time);
  if (time !== null && createdAt === null)
    return { fault: `${path}.${timeName}: ${JSON.stringify(time).slice(0, 40)} ${TIME_RULE}` };
  if (content === undefined || content === null || content.trim() === '') return { message: null };
  const carried = createdAt === null ? metadata : { ...metadata, createdAt };
  return {
    message: {
      content,
      role,
      ...(typeof userId === 'string' ? { userId } : {}),
      ...(Object.keys(carried).length > 0 ? { metadata: carried } : {}),
    },
  };
}
