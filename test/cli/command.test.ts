import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  action,
  helpOf,
  oneOf,
  readCommandLine,
  uuid,
  wholeNumber,
  type Command,
} from '../../src/cli/command.ts';
import type { Help } from '../support/helps.ts';

const ROOT = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
/** The scripts of package.json that are commands of ours. */
const COMMANDS = Object.entries(scripts).flatMap(([name, script]) => {
  const file = /^(?:exec )?node ((?:src|tools|test\/(?:golden|faults))\/\S+\.ts)$/.exec(script)?.[1];
  return file === undefined ? [] : [{ name, file }];
});

describe('every command', () => {
  it('tells how it is used, and names its options', async () => {
    ok(COMMANDS.length >= 15, COMMANDS.map(({ name }) => name).join(' '));
    const script = join(ROOT, 'test/support/helps.ts');
    const files = COMMANDS.map(({ file }) => file);
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...files], { cwd: ROOT });
    const helps = JSON.parse(stdout) as Help[];
    equal(helps.length, COMMANDS.length);
    for (const [index, { name, file }] of COMMANDS.entries()) {
      const { code, output, file: asked } = helps[index]!;
      deepEqual([asked, code], [file, 0], `${name}: ${output}`);
      match(output, /^Usage:/);
      match(output, name === 'start' ? /npm start/ : new RegExp(`npm run (--silent )?${name}\\b`));
    }
  });

  it('ends without a fault when the reader of its output ends first', async () => {
    const line = `"${process.execPath}" src/cli/import.ts examples/demo/conversations.jsonl --dry-run | head -n 1`;
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line], { cwd: ROOT });
    deepEqual([stdout.split('\n').length, stderr], [2, '']);
  });
});

const messages: unknown[] = [];
const EXAMPLE: Command = {
  usage: 'Usage: make NAME [--size N] [--label TEXT] | list [--json] | drop [--json]',
  actions: {
    make: action({
      options: { size: { type: 'string' }, label: { type: 'string' } },
      operands: 1,
      read:
        ({ size = '1' }, [name]) =>
        () =>
          Promise.resolve(void messages.push(name, wholeNumber('--size', size, 1, 9))),
    }),
    list: action({ options: { json: { type: 'boolean' } }, read: () => () => Promise.resolve() }),
    drop: action({ options: { json: { type: 'boolean' } }, read: () => () => Promise.resolve() }),
  },
};

describe('command line', () => {
  it('is read by the action that its first word names', async () => {
    const interruption = (): AbortSignal => new AbortController().signal;
    await readCommandLine(EXAMPLE, ['--size', '3', 'make', 'it'])({ interruption });
    deepEqual(messages, ['it', 3]);
  });

  for (const [args, message] of [
    [[], 'A command is needed.'],
    [['take'], 'Unknown command: take.'],
    [['toString'], 'Unknown command: toString.'],
    [['make', 'a', 'b', 'c'], 'Unexpected: b c.'],
    [['list', '--size', '1'], '--size and --label belong to make.'],
    [['make', '--json'], '--json belongs to list and drop.'],
    [['list', '--jsno'], "Unknown option '--jsno'"],
  ] as const) {
    it(`${args.join(' ') || 'an empty one'}: ${message}`, () => {
      throws(() => readCommandLine(EXAMPLE, args), { name: 'Error', message });
    });
  }

  it('must have its options named in the usage', () => {
    equal(helpOf(EXAMPLE), `${EXAMPLE.usage}\n`);
    throws(
      () => helpOf({ ...EXAMPLE, usage: 'Usage: make [--label TEXT] [--json]' }),
      /does not name --size/,
    );
  });

  it('takes whole numbers within their bounds', () => {
    equal(wholeNumber('--rate', '20'), 20);
    throws(() => wholeNumber('--rate', '0'), { message: '--rate takes a whole number of 1 or more.' });
    throws(() => wholeNumber('--rate', '1e3'), /--rate/);
    throws(() => wholeNumber('--rate', '300', 1, 256), {
      message: '--rate takes a whole number from 1 to 256.',
    });
  });

  it('takes UUIDs, and names of a list, however they are capitalised', () => {
    equal(uuid('--instance', '0190A000-0000-7000-8000-000000000001'), '0190a000-0000-7000-8000-000000000001');
    throws(() => uuid('--instance', undefined), { message: '--instance is needed, and must be a UUID.' });
    throws(() => uuid('--instance', 'x'), { message: '--instance must be a UUID, not "x".' });
    equal(oneOf(['DAY', 'WEEK'], '--granularity', 'day'), 'DAY');
    throws(() => oneOf(['DAY', 'WEEK'], '--granularity', 'year'), {
      message: '--granularity takes one of DAY, WEEK.',
    });
  });
});
