import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asksForData, holdsQuestion, isBare } from '../../../src/reader/acts/answering-turns.ts';
import { phrasesOf } from '../../../src/reader/topics/naming/phrases.ts';
import { tokensOf } from '../../../src/reader/topics/naming/tokens.ts';
import { contentStems } from '../../../src/reader/document/core-words.ts';
import { requestName } from '../../../src/reader/topics/naming/names.ts';
import { newRequest } from '../../../src/reader/conversations/repeated-requests.ts';
import { SessionText } from '../../../src/reader/conversations/session-text.ts';
import type { Enrichment } from '../../../src/domain/facts.ts';
import { detectGap, gradeGap } from '../../../src/reader/acts/gaps.ts';
import { isVerse, quotedSpans } from '../../../src/reader/acts/quoted-text.ts';
import { abilityName } from '../../../src/reader/conversations/ability-name.ts';
import { abilityKeysOf } from '../../../src/reader/phrases/ability-keys.ts';
import { featuresOf, loadHeads } from '../../../src/reader/acts/heads.ts';
import { detectLanguage } from '../../../src/reader/document/detect.ts';
import { readSentence } from '../../../src/reader/acts/read-sentence.ts';
import { requestOf } from '../../../src/reader/acts/request-sentence.ts';
import { assistantActOf } from '../../../src/reader/acts/tables/assistant-turn.ts';
import { detectSignals, isOnlyComplaint } from '../../../src/reader/acts/signals.ts';
import { fold } from '../../../src/reader/document/normalise.ts';
import { readText } from '../../../src/reader/phrases/read-text.ts';
import { quotationsOf } from '../../../src/reader/document/quotations.ts';
import { clausesOf, sentencesOf } from '../../../src/reader/document/sentences.ts';
import { wordCount } from '../../../src/reader/document/words.ts';
import {
  aboutAssistantTopic,
  contentOf,
  isId,
  isIntroduction,
  isReaction,
  isSentFrom,
  isSignOff,
} from '../../../src/reader/acts/turn-kind.ts';
import { sentenceKey } from '../../../src/reader/document/sentence-key.ts';
import { describedPump, tooSlow } from '../../support/linear-time.ts';
import type { Pump } from '../../support/pumps.ts';

const heads = loadHeads();
const vector = new Float32Array(256).fill(1 / 16);

/** A conversation about one text: asked for, answered with and closed with. */
function session(text: string): void {
  const turn = (kind: Enrichment['kind'], request: string): Enrichment => {
    return {
      kind,
      request,
      sentences: [],
      signals: [],
      gap: null,
      vector: kind === 'request' ? vector : null,
    };
  };
  const session = new SessionText();
  session.addUserTurn(text, turn('request', text));
  session.addAssistantTurn(text, (sentence) => sentence);
  session.addUserTurn(text, turn('reply', ''));
  equal(typeof session.title('en'), typeof session.summary('en'));
  session.language(detectLanguage);
}

/** Whatever reads text, without the limits that callers put before it. */
const FUNCTIONS: Readonly<Record<string, (text: string) => unknown>> = {
  fold,
  sentencesOf,
  clausesOf,
  wordCount,
  featuresOf,
  detectLanguage,
  contentOf: (text) => contentOf(readSentence(text)),
  isReaction,
  isId,
  isSentFrom,
  isSignOff,
  isIntroduction: (text) => isIntroduction(readSentence(text)),
  aboutAssistantTopic: (text) => aboutAssistantTopic(readSentence(text)),
  sentenceKey,
  requestOf,
  isOnlyComplaint,
  detectSignals,
  actOf: (text) => assistantActOf(text, false),
  readText,
  quotationsOf,
  detectGap: (text) => detectGap(text, heads.gap),
  isVerse,
  quotedSpans,
  abilityName: (words) => abilityName({ type: 'TOOL', words, isUnseen: true, language: 'en' }),
  abilityKeysOf: (words) =>
    abilityKeysOf({ type: 'TOOL', words, isUnseen: false, language: 'en', request: words }),
  gradeGap: (text) => gradeGap(text, heads.gap),
  holdsQuestion,
  asksForData,
  isBare,
  contentStems,
  phrasesOf: (text) => phrasesOf(tokensOf(text)),
  requestName,
  newRequest: (text) => newRequest(text, vector),
  session,
};

const repeated = (body: string, prefix = '', suffix = ''): Pump => ({ prefix, body, suffix });

const PUMPS: readonly Pump[] = [
  // Each of these once took seconds to years.
  repeated(' with that please', 'can you help', ' parcel'),
  repeated('w', 'Ich kann das nicht ', '1'),
  repeated('Das kann ich Ihnen leider nicht sagen, ich kann die Bestellung nicht fur Sie andern '),
  repeated('\u0301\u0323', 'a'),
  repeated('dr. ', ' '.repeat(1000)),
  repeated('\n', 'dr.'),
  repeated('1', '', '²'),
  repeated('?', '', 'a'),
  repeated('.', '', 'a'),
  repeated(`!"')]`, '', 'a'),
  repeated(' ', 'a', 'a'),
  repeated(', ', 'please', 'a'),
  repeated('is: '),
  // Ordinary turns, over and over.
  ...[
    'oh ',
    'no. ',
    'thank you so much ',
    'that is not very helpful. ',
    'need more context ',
    "don't ",
    "a'",
    'my name is ',
    'a@b.',
    '12 34-',
    'привет как дела, у меня не работает интернет. ',
    '我想取消我的订单，谢谢。',
    '抱歉没有找到',
    'ありがとうございます',
    '안녕하세요 주문을 취소해 주세요 ',
    'สวัสดีครับขอบคุณ',
    'မြန်မာဘာသာ',
    'شكرا جزيلا لك يا صديقي. ',
    'धन्यवाद मेरा ऑर्डर ',
    '😀👍🏽',
    '\ud83d',
    '\u202e\u200f',
    "Σ'",
    'ᄀ\u1161\u11a8',
    'ﬃ',
  ].map((body) => repeated(body)),
  repeated(noise(0x20, 1200)),
  repeated(noise(0x3000, 20_000)),
];

/** Characters of a range in no order that means anything, always the same. */
function noise(first: number, count: number): string {
  return Array.from({ length: 5000 }, (_, i) =>
    String.fromCharCode(first + ((i * 7919 + ((i * i) % 977)) % count)),
  ).join('');
}

describe('functions that read text', () => {
  for (const [name, read] of Object.entries(FUNCTIONS)) {
    it(`take linear time: ${name}`, () => {
      // Some remember what they read last: no text comes twice.
      let turn = 0;
      const work = (text: string): void => {
        turn += 1;
        read(`${text} ${turn}`);
      };
      equal(describedPump(tooSlow(work, [PUMPS], 5000)), 'linear');
    });
  }
});
