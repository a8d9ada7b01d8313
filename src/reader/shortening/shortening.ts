/**
 * Shortens a sentence at a clause, else at a word with an ellipsis. Keeps the promise that a shortened sentence never
 * says the opposite.
 *
 * Test: test/reader/shortening/shortening.test.ts.
 */
import { truncate } from '../../domain/truncate.ts';
import { LEXICON } from '../document/lexicon.ts';
import { endsInQuestionMark, QUESTION_ENDS } from '../document/question-marks.ts';
import { endsSentence } from '../document/sentences.ts';
import { wordKey } from '../document/spaced-phrases.ts';
import { isUnspaced } from '../document/words.ts';
import { TEXT_LANGUAGES } from '../document/text-lexicon.ts';
import { contentCount, type PhraseSet, TEXT_PHRASES, phraseWordsOf, TROUBLES } from './phrase-set.ts';

const keysOf = (...lists: readonly { readonly all: readonly string[] }[]): ReadonlySet<string> =>
  new Set(lists.flatMap(({ all }) => all).map(wordKey));
const { subjects, auxiliaries, determiners, connectors, conjunctions, negations, and } = LEXICON;
const SUBJECTS = keysOf(subjects);
const AUXILIARIES = keysOf(auxiliaries);
const FUNCTION_WORDS = keysOf(determiners, connectors, conjunctions, negations, auxiliaries);
/** Excludes "I" and "a", which are English words, and "and" in Polish. */
const CONJUNCTIONS = new Set([...keysOf(conjunctions, and)].filter((key) => !/^[aio]$/.test(key)));
/** Words after an "and" that joins clauses, not things: a subject, an auxiliary or a question word. */
const CLAUSE_STARTS = new Set([
  ...SUBJECTS,
  ...AUXILIARIES,
  ...[...TEXT_LANGUAGES.values()].flatMap(({ questionWords }) => questionWords).map(wordKey),
]);
const UNSPACED_NEGATION_AT_END = /[不没无未别非勿沒無]$/u;

/** Ends of clauses: marks, spaced dashes and brackets. */
const CLAUSE_MARK = new RegExp(
  String.raw`[,;，、；](?!\d)\s*(?=\S)|:\s+(?=\S)|：|\s[–—-]\s|\s\(|(?<=[${QUESTION_ENDS}!！。])\s*(?=\S)`,
  'gu',
);
/** Least words of a clause that ends without a mark. */
const LEAST_WORDS = 4;
/** Least content words, and UTF-16 units, of a clause that stands alone. */
const LEAST_CONTENT = 2;
const LEAST_LENGTH = 8;
/** Length of the beginning of a clause that is read, UTF-16 units. */
const CLAUSE_HEAD = 60;
/** Most words before a wish without a comma between. */
const MOST_BEFORE = 6;

/** Shortens a sentence to at most `length` UTF-16 units. */
export function shortened(sentence: string, length: number): string {
  return shortenedAtClause(sentence, length) ?? cutAtWord(sentence.trim(), length);
}

/**
 * Shortens a sentence at a clause; null if no clause within `length` UTF-16 units stands alone. `isWish`: an opening
 * such as "I want to" was cut off.
 */
export function shortenedAtClause(sentence: string, length: number, isWish = false): string | null {
  const text = sentence.trim();
  if (text.length <= length) return text;
  // Removes a comma or the like at the end, which announces more.
  return (
    clauseWithin(text, length, isWish)?.replace(/(?<![\s,;:，、；：–—-])[\s,;:，、；：–—-]+$/u, '') ?? null
  );
}

/** The sentence with a mark at its end, which does not announce more. */
export function ended(sentence: string): string {
  const whole = sentence.replace(/(?<!\s)\s*[:：]$/u, '');
  return endsSentence(whole) ? whole : `${whole}${isUnspaced(whole) ? '。' : '.'}`;
}

/** True if a later clause contrasts with the first: "…, but …". */
export function isContrasted(sentence: string): boolean {
  return clauseEnds(sentence).some(({ next }) => opensWith(TEXT_PHRASES.contrasts, sentence.slice(next)));
}

