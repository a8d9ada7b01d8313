import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Enrichment, Turn } from '../../../src/domain/facts.ts';
import { SetupError } from '../../../src/errors.ts';
import { AnalysisPool, type ShardAnalysis } from '../../../src/reader/threads/pool.ts';
import { isUnanalysed } from '../../../src/reader/threads/protocol.ts';
import type { Patience } from '../../../src/reader/threads/guarded-thread.ts';
import {
  AnalysisFailure,
  AnalysisInterrupted,
  AnalysisStopped,
  type Unanalysed,
} from '../../../src/reader/threads/stages.ts';

const SCRIPT = join(import.meta.dirname, '../../support/hanging-analysis.ts');
/** Short enough for a test; honest texts of it take microseconds. */
const SHORT: Partial<Patience> = { textMs: 300, lookEveryMs: 40 };
const ENDLESS: Partial<Patience> = { textMs: 1e9, lookEveryMs: 40, heapBytes: 150 * 2 ** 20 };

const user = (content: string) => ({ role: 'user', content }) as const;

function turn(position: number, content: string, instance = 1): Turn {
  return {
    position,
    instance,
    instanceId: `00000000-0000-8009-8000-00000000000${instance}`,
    session: position,
    sessionId: `00000000-0000-8007-8000-00000000000${position}`,
    role: 'user',
    user: 1,
    content,
    at: position,
  };
}

describe('analysis pool', () => {
  let pool: AnalysisPool | null = null;
  afterEach(async () => {
    await pool?.close();
    pool = null;
  });

  async function open(patience: Partial<Patience>, threads = 1): Promise<AnalysisPool> {
    pool = await AnalysisPool.open({ threads, model: '', modelsDirectory: '', script: SCRIPT, patience });
    return pool;
  }

  const inShort = (found: Enrichment | Unanalysed): string =>
    isUnanalysed(found) ? found.unanalysed : found.request;

  async function assign(shard: ShardAnalysis, turns: readonly Turn[]): Promise<number> {
    for (const { instance, instanceId, session } of turns) {
      if (!shard.hasInstance(instance)) shard.restoreInstance(instance, instanceId, []);
      if (!shard.hasSession(instance, session)) shard.restoreSession(instance, session, null);
    }
    const found = (await shard.enrich(turns)) as Enrichment[];
    return (await shard.assign(turns, found)).messages.length;
  }

  it('finds the messages whose analysis hangs or throws, and what all others say', async () => {
    const shard = (await open(SHORT, 2)).forShard(0);
    const texts = ['where is it', 'please HANG', 'cancel it', 'please THROW', 'pay it', 'the end'];
    deepEqual((await shard.enrich(texts.map(user))).map(inShort), [
      'where is it',
      'its analysis took more than 0.3 s of processor time',
      'cancel it',
      'it threw',
      'pay it',
      'the end',
    ]);
  });

  it('keeps nothing of what it has answered', async () => {
    const shard = (await open(SHORT)).forShard(0);
    const answers: WeakRef<object>[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      answers.push(new WeakRef(await shard.enrich([user('where is it')])));
      shard.restoreInstance(1, turn(1, '').instanceId, []);
      shard.restoreSession(1, 1, null);
      const found = (await shard.enrich([turn(1, 'where is it')])) as Enrichment[];
      answers.push(new WeakRef(await shard.assign([turn(1, 'where is it')], found)));
    }
    // The last one may still stand in a register or a frame.
    await shard.enrich([user('where is it')]);
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    deepEqual(
      answers.filter((answer) => answer.deref() !== undefined),
      [],
    );
  });

  it('finds the message whose analysis fills the memory', async () => {
    const shard = (await open(ENDLESS)).forShard(0);
    deepEqual((await shard.enrich([user('where is it'), user('please FILL')])).map(inShort), [
      'where is it',
      'its analysis needed more than 150 MB of memory',
    ]);
  });

  it('says at which message assign hangs, and assigns again once everything is restored', async () => {
    const shard = (await open(SHORT)).forShard(0);
    equal(await assign(shard, [turn(1, 'where is it')]), 1);
    const turns = [turn(2, 'cancel it'), turn(3, 'HANG LATER'), turn(4, 'pay it')];
    await rejects(assign(shard, turns), (error: unknown) => {
      ok(error instanceof AnalysisFailure);
      deepEqual([error.fault, error.place], ['time', 1]);
      return true;
    });
    await rejects(assign(shard, [turn(2, 'cancel it')]), AnalysisInterrupted);
    shard.reset();
    equal(await assign(shard, [turn(1, 'where is it'), turn(2, 'cancel it')]), 2);
  });

  it('tells a shard that lost what it remembered through a message of another shard', async () => {
    const shared = await open(SHORT);
    const [first, second] = [shared.forShard(0), shared.forShard(1)];
    equal(await assign(first, [turn(1, 'where is it')]), 1);
    equal(await assign(second, [turn(1, 'cancel it')]), 1);
    deepEqual((await second.enrich([user('HANG')])).map(isUnanalysed), [true]);
    await rejects(assign(first, [turn(2, 'pay it')]), AnalysisInterrupted);
    first.reset();
    equal(await assign(first, [turn(2, 'pay it')]), 1);
    // It had nothing of its own in the thread when that ended.
    second.reset();
    equal(await assign(second, [turn(2, 'pay it')]), 1);
  });

  it('is not waited for once its shard is stopped, nor when it is closed', async () => {
    const shard = (await open(ENDLESS)).forShard(0);
    const hanging = shard.enrich([user('where is it'), user('HANG')]);
    hanging.catch(() => undefined);
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 20);
    await sleep(200);
    ok(ticks > 2, 'the main thread does not wait');
    shard.stop();
    await rejects(hanging, AnalysisStopped);
    clearInterval(timer);
    shard.close();
    await pool?.close();
    await rejects(shard.enrich([user('where is it')]), AnalysisStopped);
  });

  it('lets an answer that comes along finish while its shard is being stopped', async () => {
    const shard = (await open(ENDLESS)).forShard(0);
    const coming = shard.enrich([user('where is it')]);
    shard.stop();
    deepEqual((await coming).map(inShort), ['where is it']);
    shard.close();
  });

  it('says why its model cannot be used', async () => {
    const unusable = { threads: 2, model: 'unusable', modelsDirectory: '', script: SCRIPT };
    await rejects(AnalysisPool.open(unusable), (error: unknown) => {
      ok(error instanceof SetupError);
      equal(error.message, 'the model is unusable');
      return true;
    });
  });
});
