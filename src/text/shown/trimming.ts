/** Cuts courtesies and what only leads up to a request from the ends of a sentence, so that a whole piece is left. */
import { LEXICON } from '../lexicon.ts';
import { endsInQuestionMark, QUESTION_ENDS } from '../question-marks.ts';
import { wordKey } from '../spaced-phrases.ts';
import { HIDDEN } from '../redact/redact.ts';
import { isUnspaced } from '../words.ts';
import { contentStems, PhraseSet, shownWordsOf, type ShownWord } from './phrase-set.ts';

const GREETINGS = PhraseSet.of('greetings');
const COURTESIES = PhraseSet.of('courtesies');
const LEADS = PhraseSet.of('leads');
const ASIDES = PhraseSet.of('asides');
const TURNINGS = PhraseSet.of('turnings');
const HESITATIONS = PhraseSet.of('hesitations');
const INTRODUCTIONS = PhraseSet.of('introductions');
const OPENINGS = PhraseSet.of('openings');
const LONG_OPENINGS = PhraseSet.of('longOpenings');
const WEAK_STARTS = PhraseSet.of('weakStarts');
const WEAK_ENDS = PhraseSet.of('weakEnds');
const NEGATIONS = PhraseSet.of('negations');

const CONJUNCTIONS: ReadonlySet<string> = new Set(
  [...LEXICON.and.all, ...LEXICON.conjunctions.all].map(wordKey),
);

/** Marks, spaces and pictures before the first word; quotes, brackets and signs of money belong to the text. */
const BEFORE = new RegExp(
  String.raw`^(?:[\s,.;:!…。！、，；：~*#>|·${QUESTION_ENDS}-]|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200d|\ufe0f|–|—)+`,
  'u',
);
/** A number or dash of a list. */
const LIST_MARK = /^(?:\(?\d{1,2}[.)]|[-*•–])\s+/u;
const BREAK = new RegExp(
  String.raw`^(?:\s{0,3}(?:[,.;:!…。！、，；：–—\n${QUESTION_ENDS}]|\p{Extended_Pictographic}|$)|\s{1,3}-\s)`,
  'u',
);
const MARKS_AT_END = /[\s.!…。！;,:，、；：–—-]/u;
const ALL_MARKS_AT_END = new RegExp(String.raw`[\s.!…。！;,:，、；：–—${QUESTION_ENDS}-]`, 'u');
const BEFORE_ASIDE = new RegExp(String.raw`[,.;:!…–—${QUESTION_ENDS}-]\s{0,3}$`, 'u');
const PICTURE_AT_END = /(?:\p{Extended_Pictographic}|\u200d|\ufe0f|\p{Emoji_Modifier})$/u;

/** Without "uh" and the like; what is a word as well ("um" in German) only goes with the comma after it. */
export function withoutHesitations(text: string): string {
  let kept = '';
  let from = 0;
  for (const { key, start, end } of shownWordsOf(text)) {
    if (!HESITATIONS.hasWord(key) || !isWhole(text, end)) continue;
    const marks = /^[,.…]{0,3}(?=\s|$)/u.exec(text.slice(end, end + 4))?.[0] ?? '';
    if (marks === '' && (WEAK_ENDS.hasWord(key) || !/^\s/u.test(text.slice(end)))) continue;
    kept += text.slice(from, start).replace(/[,.…]?\s?$/u, '');
    from = end + marks.length;
  }
  return from === 0 ? text : (kept + text.slice(from)).trimStart();
}

/** Whether a text holds a word that says something. */
export function saysSomething(text: string): boolean {
  return contentStems(shownWordsOf(text, 40)).length > 0;
}

/** Without greetings, names of who writes or is greeted, thanks and "please" at its ends. Capitals stay as they are. */
export function withoutCourtesies(sentence: string): string {
  let text = sentence.replace(LIST_MARK, '').replace(BEFORE, '');
  for (let rounds = 0; rounds < 8; rounds += 1) {
    const shorter = withoutCourtesyAtStart(text);
    if (shorter === text || !saysSomething(shorter)) break;
    text = shorter;
  }
  return withoutCourtesyAtEnd(text);
}

/**
 * Without a greeting, and who is greeted, at its start: as answers are shown, in which "yes" and "please" say
 * something.
 */
export function withoutGreeting(sentence: string): string {
  const text = sentence.replace(LIST_MARK, '').replace(BEFORE, '');
  const end = greetingEnd(text, shownWordsOf(text, 8));
  const shorter = text.slice(end).replace(BEFORE, '');
  return end > 0 && saysSomething(shorter) ? shorter : text;
}

