/**
 * Chooses the sentences that stand for a turn, best first, within a bound of words. Keeps their order in the turn.
 *
 * Test: test/reader/document/chosen-sentences.test.ts.
 */

/** Most words of the chosen sentences together. */
const ENOUGH_WORDS = 60;
/** Longest request, UTF-16 units; a longer one is cut at a word, because the rest hardly changes its topic. */
const MAX_REQUEST = 400;

/** A sentence, or a clause of a long one, with its score. */
export interface WeighedSentence {
  readonly text: string;
  /** Score of how much it looks like the request of its turn; above 0. */
  readonly score: number;
  readonly words: number;
}

/** Returns the most request-like sentences, in their order. Keeps at least one. */
export function chosenSentences<Sentence extends WeighedSentence>(
  sentences: readonly Sentence[],
): Sentence[] {
  // A stable sort puts the earlier of equals first: people say what they want before they explain it.
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

/** The chosen sentences as one text, cut at a word if it is longer than 400 UTF-16 units. */
export function joinedSentences(chosen: readonly WeighedSentence[]): string {
  const text = chosen.map((sentence) => sentence.text).join(' ');
  if (text.length <= MAX_REQUEST) return text;
  const space = text.lastIndexOf(' ', MAX_REQUEST);
  return text.slice(0, space > MAX_REQUEST / 2 ? space : MAX_REQUEST).toWellFormed();
}
