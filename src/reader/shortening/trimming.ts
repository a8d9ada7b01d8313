/**
 * Trims courtesies and openings from both ends of a sentence. Keeps the invariant that the rest is a whole piece that
 * still says something.
 *
 * Test: test/reader/shortening/trimming.test.ts.
 */
import { LEXICON } from '../document/lexicon.ts';
import { endsInQuestionMark, QUESTION_ENDS } from '../document/question-marks.ts';
import { HIDDEN } from '../personal/redact.ts';
import { wordKey } from '../document/spaced-phrases.ts';
import { isUnspaced } from '../document/words.ts';
import {
  type PhraseSet,
  saysSomething,
  TEXT_PHRASES,
  phraseWordsOf,
  stemsOf,
  type PhraseWord,
} from './phrase-set.ts';

const CONJUNCTIONS: ReadonlySet<string> = new Set(
  [...LEXICON.and.all, ...LEXICON.conjunctions.all].map(wordKey),
);
/** Most phrases that are cut from the front, and from the end. */
const ROUNDS = 8;
/** Most words of a person's name. */
export const MOST_OF_NAME = 3;

/** Marks, spaces and pictures before the first word. Quotes, brackets and currency signs belong to the text. */
const BEFORE = new RegExp(
  String.raw`^(?:[\s,.;:!…。！、，；：~*#>|·${QUESTION_ENDS}-]|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200d|\ufe0f|–|—)+`,
  'u',
);
/** A number or dash of a list. */
const LIST_MARK = /^(?:\(?\d{1,2}[.)]|[-*•–])\s+/u;
const BREAK = new RegExp(
  String.raw`^(?:\s{0,3}(?:[,.;:!–—…。！、，；：\n${QUESTION_ENDS}]|\p{Extended_Pictographic}|$)|\s{1,3}-\s)`,
  'u',
);
const MARK_AT_END = /[\s.!…。！;,:，、；：–—-]/u;
const ANY_MARK_AT_END = new RegExp(String.raw`[\s.!…。！;,:，、；：–—${QUESTION_ENDS}-]`, 'u');
const BEFORE_ASIDE = new RegExp(String.raw`[,.;:!…–—${QUESTION_ENDS}-]\s{0,3}$`, 'u');
const PICTURE_AT_END = /(?:\p{Extended_Pictographic}|\u200d|\ufe0f|\p{Emoji_Modifier})$/u;

/**
 * The text without "uh" and the like. A sound that is also a word ("um" in German) goes only with the comma after it.
 */
export function withoutHesitations(text: string): string {
  let kept = '';
  let from = 0;
  for (const { key, start, end } of phraseWordsOf(text)) {
    if (!TEXT_PHRASES.hesitations.hasWord(key) || !isWhole(text, end)) continue;
    const marks = /^[,.…]{0,3}(?=\s|$)/u.exec(text.slice(end, end + 4))?.[0] ?? '';
    if (marks === '' && (TEXT_PHRASES.weakEnds.hasWord(key) || !/^\s/u.test(text.slice(end)))) continue;
    kept += text.slice(from, start).replace(/[,.…]?\s?$/u, '');
    from = end + marks.length;
  }
  return from === 0 ? text : (kept + text.slice(from)).trimStart();
}

/**
 * The sentence without greetings, names of its author or addressee, thanks and "please" at its ends. Capitals stay as
 * they are.
 */
export function withoutCourtesies(sentence: string): string {
  return withoutCourtesyAtEnd(withoutStarts(withoutMarksBefore(sentence), courtesyEnd));
}

/** The sentence without a greeting and its addressee. For answers, in which "yes" and "please" have meaning. */
export function withoutGreeting(sentence: string): string {
  return withoutStarts(withoutMarksBefore(sentence), greetingEnd);
}

