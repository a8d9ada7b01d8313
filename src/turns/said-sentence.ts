/**
 * A sentence of an assistant by its phrases: what it does, and how much it says as an answer. Covered by
 * test/turns/said-sentence.test.ts.
 */
import { LEXICON } from '../text/lexicon.ts';
import { endsInQuestionMark, QUESTION_MARK } from '../text/question-marks.ts';
import { HIDDEN } from '../text/redact/redact.ts';
import {
  contentCount,
  SHOWN,
  shownWordsOf,
  stemsOf,
  type PhraseSet,
  type ShownWord,
} from '../text/shown/phrase-set.ts';
import { isCode } from '../text/shown/program-text.ts';
import { withoutGreeting } from '../text/shown/trimming.ts';
import { wordKey } from '../text/spaced-phrases.ts';
import { isUnspaced } from '../text/words.ts';

const AUXILIARIES: ReadonlySet<string> = new Set(LEXICON.auxiliaries.all.map(wordKey));
const SUBJECTS: ReadonlySet<string> = new Set(LEXICON.subjects.all.map(wordKey));

/** So many words before a handover or a report may deny it: "I am not able to transfer you". */
const DENIAL = 6;
/** "All right, now let me check": it begins within so many words. */
const FIRST_WORDS = 4;
/** So few words beside something hidden say nothing. */
const LITTLE = 3;
/** What is stated before a question at the end has so many words, or UTF-16 units. */
const LEAST_WORDS = 4;
const LEAST_FRONT = 7;
/** A sentence goes on to say something when so many words follow what says nothing; fewer after a comma. */
const WORDS_AFTER = { sentence: 7, comma: 4 } as const;
/** UTF-16 units before the colon of what is to be confirmed. */
const MOST_OF_LEAD = 60;
const LONG_UNSPACED = 24;
const LONG_SENTENCE = 200;
/** Stands for code that was left out. */
export const LEFT_OUT = '\u{fffc}';

/** What a sentence does first of all. */
export type Deed = 'states' | 'asks' | 'proposes' | 'hands over' | 'offers' | 'refuses' | 'reports';

/** What of a sentence says nothing: its opening, all of it; or it says what is about to be done. */
type Pleasantry = 'none' | 'opening' | 'all' | 'promise';
const PLEASANTRY: Readonly<Record<Pleasantry, number>> = { none: 0, opening: 0.15, all: 0.95, promise: 1.2 };

/** What a sentence of an assistant is. */
export interface SaidSentence {
  readonly text: string;
  readonly deed: Deed;
  readonly isListed: boolean;
  /** It asks for what the assistant needs, as a question or not. */
  readonly asksBack: boolean;
  /** It asks to confirm what was said or follows: "is that correct?", "please confirm: …". */
  readonly asksToConfirm: boolean;
  readonly pleasantry: Pleasantry;
  /** It begins with "no". */
  readonly denies: boolean;
  /** 1 for a plain statement, below 0.6 for what is none, below 0 for a question that proposes nothing. */
  readonly score: number;
  readonly stems: ReadonlySet<string>;
}

const MARKED = new RegExp(`${QUESTION_MARK}["'”»)\\].]*$`, 'u');
const ASKED_BEFORE = new RegExp(`^[^.!]*${QUESTION_MARK}`, 'u');

export function readSentence(sentence: string): SaidSentence {
  const text = withoutGreeting(sentence);
  const words = shownWordsOf(text);
  const isListed = /^\s*(?:[-*•–]|\d{1,2}[.)])\s/u.test(sentence);
  const deed = deedOf(text, words);
  const needs = deed === 'asks' || deed === 'proposes' ? -1 : SHOWN.asksBack.firstIn(text, words);
  const pleasantry = pleasantryIn(text, words);
  const first = words[0];
  return {
    text,
    deed,
    isListed,
    asksBack: needs >= 0 || deed === 'asks' || deed === 'proposes',
    asksToConfirm: asksToConfirm(text, words, needs),
    pleasantry,
    denies:
      first !== undefined &&
      SHOWN.negations.hasWord(first.key) &&
      /^\s?[,.;!–—-]/u.test(text.slice(first.end)),
    score: scoreOf(text, words, { deed, isListed, needs, pleasantry }),
    stems: stemsOf(text),
  };
}

