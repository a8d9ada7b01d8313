import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { FakeService } from '../doors/import/fake-service.ts';
import { sampled } from '../support/long.ts';
import { eventually } from '../support/processes.ts';

const SCRIPT = resolve(import.meta.dirname, '../../src/cli/import.ts');

let folder: string;
let service: FakeService;
let url: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-import-command-'));
  service = new FakeService();
  url = await service.listen();
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const clean = { ...process.env };
  for (const name of ['PORT', 'UT_KEY', 'UNDERTONE_URL']) delete clean[name];
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    cwd: folder,
    env: { ...clean, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = new Promise<Ended>((done, fail) => {
    child.once('error', fail);
    child.once('close', (status) => done({ status, out, err }));
  });
  return { child, ended };
}

async function write(name: string, lines: readonly unknown[]): Promise<void> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  await writeFile(join(folder, name), text.join('\n'));
}

const chat = (id: string): unknown => ({ id, turns: [{ role: 'user', content: `I am ${id}` }] });

describe('npm run import', () => {
  it('repeats every option but the key in the command that confirms a guess', async () => {
    await write('table.csv', ['thread,sender,text', '1,Key account,Hallo', '1,Berater,Ja']);
    const reading = ['--encoding', 'windows-1252', '--time-zone', 'Europe/Berlin', '--dates', 'day-first'];
    const into = ['--source', 'support', '--new-instance', '--dry-run'];
    const { status, err } = await start(['table.csv', ...into, ...reading, '--key', service.key]).ended;
    equal(status, 1);
    const [, command = ''] = /npm run import -- (.*)/.exec(err) ?? [];
    for (const option of [into, reading])
      for (const word of option) ok(command.split(' ').includes(word), `${word}: ${err}`);
    equal(err.includes(service.key), false);
    match(command, /^table.csv --map conversation=thread /);
  });

  it('imports, sums up, and ends with 0', async () => {
    await write('chats.jsonl', [
      chat('a'),
      chat('b'),
      {
        id: 'c',
        turns: [
          { role: 'user', content: '' },
          { role: 'ai', content: 'hi' },
        ],
      },
    ]);
    service.warnings = () => 'unknown-role "ai\\u001b" in 1 message: counted, not analysed';
    const { status, out, err } = await start(['chats.jsonl', '--url', url], { UT_KEY: service.key }).ended;
    equal(status, 0, err);
    match(out, new RegExp(`^instance {6}${[...service.instances].join()}$`, 'm'));
    match(
      err,
      new RegExp(`^instance ${[...service.instances].join()} "default", new, the default for this key`, 'm'),
    );
    match(out, /^conversations 3 sent, 0 already there$/m);
    match(out, /^messages {6}3 sent, 0 already there$/m);
    match(out, /^end users {5}2$/m);
    match(out, /^made up {7}3 messages have no time in the file, /m);
    match(out, /^made up {7}2 conversations name no end user, /m);
    match(out, /^skipped {7}1 empty turns, 0 lines that failed$/m);
    match(out, /^warning {7}unknown-role "ai\\u001b": counted, not analysed \(3 messages\)$/m);
    match(err, /^chats\.jsonl:\d: the service says: unknown-role "ai\\u001b": counted, not analysed$/m);
    match(out, /^Everything is visible in queries\.$/m);
    match(err, /^chats\.jsonl:3: empty turn left out: 0$/m);
    deepEqual(service.countOf(), { sessions: 3, messages: 3, users: 2 });
  });

  it('stops before it sends anything where nobody knows who the assistant of a chat is', async () => {
    const lines = ['29.11.25, 09:15 - Ana: Where is it?', "29.11.25, 09:16 - Bo's Shop: On its way"];
    await mkdir(join(folder, 'chats'));
    await write('chats/WhatsApp Chat with Ana.txt', lines);
    const args = ['chats', '--url', url, '--key', service.key];
    const stopped = await start(args).ended;
    equal(stopped.status, 1);
    match(
      stopped.err,
      /is the assistant: Ana, Bo's Shop\. Say it with --map role:Ana=assistant, or --map 'role:Bo/,
    );
    equal(service.sessions.size, 0);
    const chosen = ['--map', "role:Bo's Shop=assistant", '--time-zone', 'Europe/Berlin', '--no-wait'];
    const { status, err } = await start([...args, ...chosen]).ended;
    equal(status, 0, err);
    const [session] = [...service.sessions.values()];
    deepEqual(
      session?.messages.map(({ role, userId, metadata }) => [role, userId, metadata?.['createdAt']]),
      [
        ['user', 'Ana', '2025-11-29T08:15:00.000Z'],
        ['assistant', undefined, '2025-11-29T08:16:00.000Z'],
      ],
    );
    for (const wrong of [
      ['--dates', 'first'],
      ['--time-zone', 'Berlin'],
    ])
      equal((await start([...args, ...wrong]).ended).status, 2);
  });

  it('finds the service by PORT, and takes key and instance from the command line', async () => {
    await write('chats.jsonl', [chat('a')]);
    const instance = service.addInstance();
    const args = ['chats.jsonl', '--key', service.key, '--instance', instance.toUpperCase(), '--no-wait'];
    const { status, out, err } = await start(args, { PORT: new URL(url).port }).ended;
    equal(status, 0, err);
    equal(service.countOf(instance).messages, 1);
    equal(out.includes('visible'), false);
  });

  it('ends with 1 when a line failed, having imported the rest', async () => {
    await write('chats.jsonl', [chat('a'), 'not json', chat('b')]);
    const { status, err } = await start(['chats.jsonl', '--url', url, '--key', service.key]).ended;
    equal(status, 1);
    match(err, /^chats\.jsonl:2: not imported: not JSON/m);
    equal(service.countOf().sessions, 2);
  });

  it('says what it expects when no line is as it should be', async () => {
    await write('chats.jsonl', [{ id: 'a', turns: ['Where is my parcel?', 'On its way.'] }, { id: 'b' }]);
    const { status, err } = await start(['chats.jsonl', '--url', url, '--key', service.key]).ended;
    equal(status, 1);
    match(
      err,
      /^chats\.jsonl:1: not imported: turns\.0: is a string, but must be an object such as \{"role": "user", "content": ".*"\}$/m,
    );
    match(err, /^chats\.jsonl:2: not imported: turns: missing; expected an array of objects such as /m);
    match(
      err,
      /^No line could be imported\. Expected is one conversation a line: \{"id", .*"turns": \[\{"role", "content"/m,
    );
    const demo = resolve(import.meta.dirname, '../../examples/demo/conversations.jsonl');
    match(
      (await start([demo, '--url', url, '--key', service.key]).ended).err,
      /the demo's own file.*"npm run demo" sends it/,
    );
  });

  it('names a file that is missing, or not known, before it sends anything', async () => {
    await write('chats.jsonl', [chat('a')]);
    const missing = await start(['chats.jsonl', 'chat.jsonl', '--url', url, '--key', service.key]).ended;
    deepEqual([missing.status, missing.out], [1, '']);
    match(missing.err, /^chat\.jsonl: there is no such file\.$/m);
    await write('odd.csv', ['colour,size', 'red,9']);
    const unknown = await start(['chats.jsonl', 'odd.csv', '--url', url, '--key', service.key]).ended;
    equal(unknown.status, 1);
    match(unknown.err, /^odd\.csv: not recognised; it looks like a table with colour, size\. .*--map role=/m);
    equal(service.countOf().sessions, 0);
  });

  it('imports what it recognises in a folder, and says what it left out', async () => {
    await write('chats.jsonl', [chat('a')]);
    await write('table.csv', ['thread,sender,text', 't1,user,Hello', 't2,user,', 't1,bot,Hi']);
    await write('notes.txt', ['nothing of this is a conversation']);
    const { status, out, err } = await start(['.', '--url', url, '--key', service.key]).ended;
    equal(status, 0, err);
    match(err, /^chats\.jsonl: Undertone conversations \(/m);
    match(err, /^notes\.txt: left out: /m);
    match(
      err,
      /^table\.csv: table \(one message in each row\): conversation=thread role=sender content=text$/m,
    );
    match(out, /^left out {6}1 × row without text$/m);
    deepEqual(service.countOf(), { sessions: 2, messages: 3, users: 2 });
  });

  it('stops where it is not sure, shows what it would import, and takes a mapping', async () => {
    await write('table.csv', ['thread,sender,text', 't1,Kunde,Hallo', 't1,Berater,Guten Tag']);
    const unsure = await start(['table.csv', '--url', url, '--key', service.key]).ended;
    deepEqual([unsure.status, service.countOf().messages], [1, 0]);
    match(unsure.err, /unknown roles: Kunde, Berater/);
    const mapping = 'conversation=thread role=sender content=text role:Kunde=user role:Berater=assistant';
    ok(unsure.err.includes(`npm run import -- table.csv --map ${mapping} --url `), unsure.err);
    const map = [
      '--map',
      'conversation=thread',
      'role=sender',
      'content=text',
      'role:Kunde=user',
      'role:Berater=ai',
    ];
    const preview = await start(['--dry-run', 'table.csv', ...map]).ended;
    deepEqual([preview.status, service.countOf().messages], [0, 0], preview.err);
    match(preview.out, /^table\.csv: table \(as --map says\): /m);
    match(preview.out, /^ {2}in all: 1 conversation, 2 messages$/m);
    match(
      preview.out,
      /^ {2}made up: 2 messages have no time in the file, .*\n {2}made up: 1 conversation names no /m,
    );
    match(preview.out, /^ {2}table:t1, 2 messages\n {4}no time {2}user [0-9a-f-]{36}: Hallo$/m);
    const { status, err } = await start(['table.csv', ...map, '--url', url, '--key', service.key]).ended;
    equal(status, 0, err);
    deepEqual(service.countOf(), { sessions: 1, messages: 2, users: 1 });
  });

  it('names the user in a dry run beside what the user says only', async () => {
    await write('table.csv', ['thread,role,text,customer', '1,user,Hallo,Ana', '1,assistant,Guten Tag,Ana']);
    const { status, out, err } = await start(['--dry-run', 'table.csv']).ended;
    equal(status, 0, err);
    match(out, /no time {2}user Ana: Hallo\n.*no time {2}assistant: Guten Tag\n/);
  });

  it('reads all of a file in a dry run, and fails when something of it cannot be imported', async () => {
    const whole = Array.from({ length: 600 }, (_, index) => chat(`c${index}`));
    await write('whole.jsonl', whole);
    await write('broken.jsonl', [...whole, 'no json', { id: 'x', turns: [] }]);
    const good = await start(['--dry-run', 'whole.jsonl']).ended;
    equal(good.status, 0, good.err);
    match(good.out, /^ {2}in all: 600 conversations, [\d,]+ messages$/m);
    const bad = await start(['--dry-run', 'whole.jsonl', 'broken.jsonl']).ended;
    equal(bad.status, 1, bad.err);
    match(bad.out, /^ {2}cannot be imported: 2$/m);
    match(bad.out, /^ {4}broken\.jsonl:601: not JSON: /m);
    match(bad.out, /^ {4}broken\.jsonl:602: turns: empty$/m);
    match(bad.out, /^Nothing was sent\. An import would leave out what cannot be imported\.$/m);
    equal(service.countOf().sessions, 0);
  });

  it('leaves out what cannot be read, imports the rest, and ends with 1', async () => {
    await write('cut.zip', ['PK\u0003\u0004']);
    await write('whole.jsonl', [chat('a')]);
    const { status, err } = await start(['cut.zip', 'whole.jsonl', '--url', url, '--key', service.key]).ended;
    equal(status, 1, err);
    match(err, /^cut\.zip: left out: the zip file has no directory: is it whole\?$/m);
    equal(service.countOf().sessions, 1);
  });

  it('says how to go on when it is interrupted', async () => {
    await write(
      'chats.jsonl',
      Array.from({ length: 4000 }, (_, index) => chat(`c${index}`)),
    );
    let child: ChildProcess | undefined;
    service.disturb = (_body, count) => {
      if (count === 30) child?.kill('SIGINT');
      return null;
    };
    const named = ['--source', "the shop's", '--user', 'ana'];
    const running = start(['chats.jsonl', ...named, '--url', url, '--key', service.key, '--in-flight', '1']);
    child = running.child;
    const { status, err } = await running.ended;
    equal(status, 130, err);
    const instance = [...service.instances].join();
    const options = `--instance ${instance} --source 'the shop'\\''s' --user ana`;
    // Under another source it would be counted again.
    equal(err.includes(`npm run import -- chats.jsonl ${options}\n`), true, err);
    equal(service.countOf().sessions < 4000, true);
  });

  it('ends when it is told to while it waits for a pipe, and leaves nothing behind', async () => {
    const temporary = join(folder, 'tmp');
    await mkdir(temporary);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const args of [['--url', url, '--key', service.key], ['--dry-run']]) {
      const { child, ended } = start(['pipe', ...args], { TMPDIR: temporary });
      await eventually(() => readdirSync(temporary).length > 0);
      child.kill('SIGTERM');
      const { status, err } = await ended;
      equal(status, 130, err);
      deepEqual(readdirSync(temporary), []);
    }
  });

  it('counts nothing twice and loses nothing when it is killed in the middle of a table, and run again', async () => {
    const row = (turn: string, index: number): string => `c${index},${turn},${turn} says ${index}`;
    const indices = Array.from({ length: 2000 }, (_, index) => index);
    const rows = ['user', 'assistant'].flatMap((turn) => indices.map((index) => row(turn, index)));
    await write('table.csv', ['thread,role,text', ...rows]);
    let child: ChildProcess | undefined;
    service.disturb = (_body, count) => {
      if (count === 900) child?.kill('SIGKILL');
      return null;
    };
    const args = ['table.csv', '--url', url, '--key', service.key, '--no-wait'];
    const running = start(args);
    child = running.child;
    equal((await running.ended).status, null);
    equal(service.countOf().sessions < 2000, true);
    const { status, err } = await start(args).ended;
    equal(status, 0, err);
    deepEqual(service.countOf(), { sessions: 2000, messages: 4000, users: 2000 });
  });

  const wrong: readonly [string, readonly string[], NodeJS.ProcessEnv, RegExp][] = [
    ['no file', [], { UT_KEY: 'k' }, /Name at least one file/],
    ['no key', ['a.jsonl'], {}, /npm run keys -- create/],
    [
      'an instance that is no UUID',
      ['a.jsonl', '--instance', 'x'],
      { UT_KEY: 'k' },
      /--instance must be a UUID, not "x"/,
    ],
    [
      'an instance that is named and new',
      ['a.jsonl', '--new-instance', '--instance', '01900000-0000-7000-8000-000000000001'],
      { UT_KEY: 'k' },
      /exclude each other/,
    ],
    ['an address that is none', ['a.jsonl', '--url', 'ftp://x'], { UT_KEY: 'k' }, /not an http address/],
    ['a number in flight out of bounds', ['a.jsonl', '--in-flight', '0'], { UT_KEY: 'k' }, /--in-flight/],
    [
      'a format that is none',
      ['a.jsonl', '--format', 'x'],
      { UT_KEY: 'k' },
      /--format: "x" is none of undertone/,
    ],
    ['half a mapping', ['a.jsonl', '--map', 'role=x'], { UT_KEY: 'k' }, /--map: content=… is missing/],
    ['an unknown option', ['a.jsonl', '--instnace', 'x'], { UT_KEY: 'k' }, /--instnace/],
  ];
  for (const [name, args, env, message] of sampled(wrong, 3)) {
    it(`ends with 2 and the usage for ${name}`, async () => {
      const { status, err } = await start(args, env).ended;
      equal(status, 2);
      match(err, message);
      match(err, /^Usage: npm run import/m);
    });
  }

  it('ends with 1 in one line when nothing answers, at once', async () => {
    await write('chats.jsonl', [chat('a')]);
    await service.close();
    const { status, err } = await start(['chats.jsonl', '--url', url, '--key', 'k']).ended;
    equal(status, 1);
    match(err.trim(), /^nothing answers at \S+ \(ECONNREFUSED\)\. Start the service with "npm start"[^\n]*$/);
    service = new FakeService();
    await service.listen();
  });

  it('ends with 1 and the reason when the key is wrong', async () => {
    await write('chats.jsonl', [chat('a')]);
    const refused = await start(['chats.jsonl', '--url', url, '--key', 'wrong']).ended;
    equal(refused.status, 1);
    match(refused.err, /import stopped: the key is invalid or inactive/);
  });
});
