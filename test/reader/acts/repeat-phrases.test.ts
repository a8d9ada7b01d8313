import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EDGES, edgesOf, phrasesIn } from '../../../src/reader/acts/repeat-phrases.ts';

describe('phrasesIn', () => {
  it('tells what a turn says of the turns before', () => {
    ok(phrasesIn('That was my question').kinds.has('insists'));
    ok(phrasesIn('És isso? Como eu disse, não funciona').kinds.has('insists'));
    ok(phrasesIn('I am sorry, I did not understand that.').kinds.has('misses'));
    equal(phrasesIn('cancel my order').kinds.size, 0);
  });

  it('hears negations', () => {
    equal(phrasesIn('the red one, not the blue one').denies, true);
    equal(phrasesIn('nicht die blaue').denies, true);
    equal(phrasesIn('the red one').denies, false);
  });
});

describe('edgesOf', () => {
  it('keeps a short turn, and the beginning and the end of a long one', () => {
    equal(edgesOf('short'), 'short');
    const edges = edgesOf(`begin${' middle'.repeat(200)} end`);
    ok(edges.startsWith('begin') && edges.endsWith('end') && edges.length === EDGES + 1);
  });
});
