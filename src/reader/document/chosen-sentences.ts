/** Which sentences of a turn stand for it. Covered by test/reader/document/chosen-sentences.test.ts. */

/** Sentences are kept, best first, up to this many words. */
const ENOUGH_WORDS = 60;
/** A request longer than this many UTF-16 units is cut at a word: more says no more about its topic. */
const MAX_REQUEST = 400;

/** A sentence that says something, or a clause of a long one. */
export interface WeighedSentence {
  readonly text: string;
  /** How much it looks like the request of its turn: above 0. */
  readonly score: number;
  readonly words: number;
}

/** The most request-like sentences, in their order. */
export function chosenSentences<Sentence extends WeighedSentence>(
  sentences: readonly Sentence[],
): Sentence[] {
  // The first of equals: people say what they want before they explain it.
  const byScore = sentences.toSorted((a, b) => b.score - a.score);
  const kept = new Set<Sentence>();
  let words = 0;
  for (const sentence of byScore) {
    if (kept.size > 0 && words + sentence.words > ENOUGH_WORDS) continue;
    kept.add(sentence);
    words += sentence.words;
  }
  return sentences.filter((sentence) => kept.has(sentence));
}

/** The chosen sentences as one text, cut at a word when it is longer than 400 UTF-16 units. */
export function joinedSentences(chosen: readonly WeighedSentence[]): string {
  const text = chosen.map((sentence) => sentence.text).join(' ');
  if (text.length <= MAX_REQUEST) return text;
  const space = text.lastIndexOf(' ', MAX_REQUEST);
  return text.slice(0, space > MAX_REQUEST / 2 ? space : MAX_REQUEST).toWellFormed();
}
