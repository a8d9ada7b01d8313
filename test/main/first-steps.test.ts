import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it, mock } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { createLogger, silentLogger } from '../../src/logger.ts';
import { firstKeyFile, firstSteps, showFirstSteps, type FirstSteps } from '../../src/main/first-steps.ts';
import type { Registry } from '../../src/web/registry/registry.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { curlRequest, shellCommands } from '../support/readme.ts';

const URL = 'http://127.0.0.1:8080';
const KEY = 'ut_test_of_the_first_steps';

type Used = Pick<Registry, 'ensureFirstProject' | 'defaultInstance'>;

/** A registry of which only the first project and its instance are asked. */
function registryWith(defaultInstance: Registry['defaultInstance'], first = true): Registry {
  const project = { id: 'p1', name: 'default', createdAt: '2026-03-01T00:00:00Z' };
  const key = { id: 'k1', projectId: 'p1', env: 'test', createdAt: project.createdAt, revokedAt: null };
  const used = {
    ensureFirstProject: () => Promise.resolve(first ? { rawKey: KEY, key, project } : null),
    defaultInstance,
  } as Used;
  return used as Registry;
}

/** What is printed for a person at a terminal. */
function printedAtTerminal(steps: FirstSteps): string {
  const write = mock.method(process.stdout, 'write', () => true);
  try {
    showFirstSteps(steps, { terminal: true, dataDir: '/nowhere', log: silentLogger() });
    return write.mock.calls.map(({ arguments: [text] }) => String(text)).join('');
  } finally {
    write.mock.restore();
  }
}

describe('the first steps', () => {
  const temporary = temporaryDirectory();
  after(() => temporary.remove());

  it('are the key and the default instance', async () => {
    const instance = { id: 'i1', number: 1, projectId: 'p1', name: null, createdAt: '' };
    const registry = registryWith(() => Promise.resolve({ instance, made: true }));
    deepEqual(await firstSteps(registry, URL), { url: URL, key: KEY, instanceId: 'i1' });
  });

  it('are the key alone when the registry goes away before the instance is made', async () => {
    const registry = registryWith(() => Promise.reject(new AppError('SERVICE_UNAVAILABLE', 'Closing.')));
    deepEqual(await firstSteps(registry, URL), { url: URL, key: KEY, instanceId: null });
  });

  it('hide no other failure', async () => {
    await rejects(
      firstSteps(
        registryWith(() => Promise.reject(new Error('broken'))),
        URL,
      ),
      /broken/,
    );
  });

  it('are nothing when the first project is there', async () => {
    const unused = () => Promise.reject(new Error('not asked for'));
    equal(await firstSteps(registryWith(unused, false), URL), null);
  });

  it('show the key once at a terminal, and commands that use it', () => {
    const text = printedAtTerminal({ url: URL, key: KEY, instanceId: 'i1' });
    equal(text.split(KEY).length, 2, text);
    const [setting, ingest, query] = text
      .split('\n')
      .flatMap((line) => /^ {2}(KEY=.*|curl .*)/.exec(line)?.[1] ?? []);
    equal(setting, `KEY=${KEY}`);
    for (const command of [ingest, query]) {
      const [words] = shellCommands(command ?? '', { KEY });
      const request = curlRequest(words ?? []);
      equal(request.headers.get('x-api-key'), KEY);
      match(`${request.url} ${request.body === null ? '' : command}`, /i1/);
    }
    doesNotMatch(printedAtTerminal({ url: URL, key: KEY, instanceId: null }), /curl/);
  });

  it('leave the key in a file of its owner where there is no terminal, and the log names the file', () => {
    const lines: string[] = [];
    const log = createLogger({ name: 'test', level: 'warn', write: (line) => lines.push(line) });
    const { path: dataDir } = temporary;
    const file = firstKeyFile(dataDir);
    writeFileSync(file, 'of an earlier stream', { mode: 0o644 });
    showFirstSteps({ url: URL, key: KEY, instanceId: 'i1' }, { terminal: false, dataDir, log });
    equal(readFileSync(file, 'utf8'), `${KEY}\n`);
    equal(statSync(file).mode & 0o777, 0o600);
    showFirstSteps(
      { url: URL, key: KEY, instanceId: 'i1' },
      { terminal: false, dataDir: join(dataDir, 'gone'), log },
    );
    deepEqual(
      lines.map((line) => (JSON.parse(line) as { event: string }).event),
      ['first_key_written', 'first_key_lost'],
    );
    ok(lines[0]?.includes(file));
    doesNotMatch(lines.join(''), new RegExp(KEY));
  });
});
