import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { lockDataDirectory, prepareDataDirectory } from '../../src/store/data-directory.ts';
import { createSupervisor, parseProcfile } from '../../src/main/supervisor.ts';
import type { SupervisorTiming } from '../../src/main/supervisor.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'undertone-start-'));
after(() => rmSync(folder, { recursive: true }));

const FAST: SupervisorTiming = { quickMs: 60_000, firstPauseMs: 1, maxPauseMs: 4 };

/** Runs commands until `until` is met by a line "name text", or the supervisor gives up; then stops. */
async function supervise(
  commands: Record<string, string>,
  options: {
    until: RegExp;
    dispensable?: string[];
    timing?: Partial<SupervisorTiming>;
    stopMs?: number;
    stopOrder?: string[];
  },
): Promise<{ lines: string[]; reason: string | null }> {
  const lines: string[] = [];
  const { promise: met, resolve: meet } = Promise.withResolvers<string | null>();
  const say = (line: string): void => {
    lines.push(line);
    if (options.until.test(lines.join('\n'))) meet(null);
  };
  const supervisor = createSupervisor({
    entries: Object.entries(commands).map(([name, command]) => ({ name, command })),
    stopOrder: options.stopOrder ?? [],
    cwd: root,
    stopMs: options.stopMs ?? 5000,
    onLine: (name, line) => say(`${name} ${line}`),
    log: {
      warn: (_fields: object, message?: string) => say(`warn ${message}`),
      error: (_fields: object, message?: string) => say(`error ${message}`),
    },
    dispensable: options.dispensable ?? [],
    onMessage: () => undefined,
    onGivenUp: meet,
    timing: { ...FAST, ...options.timing },
  });
  supervisor.start();
  const reason = await met;
  await supervisor.stop();
  return { lines, reason };
}

describe('Procfile', () => {
  it('has nats, web and worker, each run by the node of this project', () => {
    const entries = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8'));
    deepEqual(
      entries.map(({ name, command }) => [
        name,
        command.replace(/^env (\w+=\S+ )+/, '').replace(/ --\S+/g, ''),
      ]),
      ['nats', 'web', 'worker'].map((name) => [name, `node_modules/.bin/node src/main/${name}.ts`]),
    );
  });

  it('may have comments and blank lines', () => {
    deepEqual(parseProcfile('# c\n\n a: x\nb:  y z \n'), [{ name: 'b', command: 'y z' }]);
  });
});

