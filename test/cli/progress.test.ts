import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { duration, messagesPerSecond } from '../../src/domain/progress.ts';
import { openProgress, openLater } from '../../src/cli/progress.ts';

function output(isTTY: boolean): { stream: NodeJS.WritableStream; written: () => string } {
  const chunks: string[] = [];
  const pass = new PassThrough();
  pass.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  const stream = Object.assign(pass, { isTTY, columns: 120, rows: 40 });
  return { stream, written: () => chunks.join('') };
}

describe('progress', () => {
  let now: number;
  beforeEach(() => {
    now = 0;
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(() => mock.timers.reset());

  const pass = (ms: number): void => {
    now += ms;
    mock.timers.tick(ms);
  };

  it('prints a line every ten seconds where there is no terminal, with rate and time left', () => {
    const { stream, written } = output(false);
    const progress = openProgress(stream, () => now);
    progress.begin({ title: 'rebuilding', to: 1000, rate: messagesPerSecond });
    for (let second = 1; second <= 21; second++) {
      pass(1000);
      progress.update({ done: second * 10, counted: second * 2000, details: `entry ${second * 10}` });
    }
    progress.end();
    pass(60_000);
    progress.line('a.jsonl:3: \u001b[31m');
    deepEqual(written().split('\n'), [
      'rebuilding: 9%, entry 90, 2,000 messages/s, 1 min 31 s left',
      'rebuilding: 19%, entry 190, 2,000 messages/s, 1 min 21 s left',
      'a.jsonl:3: \\u001b[31m',
      '',
    ]);
  });

  it('says nothing of what takes a moment, and how far it is of what takes longer', () => {
    const { stream, written } = output(false);
    const bar = openLater(
      openProgress(stream, () => now),
      { title: 'looking at files', to: 100 },
      () => now,
    );
    for (let second = 0; second <= 21; second++) {
      bar.update({ done: second, details: `${second} of 100` });
      if (second === 0) equal(written(), '');
      pass(1000);
    }
    bar.end();
    pass(60_000);
    deepEqual(written().split('\n'), [
      'looking at files: 10%, 10 of 100, 1 min 30 s left',
      'looking at files: 20%, 20 of 100, 1 min 20 s left',
      '',
    ]);
  });

  it('goes by the last seconds, so that what was resumed or became slower is told as it is', () => {
    const { stream, written } = output(false);
    const progress = openProgress(stream, () => now);
    progress.begin({ title: 'rebuilding', from: 500, to: 1000, counted: 0, rate: messagesPerSecond });
    for (let second = 1; second <= 41; second++) {
      pass(1000);
      const at = Math.min(second, 20);
      progress.update({ done: 500 + at * 20, counted: at * 1000 });
    }
    progress.end();
    const lines = written().split('\n');
    equal(lines[0], 'rebuilding: 68%, 1,000 messages/s, 16 s left');
    equal(lines[3], 'rebuilding: 90%, 0 messages/s');
  });

  it('goes on with lines while nothing moves, and never tells a time that nobody knows', () => {
    for (const [to, done] of [
      [1000, 0],
      [0, 0],
      [Number.NaN, 0],
      [1000, 1000],
    ] as const) {
      for (const isTTY of [false, true]) {
        const { stream, written } = output(isTTY);
        const progress = openProgress(stream, () => now);
        progress.begin({ title: 'importing', to, rate: messagesPerSecond });
        pass(10_000);
        progress.update({ done });
        pass(10_000);
        progress.end();
        ok(!/NaN|NF|NULL|LLs|Infinity|undefined/i.test(written()), written());
        if (!isTTY) equal(written().split('\n').length, 3);
      }
    }
  });

  it('draws a bar on a terminal and prints lines above it', () => {
    const { stream, written } = output(true);
    const progress = openProgress(stream, () => now);
    progress.begin({ title: 'importing', to: 1000, rate: messagesPerSecond });
    pass(1000);
    progress.update({ done: 500, details: '1,234 conversations', counted: 100 });
    pass(1000);
    progress.line('a.jsonl:3: not JSON');
    progress.update({ done: 1000, details: '2,468 conversations', counted: 200 });
    progress.end();
    match(written(), /importing █+ 100% {2}2,468 conversations {2}100 messages\/s {2}0 s left/);
    ok(written().indexOf('not JSON') < written().indexOf('100%'));
  });

  it('says durations as people do', () => {
    deepEqual([0, 1, 59_000, 61_000, 7_500_000].map(duration), [
      '0 s',
      '1 s',
      '59 s',
      '1 min 1 s',
      '2 h 5 min',
    ]);
  });
});
