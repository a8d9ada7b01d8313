/** A sentence of an assistant turn as an answer: how much it says, and what stands for it in a summary. */
import { HIDDEN } from '../text/redact/redact.ts';
import { isCode } from '../text/shown/program-text.ts';
import { contentStems, PhraseSet, type ShownWord } from '../text/shown/phrase-set.ts';
import { shortened, withoutWeakEnd } from '../text/shown/shortening.ts';
import { isUnspaced } from '../text/words.ts';
import { withoutHidden } from './hidden-parts.ts';
import { type Pleasantry, type SaidSentence } from './said-sentence.ts';

const CONTRASTS = PhraseSet.of('contrasts');
const REFERENCES = PhraseSet.of('references');
const NEGATIONS = PhraseSet.of('negations');
const BARE = [
  PhraseSet.of('leads'),
  PhraseSet.of('asides'),
  PhraseSet.of('courtesies'),
  PhraseSet.of('replies'),
];

/** A longer sentence is less of an answer. */
const LONG_SENTENCE = 200;
/** An item of a list stands whole, and a list with its head, up to so many UTF-16 units. */
const MOST_OF_ITEM = 70;
export const MOST_OF_LIST = 172;
/** What states something scores as much, without a courtesy. */
const PLAIN = 0.75;
/** A list, with what leads up to it, scores as much at the beginning of a turn; less with each sentence before it. */
const LIST = 1.35;
const PLACE = 0.06;
/** What leads up to code says what it is. */
const CODE = 0.8;
const MOST_PLACES = 8;
/** After a refusal so many statements from a "however" on do what can be done. */
const MUCH = 3;
/** What a question scores, and what names an offer. */
const QUESTION = { asks: -2, proposes: 0.7 } as const;
const PLEASANTRY: Readonly<Record<Pleasantry, number>> = {
  none: 0,
  opening: 0.15,
  all: 0.95,
  promise: 1.2,
};
/** Stands for code that was left out. */
export const LEFT_OUT = '\u{fffc}';

/** A sentence that may be the answer. */
export interface AnswerSentence {
  readonly text: string;
  /**
   * How much it says, whatever was asked: 1 for a plain statement, below 0.5 for what is none, below 0 for a question.
   */
  readonly score: number;
  /** Reports that something is done. */
  readonly completes: boolean;
  readonly isListed: boolean;
  /** A question that names what could be had. */
  readonly proposes: boolean;
  /** It says what is about to be done, to have it confirmed: no answer by itself. */
  readonly isRecap: boolean;
  /** States something without a courtesy: it may go on from the sentence before. */
  readonly isPlain: boolean;
  /** Begins with "no". */
  readonly denies: boolean;
  readonly stems: ReadonlySet<string>;
}

/** A sentence of a turn as an answer, whatever was asked. */
export function answerOf(said: readonly SaidSentence[], place: number): AnswerSentence {
  const sentence = said[place]!;
  const { text, words, isListed } = sentence;
  const isRecap = isRecapped(said, place);
  const completes = sentence.completes && !isRecap;
  const next = said[place + 1];
  let score = statementScore(said, place);
  const isLeadIn =
    (/[:：]$/u.test(text) && !isListed) || (next?.isListed === true && !isListed && !/[.!。！]$/u.test(text));
  const isHead = /[:：]$/u.test(text) && !isListed;
  const items = isLeadIn ? itemsAfter(said, place) : [];
  if (isLeadIn && !completes) {
    if (items.length > 1) score = Math.max(score, LIST - Math.min(place, MOST_PLACES) * PLACE);
    else if (!isHead) score -= 0.8;
    else if (next !== undefined && isCodeLine(next.text)) score = Math.max(score - 0.1, CODE);
    else score -= 1.5;
  }
  if (sentence.onlyAsks && !completes) score = Math.min(score, QUESTION.asks);
  // "It is changed to:" and what it is now, below.
  const whole = items.length > 0 && (isHead || items.length > 1) ? joined(text, items) : text;
  const denies = NEGATIONS.hasWord(words[0]?.key ?? '') && /^\s?[,.;!–—-]/u.test(text.slice(words[0]!.end));
  const shown = oneLine(whole === text && isHead ? withoutWeakEnd(withoutColon(text)) : whole);
  return {
    text: completes || isRecap || sentence.handsOver ? shown : withoutHidden(shown),
    score,
    completes,
    isListed,
    proposes: sentence.proposes,
    isRecap,
    isPlain: score >= PLAIN && sentence.pleasantry === 'none' && !sentence.offers,
    denies,
    stems: new Set(contentStems(words, true)),
  };
}