describe('supervisor', () => {
  it('ends everything with the reason when the configuration lets a process not start', async () => {
    const { reason } = await supervise({ a: 'sh -c "echo port taken >&2; exit 78"' }, { until: /^$/ });
    equal(reason, 'a cannot start: port taken');
  });

  it('goes on without a worker that cannot start', async () => {
    const { lines, reason } = await supervise(
      { web: 'sh -c "echo up; exec sleep 60"', worker2: 'sh -c "echo views locked >&2; exit 78"' },
      { until: /4 times in a row/, dispensable: ['worker'] },
    );
    equal(reason, null);
    const endings = lines.filter((line) => line.includes(' ended with '));
    deepEqual(endings, [
      'warn worker2 ended with code 78: views locked. It is started again in 0.001 s; the others go on.',
      'warn worker2 ended with code 78: views locked. It failed 2 times in a row. It is started again in ' +
        '0.002 s; the others go on.',
      'error worker2 ended with code 78: views locked. It failed 3 times in a row. It is started again in ' +
        '0.004 s; the others go on.',
      'error worker2 ended with code 78: views locked. It failed 4 times in a row. It is started again in ' +
        '0.004 s; the others go on.',
    ]);
  });

  it('starts a process again that was killed, and says so', async () => {
    const count = join(folder, 'count');
    const { lines, reason } = await supervise(
      {
        a:
          `sh -c 'echo run >> ${count}; if [ $(wc -l < ${count}) -eq 1 ]; then kill -9 $$; fi; echo up; exec ` +
          `sleep 60'`,
      },
      { until: /a up/ },
    );
    equal(reason, null);
    deepEqual(lines, [
      'warn a was ended by SIGKILL. It is started again in 0.001 s; the others go on.',
      'a up',
    ]);
  });

  it('says why a process ended that logged a fatal error', async () => {
    const line = JSON.stringify({
      level: 60,
      err: { message: 'no memory' },
      msg: 'the process cannot go on',
    });
    const { lines } = await supervise(
      { a: `sh -c 'echo "$1"; exit 1' sh '${line}'` },
      { until: /is started again/ },
    );
    match(lines.at(-1) ?? '', /^warn a ended with code 1: no memory\. /);
  });

  it('never gives up on a process that failed later', async () => {
    const { reason } = await supervise({ a: 'sh -c "exit 7"' }, { until: /12 times in a row/ });
    equal(reason, null);
  });

  it('counts restarts and knows the last end', async () => {
    const supervisor = createSupervisor({
      entries: [{ name: 'a', command: 'sh -c "exit 7"' }],
      stopOrder: [],
      cwd: root,
      stopMs: 5000,
      onLine: () => undefined,
      onMessage: () => undefined,
      onGivenUp: () => undefined,
      log: { warn: () => undefined, error: () => third.resolve() },
      timing: FAST,
    });
    const third = Promise.withResolvers<void>();
    supervisor.start();
    await third.promise;
    await supervisor.stop();
    const [known] = supervisor.processes;
    equal(known?.pid, null);
    equal(known?.restarts, 2);
    equal(known?.restartedAt.length, 2);
    equal(known?.lastEnd, 'ended with code 7');
  });

  it('stops a second worker together with the first, before what comes after', async () => {
    const say = (name: string): string =>
      `sh -c 'trap "echo ${name} stops; sleep 0.3; echo ${name} gone; exit 0" TERM; echo up; while :; do ` +
      `sleep 0.01; done'`;
    const { lines } = await supervise(
      { nats: say('nats'), worker: say('worker'), worker2: say('worker2') },
      { until: /up\n.*up\n.*up/, stopOrder: ['worker', 'nats'] },
    );
    const endings = lines.slice(3);
    deepEqual(endings.slice(0, 2).toSorted(), ['worker worker stops', 'worker2 worker2 stops']);
    deepEqual(endings.slice(4), ['nats nats stops', 'nats nats gone']);
  });

  it('stops the processes one after the other in order', async () => {
    const say = (name: string): string =>
      `sh -c 'trap "echo ${name} stops; sleep 0.05; echo ${name} gone; exit 0" TERM; echo up; while :; do ` +
      `sleep 0.01; done'`;
    const { lines } = await supervise(
      { nats: say('nats'), web: say('web') },
      { until: /up\n.*up/, stopOrder: ['web', 'worker', 'nats'] },
    );
    deepEqual(lines.slice(2), ['web web stops', 'web web gone', 'nats nats stops', 'nats nats gone']);
  });

  it('kills a process that does not end in time', async () => {
    const { lines } = await supervise(
      { a: `sh -c 'trap "" TERM; echo up; while :; do sleep 0.01; done'` },
      { until: /up/, stopMs: 50 },
    );
    ok(lines.includes('error a did not end within 0.05 s and is killed'));
  });
});

describe('data directory', () => {
  it('is refused where it cannot be made, in one line', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'below')]) {
      let message = '';
      try {
        prepareDataDirectory(path);
      } catch (error) {
        message = (error as Error).message;
      }
      match(message, /^The data directory .* cannot be written .*DATA_DIR[^\n]*$/);
    }
  });

  it('belongs to one at a time, and to the next when the first is gone', async () => {
    const path = join(folder, 'data');
    prepareDataDirectory(path);
    const lock = await lockDataDirectory(path);
    let message = '';
    await lockDataDirectory(path).catch((error: unknown) => {
      message = (error as Error).message;
    });
    match(message, /^Another npm start runs on the data directory/);
    lock.release();
    (await lockDataDirectory(path)).release();
  });

  it('is free again after a crash that left the lock behind', async () => {
    const path = join(folder, 'crashed');
    prepareDataDirectory(path);
    writeFileSync(join(path, 'start.sock'), '');
    (await lockDataDirectory(path)).release();
  });
});
