/**
 * `npm run dead-letters`: lists, shows, replays and removes entries that workers could not process or analyse.
 *
 * Test: test/cli/dead-letters.test.ts.
 */
import { inspect } from 'node:util';
import { printable, printableLines } from '../domain/printable.ts';
import type { StreamRecord } from '../domain/records.ts';
import { SetupError } from '../errors.ts';
import { decodeRecord } from '../stream/log/codec.ts';
import type { StreamConnection } from '../stream/connection.ts';
import {
  findDeadLetter,
  readDeadLetters,
  removeDeadLetter,
  replayDeadLetter,
  type DeadLetter,
  type MessageName,
} from '../stream/dead-letters/dead-letters.ts';
import { action, runCommand, UsageError, type Action } from './command.ts';
import { onStream } from './nats-access.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage:
  npm run --silent dead-letters -- list [--json]
  npm run --silent dead-letters -- show ID
  npm run --silent dead-letters -- replay ID… | --all
  npm run --silent dead-letters -- remove ID… | --all

Dead letters: entries of the stream that a worker could not process, with the reason. show prints what is in one,
message texts included. replay puts them on the stream again: nothing is counted twice, and what fails again becomes
a dead letter again. remove deletes them here; the stream itself keeps the entries.

The list also has notes on messages that count without findings, because their analysis took too long or too much
memory. They hold nothing to replay. After you remove one, the next rebuild analyses its message again.`;

/** Bytes shown of a payload that is no record. */
const HEAD_BYTES = 200;
const INSTANCES_IN_TABLE = 2;

const list = action({
  options: { json: { type: 'boolean' } },
  read: ({ json = false }) => onStream((connection) => printList(connection, json)),
});

const show = action({
  operands: Infinity,
  read(_, words) {
    const [id, ...more] = idsOf(words);
    if (id === undefined || more.length > 0) throw new UsageError('show needs one ID; list shows them.');
    return onStream((connection) => printOne(connection, id));
  },
});

/** Declares an action on the named dead letters, or on all. */
function each(word: string, one: One): Action {
  return action({
    options: { all: { type: 'boolean' } },
    operands: Infinity,
    read({ all = false }, words) {
      const ids = idsOf(words);
      if (all === ids.length > 0) throw new UsageError(`${word} needs IDs or --all; list shows them.`);
      return onStream((connection) => doEach(connection, ids, one));
    },
  });
}

function idsOf(texts: readonly string[]): number[] {
  const ids = texts.map((text) => {
    if (!/^[1-9]\d{0,14}$/.test(text))
      throw new UsageError(`An ID is a number, as list shows it; not ${text}.`);
    return Number(text);
  });
  return [...new Set(ids)];
}

async function printList(connection: StreamConnection, json: boolean): Promise<void> {
  const letters: ReturnType<typeof summaryOf>[] = [];
  for await (const letter of readDeadLetters(connection)) letters.push(summaryOf(letter));
  if (json) {
    printJson(letters);
    return;
  }
  if (letters.length === 0) {
    process.stdout.write('There are no dead letters.\n');
    return;
  }
  const table = tableOf(
    ['ID', 'SEQUENCE', 'SINCE', 'INSTANCE', 'REQUESTS', 'REASON'],
    letters.map(({ id, sequence, setAsideAt, instanceIds, requests, message, reason }) => [
      String(id),
      String(sequence),
      setAsideAt,
      instanceIds.length > INSTANCES_IN_TABLE
        ? `${instanceIds.length} instances`
        : instanceIds.join(' ') || '?',
      requests === null ? '?' : String(requests),
      message === null ? reason : `${placeOf(message)} counts without findings: ${reason}`,
    ]),
  );
  process.stdout.write(table);
}

/** `requests` is null if the payload is no record, so that its instance is unknown. */
function summaryOf(letter: DeadLetter) {
  const record = recordOf(letter);
  return {
    id: letter.id,
    sequence: letter.sequence,
    setAsideAt: new Date(letter.setAsideAt / 1000).toISOString(),
    instanceIds: record instanceof Error ? [] : instancesOf(record, letter.reason),
    requests: record instanceof Error ? null : record.requests.length,
    message: letter.message,
    bytes: letter.bytes.length,
    reason: letter.reason,
  };
}

/** Names a message as errors of the API do. */
function placeOf({ requestId, index }: MessageName): string {
  return `messages.${index} of request ${requestId}`;
}

/** Returns the instances of the requests that the reason names; if it names none, of all in the entry. */
function instancesOf({ requests }: StreamRecord, reason: string): string[] {
  const named = new Set(
    [...reason.matchAll(/request ([0-9a-f-]{36}):/gi)].map(([, id]) => id?.toLowerCase()),
  );
  const concerned = requests.filter(({ requestId }) => named.has(requestId.toLowerCase()));
  return [
    ...new Set(
      (concerned.length > 0 ? concerned : requests).map(({ instanceId }) => instanceId.toLowerCase()),
    ),
  ];
}

async function printOne(connection: StreamConnection, id: number): Promise<void> {
  const letter = await required(connection, id);
  const record = recordOf(letter);
  const { subject } = letter;
  if (record instanceof Error) {
    const head = inspect(Buffer.from(letter.bytes.subarray(0, HEAD_BYTES)).toString('latin1'));
    printJson({ ...summaryOf(letter), subject });
    process.stdout.write(`No record: ${printable(record.message)}. It begins with\n${printable(head)}\n`);
    return;
  }
  printJson({ ...summaryOf(letter), subject, record });
}

function printJson(value: unknown): void {
  process.stdout.write(`${printableLines(JSON.stringify(value, null, 2))}\n`);
}

type One = (connection: StreamConnection, id: number) => Promise<void>;

/** Without ids: all present dead letters, but not those that arrive meanwhile. */
async function doEach(connection: StreamConnection, ids: readonly number[], one: One): Promise<void> {
  const wanted = [...ids];
  if (wanted.length === 0) for await (const { id } of readDeadLetters(connection)) wanted.push(id);
  else for (const id of wanted) await required(connection, id);
  if (wanted.length === 0) process.stdout.write('There are no dead letters.\n');
  for (const [place, id] of wanted.entries()) {
    try {
      await one(connection, id);
    } catch (error) {
      throw new SetupError(
        `Dead letter ${id} and the ${wanted.length - place - 1} after it stay where they are: ` +
          `${(error as Error).message}`,
        { cause: error },
      );
    }
  }
}

async function replayOne(connection: StreamConnection, id: number): Promise<void> {
  const letter = await required(connection, id);
  if (letter.message !== null) {
    process.stdout.write(
      `${id}: stays: ${printable(placeOf(letter.message))} is counted already; after you remove this note, ` +
        'the next rebuild analyses it again\n',
    );
    return;
  }
  const sequence = await replayDeadLetter(connection, letter);
  process.stdout.write(`${id}: entry ${letter.sequence} is on the stream again as entry ${sequence}\n`);
}

async function removeOne(connection: StreamConnection, id: number): Promise<void> {
  const letter = await findDeadLetter(connection, id);
  await removeDeadLetter(connection, id);
  const then = letter?.message == null ? '' : '; the next rebuild analyses the message again';
  process.stdout.write(`${id}: removed${then}\n`);
}

async function required(connection: StreamConnection, id: number): Promise<DeadLetter> {
  const letter = await findDeadLetter(connection, id);
  if (letter === null) {
    throw new SetupError(`There is no dead letter ${id}. npm run dead-letters -- list shows all.`);
  }
  return letter;
}

function recordOf(letter: DeadLetter): StreamRecord | Error {
  try {
    return decodeRecord(letter.bytes);
  } catch (error) {
    return error as Error;
  }
}

await runCommand({
  usage: USAGE,
  actions: { list, show, replay: each('replay', replayOne), remove: each('remove', removeOne) },
});