/**
 * The clause with the wish, if the text before only leads up to it: "I am on a trip and I need a hotel". Otherwise the
 * whole sentence.
 */
export function wishIn(sentence: string): string {
  if (isUnspaced(sentence) || saysWhatIsWanted(sentence) || isContrasted(sentence)) return sentence;
  const words = phraseWordsOf(sentence, 200);
  if (TEXT_PHRASES.questionWords.endAt(words, 0) > 0) return sentence;
  const leans = leansOn(sentence);
  const place = words.findIndex(({ start }, at) => {
    if (at === 0 || TEXT_PHRASES.openings.endAt(words, at) === at) return false;
    const isClause = leans
      ? at <= MOST_BEFORE && !words.slice(0, at).some(({ key }) => SUBJECTS.has(key))
      : /[,;]\s*$/u.test(sentence.slice(0, start)) || CONJUNCTIONS.has(words[at - 1]!.key);
    return isClause && contentCount(sentence.slice(0, start)) > 0;
  });
  const wish = place < 0 ? sentence : sentence.slice(words[place]!.start);
  return contentCount(wish) >= LEAST_CONTENT && !refersBack(wish) ? wish : sentence;
}

/**
 * Finds the longest run of clauses from the front that stands alone. If there is none, or it names neither wish nor
 * trouble, a later clause that does. In a contrasted sentence ("but"), only a later clause.
 */
function clauseWithin(text: string, length: number, isWish: boolean): string | null {
  const isSafe = !isContrasted(text);
  // "I need to exchange the hose, but I have no number": neither part stands alone, and a wish must not be dropped.
  if (!isSafe && (isWish || wishes(text))) return null;
  const ends = clauseEnds(text);
  const leans = leansOn(text);
  const stands = (clause: string): boolean =>
    clause.length >= LEAST_LENGTH &&
    clause.length <= length &&
    contentCount(clause) >= LEAST_CONTENT &&
    !leansOn(clause);
  const front =
    isSafe && !leans ? ends.map(({ end }) => text.slice(0, end).trim()).findLast(stands) : undefined;
  if (front !== undefined && (isWish || saysWhatIsWanted(front))) return front;
  if (front === undefined && isSafe && !leans) return null;
  for (const { next } of ends) {
    const rest = withoutContrast(text.slice(next).trim());
    // The main clause stands alone: "As a tourist, what …".
    const isTelling = front === undefined ? (leans && isSafe) || saysWhatIsWanted(rest) : wishes(rest);
    if (isTelling && stands(rest) && !refersBack(rest)) return rest;
  }
  return front ?? null;
}

/** True if a clause names a wish, or that something is wrong. */
function saysWhatIsWanted(clause: string): boolean {
  const words = phraseWordsOf(clause);
  return (
    wishes(clause) ||
    words.some(({ key }) => TEXT_PHRASES.negations.hasWord(key)) ||
    TROUBLES.firstIn(clause, words) >= 0
  );
}

/** True if a clause begins with "I would like to", "can you" and the like. */
function wishes(clause: string): boolean {
  const words = phraseWordsOf(clause, 12);
  return TEXT_PHRASES.openings.endAt(words, 0) > 0 || TEXT_PHRASES.directives.endAt(words, 0) > 0;
}

/** True for "It shows complete": the clause before names the subject. */
function refersBack(clause: string): boolean {
  return TEXT_PHRASES.references.firstIn(clause, phraseWordsOf(clause)) >= 0;
}

interface ClauseEnd {
  readonly end: number;
  readonly next: number;
}

/**
 * Ends of clauses outside quotes and brackets: at marks, before reasons, and before "and" with a new subject or verb.
 */
function clauseEnds(text: string): ClauseEnd[] {
  const ends: ClauseEnd[] = [...text.matchAll(CLAUSE_MARK)].map(({ 0: mark, index }) => ({
    end: index,
    next: index + mark.length,
  }));
  const words = phraseWordsOf(text, 200);
  words.forEach((word, place) => {
    if (place < LEAST_WORDS) return;
    const isJoined = CONJUNCTIONS.has(word.key) && CLAUSE_STARTS.has(words[place + 1]?.key ?? '');
    const isParted =
      TEXT_PHRASES.reasons.endAt(words, place) > place || TEXT_PHRASES.contrasts.endAt(words, place) > place;
    if (isJoined || isParted) ends.push({ end: word.start, next: word.start });
  });
  return ends
    .filter(({ end, next }) => isBalanced(text.slice(0, end)) && !isBetweenThings(text, end, next))
    .sort((one, other) => one.end - other.end);
}