function deedOf(text: string, words: readonly ShownWord[]): Deed {
  const { proposals, handovers, refusals, completions, negations, subordinates, offers } = SHOWN;
  if (MARKED.test(text) || isUnmarkedQuestion(words))
    return proposals.firstIn(text, words) >= 0 && namesOne(text) ? 'proposes' : 'asks';
  const handover = handovers.firstIn(text, words);
  // "If that goes on, I can transfer you."
  const isOver = handover >= 0 && subordinates.endAt(words, 0) === 0;
  if (isOver && !isPreceded(text, words, handover, [negations]))
    return isPreceded(text, words, handover, [offers]) ? 'offers' : 'hands over';
  if (refusals.firstIn(text, words) >= 0) return 'refuses';
  const report = completions.firstIn(text, words);
  const isDenied = isUnspaced(text) && negations.firstIn(text, words) >= 0;
  // Not "once it is done" or "it could not be done".
  const isReport =
    report >= 0 && !isDenied && !isPreceded(text, words, report, [negations, subordinates, offers]);
  return isReport ? 'reports' : 'states';
}

/** Whether one of these words stands shortly before a place, in its clause. */
function isPreceded(
  text: string,
  words: readonly ShownWord[],
  place: number,
  sets: readonly PhraseSet[],
): boolean {
  const before = words.slice(Math.max(0, place - DENIAL), place);
  const word = before.findLast(({ key }) => sets.some((set) => set.hasWord(key)));
  return word !== undefined && !/[,;:–—]/u.test(text.slice(word.end, words[place]!.start));
}

/** "When are you leaving." */
export function isUnmarkedQuestion(words: readonly ShownWord[]): boolean {
  const [first, second] = words;
  if (first === undefined || second === undefined || SHOWN.questionWords.endAt(words, 0) === 0) return false;
  return AUXILIARIES.has(first.key) ? SUBJECTS.has(second.key) : AUXILIARIES.has(second.key);
}

/** "Is that correct?", or a lead with what is to be confirmed behind its colon. */
function asksToConfirm(text: string, words: readonly ShownWord[], needs: number): boolean {
  // No "… to confirm it" at the end of a statement.
  const isQuestion = endsInQuestionMark(text);
  if (SHOWN.recaps.firstIn(text, isQuestion ? words : words.slice(0, FIRST_WORDS)) >= 0) return true;
  const colon = text.search(/[:：]\s*\S/u);
  if (isQuestion || needs < 0 || colon < 0 || colon > MOST_OF_LEAD) return false;
  const isLead = isUnspaced(text) || words[needs]!.start < colon;
  return isLead && shownWordsOf(text.slice(colon)).length >= WORDS_AFTER.sentence;
}

/** How much a sentence says by itself. */
function scoreOf(
  text: string,
  words: readonly ShownWord[],
  {
    deed,
    isListed,
    needs,
    pleasantry,
  }: Pick<SaidSentence, 'deed' | 'isListed'> & { needs: number; pleasantry: Pleasantry },
): number {
  const length = isUnspaced(text) ? Math.ceil(text.length / 3) : words.length;
  let score = 1 - PLEASANTRY[pleasantry];
  if (deed === 'asks') score = -2;
  if (deed === 'proposes') score -= 0.3;
  if (deed === 'hands over') score += 0.8;
  if (deed === 'refuses') score += 0.2;
  // "To help you, I need your name": nothing is stated before.
  const isOnlyAsking =
    needs >= 0 && (needs < FIRST_WORDS || SHOWN.purposes.hasWord(words[0]!.key)) && !isUnspaced(text);
  if (needs >= 0) score -= 0.75;
  if (isOnlyAsking && deed !== 'reports') score = -2;
  if (length < 2) score -= 0.95;
  else if (length < 4) score -= 0.15;
  if (SHOWN.references.endAt(words, 0) > 0) score -= 0.2;
  if (text === LEFT_OUT || isCode(text)) score -= 3;
  if (isListed) score -= /[:：]$/u.test(text) ? 1.35 : 0.35;
  if (/\|.*\|/u.test(text)) score -= 0.6;
  if (text.length > LONG_SENTENCE) score -= 0.3;
  return /\p{N}/u.test(text) ? score + 0.1 : score;
}

