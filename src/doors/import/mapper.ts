/**
 * Maps the value of one line of a file to a conversation: messages as POST /v1/ingest/ takes them, with a name that is unique within
 * the import and the same in every run.
 *
 * Test: test/doors/import/mapper.test.ts.
 */
import { basename } from 'node:path';
import { v5 } from 'uuid';
import { roleOf } from '../../domain/records.ts';
import { ratingOf, type GivenFeedback } from '../traces/given-feedback.ts';
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

/** Maximum length of the id, which is sent as the session's `externalId`, in code points. */
const MAX_ID_LENGTH = 255;

/** One line, ready to be sent. `source` and `id` together name the conversation. */
export interface Conversation {
  readonly line: number;
  readonly source: string;
  readonly id: string;
  readonly messages: readonly IngestMessage[];
  /** True if neither the line nor the import names an end user; one is then invented. */
  readonly isAnonymous: boolean;
  /** Path of each message in the line, such as `turns.4`. */
  readonly places: readonly string[];
  /** Feedback on its messages, by their index. */
  readonly feedback: readonly (GivenFeedback & { readonly index: number })[];
  /** Session metadata: the line's own, with source, id, and the original id as `externalId`. */
  readonly session: Readonly<Record<string, unknown>>;
}

/** A conversation with the indices of its empty turns, or the fault of the line. */
export type MappedLine =
  | { readonly conversation: Conversation; readonly emptyTurns: readonly number[] }
  | { readonly fault: string };

/** Source of lines that name none: the file name without folder and extensions. */
export function sourceOfFile(path: string): string {
  const name = basename(path).replace(
    /(?:\.(?:gz|gzip|zst|zstd|zip|jsonl|ndjson|json|txt|csv|tsv|parquet)){1,4}$/i,
    '',
  );
  return name === '' ? basename(path) : name;
}

/**
 * Gives the second and later conversations of a file with the same source and id a suffix (`#2`, `#3`, …) in file
 * order, so that each is the same separate session in every run.
 */
export class DuplicateIds {
  /** Name → its last suffix. */
  readonly #seen = new DigestCounts();

  /** Returns the id for this occurrence; the first keeps its own. */
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

/** Returns one string per (source, id), different for different pairs. */
export function nameOf(source: string, id: string): string {
  return JSON.stringify([source, id]);
}

/** UUID namespace of invented end users. */
const AUTHOR_NAMESPACE = '6f1b5c8e-40a7-5d52-9c0e-2b8a6d3f7e94';

/**
 * Invents the end user of a conversation that names none. The id contains no word of the source: words of an end user's
 * id are redacted as a name in titles, and file names often contain the topic.
 */
function authorOf(source: string, id: string): string {
  return v5(nameOf(source, id), AUTHOR_NAMESPACE);
}

/** Values for what a line does not contain. */
export interface LineContext {
  readonly line: number;
  /** Source of lines that name none; '' names them by their ids alone. */
  readonly source: string;
  readonly duplicates: DuplicateIds;
  /** Id of a conversation that has none. Default: from its line number. */
  readonly unnamed?: string;
  /** End user of a conversation that names none. Default: one derived from source and id. */
  readonly user?: string | undefined;
}

/**
 * Maps a conversation `{"id", "source"?, "turns": [{"role", "content", "userId"?, "createdAt"?, "metadata"?,
 * "feedback"?}],
 * "userId"?, "metadata"?}`; `messages` may replace `turns`. Other members (labels, ratings, licences) are dropped. A
 * conversation without `id` is named after its line.
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
  const feedback: (GivenFeedback & { readonly index: number })[] = [];
  for (const [index, turn] of turns.entries()) {
    const mapped = mapTurn(turn, `${turnsName}.${index}`);
    if ('fault' in mapped) return mapped;
    if (mapped.message === null) emptyTurns.push(index);
    else {
      feedback.push(...mapped.feedback.map((given) => ({ ...given, index: messages.length })));
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
      feedback,
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

/** Returns the end users that the user turns name. */
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
 * Fills in the author of user turns. An author that the line states fills every gap; an invented one or the option's
 * only applies where no user turn names anyone: mixed with the file's names it would invent a second person.
 */
function withAuthor(messages: readonly IngestMessage[], author: string, stated: boolean): IngestMessage[] {
  const someNamed = messages.some((message) => isUserTurn(message) && message.userId !== undefined);
  if (someNamed && !stated) return [...messages];
  return messages.map((message) =>
    isUserTurn(message) && message.userId === undefined ? { ...message, userId: author } : message,
  );
}

function mapTurn(
  turn: unknown,
  path: string,
): { message: IngestMessage | null; feedback: readonly GivenFeedback[] } | { fault: string } {
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
  if (content === undefined || content === null || content.trim() === '')
    return { message: null, feedback: [] };
  const feedback = feedbackOf(turn['feedback'], `${path}.feedback`);
  if ('fault' in feedback) return feedback;
  const carried = createdAt === null ? metadata : { ...metadata, createdAt };
  return {
    message: {
      content,
      role,
      ...(typeof userId === 'string' ? { userId } : {}),
      ...(Object.keys(carried).length > 0 ? { metadata: carried } : {}),
    },
    ...feedback,
  };
}

/** Reads `{"value", "rating"?, "userId"?}`, or several. Anything without a value is a member that nobody reads. */
function feedbackOf(given: unknown, path: string): { feedback: GivenFeedback[] } | { fault: string } {
  const feedback: GivenFeedback[] = [];
  for (const one of Array.isArray(given) ? (given as unknown[]) : [given]) {
    if (!isObject(one) || !('value' in one)) continue;
    const { value, rating = null, userId = null } = one;
    if (value !== 1 && value !== -1) return { fault: `${path}.value: must be 1 or -1` };
    const stars = rating === null ? null : ratingOf(rating);
    if (rating !== null && stars === null)
      return { fault: `${path}.rating: must be a whole number from 1 to 5` };
    if (userId !== null && (typeof userId !== 'string' || userId === ''))
      return { fault: `${path}.userId: must be a non-empty string` };
    feedback.push({
      value,
      ...(stars === null ? {} : { rating: stars }),
      ...(userId === null ? {} : { userId }),
    });
  }
  return { feedback };
}