/** Whether a sentence only says who writes: "田中です". */
export function isIntroductionAlone(sentence: string): boolean {
  if (sentence.length > MOST_OF_NAME) return false;
  const bare = withoutMarksAtEnd(sentence, MARKS_AT_END);
  const length = INTRODUCTION_ENDS.unspacedAtEnd(bare);
  return length > 0 && NAME.test(bare.slice(0, -length));
}

const INTRODUCTION_ENDS = PhraseSet.of('introductionEnds');
const MOST_OF_NAME = 20;
const NAME = /^(?:•••|[\p{Script=Han}々]{1,6}|[\p{Script=Katakana}ー・]{2,12}|\p{Script=Hangul}{2,4})$/u;

function withoutCourtesyAtStart(text: string): string {
  const words = shownWordsOf(text, 24);
  const end = greetingEnd(text, words) || introductionEnd(text, words) || courtesyEnd(text, words);
  return end === 0 ? text : text.slice(end).replace(LIST_MARK, '').replace(BEFORE, '');
}

/** Of a greeting, with one or two names between it and a comma. */
function greetingEnd(text: string, words: readonly ShownWord[]): number {
  const unspaced = GREETINGS.unspacedAt(text, 0);
  if (unspaced > 0) return unspaced;
  const place = GREETINGS.endAt(words, 0);
  if (place === 0 || !isWhole(text, words[place - 1]!.end)) return 0;
  const hidden = hiddenEnd(text, words[place - 1]!.end);
  if (hidden > 0) return hidden;
  for (const names of [1, 2, 3]) {
    const name = words.slice(place, place + names);
    const last = name.at(-1);
    if (last === undefined || !name.every(({ start }) => isCapital(text, start))) break;
    if (BREAK.test(text.slice(last.end)) && last.end < text.length) return last.end;
  }
  return words[place - 1]!.end;
}

/** "My name is …," and what follows it up to a comma, when it is names. */
function introductionEnd(text: string, words: readonly ShownWord[]): number {
  const place = INTRODUCTIONS.endAt(words, 0);
  if (place === 0)
    return text.startsWith(HIDDEN) && BREAK.test(text.slice(HIDDEN.length)) ? HIDDEN.length : 0;
  const hidden = hiddenEnd(text, words[place - 1]!.end);
  if (hidden > 0) return hidden;
  for (const names of [1, 2, 3]) {
    const name = words.slice(place, place + names);
    const last = name.at(-1);
    if (name.length < names || last === undefined || !name.every(({ start }) => isCapital(text, start)))
      break;
    if (BREAK.test(text.slice(last.end)) && last.end < text.length) return last.end;
  }
  return 0;
}

/** The end of a name that was hidden after `at`, when a comma or "and" follows; else 0. */
function hiddenEnd(text: string, at: number): number {
  const gap = /^\s{0,2}/u.exec(text.slice(at, at + 3))![0].length;
  if (!text.startsWith(HIDDEN, at + gap)) return 0;
  const end = at + gap + HIDDEN.length;
  if (end < text.length && BREAK.test(text.slice(end))) return end;
  const next = shownWordsOf(text.slice(end), 1)[0];
  return next !== undefined && CONJUNCTIONS.has(next.key) ? end + next.end : 0;
}

function courtesyEnd(text: string, words: readonly ShownWord[]): number {
  const unspaced = COURTESIES.unspacedAt(text, 0) || LEADS.unspacedAt(text, 0);
  if (unspaced > 0) return unspaced;
  const aside = ASIDES.unspacedAt(text, 0) || TURNINGS.unspacedAt(text, 0);
  if (aside > 0 && BREAK.test(text.slice(aside))) return aside;
  for (const [phrases, needsBreak] of AT_START) {
    const place = phrases.endAt(words, 0);
    if (place === 0) continue;
    const { end } = words[place - 1]!;
    if (isWhole(text, end) && (!needsBreak || BREAK.test(text.slice(end)))) return end;
  }
  return 0;
}

const AT_START: readonly (readonly [PhraseSet, boolean])[] = [
  [COURTESIES, false],
  [ASIDES, true],
  [TURNINGS, true],
  [LEADS, false],
];

