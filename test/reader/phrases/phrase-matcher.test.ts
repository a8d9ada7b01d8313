import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadPhraseFiles } from '../../../src/reader/phrases/phrase-files.ts';
import { PhraseMatcher } from '../../../src/reader/phrases/phrase-matcher.ts';
import { phraseDirectory, type WrittenPhrases } from '../../support/phrase-files.ts';

function matcherOf(languages: Readonly<Record<string, WrittenPhrases>>): PhraseMatcher<string> {
  const kinds = ['good', 'bad'];
  return new PhraseMatcher(
    loadPhraseFiles({ purpose: 'test', kinds, directory: phraseDirectory(languages) }),
  );
}

/** The words of what an English matcher of some phrases finds in a text. */
function found(phrases: readonly string[], text: string, more: WrittenPhrases = {}): string[] {
  const matcher = matcherOf({ en: { ...more, kinds: { good: { phrases }, ...more.kinds } } });
  const { matches, tokens, text: read } = matcher.match(text);
  return matches.map(({ start, end, negated }) => {
    const words = read.slice(tokens[start]!.start, tokens[end - 1]!.end);
    return negated ? `not: ${words}` : words;
  });
}

describe('phrase matcher', () => {
  it('finds words in a row, whatever their case, accents and apostrophes', () => {
    deepEqual(found(["don't like"], 'I DON’T like it. I don`t like'), ['DON’T like', 'don`t like']);
    deepEqual(found(['café ole'], 'Cafe\u0301 OLÉ'), ['Café OLÉ']);
    deepEqual(found(['like it'], 'I dislike it, like-it'), ['like-it']);
  });

  it('crosses a comma, but no end of a sentence', () => {
    deepEqual(found(['no thanks'], 'No, thanks. No. Thanks'), ['No, thanks']);
  });

  it('takes classes, alternatives and what may be left out', () => {
    const classes = { very: ['very', 'a lot'] };
    deepEqual(found(['(thanks|thank you) {very?} sir?'], 'thanks a lot sir', { classes }), [
      'thanks',
      'thanks a lot',
      'thanks a lot sir',
    ]);
  });

  it('lets a gap hold so many words of the clause and no negation', () => {
    const more = { grammar: { negation: { before: ['not'], reachAfter: 1, after: [], reachBefore: 0 } } };
    deepEqual(found(['it … works'], 'it now really works'), ['it now really works']);
    deepEqual(found(['it … works'], 'it a b c d works'), []);
    deepEqual(found(['it …5 works'], 'it a b c d works'), ['it a b c d works']);
    deepEqual(found(['it … works'], 'it is, works'), []);
    deepEqual(found(['it … works'], 'it not a works', more), []);
  });

  it('takes the shorter of two ways to the end of a gap', () => {
    deepEqual(found(['it … works'], 'it it works'), ['it works']);
  });

  it('finds words by how they begin or end', () => {
    deepEqual(found(['kündig- -karte'], 'kündige SIM-Karte kündigst Kreditkarte'), ['kündigst Kreditkarte']);
  });

  it('knows where clauses and turns begin and end', () => {
    deepEqual(found(['^ no $'], 'no, no way. say no. No'), ['no', 'No']);
    deepEqual(found(['^^ no $$'], 'no. No'), []);
    deepEqual(found(['^^ no $$'], '  No!! '), ['No']);
  });

  it('passes over words that may stand anywhere, at most three', () => {
    const grammar = { skipped: ['really'] };
    deepEqual(found(['it works'], 'it really really works really', { grammar }), ['it really really works']);
    deepEqual(found(['it works'], 'it really really really really works', { grammar }), []);
  });

  it('reads spellings of several words as one', () => {
    const grammar = { spellings: { dont: "do n't" } };
    deepEqual(found(["do n't like", 'do'], 'dont like', { grammar }), ['dont like']);
  });

  it('says what is denied, within its clause and reach', () => {
    const grammar = {
      negation: { before: ['not', 'far from'], reachAfter: 2, after: ['nicht'], reachBefore: 2 },
    };
    deepEqual(found(['helpful'], 'not so helpful', { grammar }), ['not: helpful']);
    deepEqual(found(['helpful'], 'not the one, helpful', { grammar }), ['helpful']);
    deepEqual(found(['helpful'], 'not one of the helpful', { grammar }), ['helpful']);
    deepEqual(found(['helpful'], 'far from helpful', { grammar }), ['not: helpful']);
    deepEqual(found(['hilft'], 'hilft mir nicht', { grammar }), ['not: hilft']);
    deepEqual(found(['not bad'], 'not bad', { grammar }), ['not bad']);
  });

  it('is silent where a phrase under "unless" holds one of the words', () => {
    const kinds = { good: { phrases: ['thanks'], unless: ['thanks for nothing'] } };
    deepEqual(found(['x'], 'thanks for nothing, thanks', { kinds }), ['thanks']);
  });

  it('finds phrases of scripts without spaces anywhere, and of Korean where words begin', () => {
    deepEqual(found(['谢谢'], '非常谢谢你'), ['谢谢']);
    deepEqual(found(['できません'], '注文できません。'), ['できません']);
    deepEqual(found(['ขอบคุณ'], 'ขอบคุณครับ'), ['ขอบคุณ']);
    deepEqual(found(['안 돼'], '방안 돼지. 왜 안 돼요'), ['안 돼']);
    deepEqual(found(['धन्यवाद'], 'बहुत धन्यवाद!'), ['धन्यवाद']);
    deepEqual(found(['شكرا'], 'وشكراً لك'), ['وشكراً']);
    deepEqual(found(['👍', ':('], '👍🏽 ok :-('), ['👍🏽', ':-(']);
  });

  it('takes a word that two languages have as the language of the text does', () => {
    const contrast = (word: string): WrittenPhrases => ({ grammar: { contrast: [word] } });
    const matcher = matcherOf({
      es: { kinds: { good: { phrases: ['gracias'] } } },
      pt: contrast('mas'),
      fr: { kinds: { good: { phrases: ['merci'] } } },
      en: {},
    });
    equal(matcher.match('necesito más dinero para el mes').clauses.length, 1);
    equal(matcher.match('não é isso, mas tudo bem para mim').clauses.length, 2);
    equal(matcher.match('merci for your help with the order').matches.length, 1);
  });

  it('cuts at contrast', () => {
    const matcher = matcherOf({ en: { grammar: { contrast: ['but', 'though'] } } });
    equal(matcher.match('it fails though. ok').clauses.length, 2);
    const { clauses } = matcher.match('Thanks but it fails. Why?');
    deepEqual(
      clauses.map(({ start, end, contrasts, isQuestion }) => [start, end, contrasts, isQuestion]),
      [
        [0, 1, false, false],
        [1, 4, true, false],
        [4, 5, false, true],
      ],
    );
  });

  it('takes steps in proportion to the text, whatever is repeated', () => {
    const matcher = matcherOf({
      en: {
        grammar: {
          skipped: ['so', 'a'],
          negation: { before: ['not'], reachAfter: 4, after: [], reachBefore: 0 },
        },
        classes: { a: ['a', 'a a', 'a a a'] },
        kinds: { good: { phrases: ['{a} …12 {a} …12 {a} …12 b', '{a?} {a?} {a?} {a?} c', 'a- -a …9 {a}'] } },
      },
    });
    for (const body of ['a a a b ', 'so a, ']) {
      const [half, whole] = [100_000, 200_000].map((length) => {
        return matcher.match(body.repeat(length / body.length)).steps;
      });
      ok(whole! / half! < 2.05, `${body}: ${half} and ${whole} steps`);
    }
  });
});
