/**
 * Cuts a text into sentences and clauses. Keeps the invariant that sentences come in the order of the text and lose
 * nothing but the blanks between them.
 *
 * Test: test/reader/document/sentences.test.ts.
 */
import { LEXICON } from './lexicon.ts';
import { alternatives } from './patterns.ts';
import { QUESTION_ENDS } from './question-marks.ts';
import { TEXT_LANGUAGES } from './text-lexicon.ts';

/** End of a sentence: a line end, CJK full stops, or marks of other scripts before a space or the end. */
const MARK = `[.!…।۔${QUESTION_ENDS}]`;
const SENTENCE_END = new RegExp(
  String.raw`(?<!${MARK})${MARK}+["'”»)\]]*(?=\s|$)|(?<=\p{Ll}{2})[.!?](?=\p{Lu}\p{Ll}{0,16}\s)|[。！？；]+|\n`,
  'gu',
);
/** A complete end of a sentence that is shown. */
const WHOLE = new RegExp(String.raw`[.!…。！।${QUESTION_ENDS}]["'”»)\]]*$`, 'u');
const ABBREVIATION = /(?<![^\s(])(?:mr|mrs|ms|dr|prof|st|no|nr|vs|etc|e\.g|i\.e|z\.b|sr|sra|bzw|ca)\.$/iu;
/** "104 N. Main Street", "J. Smith"; not "I". */
const INITIAL = /(?:^|[\s(])(?!I\.)\p{Lu}\.$/u;
/** Length of a sentence's end that holds an abbreviation, or a number and the word before it, UTF-16 units. */
const LAST_LENGTH = 24;
/** A number with a dot, which makes it an ordinal in some languages, and the word before it. */
const ORDINAL = /(?:^|[\s(])(?:(\p{L}{2,10})\s)?\d{1,2}\.$/u;
const NEXT_WORD = /^[ \t]{1,3}(\p{L}{2,16})/u;

const listed = (section: 'abbreviations' | 'ordinalNouns' | 'ordinalLeads'): ReadonlySet<string> =>
  new Set([...TEXT_LANGUAGES.values()].flatMap((language) => language[section]));
const ABBREVIATIONS = listed('abbreviations');
const ORDINAL_NOUNS = listed('ordinalNouns');
const ORDINAL_LEADS = listed('ordinalLeads');

/** True if a sentence ends in a mark, so that none must be added. */
export function endsSentence(text: string): boolean {
  return WHOLE.test(text);
}

/**
 * Returns the sentences in order, trimmed, with their closing marks. Dots do not split numbers, names, addresses,
 * abbreviations, ordinal numbers ("am 3. Mai") and numbered lists.
 */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let sentence: { readonly start: number; end: number } | null = null;
  for (let read = 0, end = 0; read < text.length; read = end) {
    end = endFrom(text, read);
    const piece = text.slice(read, end);
    const blanks = piece.length - piece.trimStart().length;
    if (blanks < piece.length) {
      sentence ??= { start: read + blanks, end };
      sentence.end = read + piece.trimEnd().length;
    }
    if (sentence === null) continue;
    if (end < text.length && isOpen(text, sentence.start, sentence.end)) continue;
    sentences.push(text.slice(sentence.start, sentence.end));
    sentence = null;
  }
  return sentences;
}

/** True if the dot at `end` belongs to a word or number, so that the sentence goes on. */
function isOpen(text: string, start: number, end: number): boolean {
  if (text[end - 1] !== '.') return false;
  const last = text.slice(Math.max(start, end - LAST_LENGTH), end);
  if (ABBREVIATION.test(last) || INITIAL.test(last)) return true;
  const word = /(?<![^\s(])[\p{L}.]{1,6}$/u.exec(last)?.[0].slice(0, -1).toLowerCase();
  if (word !== undefined && ABBREVIATIONS.has(word)) return true;
  const ordinal = ORDINAL.exec(last);
  if (ordinal === null) return false;
  if (end - start === ordinal[0].length && ordinal[1] === undefined) return true;
  const next = NEXT_WORD.exec(text.slice(end, end + 20))?.[1];
  if (next === undefined) return false;
  return ORDINAL_NOUNS.has(next.toLowerCase()) || ORDINAL_LEADS.has(ordinal[1]?.toLowerCase() ?? '');
}

/** Index after the next mark that may end a sentence. */
function endFrom(text: string, from: number): number {
  SENTENCE_END.lastIndex = from;
  return SENTENCE_END.test(text) ? SENTENCE_END.lastIndex : text.length;
}

const CLAUSE_END = new RegExp(
  `[,;:–—]\\s+|(?<!\\s)\\s+(?=(?:${alternatives(LEXICON.conjunctions.all)})\\s)`,
  'iu',
);

/** The clauses of a sentence, separated by commas, colons, dashes and conjunctions. */
export function clausesOf(sentence: string): string[] {
  return sentence.split(CLAUSE_END);
}
