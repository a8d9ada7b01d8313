import { equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, faultOf } from '../support/client.ts';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Load } from './support/load.ts';
import { Stack } from './support/stack.ts';

const DISK_BYTES = 320 * 1024 * 1024;
/** Beyond what the stream keeps free for itself on so small a disk. */
const LEFT_BYTES = 4 * 1024 * 1024;

/**
 * The views have no room: the files that the worker writes may not grow beyond a few kilobytes, as on a full disk
 * (the kernel refuses the write). Ingest and queries go on, the worker says what is wrong and tries again, and
 * once there is room everything is counted.
 */
export async function fullDisk({ long, rounds, seconds, seed, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const stack = given ?? (await Stack.start());
  try {
    const key = await stack.newKey();
    const client = new Client(stack.url, key);
    const load = await Load.start(stack, key, { long, seed, writers: 2, pauseMs: 50 });
    const [instanceId = ''] = load.instances;
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1) load.resume();
      await load.counted();
      const { web, nats } = { web: stack.pid('web'), nats: stack.pid('nats') };
      const logged = stack.log('worker').length;
      const starts = stack.starts('worker');
      stack.limitFiles('worker', 20_000);
      await stack.waitForOutput('worker', /disk_full/, logged);
      const accepted = load.accepted;
      const until = performance.now() + seconds * 1000;
      do {
        await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' });
        await load.probe();
        await sleep(100);
      } while (performance.now() < until);
      ok(load.accepted > accepted);
      // What ends quickly over and over is given up by `npm start`.
      ok(stack.starts('worker') - starts <= 1 + seconds / 10, `${stack.starts('worker') - starts} starts`);
      stack.limitFiles('worker', null);
      recovered(figures, 'counting', await load.counted());
      await load.pause();
      await load.settle();
      equal(stack.pid('web'), web);
      equal(stack.pid('nats'), nats);
      figures.rounds += 1;
      say(
        `round ${round}: no room for ${seconds} s, ${load.accepted - accepted} messages accepted meanwhile`,
      );
    }
    addLoad(figures, await load.stop());
    return figures;
  } finally {
    if (given === undefined) await stack.stop();
  }
}

/**
 * A disk of its own for all data, as root only: something else fills it. Ingest answers 503 with Retry-After
 * before nats-server is hurt, and all goes on when there is room again, without a restart of web or nats-server.
 */
export async function fullSmallDisk({ long, rounds, seed, say }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  if (process.getuid?.() !== 0) {
    say('needs root, to mount a small disk: not run');
    return figures;
  }
  const mount = mkdtempSync(join(tmpdir(), 'undertone-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', mount]);
  const dataDir = join(mount, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const ballast = join(mount, 'ballast');
  try {
    const stack = await Stack.start({ dataDir, env: { STREAM_MAX_BYTES: String(64 * 1024 * 1024) } });
    try {
      const key = await stack.newKey();
      const client = new Client(stack.url, key);
      const load = await Load.start(stack, key, { long, seed, writers: 3, pauseMs: 5 });
      const [instanceId = ''] = load.instances;
      for (let round = 1; round <= rounds; round += 1) {
        if (round > 1) load.resume();
        await load.counted();
        const { web, nats } = { web: stack.pid('web'), nats: stack.pid('nats') };
        const free = Number(execFileSync('df', ['--output=avail', '-B1', mount]).toString().split('\n')[1]);
        writeFileSync(ballast, Buffer.alloc(free - LEFT_BYTES));
        let answer = await client.post({ messages: [{ content: 'Is there room?' }] });
        await stack.until(
          async () => {
            if (answer.status === 200) answer = await client.post({ messages: [{ content: 'Still?' }] });
            return answer.status !== 200;
          },
          () => 'ingest goes on on a full disk',
        );
        match(faultOf(answer, 503, 'SERVICE_UNAVAILABLE').message, /nearly full/);
        ok(Number(answer.headers.get('retry-after')) > 0);
        await sleep(2000);
        await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' });
        rmSync(ballast);
        recovered(figures, 'ingest', await load.probe());
        recovered(figures, 'counting', await load.counted());
        await load.pause();
        await load.settle();
        equal(stack.pid('web'), web);
        equal(stack.pid('nats'), nats);
        figures.rounds += 1;
        say(`round ${round}: the disk was full, and had room again`);
      }
      addLoad(figures, await load.stop());
    } finally {
      await stack.stop();
    }
    return figures;
  } finally {
    execFileSync('umount', ['-l', mount]);
    rmSync(mount, { recursive: true, force: true });
  }
}
