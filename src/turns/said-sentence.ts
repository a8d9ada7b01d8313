/** What a sentence of an assistant does, by its phrases: it asks, offers, refuses, hands over, or says nothing. */
import { LEXICON } from '../text/lexicon.ts';
import { endsInQuestionMark, QUESTION_MARK } from '../text/question-marks.ts';
import { wordKey } from '../text/spaced-phrases.ts';
import { HIDDEN } from '../text/redact/redact.ts';
import { contentCount, PhraseSet, shownWordsOf, type ShownWord } from '../text/shown/phrase-set.ts';
import { withoutGreeting } from '../text/shown/trimming.ts';
import { isUnspaced } from '../text/words.ts';

const PLEASANTRIES = PhraseSet.of('pleasantries');
const GREETINGS = PhraseSet.of('greetings');
const PROMISES = PhraseSet.of('promises');
const REFUSALS = PhraseSet.of('refusals');
const HANDOVERS = PhraseSet.of('handovers');
const ASKS_BACK = PhraseSet.of('asksBack');
const QUESTION_WORDS = PhraseSet.of('questionWords');
const DIRECTIVES = PhraseSet.of('directives');
const AUXILIARIES: ReadonlySet<string> = new Set(LEXICON.auxiliaries.all.map(wordKey));
const SUBJECTS: ReadonlySet<string> = new Set(LEXICON.subjects.all.map(wordKey));
const PURPOSES = PhraseSet.of('purposes');
const PROPOSALS = PhraseSet.of('proposals');
const RECAPS = PhraseSet.of('recaps');
const COMPLETIONS = PhraseSet.of('completions');
const OFFERS = PhraseSet.of('offers');
const NEGATIONS = PhraseSet.of('negations');
const SUBORDINATES = PhraseSet.of('subordinates');

/** So many words before a handover or a report may deny it: "I am not able to transfer you". */
const DENIAL = 6;
/** "All right, now let me check": it begins within so many words. */
const FIRST_WORDS = 4;
/** So few words beside something hidden say nothing. */
const LITTLE = 3;
/** Among so many words at the beginning, what is asked for is all that is said. */
const ASKED_FIRST = 4;

/** What is stated before a question at the end has so many words, or UTF-16 units. */
const LEAST_WORDS = 4;
const LEAST_FRONT = 7;
/** UTF-16 units before the colon of what is to be confirmed. */
const MOST_OF_LEAD = 60;
/** A sentence goes on to say something when so many words follow what says nothing; fewer after a comma. */
const WORDS_AFTER = 7;
const WORDS_AFTER_COMMA = 4;
const LONG_UNSPACED = 24;
/** A sentence of no more words that holds two courtesies says nothing. */
const SHORT = 12;

/** Whether a sentence begins with what says nothing, or is no more than that, or says what is about to be done. */
export type Pleasantry = 'none' | 'opening' | 'all' | 'promise';

/** What a sentence of an assistant is. */
export interface SaidSentence {
  readonly text: string;
  readonly words: readonly ShownWord[];
  readonly isQuestion: boolean;
  readonly isListed: boolean;
  readonly handsOver: boolean;
  /** It only offers that: "I can transfer you". */
  readonly offers: boolean;
  readonly refuses: boolean;
  /** Reports that something is done. */
  readonly completes: boolean;
  readonly asksBack: boolean;
  /** It opens with what it asks for, or is a question without a proposal: never an answer. */
  readonly onlyAsks: boolean;
  /** It says what the user is asked to confirm: "please confirm: …". */
  readonly recaps: boolean;
  /** It asks to confirm what was said or follows: "is that correct?", "let me make sure". */
  readonly asksToConfirm: boolean;
  /** A question that names what could be had: "How about the Blue Door?". */
  readonly proposes: boolean;
  readonly pleasantry: Pleasantry;
}

/** A full stop may stand behind the mark, too. */
const MARKED = new RegExp(`${QUESTION_MARK}["'”»)\\].]*$`, 'u');
const ASKED_BEFORE = new RegExp(`^[^.!]*${QUESTION_MARK}`, 'u');

export function readSentence(sentence: string): SaidSentence {
  const recap = recapOf(sentence);
  const text = withoutGreeting(recap ?? sentence);
  const words = shownWordsOf(text);
  const isQuestion = MARKED.test(text) || isUnmarkedQuestion(words);
  const handsOver = !isQuestion && isHandover(text, words);
  const refuses = !isQuestion && !handsOver && REFUSALS.firstIn(text, words) >= 0;
  const asked = isQuestion ? -1 : ASKS_BACK.firstIn(text, words);
  const proposes = isQuestion && PROPOSALS.firstIn(text, words) >= 0 && namesOne(text);
  return {
    text,
    words,
    isQuestion,
    isListed: /^\s*(?:[-*•–]|\d{1,2}[.)])\s/u.test(sentence),
    handsOver,
    offers: handsOver && isOffer(text, words),
    refuses,
    completes: !isQuestion && !refuses && isCompletion(text, words),
    asksBack: asked >= 0,
    onlyAsks: (isQuestion && !proposes) || (asked >= 0 && opensAsking(words, asked) && !isUnspaced(text)),
    recaps: recap !== null,
    asksToConfirm: recap !== null || asksToConfirm(text, words, isQuestion),
    proposes,
    pleasantry: pleasantryIn(text, words),
  };
}

