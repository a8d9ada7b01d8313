/**
 * Candidates for names: the phrases that requests offer. A candidate is known by its stems; how often the requests
 * use each form of it decides how it is written.
 * Covered by test/topics/naming/names.test.ts.
 */
import { isUnspaced, type Word } from '../../language/words.ts';

const LONGEST_NAME = 60;
/** Words that a name has at most. */
export const MOST_WORDS = 5;
const MOST_CONTENT_WORDS = 4;
/** Words, content or not, from the first word of a run to behind its last. */
const LONGEST_RUN = 7;
/** Words from the first word of a pair to the second, at most. */
const FARTHEST_PAIR = 8;
/** What the form of a loose pair counts beside that of a run. */
const LOOSE_WEIGHT = 0.25;

/** A possible name: stems, and how the requests use them. */
export interface Candidate {
  readonly stems: readonly string[];
  /** Weight of the requests that begin with it. */
  leading: number;
  /** Weight of the requests that hold it as a run. */
  tight: number;
  /** Weight by form. */
  readonly surfaces: Map<string, number>;
}

/** Called for each phrase: its stems, the words to show, and the place of its first word. */
type OnPhrase = (stems: readonly string[], shown: readonly string[], start: number, loose: boolean) => void;

/** Adds the phrases of one request to `candidates`; each counts once a request, in the form that comes first. */
export function collectCandidates(
  words: readonly Word[],
  weight: number,
  candidates: Map<string, Candidate>,
): void {
  const seen = new Set<string>();
  const firstContent = words.findIndex(({ content }) => content);
  const add: OnPhrase = (stems, shown, start, loose) => {
    const key = stems.join(' ');
    let candidate = candidates.get(key);
    if (candidate === undefined) {
      candidate = { stems: [...stems], leading: 0, tight: 0, surfaces: new Map() };
      candidates.set(key, candidate);
    }
    if (seen.has(key)) return;
    seen.add(key);
    if (start === firstContent) candidate.leading += weight;
    if (!loose) candidate.tight += weight;
    const surface = nameFrom(shown, isUnspaced(shown.join('')));
    candidate.surfaces.set(
      surface,
      (candidate.surfaces.get(surface) ?? 0) + weight * (loose ? LOOSE_WEIGHT : 1),
    );
  };
  forEachRun(words, add);
  forEachLoosePair(words, add);
}

/** Runs of words that begin and end with content; between them stand only connectors and determiners. */
function forEachRun(words: readonly Word[], onPhrase: OnPhrase): void {
  for (let start = 0; start < words.length; start += 1) {
    if (!words[start]!.content) continue;
    const stems: string[] = [];
    const shown: string[] = [];
    for (let end = start; end < words.length && end < start + LONGEST_RUN; end += 1) {
      const word = words[end]!;
      if (end > start && word.afterBreak) break;
      if (!word.determiner) shown.push(word.text);
      if (!word.content) {
        if (word.determiner || word.connector) continue;
        break;
      }
      if (stems.includes(word.stem)) break;
      stems.push(word.stem);
      if (stems.length > MOST_CONTENT_WORDS || shown.length > MOST_WORDS) break;
      onPhrase(stems, shown, start, false);
    }
  }
}

/** Two content words near each other, with the connector before the second: "add … to playlist". */
function forEachLoosePair(words: readonly Word[], onPhrase: OnPhrase): void {
  for (let start = 0; start < words.length; start += 1) {
    const first = words[start]!;
    if (!first.content) continue;
    for (let end = start + 2; end < words.length && end <= start + FARTHEST_PAIR; end += 1) {
      const second = words[end]!;
      if (second.afterBreak) break;
      if (!second.content || second.stem === first.stem) continue;
      let before = end - 1;
      while (before > start && words[before]!.determiner) before -= 1;
      const connector = before > start && words[before]!.connector ? [words[before]!.text] : [];
      onPhrase([first.stem, second.stem], [first.text, ...connector, second.text], start, true);
    }
  }
}

/** The form with the highest weight; of equal ones the shorter, then the first by code point. */
export function surfaceOf({ surfaces }: Candidate): string {
  let best = '';
  let bestWeight = -1;
  for (const [surface, weight] of surfaces) {
    if (weight < bestWeight) continue;
    const isShorter = surface.length < best.length || (surface.length === best.length && surface < best);
    if (weight === bestWeight && !isShorter) continue;
    best = surface;
    bestWeight = weight;
  }
  return best;
}

/** Joins words into a name: the first letter is a capital; at most 60 characters, cut at a word. */
export function nameFrom(words: readonly string[], unspaced: boolean): string {
  let name = '';
  for (const word of words) {
    const longer = name === '' || unspaced ? name + word : `${name} ${word}`;
    if (longer.length > LONGEST_NAME) break;
    name = longer;
  }
  if (name === '' && words.length > 0) name = Array.from(words[0]!).slice(0, LONGEST_NAME).join('');
  const [first = '', ...rest] = Array.from(name);
  return first.toUpperCase() + rest.join('');
}
