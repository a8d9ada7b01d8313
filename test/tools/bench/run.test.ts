import { deepEqual, match, ok } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { compare } from '../../../tools/bench/check.ts';
import { helpOf, type Command } from '../../../src/cli/command.ts';

const BENCH = join(import.meta.dirname, '../../../tools/bench');

describe('every benchmark', () => {
  const files = readdirSync(BENCH).filter((file) => file.endsWith('.ts') && file !== 'run.ts');
  ok(files.length > 10);
  for (const file of files) {
    const name = file.slice(0, -'.ts'.length);
    it(`${name} tells how it is used, and names its options`, async () => {
      const { command } = (await import(join(BENCH, file))) as { readonly command: Command };
      match(helpOf(command), new RegExp(`^Usage: npm run bench -- ${name}\\b`));
    });
  }
});

describe('bench check', () => {
  it('finds each ratio that fell by more than a quarter, and those without a counterpart', () => {
    const baseline = { fold: { flat: 0.8 }, query: { views: 100, other: 3 }, gone: { all: 1 } };
    const measured = { fold: { flat: 0.61 }, query: { views: 74, other: 9 }, added: { all: 1 } };
    deepEqual(
      compare(baseline, measured).map(({ name, holds }) => [name, holds]),
      [
        ['added: all', false],
        ['fold: flat', true],
        ['gone: all', false],
        ['query: views', false],
        ['query: other', true],
      ],
    );
  });
});