/** Whether a sentence follows what asks to confirm, or stands before "is that correct?". */
function isRecapped(said: readonly SaidSentence[], place: number): boolean {
  const confirm = said.findIndex(({ asksToConfirm }) => asksToConfirm);
  return confirm >= 0 && (confirm <= place || (confirm === place + 1 && said[confirm]!.isQuestion));
}

/** How much a sentence says, but for a list that it leads up to. */
function statementScore(said: readonly SaidSentence[], place: number): number {
  const sentence = said[place]!;
  const { text, words, isQuestion, isListed } = sentence;
  const length = isUnspaced(text) ? Math.ceil(text.length / 3) : words.length;
  let score = isQuestion ? QUESTION[sentence.proposes ? 'proposes' : 'asks'] : 1;
  if (length < 2) score -= said.length === 1 && saysMore(words) ? 0.6 : 0.95;
  else if (length < 4) score -= 0.15;
  if (sentence.asksBack) score -= 0.75;
  if (sentence.recaps) score -= 0.2;
  if (REFERENCES.endAt(words, 0) > 0) score -= place === 0 ? 0.15 : 0.3;
  if (isCodeLine(text)) score -= 3;
  if (sentence.refuses && goesOn(said, place)) score -= 0.6;
  if (isListed) score -= /[:：]$/u.test(text) ? 1.35 : 0.35;
  if (/\|.*\|/u.test(text)) score -= 0.6;
  if (text.length > LONG_SENTENCE) score -= 0.3;
  if (/\p{N}/u.test(text)) score += 0.1;
  if (sentence.handsOver && !sentence.offers) score += 0.8;
  if (sentence.refuses) score += 0.2;
  // What stands below the items of a list explains one of them.
  const list = isListed ? -1 : said.findIndex((before) => before.isListed);
  if (list >= 0 && list < place) score -= 0.35;
  score -= PLEASANTRY[sentence.pleasantry] + Math.min(place, MOST_PLACES) * PLACE;
  return score;
}

function isCodeLine(text: string): boolean {
  return text === LEFT_OUT || isCode(text);
}

/** Whether much is stated after a refusal, from a "however" on. */
export function goesOn(said: readonly SaidSentence[], place: number): boolean {
  const after = said.slice(place + 1);
  const turn = after.findIndex(
    ({ text, words }) => CONTRASTS.endAt(words, 0) > 0 || CONTRASTS.unspacedAt(text, 0) > 0,
  );
  return (
    turn >= 0 &&
    after.slice(turn).filter(({ onlyAsks, pleasantry }) => !onlyAsks && pleasantry !== 'all').length >= MUCH
  );
}

/** The items of the list that a sentence leads up to. */
function itemsAfter(said: readonly SaidSentence[], place: number): string[] {
  const items: string[] = [];
  let hidden = 0;
  for (const { isListed, text } of said.slice(place + 1)) {
    if (isListed && text.includes(HIDDEN)) hidden += 1;
    else if (isListed) items.push(text.replace(/[.;,。；，]$/u, ''));
    else if (items.length === 0) break;
  }
  // What stands below several things that are hidden is of one of them.
  if (hidden > 1) return [];
  // Of a list of things with their details, the things.
  const things = items.filter((item) => !/[:：]/u.test(item));
  return things.length > 1 && /[:：]/u.test(items[1] ?? '') ? things : items;
}

/** A sentence and as many of the items below it as there is room for, those that explain themselves by their heads. */
function joined(sentence: string, items: readonly string[]): string {
  const head = withoutColon(sentence);
  let text = `${head}${isUnspaced(head) ? '：' : ': '}`;
  let count = 0;
  for (const item of items) {
    const name = item.length <= MOST_OF_ITEM ? item : (/^[^:：\d]{2,60}(?=[:：]\s)/u.exec(item)?.[0] ?? null);
    if (name === null || text.length + name.length > MOST_OF_LIST) break;
    text += `${count === 0 ? '' : '; '}${name}`;
    count += 1;
  }
  if (count === 0) return shortened(`${text}${items[0]!}`, MOST_OF_LIST);
  return count < items.length ? `${text}; …` : text;
}

function withoutColon(text: string): string {
  return text.replace(/(?<![.:：。\s])[.:：。\s]+$/u, '');
}

/** No mere "ok". */
function saysMore(words: readonly ShownWord[]): boolean {
  return words.length > 0 && !BARE.some((phrases) => phrases.endAt(words, 0) > 0);
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}
