import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AutoTokenizer, env } from '../../../src/reader/embedding/transformers.ts';
import { Pieces, SPECIAL_PIECES, tokenizerFile, UNKNOWN, preTokensOf } from '../../../tools/train/pieces.ts';
import { trainVocabulary } from '../../../tools/train/vocabulary.ts';

const TEXTS = [
  "I'd like to CANCEL my order #4711, please!",
  'Où est la carte bancaire que j’ai commandée à Besançon ?',
  '¿Dónde está mi pedido? ¡Quiero cancelarlo!',
  'Ich möchte meine Kreditkarte sperren – größtmöglich schnell…',
  'Я хочу отменить заказ, ёлки-палки',
  '我想取消我的酒店预订',
  '注文をキャンセルしたいです。ガソリンスタンド',
  'ok 👍🏽 thanks\u200b\u00a0a lot\tx\r\ny ﬁne ½ ＡＢＣ',
  'a\u0301e\u0308 \ufeffstart İstanbul ǅ',
  '',
  '   ',
  'zzzz unseen ก็ไม่',
];

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of texts.flatMap(preTokensOf)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

describe('words', () => {
  it('are lower-cased, without accents, punctuation and Han characters each alone', () => {
    deepEqual(preTokensOf("Don't pay €5 at Café 酒店!"), [
      'don',
      "'",
      't',
      'pay',
      '€',
      '5',
      'at',
      'cafe',
      '酒',
      '店',
      '!',
    ]);
  });

  it('keep the marks of kana and Hangul', () => {
    deepEqual(preTokensOf('ガソリン 한국'), ['ガソリン', '한국']);
  });
});

describe('a vocabulary', () => {
  const options = { size: 60, minCharacterCount: 1, minPairCount: 2, characters: 'az' };
  const counts = new Map([
    ['booking', 9],
    ['booked', 7],
    ['book', 5],
    ['king', 2],
    ['ring', 3],
  ]);

  it('joins the most frequent neighbours first, and does not depend on the order of the words', () => {
    const list = trainVocabulary(counts, options);
    deepEqual(list.slice(0, SPECIAL_PIECES.length), [...SPECIAL_PIECES]);
    for (const piece of ['a', '##a', 'z', '##z', 'book', 'booking', 'booked', '##ing'])
      ok(list.includes(piece), piece);
    deepEqual(trainVocabulary(new Map([...counts].toReversed()), options), list);
  });

  it('never grows beyond its size', () => {
    equal(trainVocabulary(counts, { ...options, size: 30 }).length, 30);
  });
});

describe('pieces', () => {
  const list = trainVocabulary(countsOf(TEXTS.slice(0, -1)), {
    size: 400,
    minCharacterCount: 1,
    minPairCount: 2,
    characters: 'abcdefghijklmnopqrstuvwxyz',
  });
  const pieces = new Pieces(list);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'pieces-'));
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizerFile(list)));
    writeFileSync(
      join(folder, 'tokenizer_config.json'),
      JSON.stringify({
        tokenizer_class: 'PreTrainedTokenizerFast',
        model_max_length: 256,
        unk_token: '[UNK]',
      }),
    );
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('are those that transformers.js cuts with the file written for it', async () => {
    env.allowRemoteModels = false;
    env.localModelPath = dirname(folder);
    const tokenizer = await AutoTokenizer.from_pretrained(basename(folder), { local_files_only: true });
    for (const text of TEXTS)
      deepEqual(
        pieces.ofText(text, 256),
        tokenizer(text, { return_tensor: false }).input_ids,
        JSON.stringify(text),
      );
  });

  it('stand for a word with a character that is not known, or a very long one, by [UNK]', () => {
    deepEqual(pieces.ofText('ก็', 9), [UNKNOWN]);
    deepEqual(pieces.ofWord('a'.repeat(61)), [UNKNOWN]);
  });

  it('part a word that is known as a whole', () => {
    const whole = list.find((piece) => /^[a-z]{5,}$/.test(piece)) ?? '';
    equal(pieces.ofWord(whole).length, 1);
    const parts = pieces.ofWord(whole, true);
    ok(parts.length > 1);
    equal(parts.map((place) => list[place]!.replace('##', '')).join(''), whole);
  });

  it('stop at the limit', () => {
    equal(pieces.ofText('a b c d e f', 4).length, 4);
  });
});
