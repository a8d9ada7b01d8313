/** Shortens a sentence at a clause, else at a word with an ellipsis, so that it never says the opposite. */
import { truncate } from '../../domain/truncate.ts';
import { endsInQuestionMark, holdsQuestionMark, QUESTION_ENDS } from '../question-marks.ts';
import { endsSentence } from '../sentences.ts';
import { isUnspaced } from '../words.ts';
import { TEXT_LANGUAGES } from './lexicon.ts';
import { contentCount, PhraseSet, shownWordsOf, type ShownWord } from './phrase-set.ts';
import { LANGUAGES, LEXICON } from '../lexicon.ts';
import { wordKey } from '../spaced-phrases.ts';

const CONTRASTS = PhraseSet.of('contrasts');
const SUBORDINATES = PhraseSet.of('subordinates');
const WEAK_ENDS = PhraseSet.of('weakEnds');
const NEGATIONS = PhraseSet.of('negations');
const OPENINGS = PhraseSet.of('openings');
const PURPOSES = PhraseSet.of('purposes');
const INFINITIVES = PhraseSet.of('infinitives');
const DIRECTIVES = PhraseSet.of('directives');
const REFERENCES = PhraseSet.of('references');
const QUESTION_WORDS = PhraseSet.of('questionWords');
const SUBJECTS: ReadonlySet<string> = new Set(LEXICON.subjects.all.map(wordKey));
const TROUBLES = new PhraseSet(troublesOf(true), troublesOf(false));
const REASONS = PhraseSet.of('reasons');
const COURTESIES = PhraseSet.of('courtesies');
const CLAUSE_OPENINGS = [
  SUBORDINATES,
  REASONS,
  CONTRASTS,
  OPENINGS,
  DIRECTIVES,
  COURTESIES,
  PURPOSES,
  QUESTION_WORDS,
];
const UNSPACED_NEGATION_AT_END = /[不没无未别非勿沒無]$/u;

const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  [LEXICON.determiners, LEXICON.connectors, LEXICON.conjunctions, LEXICON.negations, LEXICON.auxiliaries]
    .flatMap(({ all }) => all)
    .map(wordKey),
);

const CONJUNCTIONS: ReadonlySet<string> = new Set(
  // "I" and "a" are words of English before they are the "and" of Polish.
  [...LEXICON.conjunctions.all, ...LEXICON.and.all].map(wordKey).filter((key) => !/^[aio]$/.test(key)),
);
const AUXILIARIES: ReadonlySet<string> = new Set(LEXICON.auxiliaries.all.map(wordKey));
/** What follows "and" where it joins clauses, not things: a subject, an auxiliary or a question word. */
const CLAUSE_STARTS: ReadonlySet<string> = new Set(
  [
    ...LEXICON.subjects.all,
    ...LEXICON.auxiliaries.all,
    ...[...TEXT_LANGUAGES.values()].flatMap(({ questionWords }) => questionWords),
  ].map(wordKey),
);
/** A clause that ends without a mark has so many words before it. */
const LEAST_WORDS = 4;

/** What went wrong, in languages with spaces between words or without; stems are left out. */
function troublesOf(isSpaced: boolean): string[] {
  return [...LANGUAGES.values()].flatMap(({ spaced, troubles }) => {
    if (spaced !== isSpaced) return [];
    return Object.values(troubles).flatMap((phrases = []) =>
      phrases.filter((phrase) => !/(?:^|\s)-|-(?:\s|$)/u.test(phrase)),
    );
  });
}

/** Where a clause ends: marks, spaced dashes and brackets. */
const CLAUSE_MARK = new RegExp(
  String.raw`[,;，、；](?!\d)\s*(?=\S)|:\s+(?=\S)|：|\s[–—-]\s|\s\(|(?<=[${QUESTION_ENDS}!！。])\s*(?=\S)`,
  'gu',
);
/** Fewer content words are no clause to stand by itself. */
const LEAST_CONTENT = 2;
const LEAST_LENGTH = 8;
/** UTF-16 units of a clause that say how it begins. */
const CLAUSE_HEAD = 60;
const LEAST_BEFORE_PURPOSE = 6;
/** A wish stands by itself when it names so much; so few words may lead up to it without a comma. */
const LEAST_WISH = 2;
const MOST_BEFORE = 6;

/** Whether a later clause of a sentence says otherwise than the first: "…, but …". */
export function isContrasted(sentence: string): boolean {
  return clauseEnds(sentence).some(({ next }) => opensWith(CONTRASTS, sentence.slice(next)));
}

/**
 * The clause of a sentence that says what is wanted, where what is before it only leads up to it: "I am on a trip and I
 * need a hotel". The whole sentence where there is none.
 */
