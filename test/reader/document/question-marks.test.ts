import { deepEqual, equal } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { asksUser, holdsQuestion } from '../../../src/reader/acts/answering-turns.ts';
import { askedSentences } from '../../../src/reader/acts/asked-sentences.ts';
import { readSentence as readAssistantSentence } from '../../../src/reader/acts/scored-sentence.ts';
import { readRequest } from '../../../src/reader/acts/request-sentence.ts';
import { readText } from '../../../src/reader/phrases/read-text.ts';
import {
  asksByMark,
  endsInQuestionMark,
  holdsQuestionMark,
  isMarkedQuestion,
} from '../../../src/reader/document/question-marks.ts';
import { sentencesOf } from '../../../src/reader/document/sentences.ts';

/** "Order 4471?" in scripts with a mark of their own. */
const QUESTIONS = [
  'Order 4471?',
  '注文4471？',
  'الطلب 4471؟',
  'ትዕዛዝ 4471፧',
  'Պատվեր 4471՞',
  'Παραγγελία 4471;',
  'Order 4471⁇',
];
const SRC = join(import.meta.dirname, '../../../src');

describe('a question mark', () => {
  for (const text of QUESTIONS)
    it(`is one for every reader: ${text}`, () => {
      for (const knows of [
        holdsQuestionMark,
        asksByMark,
        isMarkedQuestion,
        endsInQuestionMark,
        holdsQuestion,
        asksUser,
      ])
        equal(knows(text), true, knows.name);
      const { request, sentences } = readRequest(text);
      equal(request, text);
      deepEqual(
        sentences.map(({ asks }) => asks),
        [true],
      );
      equal(readAssistantSentence(text).act === 'ask' || readAssistantSentence(text).act === 'suggest', true);
      equal(readText(text).closings.includes('?'), true);
      const asked = askedSentences(text, {
        request,
        sentences: sentences.map((sentence) => ({ ...sentence, vector: null })),
      });
      equal(
        asked.every(({ asks }) => asks === 'question'),
        true,
      );
    });

  it('may stand before quotes and brackets, and within an Armenian word', () => {
    for (const text of ['“Where is it?”', '(آیا می‌آید؟)', 'Ո՞րտեղ է պատվերը']) {
      equal(isMarkedQuestion(text), true, text);
      equal(holdsQuestionMark(text), true, text);
    }
    equal(endsInQuestionMark('“Where is it?”'), false);
  });

  it('is none in an address, nor a semicolon but in Greek', () => {
    equal(asksByMark('see https://shop.example/?q=1&p=2'), false);
    for (const text of ['order 4471;', 'Bestellung; Rechnung', 'Α;', 'κόκκινο; red;'])
      equal(holdsQuestionMark(text), /\p{Script=Greek}/u.test(text), text);
    equal(holdsQuestionMark('a; b'), false);
  });

  it('ends a sentence', () => {
    deepEqual(sentencesOf('أين الطلب؟ أريد استرداد المال'), ['أين الطلب؟', 'أريد استرداد المال']);
    deepEqual(sentencesOf('የት ነው፧ እፈልጋለሁ'), ['የት ነው፧', 'እፈልጋለሁ']);
  });

  it('is known in one place', () => {
    const elsewhere = globSync('{language,enrich,conversations,topics,writer}/**/*.ts', { cwd: SRC })
      .filter((file) => !file.endsWith('question-marks.ts') && !file.includes('redact'))
      .filter((file) => /[?؟]？|？؟|؟/u.test(readFileSync(join(SRC, file), 'utf8')));
    deepEqual(elsewhere, []);
  });
});
