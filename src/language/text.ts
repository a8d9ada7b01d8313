/** Text as the rules see it: folded, in sentences, in words. */

/** Longer messages are judged by this many UTF-16 units of their start and a quarter as many of their end. */
const ANALYSED_LENGTH = 6000;

/**
 * The part of a message that is analysed: all of it up to 8,000 UTF-16 units or so, else its start and
 * its end. The same message always gives the same part; lone surrogates become U+FFFD.
 */
export function analysedPart(content: string): string {
  const limit = ANALYSED_LENGTH + ANALYSED_LENGTH / 4;
  if (content.length <= limit) return content.toWellFormed();
  const start = content.slice(0, ANALYSED_LENGTH);
  const end = content.slice(content.length - ANALYSED_LENGTH / 4);
  return `${start}\n${end}`.toWellFormed();
}

const NOT_ASCII = /[^ -~\s]/u;
/**
 * More marks on one letter than any script has (the Stream-Safe Text Format of UAX #15 knows 30): to put them in
 * order takes time with the square of their number.
 */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * Lower case, compatibility forms unified, Latin letters without accents, ß as ss, one kind of
 * apostrophe, single spaces. Rules are written in this form.
 */
export function fold(text: string): string {
  let folded = text.toLowerCase();
  if (NOT_ASCII.test(folded)) {
    folded = folded
      .replace(TOO_MANY_MARKS, '$1')
      .normalize('NFKD')
      .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
      .normalize('NFC')
      .replaceAll('ß', 'ss')
      .replaceAll('ł', 'l')
      .replaceAll('ø', 'o')
      .replaceAll('ı', 'i')
      .replace(/[’‘ʼ´`]/g, "'");
  }
  return folded.replace(/\s+/g, ' ').trim();
}

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

const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u;

/** Words of a folded text; of scripts written without spaces, whole runs. */
export function wordsOf(folded: string): string[] {
  return folded.match(WORD) ?? [];
}

/** How many words a folded text holds; two letters count as a word in scripts written without spaces. */
export function wordCount(folded: string): number {
  let count = 0;
  for (const word of wordsOf(folded)) count += UNSPACED.test(word) ? Math.ceil(word.length / 2) : 1;
  return count;
}

/** Nobody says more fillers in a row. */
const MOST_REPEATS = 16;

/**
 * A pattern for folded text: any of `spaced` as whole words, or any of `unspaced` (Chinese, Japanese,
 * Korean, Thai and the like) anywhere. Both are regular expression sources. A group that repeats (`*`, `+`)
 * does so at most 16 times: without an end, a search would read a long run again from each of its words.
 */
export function anyOf(spaced: readonly string[], unspaced: readonly string[] = [], flags = 'u'): RegExp {
  const parts: string[] = [];
  if (spaced.length > 0) parts.push(`(?<![\\p{L}\\p{N}])(?:${spaced.join('|')})(?![\\p{L}\\p{N}])`);
  if (unspaced.length > 0) parts.push(`(?:${unspaced.join('|')})`);
  return new RegExp(bounded(parts.join('|')), flags);
}

function bounded(source: string): string {
  return source.replaceAll(')*', `){0,${MOST_REPEATS}}`).replaceAll(')+', `){1,${MOST_REPEATS}}`);
}
