import { LEXICON } from './lexicon.ts';
import { alternatives } from './patterns.ts';

/** Where a sentence ends: a line end, CJK full stops, or Western marks before a space or the end. */
const SENTENCE_END = /(?<![.!?…])[.!?…]+["')\]]*(?=\s|$)|[。！？；]+|\n/gu;
const ABBREVIATION = /(?<![^\s(])(?:mr|mrs|ms|dr|prof|st|no|nr|vs|etc|e\.g|i\.e|z\.b|sr|sra|bzw|ca)\.$/iu;
/** UTF-16 units at the end of a sentence that hold an abbreviation and what is before it. */
const ABBREVIATION_LENGTH = 8;

/** Sentences in order, trimmed, with their closing marks. Dots inside numbers, names and addresses do not split. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let sentence: { readonly start: number; end: number } | null = null;
  let read = 0;
  for (const end of sentenceEnds(text)) {
    const piece = text.slice(read, end);
    const blanks = piece.length - piece.trimStart().length;
    if (blanks < piece.length) {
      sentence ??= { start: read + blanks, end };
      sentence.end = read + piece.trimEnd().length;
    }
    read = end;
    if (sentence === null) continue;
    const last = text.slice(Math.max(sentence.start, sentence.end - ABBREVIATION_LENGTH), sentence.end);
    if (end < text.length && ABBREVIATION.test(last)) continue;
    sentences.push(text.slice(sentence.start, sentence.end));
    sentence = null;
  }
  return sentences;
}

function* sentenceEnds(text: string): Iterable<number> {
  for (const { 0: marks, index } of text.matchAll(SENTENCE_END)) yield index + marks.length;
  yield text.length;
}

const SHOWN_SENTENCE = /(?<![^.!?。！？])[^.!?。！？]+(?:[.!?。！？]+(?=\s|$|[^\s\d])|$)/gu;

/**
 * Sentences as titles and summaries show them, of a text on one line. They end at every mark, abbreviations and
 * addresses included; what `sentencesOf` finds instead would change the texts that are stored.
 */
export function shownSentencesOf(line: string): string[] {
  const found = line.match(SHOWN_SENTENCE)?.map((sentence) => sentence.trim()) ?? [];
  return found.filter((sentence) => sentence !== '');
}

const CLAUSE_END = new RegExp(
  `[,;:–—]\\s+|(?<!\\s)\\s+(?=(?:${alternatives(LEXICON.conjunctions.all)})\\s)`,
  'iu',
);

/** The clauses of a sentence: what commas, colons, dashes and conjunctions part. */
export function clausesOf(sentence: string): string[] {
  return sentence.split(CLAUSE_END);
}
