import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SINK_TABLES } from '../../src/doors/sink/tables.ts';
import { shardDirectory, writeActiveEpoch } from '../../src/store/epochs/epochs.ts';
import { assignment, fact, openFixture, temporaryDirectory, uuid, type Fixture } from '../support/fold.ts';
import { end, runScript, type Running } from '../support/processes.ts';

/** `npm run sql` over the views of a data directory with two instances. */
describe('npm run sql', () => {
  const temporary = temporaryDirectory();
  const dataDir = join(temporary.path, 'data');
  const copies = join(temporary.path, 'tmp');
  let fixture: Fixture;
  const running: Running[] = [];
  const sql = (...args: readonly string[]): Running => {
    const run = runScript('cli/sql.ts', args, { ...process.env, DATA_DIR: dataDir, TMPDIR: copies });
    running.push(run);
    return run;
  };

  before(async () => {
    const directory = shardDirectory(dataDir, 1, 0);
    mkdirSync(directory, { recursive: true });
    mkdirSync(copies);
    fixture = await openFixture({ directory });
    for (const instance of [1, 2]) {
      const session = { instance, session: instance, id: uuid(3, instance), user: instance, title: null };
      await fixture.fold(
        assignment({
          messages: [fact({ instance, position: instance, session: instance, user: instance })],
          sessions: [{ ...session, summary: null, language: null, outcome: null }],
        }),
        [],
        { attributes: [{ instance, session: instance, name: 'plan', value: `-plan ${instance}` }] },
      );
    }
    await fixture.publish();
    writeActiveEpoch(dataDir, { epoch: 1, shards: 1 });
  });
  after(async () => {
    await Promise.all(running.map((run) => end(run, 'SIGKILL')));
    await fixture.close();
    temporary.remove();
  });

  async function lines(query: string, status = 0): Promise<string[]> {
    const run = sql('--instance', uuid(1, 1), '--query', query);
    equal(await run.ended, status, run.output());
    return run.output().trim().split(/\r?\n/);
  }

  /** What the prompt prints for statements. */
  async function prompted(statements: readonly string[]): Promise<string> {
    const file = join(import.meta.dirname, '../../src/cli/sql.ts');
    const env = { ...process.env, DATA_DIR: dataDir, TMPDIR: copies };
    const child = spawn(process.execPath, [file, '--instance', uuid(1, 1)], { env });
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (output += data.toString()));
    child.stdin.end(statements.map((statement) => `${statement};\n`).join(''));
    const [code] = (await once(child, 'close')) as [number | null];
    equal(code, 0, output);
    return output;
  }

  it('answers a statement as CSV, and has every table of the sink, with the rows of one instance', async () => {
    deepEqual(await lines('select session_id, messages, -messages as less from sessions;'), [
      'session_id,messages,less',
      `${uuid(3, 1)},1,-1`,
    ]);
    // What a spreadsheet would take for a formula is marked as text.
    deepEqual(await lines('select name, value from attributes'), ['name,value', "plan,'-plan 1"]);
    const counts = SINK_TABLES.map(({ name }) => `select '${name}' as t, count(*) as n from ${name}`);
    const rows = await lines(`${counts.join(' union all ')} order by t`);
    equal(rows.length, SINK_TABLES.length + 1);
    ok(rows.includes('end_users,1') && rows.includes('facts,1') && rows.includes('topics,0'), rows.join());
  });

  it('reads nothing else, changes nothing, and goes on after a mistake', async () => {
    const secret = join(temporary.path, 'secret.csv');
    writeFileSync(secret, 'a\n1\n');
    const refused = [
      `select * from read_csv('${secret}')`,
      `select * from '${secret}'`,
      `select * from read_text('/etc/hostname')`,
      `select * from glob('${dataDir}/**')`,
      'drop table sessions',
      'insert into sessions select * from sessions',
      `copy sessions to '${join(temporary.path, 'out.csv')}'`,
      `attach '${dataDir}/views/epoch-1/shard-0/state.duckdb' as other`,
      'set enable_external_access = true',
      'select 1); drop table sessions; select (2',
    ];
    const output = await prompted([...refused, 'select count(*) as n\nfrom sessions', 'show tables']);
    const answers = output.split(/^sql> /m).slice(1);
    equal(answers.length, refused.length + 3, output);
    for (const [index, statement] of refused.entries())
      match(answers[index]!, /disabled by configuration|Permission|syntax error|Parser Error/i, statement);
    // A mistake ends nothing.
    match(answers[refused.length]!, /n\n1\n\(1 rows\)/);
    match(answers[refused.length + 1]!, /topic_clusters/);
    deepEqual(readdirSync(copies), []);
  });

  it('says what is wrong with its options', async () => {
    const none = sql('--query', 'select 1');
    equal(await none.ended, 2);
    match(none.output(), /--instance is needed/);
    const unknown = sql('--instance', uuid(1, 9), '--query', 'select 1');
    equal(await unknown.ended, 1);
    match(unknown.output(), /no messages of instance/);
  });
});