function pleasantryIn(text: string, words: readonly ShownWord[]): Pleasantry {
  const { greetings, promises, pleasantries, subordinates } = SHOWN;
  const greeting = greetings.endAt(words, 0);
  if (greeting > 0 && greeting === words.length) return 'all';
  const isBrief = !isUnspaced(text) || text.length <= LONG_UNSPACED;
  if (isBrief && promises.firstIn(text, words.slice(0, FIRST_WORDS)) >= 0) return 'promise';
  const place = pleasantries.firstIn(text, words);
  // "If you need anything, feel free to ask."
  if (place >= 0 && subordinates.endAt(words, 0) > 0) return 'all';
  if (place < 0 || (place > 2 && words.length > 9)) return 'none';
  const last = pleasantries.endAt(words, place) - 1;
  if (last < place) return isUnspaced(text) && goesOnUnspaced(text) ? 'opening' : 'all';
  if (
    words.length <= 12 &&
    words.slice(last + 1, last + 4).some((_, at) => pleasantries.endAt(words, last + 1 + at) > last + 1 + at)
  )
    return 'all';
  const isParted = /^\s?[,;–—-]/u.test(text.slice(words[last]!.end));
  const least = isParted ? WORDS_AFTER.comma : WORDS_AFTER.sentence;
  return words.length - 1 - last >= least ? 'opening' : 'all';
}

/** "好的，…": a courtesy and a comma before a statement. */
function goesOnUnspaced(text: string): boolean {
  const rest = text.slice(SHOWN.pleasantries.unspacedAt(text, 0));
  if (!/^.?[，,、]/u.test(rest)) return text.length > LONG_UNSPACED;
  return rest.length >= LEAST_FRONT && SHOWN.pleasantries.firstIn(rest, shownWordsOf(rest)) < 0;
}

/** "It has a pool, would you like it?": what is stated, and the question behind it. */
export function withoutTag(sentence: string): string[] {
  if (!endsInQuestionMark(sentence)) return [sentence];
  const comma = Math.max(sentence.lastIndexOf('，'), sentence.lastIndexOf(', '), sentence.lastIndexOf('、'));
  const front = sentence.slice(0, comma);
  const tag = sentence.slice(comma + 1).trim();
  if (comma < 0 || ASKED_BEFORE.test(front)) return [sentence];
  if (isUnspaced(front)) return front.length >= LEAST_FRONT ? [`${front}。`, tag] : [sentence];
  const words = shownWordsOf(tag, 6);
  const isTag = SHOWN.questionWords.endAt(words, 0) > 0 || SHOWN.directives.endAt(words, 0) > 0;
  const start = shownWordsOf(front, LEAST_WORDS);
  const isStated =
    start.length === LEAST_WORDS && !isUnmarkedQuestion(start) && SHOWN.purposes.endAt(start, 0) === 0;
  return isTag && isStated ? [`${front}.`, tag] : [sentence];
}

/** Holds a name within or a number, as scripts with capitals show; others show nothing of it. */
export function namesOne(text: string): boolean {
  return isUnspaced(text) || /\P{Lu}\p{Lu}\p{Ll}|\p{N}/u.test(text) || !/\p{Lu}|\p{Ll}/u.test(text);
}

/** Whether a text denies or refuses something. */
export function denies(text: string): boolean {
  const words = shownWordsOf(text);
  return words.some(({ key }) => SHOWN.negations.hasWord(key)) || SHOWN.refusals.firstIn(text, words) >= 0;
}

/** Says little beside what is hidden: "Reference number is •••". */
export function isHidden(text: string): boolean {
  return text.includes(HIDDEN) && contentCount(text) <= LITTLE;
}
