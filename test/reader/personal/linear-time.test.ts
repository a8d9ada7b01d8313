import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maskedTexts } from '../../../tools/eval/masking.ts';
import { personalTexts } from '../../../tools/eval/personal-data.ts';
import { wordsOfId } from '../../../src/reader/personal/known-words.ts';
import { PERSONAL_LANGUAGES } from '../../../src/reader/personal/personal-lexicon.ts';
import { personalValues } from '../../../src/reader/personal/personal-values.ts';
import { personalSpans } from '../../../src/reader/personal/redact.ts';
import { describedPump, tooSlow } from '../../support/linear-time.ts';
import type { Pump } from '../../support/pumps.ts';

const repeated = (body: string, prefix = '', suffix = ''): Pump => ({ prefix, body, suffix });

/** What each rule begins to read, over and over, and never gets to the end of. */
const PREFIXES: readonly Pump[] = [
  ...'@ a@ @a a@b. a. .a / a/ a.bc/ \\users\\ www. https:// https://a@ 1. 1.1.1. a: 1: - a- 1- 1 12 1-2 +1 (1 #1 AB1 A1B2 AB-1 •'
    .split(' ')
    .flatMap((body) => [repeated(body), repeated(`${body} `)]),
  ...[
    'Maria ',
    'Maria',
    'Maria-',
    'R. ',
    'de la ',
    'Street ',
    '12 Street ',
    'rue ',
    'rue de la ',
    'Main ',
    'Hauptstraße ',
    'my address is ',
    'my name is ',
    'order number is ',
    'is is ',
    ': ',
    '# ',
    'password ',
    'password is ',
    'born ',
    'four one ',
    'a at b dot ',
    'a(dot)',
    'a(at)b(dot)',
    'a[.]b[@]',
    '(dot) ',
    'dot ',
    'at ',
    'kind regards, ',
    'kind regards\n',
    '我叫',
    '我叫王',
    '王先生',
    '订单号是',
    '路88',
    '88号',
    '私は田中',
    '様',
    '김민수 ',
    '은행로 1 ',
    'ชื่อ',
    'اسمي ',
    'मेरा नाम ',
  ].map((body) => repeated(body)),
  repeated('a', '', '@b.c'),
  repeated('1', '', ' €'),
  repeated('a', 'https://', '/x'),
  repeated('B', 'Dear ', ''),
  repeated('王', '我叫'),
];

describe('redact', () => {
  it('takes time in proportion to its text, whatever begins over and over', () => {
    const cues = [...PERSONAL_LANGUAGES.values()].map((language) =>
      Object.values(language)
        .flatMap((section) => (Array.isArray(section) ? section.slice(0, 2) : []))
        .map((phrase) => repeated(`${phrase} `)),
    );
    const texts = personalTexts('tuned').map(({ text }) => repeated(`${text}\n`));
    const known = wordsOfId('anna.lopez');
    const slow = tooSlow((text) => void personalSpans(text, { known }), [PREFIXES, texts, ...cues]);
    equal(describedPump(slow), 'linear');
  });
});

describe('personalValues', () => {
  it('takes time in proportion to its text, whatever begins over and over', () => {
    const texts = [...maskedTexts('tuned'), ...maskedTexts('sealed')].map(({ text }) =>
      repeated(`${text}\n`),
    );
    const placeholders = [
      '[EMAIL_1] ',
      '[EMAIL_1',
      'a@b.c [EMAIL_1] ',
      '是a@b.cn',
      'order card phone 4839201 ',
    ];
    const slow = tooSlow(
      (text) => void personalValues(text, []),
      [PREFIXES, texts, placeholders.map((body) => repeated(body))],
    );
    equal(describedPump(slow), 'linear');
  });
});