/** The sentence without "I would like to", "could you tell me" and the like, as far as the rest stands alone. */
export function withoutOpenings(sentence: string, isLong = false): string {
  const sets = isLong ? [TEXT_PHRASES.openings, TEXT_PHRASES.longOpenings] : [TEXT_PHRASES.openings];
  return withoutStarts(
    sentence,
    (text, words) => {
      for (const openings of sets) {
        const unspaced = openings.unspacedAt(text, 0);
        if (unspaced > 0) return unspaced;
        const end = wordEnd(text, words, openings);
        const next = words[openings.endAt(words, 0)];
        if (end > 0 && next !== undefined && !TEXT_PHRASES.weakStarts.hasWord(next.key)) return end;
      }
      return 0;
    },
    withoutCourtesies,
  );
}

/**
 * Cuts what `endOf` finds at the start, repeatedly, as long as the rest says something. `clean` is applied to the rest.
 */
function withoutStarts(
  sentence: string,
  endOf: (text: string, words: readonly PhraseWord[]) => number,
  clean = withoutMarksBefore,
): string {
  let text = sentence;
  for (let round = 0; round < ROUNDS; round += 1) {
    const end = endOf(text, phraseWordsOf(text, 24));
    if (end === 0) return text;
    const shorter = clean(text.slice(end));
    if (!saysSomething(shorter)) return text;
    text = shorter;
  }
  return text;
}

function withoutMarksBefore(text: string): string {
  return text.replace(LIST_MARK, '').replace(BEFORE, '');
}

function courtesyEnd(text: string, words: readonly PhraseWord[]): number {
  const { courtesies, leads, asides, introductions } = TEXT_PHRASES;
  const greeting = greetingEnd(text, words);
  if (greeting > 0) return greeting;
  if (text.startsWith(HIDDEN) && BREAK.test(text.slice(HIDDEN.length))) return HIDDEN.length;
  const unspaced = courtesies.unspacedAt(text, 0) || leads.unspacedAt(text, 0);
  if (unspaced > 0) return unspaced;
  const introduction = introductions.endAt(words, 0);
  const name = introduction === 0 ? 0 : nameEnd(text, words, introduction);
  const aside = asides.unspacedAt(text, 0) || wordEnd(text, words, asides);
  return (
    name ||
    wordEnd(text, words, courtesies) ||
    (BREAK.test(text.slice(aside)) ? aside : 0) ||
    wordEnd(text, words, leads)
  );
}

/** End of a greeting, including a name between it and a comma; 0 if there is none. */
function greetingEnd(text: string, words: readonly PhraseWord[]): number {
  const { greetings } = TEXT_PHRASES;
  const end = wordEnd(text, words, greetings);
  return greetings.unspacedAt(text, 0) || (end > 0 && nameEnd(text, words, greetings.endAt(words, 0))) || end;
}

/** End of the phrase at the start of a text; 0 if there is none, or a hyphen or apostrophe follows ("so-called"). */
function wordEnd(text: string, words: readonly PhraseWord[], phrases: PhraseSet): number {
  const end = words[phrases.endAt(words, 0) - 1]?.end ?? 0;
  return isWhole(text, end) ? end : 0;
}

function isWhole(text: string, end: number): boolean {
  return !/^[-'’&/@][\p{L}\p{N}]/u.test(text.slice(end, end + 3));
}

/** End of a name, redacted or with capitals, that begins at word `place`; 0 if it does not end there. */
function nameEnd(text: string, words: readonly PhraseWord[], place: number): number {
  const before = words[place - 1]!.end;
  const hidden = /^\s{0,2}•••/u.exec(text.slice(before, before + HIDDEN.length + 2))?.[0].length ?? 0;
  if (hidden > 0) {
    const next = words[place];
    if (next !== undefined && CONJUNCTIONS.has(next.key)) return next.end;
    return BREAK.test(text.slice(before + hidden)) ? before + hidden : 0;
  }
  for (const { start, end } of words.slice(place, place + MOST_OF_NAME)) {
    if (!/^\p{Lu}/u.test(text.slice(start, start + 2))) return 0;
    if (end < text.length && BREAK.test(text.slice(end))) return end;
  }
  return 0;
}

function withoutCourtesyAtEnd(sentence: string): string {
  let text = sentence.trimEnd();
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = withoutMarksAtEnd(text, ANY_MARK_AT_END);
    const cut = courtesyStart(bare);
    const shorter = withoutMarksAtEnd(bare.slice(0, cut), MARK_AT_END);
    if (cut === bare.length || !saysSomething(shorter)) return text;
    // "Can you help, please?" stays a question.
    text = endsInQuestionMark(text) && !endsInQuestionMark(shorter) ? `${shorter}?` : shorter;
  }
  return text;
}