/** "When are you leaving." */
export function isUnmarkedQuestion(words: readonly ShownWord[]): boolean {
  const [first, second] = words;
  if (first === undefined || second === undefined || QUESTION_WORDS.endAt(words, 0) === 0) return false;
  return AUXILIARIES.has(first.key) ? SUBJECTS.has(second.key) : AUXILIARIES.has(second.key);
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
  const isTag = QUESTION_WORDS.endAt(words, 0) > 0 || DIRECTIVES.endAt(words, 0) > 0;
  const start = shownWordsOf(front, LEAST_WORDS);
  const isStated =
    start.length === LEAST_WORDS && !isUnmarkedQuestion(start) && PURPOSES.endAt(start, 0) === 0;
  return isTag && isStated ? [`${front}.`, tag] : [sentence];
}

/** Whether nothing is stated before what is asked for: "To help you, I need your name". */
function opensAsking(words: readonly ShownWord[], asked: number): boolean {
  return asked < ASKED_FIRST || PURPOSES.hasWord(words[0]!.key);
}

/** "Please confirm: a table for two at Rossi." What is to be confirmed says what is about to be done. */
function recapOf(sentence: string): string | null {
  const colon = sentence.search(/[:：]\s*\S/u);
  if (colon < 0 || colon > MOST_OF_LEAD || endsInQuestionMark(sentence)) return null;
  const lead = sentence.slice(0, colon);
  const recap = sentence.slice(colon + 1).trim();
  return ASKS_BACK.firstIn(lead, shownWordsOf(lead)) >= 0 && shownWordsOf(recap).length >= WORDS_AFTER
    ? recap
    : null;
}

/** Says first, or asks, that something be confirmed: no "… to confirm it" at the end of a statement. */
function asksToConfirm(text: string, words: readonly ShownWord[], isQuestion: boolean): boolean {
  const place = RECAPS.firstIn(text, words, isQuestion ? words.length : FIRST_WORDS);
  return place >= 0 && (isQuestion || place < ASKED_FIRST);
}

/** Holds a name within or a number, as scripts with capitals show; others show nothing of it. */
export function namesOne(text: string): boolean {
  return isUnspaced(text) || /\P{Lu}\p{Lu}\p{Ll}|\p{N}/u.test(text) || !/\p{Lu}|\p{Ll}/u.test(text);
}

function isHandover(text: string, words: readonly ShownWord[]): boolean {
  const place = HANDOVERS.firstIn(text, words);
  // "If that goes on, I can transfer you."
  return place >= 0 && SUBORDINATES.endAt(words, 0) === 0 && !isPreceded(text, words, place, [NEGATIONS]);
}

/** Says that something is done, and not "once it is done" or "it could not be done". */
function isCompletion(text: string, words: readonly ShownWord[]): boolean {
  const place = COMPLETIONS.firstIn(text, words);
  if (place < 0 || (isUnspaced(text) && NEGATIONS.firstIn(text, words) >= 0)) return false;
  return !isPreceded(text, words, place, [NEGATIONS, SUBORDINATES, OFFERS]);
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

function isOffer(text: string, words: readonly ShownWord[]): boolean {
  const before = words[HANDOVERS.firstIn(text, words) - 1];
  return before !== undefined && OFFERS.hasWord(before.key);
}

function pleasantryIn(sentence: string, words: readonly ShownWord[]): Pleasantry {
  const greeting = GREETINGS.endAt(words, 0);
  if (greeting > 0 && greeting === words.length) return 'all';
  const isBrief = !isUnspaced(sentence) || sentence.length <= LONG_UNSPACED;
  if (isBrief && PROMISES.firstIn(sentence, words, FIRST_WORDS) >= 0) return 'promise';
  const place = PLEASANTRIES.firstIn(sentence, words);
  // "If you need anything, feel free to ask."
  if (place >= 0 && SUBORDINATES.endAt(words, 0) > 0) return 'all';
  if (place < 0 || (place > 2 && words.length > 9)) return 'none';
  const last = PLEASANTRIES.endAt(words, place) - 1;
  if (last < place) return isUnspaced(sentence) && goesOnUnspaced(sentence) ? 'opening' : 'all';
  const rest = words.slice(last + 1, last + 4);
  if (words.length <= SHORT && PLEASANTRIES.firstIn('', rest) >= 0) return 'all';
  const after = words.length - 1 - last;
  const isParted = /^\s?[,;–—-]/u.test(sentence.slice(words[last]!.end));
  return after >= (isParted ? WORDS_AFTER_COMMA : WORDS_AFTER) ? 'opening' : 'all';
}

/** "好的，…": a courtesy and a comma before a statement. */
function goesOnUnspaced(sentence: string): boolean {
  const rest = sentence.slice(PLEASANTRIES.unspacedAt(sentence, 0));
  if (!/^.?[，,、]/u.test(rest)) return sentence.length > LONG_UNSPACED;
  return rest.length >= LEAST_FRONT && PLEASANTRIES.firstIn(rest, shownWordsOf(rest)) < 0;
}

/** Whether a text denies or refuses something. */
export function denies(text: string): boolean {
  const words = shownWordsOf(text);
  return words.some(({ key }) => NEGATIONS.hasWord(key)) || refuses(text);
}

/** Whether a text says that something is not possible. */
export function refuses(text: string): boolean {
  return REFUSALS.firstIn(text, shownWordsOf(text)) >= 0;
}

/** Says little beside what is hidden: "Reference number is •••". */
export function isHidden(text: string): boolean {
  return text.includes(HIDDEN) && contentCount(text) <= LITTLE;
}
