import { equal, notEqual, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { describedPump, tooSlowPattern } from '../../support/linear-time.ts';
import { filesOf, literalsOf, noteConstructed, type Pattern } from '../../support/patterns.ts';

/** Rooms whose patterns read what users and assistants said; a room may not be there yet, or not any more. */
const READERS = ['acts', 'conversations', 'document', 'personal', 'phrases', 'shortening', 'topics'].map(
  (room) => `reader/${room}`,
);
/** Rooms that meet what callers send otherwise; they construct no patterns of their own. */
const DOORS = ['domain', 'doors/import', 'reader/threads', 'web'];

const constructed = noteConstructed(READERS);
for (const file of filesOf(READERS)) await import(join(import.meta.dirname, '../../..', file));
const patterns = new Map<string, Pattern>();
for (const pattern of [...constructed.values(), ...(await literalsOf(filesOf([...READERS, ...DOORS])))]) {
  patterns.set(`/${pattern.source}/${pattern.flags}`, pattern);
}

describe('patterns', () => {
  it('are all found, literals and those that functions make', () => {
    const places = new Set([...patterns.values()].map(({ place }) => place.replace(/:\d+$/, '')));
    for (const name of ['acts/tables/user-sentence', 'document/sentences', 'acts/turn-kind']) {
      ok(places.has(`src/reader/${name}.ts`), name);
    }
    ok(places.has('src/reader/acts/scored-sentence.ts'));
    ok([...constructed.values()].some(({ place }) => place.startsWith('src/reader/acts/turn-kind.ts:')));
  });

  for (const pattern of patterns.values()) {
    it(`take linear time: ${pattern.place} ${pattern.source.slice(0, 60)}`, () => {
      equal(describedPump(tooSlowPattern(pattern)), 'linear');
    });
  }
});

describe('pumps', () => {
  for (const [order, source] of [
    ['exponential', 'can you help(?: (?:out|please|with (?:that|that please)))*$'],
    ['of high degree', 'ich kann (?:\\p{L}+ ){1,9}?nicht (?:\\p{L}+ ?){1,8}\\W*$'],
    ['quadratic by a search from each place', '\\s+(?=and)'],
    ['quadratic by a run that is read again from each of its words', '(?<!\\p{L})(?:oh |and )*hi(?!\\p{L})'],
    ['quadratic by what may be split anywhere', '^[\\d.]*\\d[\\p{L}\\d]*$'],
  ] as const) {
    it(`find what is ${order}`, () => {
      notEqual(tooSlowPattern({ source, flags: 'u' }, 50), null);
    });
  }

  it('find nothing wrong with what is linear', () => {
    for (const source of [
      '(?<!\\s)\\s+(?=and)',
      '(?<!\\p{L})(?:oh |and ){0,16}hi(?!\\p{L})',
      '\\p{L}+(?: \\p{L}+)*',
    ]) {
      equal(describedPump(tooSlowPattern({ source, flags: 'u' })), 'linear');
    }
  });
});
