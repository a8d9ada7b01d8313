/**
 * Reads an assistant turn as an answer: the sentence that carries the answer, and what the turn leaves the user to say.
 *
 * Test: test/reader/acts/assistant-answer.test.ts.
 */
import { truncate } from '../../domain/truncate.ts';
import { HIDDEN } from '../personal/redact.ts';
import { endsSentence, sentencesOf } from '../document/sentences.ts';
import { contentCount } from '../shortening/phrase-set.ts';
import { isCode } from '../shortening/program-text.ts';
import { shortened, withoutWeakEnd } from '../shortening/shortening.ts';
import { isUnspaced } from '../document/words.ts';
import { REDACTED_LENGTH } from './redacted-turn.ts';
import { isHidden, LEFT_OUT, readSentence, withoutTag, type ScoredSentence } from './scored-sentence.ts';

/** Most sentences of a turn that are read. */
const MOST_SENTENCES = 12;
const CODE = /```[^`]*(?:```|$)/gu;
const LINK = /\[([^\]\n]{1,100})\]\([^)\s]{1,300}\)/gu;
const MARKUP = /\*\*|__|`|^#{1,6}\s|^>\s/gmu;
/** Longest text of a list with its head, and of one item that is shown whole, UTF-16 units. */
const MOST_OF_LIST = 172;
const MOST_OF_ITEM = 70;
/** Scores. From `STATEMENT` on a sentence states something; from `LEAST` on it may serve as the answer. */
const STATEMENT = 0.6;
const LEAST = 0.15;
/** Least score of a sentence that continues the sentence before it. */
const PLAIN = 0.75;
/**
 * Scores of a list and of a lead to code; the deduction per place further back in the turn, and the places that count.
 */
const LIST = 1.35;
const LEADS_TO_CODE = 0.8;
const PLACE = 0.06;
const MOST_PLACES = 8;
/**
 * Score of each word shared with the request, and the words that count; score of a report; deductions for redacted
 * words.
 */
const SHARED = 0.22;
const MOST_SHARED = 4;
const REPORTED = 0.25;
const HIDDEN_WORDS = { some: 0.2, most: 0.7 } as const;
/** A statement with at most this many words beyond the request is continued by the next sentence. */
const NOVEL = 2;
/** Least stems of a sentence that is to be confirmed. */
const LEAST_RECAP = 3;
/** A report with at most this many stems speaks of the request before it: "Done." */
const CONFIRMING = 1;
/**
 * Least content words that remain of a sentence with a redacted end; least content words beside each redacted value.
 */
const LEAST_LEFT = 2;
const LEAST_BESIDE = 6;

/** "Please confirm:" before what is to be confirmed. */
const LEAD = /^[^:：]{1,60}(?::\s+|：)(?=\S+\s+\S+\s+\S)/u;

/** The replies that an assistant turn may expect of the user. */
export const AWAITED = ['nothing', 'answer', 'choice', 'confirmation', 'more'] as const;
export type Awaited = (typeof AWAITED)[number];

/** A sentence that may be the answer. */
interface AnswerSentence extends ScoredSentence {
  /** True if it states what is about to be done, to be confirmed: no answer by itself. */
  readonly isRecap: boolean;
}

export interface AssistantAnswer {
  readonly sentences: readonly AnswerSentence[];
  readonly awaits: Awaited;
  /** True if it asks for something that it needs, as a question or not. */
  readonly asksBack: boolean;
  /** True if it says that people take over. */
  readonly handsOver: boolean;
  /** True if it first says that the wish is impossible. */
  readonly refuses: boolean;
  /** True if it reports that something is done, and asks for nothing more that it needs. */
  readonly reports: boolean;
  /** The first statement: a "no", something else, or none. */
  readonly states: 'nothing' | 'no' | 'something';
  /** The text that it asks to confirm; '' if it says none. */
  readonly recap: string;
}

/** Reads the sentences of an assistant turn that may be the answer, and the acts of the turn. */
export function readAnswer(content: string): AssistantAnswer {
  const text = truncate(content, REDACTED_LENGTH)
    .replace(CODE, `\n${LEFT_OUT}\n`)
    .replace(LINK, '$1')
    .replace(MARKUP, '');
  const scored = sentencesOf(text).slice(0, MOST_SENTENCES).flatMap(withoutTag).map(readSentence);
  const confirm = scored.findIndex(({ asksToConfirm }) => asksToConfirm);
  // A recap follows "please confirm", or stands before "is that correct?".
  const recapFrom = confirm > 0 && scored[confirm]!.act === 'ask' ? confirm - 1 : confirm;
  const sentences = scored.map((_, place) => {
    const isRecap = confirm >= 0 && place >= recapFrom;
    return { ...answerOf(scored, place, isRecap), isRecap };
  });
  const first = sentences.find(({ score, act }) => score >= STATEMENT && act !== 'suggest');
  const refusal = sentences.find(({ act }) => act === 'refuse');
  const last = scored.at(-1);
  const offersMore = last?.act === 'ask' && last.manners !== 'none';
  const asksBack = scored.some((sentence) => sentence.asksBack);
  const handsOver = scored.some(({ act }) => act === 'hand-over');
  return {
    sentences,
    awaits: awaitedBy(scored, { offersMore, asksBack, confirms: confirm >= 0 }),
    asksBack,
    handsOver,
    refuses:
      !handsOver &&
      refusal !== undefined &&
      (first === undefined || sentences.indexOf(refusal) <= sentences.indexOf(first)),
    reports: (!asksBack || offersMore) && sentences.some(({ act }) => act === 'done'),
    states: first === undefined ? 'nothing' : first.denies ? 'no' : 'something',
    recap: recapIn(sentences.slice(Math.max(0, recapFrom)).filter(({ isRecap }) => isRecap)),
  };
}

function awaitedBy(
  scored: readonly ScoredSentence[],
  { offersMore, asksBack, confirms }: { offersMore: boolean; asksBack: boolean; confirms: boolean },
): Awaited {
  if (offersMore) return 'more';
  if (confirms) return 'confirmation';
  return scored.some(({ act }) => act === 'suggest') ? 'choice' : asksBack ? 'answer' : 'nothing';
}

/** The sentence to be confirmed that names most, without "please confirm:". */
function recapIn(sentences: readonly AnswerSentence[]): string {
  const named = sentences.filter(
    ({ text, act, asksBack, isListed, stems }) =>
      act !== 'ask' &&
      (!asksBack || LEAD.test(text)) &&
      !isListed &&
      !text.includes(HIDDEN) &&
      stems.size >= LEAST_RECAP,
  );
  if (named.length === 0) return '';
  const best = named.reduce((one, other) => (other.stems.size > one.stems.size ? other : one));
  return best.text.replace(LEAD, '');
}

/** A sentence as an answer to any request: with the list that it leads up to, and without redacted parts. */
function answerOf(scored: readonly ScoredSentence[], place: number, isRecap: boolean): ScoredSentence {
  const sentence = scored[place]!;
  const next = scored[place + 1];
  const isHead = /[:：]$/u.test(sentence.text) && !sentence.isListed;
  const leads = isHead || (next?.isListed === true && !sentence.isListed && !endsSentence(sentence.text));
  const items = leads ? itemsAfter(scored, place) : [];
  const whole = items.length > (isHead ? 0 : 1) ? withItems(sentence.text, items) : null;
  const text = (whole ?? (isHead ? withoutWeakEnd(withoutColon(sentence.text)) : sentence.text))
    .replace(/\s+/gu, ' ')
    .trim();
  const isOwn = sentence.act === 'done' || sentence.act === 'hand-over' || isRecap;
  let score = sentence.score - Math.min(place, MOST_PLACES) * PLACE;
  if (leads && items.length > 1) score = Math.max(score, LIST - Math.min(place, MOST_PLACES) * PLACE);
  else if (isHead && next !== undefined && (next.text === LEFT_OUT || isCode(next.text)))
    score = Math.max(score, LEADS_TO_CODE);
  else if (leads && sentence.act !== 'done') score -= isHead ? 1.5 : 0.8;
  // A sentence below the items of a list explains one of them.
  if (!sentence.isListed && scored.slice(0, place).some(({ isListed }) => isListed)) score -= 0.35;
  const act = isRecap && sentence.act === 'done' ? 'answer' : sentence.act;
  return { ...sentence, act, score, text: isOwn ? text : withoutHidden(text) };
}

/** The items of the list that a sentence leads up to; none if several of them are redacted. */
function itemsAfter(scored: readonly ScoredSentence[], place: number): string[] {
  if (scored[place + 1]?.isListed !== true) return [];
  const items = scored
    .slice(place + 1)
    .flatMap(({ isListed, text }) => (isListed ? [text.replace(/[.;,。；，]$/u, '')] : []));
  const unredacted = items.filter((item) => !item.includes(HIDDEN));
  return items.length - unredacted.length > 1 ? [] : unredacted;
}

/** A sentence with as many of the items below it as fit; a long item is cut to its head. */
function withItems(sentence: string, items: readonly string[]): string {
  const head = withoutColon(sentence);
  let text = `${head}${isUnspaced(head) ? '：' : ': '}`;
  for (const [count, item] of items.entries()) {
    const name = item.length <= MOST_OF_ITEM ? item : (/^[^:：\d]{2,60}(?=[:：]\s)/u.exec(item)?.[0] ?? '');
    if (name === '' || text.length + name.length > MOST_OF_LIST)
      return count === 0 ? shortened(`${text}${item}`, MOST_OF_LIST) : `${text}; …`;
    text += `${count === 0 ? '' : '; '}${name}`;
  }
  return text;
}

function withoutColon(text: string): string {
  return text.replace(/(?<![.:：。\s])[.:：。\s]+$/u, '');
}

/** The sentence up to the clause that holds a redaction; '' if too little is left to say anything. */
export function withoutHidden(sentence: string): string {
  // An order number with its mark ("#") stays: the mark says what it is.
  const at = sentence.replaceAll(/#\s?•••/gu, (mark) => ' '.repeat(mark.length)).indexOf(HIDDEN);
  if (at < 0) return sentence;
  const front = /^(.*)(?:[,，、；;](?!\d)|\s[–—-]\s)/su.exec(sentence.slice(0, at))?.[1]?.trim() ?? '';
  if (contentCount(front) >= Math.max(LEAST_LEFT, contentCount(sentence) / 2))
    return `${front}${isUnspaced(front) ? '。' : '.'}`;
  return contentCount(sentence) >= LEAST_BESIDE * (sentence.split(HIDDEN).length - 1) ? sentence : '';
}

/** A sentence with its score as the answer to a request. */
export interface ScoredAnswer {
  readonly text: string;
  readonly score: number;
  /** True if it reports that the request is done, by its words or because the user has just confirmed it. */
  readonly isReport: boolean;
}

/**
 * Returns the sentence of a turn that answers best; null if none does. `isConfirmed`: the user has just confirmed, so a
 * report needs no word of the request. `isInformation`: the request asks for information, so nothing can be done about
 * it.
 */
export function bestAnswer(
  { sentences, reports }: AssistantAnswer,
  asked: ReadonlySet<string>,
  { isConfirmed = false, isInformation = false } = {},
): ScoredAnswer | null {
  let best: ScoredAnswer | null = null;
  for (const [place, { text, score, act, stems, isRecap }] of sentences.entries()) {
    if (isRecap || text === '' || score < LEAST) continue;
    const shared = [...stems].filter((stem) => asked.has(stem)).length;
    const reportsIt = act === 'done' && !isHidden(text);
    const isReport = reportsIt && (shared > 0 || (reports && (isConfirmed || stems.size <= CONFIRMING)));
    if (
      shared === 0 &&
      (isInformation ? act === 'done' : stems.size === 0 && act !== 'done' && !isUnspaced(text))
    )
      continue;
    const hidden = isHidden(text)
      ? HIDDEN_WORDS.most
      : text.includes(HIDDEN) && !isReport
        ? HIDDEN_WORDS.some
        : 0;
    const total = score + Math.min(shared, MOST_SHARED) * SHARED + (isReport ? REPORTED : 0) - hidden;
    if (total < LEAST || (best !== null && total <= best.score)) continue;
    const next = sentences[place + 1];
    const isThin = [...stems].filter((stem) => !asked.has(stem) && !/^\d/u.test(stem)).length <= NOVEL;
    // A thin opening needs the next sentence: "I found a recipe for you! It takes an hour."
    const isMore =
      next !== undefined &&
      !next.isRecap &&
      !next.isListed &&
      act !== 'done' &&
      (next.act === 'suggest' ||
        (isThin &&
          (next.act === 'answer' || next.act === 'refuse') &&
          next.manners === 'none' &&
          next.score >= PLAIN));
    const whole = isMore && text.length + next.text.length < MOST_OF_LIST ? `${text} ${next.text}` : text;
    best = { text: whole, score: total, isReport };
  }
  return best;
}
