import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { SetupError } from '../../../src/errors.ts';
import { findServer } from '../../../src/stream/server/binary.ts';

const SUITES = ['bookworm', 'stable', 'testing', 'unstable'];

// The commands of the system are played by scripts: an archive's suites are files with a version each.
describe('fetching nats-server', { skip: process.platform !== 'linux' }, () => {
  const path = process.env['PATH'];
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'undertone-apt-'));
    process.env['PATH'] = `${folder}${delimiter}${path}`;
    command('dpkg', 'case "$1" in -x) mkdir -p "$3/usr/sbin" && cp "$2" "$3/usr/sbin/nats-server";; esac');
    command(
      'apt-get',
      `for option; do case "$option" in
        Dir::Etc::SourceList=*) sources="\${option#*=}";;
        Dir::State::Lists=*) lists="\${option#*=}";;
        indextargets) echo 'http://archive/debian|bookworm|main|Debian';;
        update) cat "$sources" >> ${folder}/asked; for suite in ${SUITES.join(' ')}; do
          if [ -f ${folder}/$suite ] && grep -q " $suite main" "$sources"; then
            cp ${folder}/$suite "$lists/archive_dists_\${suite}_Packages"; fi; done;;
        nats-server=*) printf '#!/bin/sh\\necho "nats-server: v%s"\\n' "\${option#*=}" > s.deb; chmod +x s.deb;;
      esac; done`,
    );
    command(
      'apt-cache',
      `for option; do case "$option" in Dir::State::Lists=*) lists="\${option#*=}";; esac; done
      for list in "$lists"/*_Packages; do echo "nats-server | $(cat $list) | http://archive"; done`,
    );
  });
  afterEach(() => {
    process.env['PATH'] = path;
    rmSync(folder, { recursive: true, force: true });
  });

  function command(name: string, script: string): void {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  function archive(versions: Readonly<Record<string, string>>): void {
    for (const [suite, version] of Object.entries(versions)) writeFileSync(join(folder, suite), version);
  }

  const lines: string[] = [];
  function fetched(): ReturnType<typeof findServer> {
    lines.length = 0;
    return findServer({
      cacheDir: join(folder, 'cache'),
      places: [],
      onProgress: (sentence) => lines.push(sentence),
    });
  }

  it('takes the one of a stable suite, and does not ask the others', async () => {
    archive({ bookworm: '2.9.10', stable: '2.10.27', testing: '2.15.1', unstable: '2.16.0' });
    const { file, version } = await fetched();
    deepEqual([file, version], [join(folder, 'cache/nats-server'), '2.10.27']);
    const asked = readFileSync(join(folder, 'asked'), 'utf8');
    match(asked, / stable main/);
    equal(/testing|unstable|sid/.test(asked), false);
    equal(lines.length, 1);
  });

  it('asks the others when no stable suite has one that is new enough, and says so', async () => {
    archive({ bookworm: '2.9.10', stable: '2.9.20', testing: '2.15.1', unstable: '3.0.0' });
    equal((await fetched()).version, '2.15.1');
    match(lines[1] ?? '', /^No stable suite/);
  });

  it('says that the archive cannot be reached, and not that it has none', async () => {
    await rejects(fetched(), (error: unknown) => {
      match(
        error instanceof SetupError ? error.message : '',
        /^There is no nats-server on this machine\. None could be fetched: the package archive of this machine cannot be reached \(is there a network\?\)\. Install nats-server 2\.10\.0 or newer .*NATS_URL/,
      );
      return true;
    });
  });

  it('says that the archive has none that is new enough', async () => {
    archive({ bookworm: '2.9.10', stable: '2.9.20', testing: '2.9.20', unstable: '2.9.20' });
    await rejects(
      fetched(),
      /None could be fetched: the package archive of this machine has none that is new enough\./,
    );
  });

  it('says when there is nothing to fetch one with', async () => {
    command('apt-get', 'exit 127');
    await rejects(
      fetched(),
      /no nats-server on this machine\. There is neither apt-get nor brew to fetch one with\. Install/,
    );
  });
});