/** True for "A free, child friendly, quiet place": no clause begins after the comma. */
function isBetweenThings(text: string, comma: number, next: number): boolean {
  if (text[comma] !== ',') return false;
  const words = phraseWordsOf(text.slice(next, next + CLAUSE_HEAD), 4);
  const key = words[0]?.key ?? '';
  if (/^\p{N}/u.test(key) || CLAUSE_STARTS.has(key) || CONJUNCTIONS.has(key) || isWeakEnd(key)) return false;
  const { subordinates, reasons, contrasts, openings, directives, courtesies, purposes, questionWords } =
    TEXT_PHRASES;
  return ![subordinates, reasons, contrasts, openings, directives, courtesies, purposes, questionWords].some(
    (phrases) => phrases.endAt(words, 0) > 0,
  );
}

/** True if no quote or bracket is open. */
function isBalanced(front: string): boolean {
  const count = (mark: RegExp): number => front.match(mark)?.length ?? 0;
  return count(/"/gu) % 2 === 0 && count(/[([“„«「『（]/gu) <= count(/[)\]”»」』）]/gu);
}

function opensWith(phrases: PhraseSet, clause: string): boolean {
  return phrases.endAt(phraseWordsOf(clause, 6), 0) > 0 || phrases.unspacedAt(clause, 0) > 0;
}

/** True if a clause begins with "because", "if", "when" and the like and is no question: it does not stand alone. */
function leansOn(clause: string): boolean {
  if (endsInQuestionMark(clause)) return false;
  // "When does it open" is a question.
  if (AUXILIARIES.has(phraseWordsOf(clause, 2)[1]?.key ?? '')) return false;
  return [TEXT_PHRASES.subordinates, TEXT_PHRASES.reasons, TEXT_PHRASES.purposes].some((phrases) =>
    opensWith(phrases, clause),
  );
}

function withoutContrast(clause: string): string {
  const words = phraseWordsOf(clause, 6);
  const place = TEXT_PHRASES.contrasts.endAt(words, 0) || (CONJUNCTIONS.has(words[0]?.key ?? '') ? 1 : 0);
  if (place > 0) return clause.slice(words[place - 1]!.end).trim();
  return clause.slice(TEXT_PHRASES.contrasts.unspacedAt(clause, 0)).trim();
}

function isWeakEnd(key: string): boolean {
  return TEXT_PHRASES.weakEnds.hasWord(key) || TEXT_PHRASES.negations.hasWord(key) || FUNCTION_WORDS.has(key);
}

/** Cuts at a word and adds an ellipsis; never cuts after an article, a preposition or "not". */
function cutAtWord(text: string, length: number): string {
  const room = truncate(text, length - 1);
  if (isUnspaced(room) && !/\s/u.test(room.slice(length >> 1)))
    return `${room.replace(UNSPACED_NEGATION_AT_END, '')}…`;
  const space = room.search(/\s\S*$/u);
  const isBetween = /^\s/u.test(text.slice(room.length));
  const cut = withoutWeakEnd(space > 0 && !isBetween ? room.slice(0, space) : room);
  let end = cut.length;
  while (end > 0 && OPEN_MARK.test(cut[end - 1]!)) end -= 1;
  return `${cut.slice(0, end)}…`;
}

/** The text without articles, prepositions and the like at its end. */
export function withoutWeakEnd(text: string): string {
  const words = phraseWordsOf(text, 200);
  const last = words.findLastIndex(({ key }, place) => place < 2 || !isWeakEnd(key));
  const next = words[last + 1];
  return next === undefined ? text : text.slice(0, next.start).trimEnd();
}

const OPEN_MARK = new RegExp(String.raw`[\s.,;:!，、。；：(“„«–—${QUESTION_ENDS}-]`, 'u');