/** The text without pictures, spaces and the given marks at its end. */
function withoutMarksAtEnd(text: string, marks: RegExp): string {
  let end = text.length;
  while (end > 0) {
    const picture = PICTURE_AT_END.exec(text.slice(Math.max(0, end - 2), end))?.[0].length ?? 0;
    if (picture > 0) end -= picture;
    else if (marks.test(text[end - 1]!)) end -= 1;
    else break;
  }
  return text.slice(0, end);
}

/** Start of the courtesy at the end; the length of the text if there is none. */
function courtesyStart(bare: string): number {
  const unspaced = TEXT_PHRASES.courtesies.unspacedAtEnd(bare);
  if (unspaced > 0) return bare.length - unspaced;
  const from = Math.max(0, bare.length - 60);
  const words = phraseWordsOf(bare.slice(from)).slice(-6);
  const startOf = (phrases: PhraseSet): number => {
    const length = phrases.lengthAtEnd(words);
    return length === 0 ? bare.length : from + words.at(-length)!.start;
  };
  const courtesy = startOf(TEXT_PHRASES.courtesies);
  if (courtesy < bare.length) return courtesy;
  const aside = startOf(TEXT_PHRASES.asides);
  return BEFORE_ASIDE.test(bare.slice(Math.max(0, aside - 4), aside)) ? aside : bare.length;
}

const CLAUSE_MARK = /[,;，、；|]\s*|\s[–—-]\s/gu;
/** Least digits of an account or a phone number, rather than an amount. */
const DIGITS_OF_DATA = 6;
const WORDS_OF_DATA = 4;
const CHARACTERS_OF_DATA = 5;

/** The sentence without clauses at its ends that only give numbers or addresses: ", account 55667788". */
export function withoutData(sentence: string): string {
  if (!/\d|@|•/u.test(sentence)) return sentence;
  const marks = [...sentence.matchAll(CLAUSE_MARK)];
  let from = 0;
  let to = sentence.length;
  for (const { 0: mark, index } of marks.toReversed()) {
    if (!isData(sentence.slice(index + mark.length, to))) break;
    to = index;
  }
  for (const { 0: mark, index } of marks) {
    const rest = sentence.slice(index + mark.length, to);
    // "Not delivered" says too little without the number before it.
    if (index >= to || !isData(sentence.slice(from, index)) || stemsOf(rest).size < 2) break;
    from = index + mark.length;
  }
  return sentence.slice(from, to).trim();
}

function isData(clause: string): boolean {
  const digits = clause.replace(/\P{N}+/gu, '').length;
  if (digits < DIGITS_OF_DATA && !clause.includes('@') && !clause.includes(HIDDEN)) return false;
  if (isUnspaced(clause)) return clause.replace(/[\p{N}\p{P}\s]+/gu, '').length <= CHARACTERS_OF_DATA;
  const words = phraseWordsOf(clause, 24).filter(({ key }) => !/\p{N}/u.test(key));
  const most = WORDS_OF_DATA + (clause.includes('@') ? 4 : 0);
  return words.length <= most && !words.some(({ key }) => TEXT_PHRASES.negations.hasWord(key));
}