export function wishIn(sentence: string): string {
  if (isUnspaced(sentence) || wishes(sentence) || isContrasted(sentence)) return sentence;
  const words = shownWordsOf(sentence, 200);
  if (saysWhatIsWrong(sentence, words) || QUESTION_WORDS.endAt(words, 0) > 0) return sentence;
  const leans = leansOn(sentence);
  for (const [place, { start }] of words.entries()) {
    if (place === 0 || OPENINGS.endAt(words, place) === place) continue;
    const rest = sentence.slice(start);
    const isClause = leans
      ? place <= MOST_BEFORE && !words.slice(0, place).some(({ key }) => SUBJECTS.has(key))
      : /[,;]\s*$/u.test(sentence.slice(0, start)) || CONJUNCTIONS.has(words[place - 1]!.key);
    if (isClause && contentCount(sentence.slice(0, start)) > 0)
      return contentCount(rest) >= LEAST_WISH && !refersBack(rest) ? rest : sentence;
  }
  return sentence;
}

/** At most `length` UTF-16 units of a sentence. */
export function shortened(sentence: string, length: number): string {
  const text = sentence.trim();
  if (text.length <= length) return text;
  const clause = clauseWithin(text, length);
  return clause === null ? cutAtWord(text, length) : withoutOpenMark(clause);
}

/** With a mark at its end, and none that announces more. */
export function ended(sentence: string): string {
  const whole = sentence.replace(/(?<!\s)\s*[:：]$/u, '');
  return endsSentence(whole) ? whole : `${whole}${isUnspaced(whole) ? '。' : '.'}`;
}

/** Without a comma or the like at its end, which announces more. */
function withoutOpenMark(clause: string): string {
  return clause.replace(/(?<![\s,;:，、；：–—-])[\s,;:，、；：–—-]+$/u, '');
}

/** The same at a clause only; null when no clause of that length stands by itself. `isWish`: "I want to" is cut off. */
export function shortenedAtClause(sentence: string, length: number, isWish = false): string | null {
  const text = sentence.trim();
  if (text.length <= length) return text;
  const clause = clauseWithin(text, length, isWish);
  return clause === null ? null : withoutOpenMark(clause);
}

/**
 * The longest run of clauses from the front that stands by itself. Where it does not, or says little, a later clause
 * that says what is wanted or wrong; where a clause says otherwise, only such a one.
 */
function clauseWithin(text: string, length: number, isWish = false): string | null {
  const ends = clauseEnds(text);
  const isSafe = !isContrasted(text);
  // "I need to exchange the hose, but I have no number": neither part alone, and the wish is no reason to drop.
  if (!isSafe && (isWish || wishes(text))) return null;
  let found: string | null = null;
  for (const { end } of !isSafe || leansOn(text) ? [] : ends) {
    const front = text.slice(0, end).trim();
    if (end <= length && isWeighty(front) && !leansOn(front)) found = front;
  }
  if (found === null && isSafe && !leansOn(text) && !ends.some(({ end }) => leansOn(text.slice(0, end))))
    return null;
  // "I have some flour and I don't know what to bake with it": the front alone is not what is wanted.
  const after = text.slice(found?.length ?? 0);
  if (found !== null && !isWish && onlyStates(found) && refersBack(after) && saysWhatIsWanted(after))
    found = null;
  const isEnough = found !== null && (contentCount(found) > LEAST_CONTENT || saysWhatIsWanted(found));
  if (found !== null && (isWish || saysWhatIsWanted(found))) return found;
  for (const [place, { next }] of ends.entries()) {
    const rest = withoutContrast(text.slice(next).trim());
    // "As a tourist, what …": only the main clause stands by itself.
    if (place > 0 && isSafe && !saysWhatIsWanted(rest)) continue;
    const isTelling = isEnough ? wishes(rest) : (isSafe && found === null) || saysWhatIsWanted(rest);
    if (rest.length <= length && isWeighty(rest) && !leansOn(rest) && isTelling && !refersBack(rest))
      return rest;
  }
  return found;
}

/** Neither a question, nor a wish, nor that something is wrong. */
function onlyStates(clause: string): boolean {
  return (
    !holdsQuestionMark(clause) &&
    QUESTION_WORDS.endAt(shownWordsOf(clause), 0) === 0 &&
    !saysWhatIsWanted(clause)
  );
}

/** A wish, or that something is not as it should be. */
function saysWhatIsWanted(clause: string): boolean {
  return wishes(clause) || saysWhatIsWrong(clause, shownWordsOf(clause));
}

function saysWhatIsWrong(clause: string, words: readonly ShownWord[]): boolean {
  return words.some(({ key }) => NEGATIONS.hasWord(key)) || TROUBLES.firstIn(clause, words) >= 0;
}

/** Begins with "I would like to", "can you" and the like. */
function wishes(clause: string): boolean {
  const words = shownWordsOf(clause);
  return OPENINGS.endAt(words, 0) > 0 || DIRECTIVES.endAt(words, 0) > 0;
}

/** "It shows complete": of what, the clause before says. */
function refersBack(clause: string): boolean {
  return REFERENCES.firstIn(clause, shownWordsOf(clause)) >= 0;
}

interface ClauseEnd {
  readonly end: number;
  readonly next: number;
}