/** False in front of a hyphen or apostrophe: "so-called", "e-mail". */
function isWhole(text: string, end: number): boolean {
  return !/^[-'’&/@][\p{L}\p{N}]/u.test(text.slice(end, end + 3));
}

function isCapital(text: string, at: number): boolean {
  return /^\p{Lu}/u.test(text.slice(at, at + 2));
}

function withoutCourtesyAtEnd(sentence: string): string {
  let text = sentence.trimEnd();
  for (let rounds = 0; rounds < 6; rounds += 1) {
    const bare = withoutMarksAtEnd(text, ALL_MARKS_AT_END);
    const cut = bare.length - courtesyLengthAtEnd(bare);
    if (cut === bare.length) return text;
    const shorter = withoutMarksAtEnd(bare.slice(0, cut), MARKS_AT_END);
    if (!saysSomething(shorter)) return text;
    // "Can you help, please?" stays a question.
    text = endsInQuestionMark(text.trimEnd()) && !endsInQuestionMark(shorter) ? `${shorter}?` : shorter;
  }
  return text;
}

/** Without pictures, spaces and these marks at its end. */
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

function courtesyLengthAtEnd(bare: string): number {
  const unspaced = COURTESIES.unspacedAtEnd(bare);
  if (unspaced > 0) return unspaced;
  const from = Math.max(0, bare.length - 60);
  const words = shownWordsOf(bare.slice(from)).slice(-6);
  const length = COURTESIES.lengthAtEnd(words);
  if (length > 0) return bare.length - from - words.at(-length)!.start;
  const aside = ASIDES.lengthAtEnd(words);
  if (aside === 0) return 0;
  const start = from + words.at(-aside)!.start;
  return BEFORE_ASIDE.test(bare.slice(Math.max(0, start - 4), start)) ? bare.length - start : 0;
}

/** Without "I would like to", "could you tell me" and the like, as far as what is left stands by itself. */
export function withoutOpenings(sentence: string, isLong = false): string {
  let text = sentence;
  for (let rounds = 0; rounds < 4; rounds += 1) {
    const words = shownWordsOf(text, 24);
    const end = openingEnd(text, words, OPENINGS) || (isLong ? openingEnd(text, words, LONG_OPENINGS) : 0);
    if (end === 0) return text;
    const shorter = withoutCourtesies(text.slice(end));
    if (!saysSomething(shorter)) return text;
    text = shorter;
  }
  return text;
}

function openingEnd(text: string, words: readonly ShownWord[], openings: PhraseSet): number {
  const unspaced = openings.unspacedAt(text, 0);
  if (unspaced > 0) return unspaced;
  const place = openings.endAt(words, 0);
  if (place === 0 || !isWhole(text, words[place - 1]!.end)) return 0;
  const next = words[place];
  return next === undefined || WEAK_STARTS.hasWord(next.key) ? 0 : words[place - 1]!.end;
}

const CLAUSE_MARK = /[,;，、；|]\s*|\s[–—-]\s/gu;
/** So many digits are an account or a telephone, not an amount. */
const DIGITS_OF_DATA = 6;
const WORDS_OF_DATA = 4;
const CHARACTERS_OF_DATA = 5;

/** Without clauses at its ends that only give numbers or addresses: ", account 55667788". */
export function withoutData(sentence: string): string {
  if (!/\d|@|•/u.test(sentence)) return sentence;
  const clauses: { text: string; start: number }[] = [];
  let start = 0;
  for (const { 0: mark, index } of sentence.matchAll(CLAUSE_MARK)) {
    clauses.push({ text: sentence.slice(start, index), start });
    start = index + mark.length;
  }
  clauses.push({ text: sentence.slice(start), start });
  let from = 0;
  let to = clauses.length;
  while (to - from > 1 && isData(clauses[to - 1]!.text)) to -= 1;
  while (
    to - from > 1 &&
    isData(clauses[from]!.text) &&
    standsAlone(sentence.slice(clauses[from + 1]!.start))
  )
    from += 1;
  if (from === 0 && to === clauses.length) return sentence;
  const last = clauses[to - 1]!;
  return sentence.slice(clauses[from]!.start, last.start + last.text.length).trim();
}

/** Says enough without what a number before it belongs to: "not delivered" does not. */
function standsAlone(rest: string): boolean {
  return contentStems(shownWordsOf(rest, 24)).length > 1;
}

function isData(clause: string): boolean {
  const digits = clause.replace(/\P{N}+/gu, '').length;
  const isHidden = clause.includes(HIDDEN);
  if (digits < DIGITS_OF_DATA && !clause.includes('@') && !isHidden) return false;
  if (isUnspaced(clause)) return clause.replace(/[\p{N}\p{P}\s]+/gu, '').length <= CHARACTERS_OF_DATA;
  const words = shownWordsOf(clause, 24).filter(({ key }) => !/\p{N}/u.test(key));
  const most = WORDS_OF_DATA + (clause.includes('@') ? 4 : 0);
  return words.length <= most && !words.some(({ key }) => NEGATIONS.hasWord(key));
}
