import { deepEqual, equal, match } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { openProgress } from '../../src/import/progress.ts';

function stream(isTTY: boolean): { stream: NodeJS.WriteStream; written: () => string } {
  const chunks: string[] = [];
  const pass = new PassThrough();
  pass.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  const terminal = Object.assign(pass, { isTTY, columns: 120, rows: 40 });
  return { stream: terminal as unknown as NodeJS.WriteStream, written: () => chunks.join('') };
}

const state = { readBytes: 500, totalBytes: 1000, conversations: 1234, messages: 5678 };

describe('openProgress', () => {
  it('writes a plain line at most every five seconds where there is no terminal', () => {
    let now = 0;
    const { stream: out, written } = stream(false);
    const view = openProgress(out, () => now);
    for (now = 0; now <= 12_000; now += 100) view.update(state);
    view.line('a.jsonl:3: not JSON');
    view.close();
    deepEqual(written().trim().split('\n'), [
      '50% read, 1234 conversations, 5678 messages',
      '50% read, 1234 conversations, 5678 messages',
      'a.jsonl:3: not JSON',
    ]);
  });

  it('draws a bar on a terminal and prints lines above it', () => {
    const { stream: out, written } = stream(true);
    const view = openProgress(out);
    view.update(state);
    view.line('a.jsonl:3: not JSON');
    view.update({ ...state, readBytes: 1000 });
    view.close();
    match(written(), /100% {2}1,234 conversations {2}5,678 messages/);
    match(written(), /a\.jsonl:3: not JSON/);
    equal(written().indexOf('not JSON') < written().indexOf('100%'), true);
  });
});