/**
 * Where clauses end outside quotes and brackets: at marks, before reasons, and before "and" with a new subject or verb.
 */
function clauseEnds(text: string): ClauseEnd[] {
  const ends: ClauseEnd[] = [...text.matchAll(CLAUSE_MARK)].map(({ 0: mark, index }) => ({
    end: index,
    next: index + mark.length,
  }));
  const words = shownWordsOf(text, 200);
  words.forEach((word, place) => {
    if (place < LEAST_WORDS) return;
    const isJoined = CONJUNCTIONS.has(word.key) && CLAUSE_STARTS.has(words[place + 1]?.key ?? '');
    const isParted = REASONS.endAt(words, place) > place || CONTRASTS.endAt(words, place) > place;
    if (isJoined || isParted) ends.push({ end: word.start, next: word.start });
  });
  return ends
    .filter(({ end, next }) => isBalanced(text.slice(0, end)) && !isBetweenThings(text, end, next))
    .sort((one, other) => one.end - other.end);
}

/** "A free, child friendly, quiet place": what follows a comma begins no clause. */
function isBetweenThings(text: string, comma: number, next: number): boolean {
  if (text[comma] !== ',') return false;
  const words = shownWordsOf(text.slice(next, next + CLAUSE_HEAD), 4);
  const { key = '', isNumber = false } = words[0] ?? {};
  if (isNumber || CLAUSE_STARTS.has(key) || CONJUNCTIONS.has(key) || isWeakEnd(key)) return false;
  return !CLAUSE_OPENINGS.some((phrases) => phrases.endAt(words, 0) > 0);
}

/** No quote or bracket is open. */
function isBalanced(front: string): boolean {
  const count = (mark: RegExp): number => front.match(mark)?.length ?? 0;
  return count(/"/gu) % 2 === 0 && count(/[([“„«「『（]/gu) <= count(/[)\]”»」』）]/gu);
}

function isWeighty(clause: string): boolean {
  return clause.length >= LEAST_LENGTH && contentCount(clause) >= LEAST_CONTENT;
}

function opensWith(phrases: PhraseSet, clause: string): boolean {
  return phrases.endAt(shownWordsOf(clause, 4), 0) > 0 || phrases.unspacedAt(clause, 0) > 0;
}

/** It begins like "because …", "if …", "when …" and is no question: not a sentence of its own. */
function leansOn(clause: string): boolean {
  if (endsInQuestionMark(clause)) return false;
  // "When does it open"
  if (AUXILIARIES.has(shownWordsOf(clause, 2)[1]?.key ?? '')) return false;
  return [SUBORDINATES, REASONS, PURPOSES].some((phrases) => opensWith(phrases, clause));
}

function withoutContrast(clause: string): string {
  const words = shownWordsOf(clause, 4);
  const place = CONTRASTS.endAt(words, 0) || (CONJUNCTIONS.has(words[0]?.key ?? '') ? 1 : 0);
  if (place > 0) return clause.slice(words[place - 1]!.end).trim();
  return clause.slice(CONTRASTS.unspacedAt(clause, 0)).trim();
}

function isWeakEnd(key: string): boolean {
  return WEAK_ENDS.hasWord(key) || NEGATIONS.hasWord(key) || FUNCTION_WORDS.has(key);
}

/** Cut at a word, never after an article, a preposition or "not", with an ellipsis. */
function cutAtWord(text: string, length: number): string {
  const room = truncate(text, length - 1);
  if (isUnspaced(room) && !/\s/u.test(room.slice(length >> 1))) {
    return `${room.replace(UNSPACED_NEGATION_AT_END, '')}…`;
  }
  const space = room.search(/\s\S*$/u);
  const isBetween = /^\s/u.test(text.slice(room.length));
  const cut = space > 0 && !isBetween ? room.slice(0, space) : room;
  return `${withoutMarks(withoutPurpose(withoutWeakEnd(cut)))}…`;
}

/** "… to train": what for is cut off with what it is done to. */
function withoutPurpose(text: string): string {
  const words = shownWordsOf(text, 200);
  const [before, marker, last] = words.slice(-3);
  if (
    before === undefined ||
    marker === undefined ||
    last === undefined ||
    words.length < LEAST_BEFORE_PURPOSE
  )
    return text;
  return INFINITIVES.hasWord(marker.key) ? withoutWeakEnd(text.slice(0, before.end)) : text;
}

/** Without articles, prepositions and the like at its end. */
export function withoutWeakEnd(text: string): string {
  let cut = text;
  const words = [...shownWordsOf(text, 200)];
  while (words.length > 2 && isWeakEnd(words.at(-1)!.key)) {
    cut = cut.slice(0, words.pop()!.start).trimEnd();
  }
  return cut;
}

const OPEN_MARK = new RegExp(String.raw`[\s.,;:!，、。；：(“„«–—${QUESTION_ENDS}-]`, 'u');

function withoutMarks(text: string): string {
  let end = text.length;
  while (end > 0 && OPEN_MARK.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
