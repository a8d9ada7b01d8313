import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRebuildProgress, duration } from '../../src/main/rebuild-progress.ts';

describe('rebuild progress', () => {
  it('prints a line every five seconds where there is no terminal, with rate and time left', () => {
    const lines: string[] = [];
    let now = 0;
    const progress = createRebuildProgress({
      write: (text) => lines.push(text),
      terminal: false,
      now: () => now,
    });
    progress.begin('rebuilding', 0, 1000);
    for (let second = 1; second <= 11; second++) {
      now = second * 1000;
      progress.update(second * 10, second * 2000);
    }
    progress.end();
    progress.say('done');
    deepEqual(lines, [
      'rebuilding: 5%, entry 50 of 1,000, 2,000 messages/s, 1 min 35 s left\n',
      'rebuilding: 10%, entry 100 of 1,000, 2,000 messages/s, 1 min 30 s left\n',
      'done\n',
    ]);
  });

  it('goes by the last seconds, so that a resumed or slower rebuild is told as it is', () => {
    const lines: string[] = [];
    let now = 0;
    const progress = createRebuildProgress({
      write: (text) => lines.push(text),
      terminal: false,
      now: () => now,
    });
    progress.begin('rebuilding', 500, 1000);
    for (let second = 1; second <= 40; second++) {
      now = second * 1000;
      progress.update(500 + Math.min(second, 20) * 20, Math.min(second, 20) * 1000);
    }
    equal(lines[0], 'rebuilding: 60%, entry 600 of 1,000, 1,000 messages/s, 20 s left\n');
    equal(lines.at(-1), 'rebuilding: 90%, entry 900 of 1,000, 0 messages/s, … left\n');
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
