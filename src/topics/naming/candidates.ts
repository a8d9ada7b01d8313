import { coreWords } from '../../language/core-words.ts';
import { isUnspaced, type Word } from '../../language/words.ts';

const LONGEST_NAME = 60;
export const MOST_WORDS = 5;
/** Pairs that are kept of one request. */
const PAIRS_PER_REQUEST = 12;
/** Words from the first word of a pair to the second, at most. */
const FARTHEST_PAIR = 8;

/** How requests use a pair of content words. */
export interface PairUse {
  /** Requests that hold the two words near each other, in this order. */
  readonly count: number;
  /** Those of them whose first content word is the first of the pair. */
  readonly leading: number;
  /** The form that most of them use, by a running majority vote. */
  readonly surface: string;
  readonly votes: number;
}

/** Adds up two uses of one pair; `first` is the earlier one. */
export function togetherUsed(first: PairUse, second: PairUse): PairUse {
  const same = first.surface.toLowerCase() === second.surface.toLowerCase();
  const votes = same ? first.votes + second.votes : first.votes - second.votes;
  return {
    count: first.count + second.count,
    leading: first.leading + second.leading,
    surface: votes < 0 ? second.surface : first.surface,
    votes: Math.abs(votes),
  };
}

/** The pairs of content words of a request, by their two stems joined with a space. */
export function pairsOf(text: string): Map<string, PairUse> {
  const candidates = new Map<string, Candidate>();
  collect(coreWords(text), 1, candidates);
  const pairs = new Map<string, PairUse>();
  for (const [key, candidate] of candidates) {
    if (candidate.stems.length !== 2) continue;
    pairs.set(key, { count: 1, leading: candidate.leading, surface: surfaceOf(candidate), votes: 1 });
    if (pairs.size === PAIRS_PER_REQUEST) break;
  }
  return pairs;
}

/** A possible name: stems, and how the requests use them. */
export interface Candidate {
  readonly stems: readonly string[];
  leading: number;
  tight: number;
  readonly surfaces: Map<string, number>;
}

/**
 * Notes what a request offers as a name: runs of up to seven words that begin and end with content, hold
 * one to four content words and otherwise only what ties them together; and pairs of content words near
 * each other, with the preposition before the second ("add … to playlist").
 */
export function collect(words: readonly Word[], weight: number, candidates: Map<string, Candidate>): void {
  const seen = new Set<string>();
  const firstContent = words.findIndex((word) => word.content);
  const note = (stems: readonly string[], shown: readonly string[], start: number, loose: boolean): void => {
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
    const surface = finished(shown, isUnspaced(shown.join('')));
    candidate.surfaces.set(surface, (candidate.surfaces.get(surface) ?? 0) + weight * (loose ? 0.25 : 1));
  };
  for (let start = 0; start < words.length; start += 1) {
    if (!words[start]!.content) continue;
    const stems: string[] = [];
    const shown: string[] = [];
    for (let end = start; end < words.length && end < start + 7; end += 1) {
      const word = words[end]!;
      if (end > start && word.afterBreak) break;
      if (!word.determiner) shown.push(word.text);
      if (!word.content) {
        if (word.determiner || word.connector) continue;
        break;
      }
      if (stems.includes(word.stem)) break;
      stems.push(word.stem);
      if (stems.length > 4 || shown.length > MOST_WORDS) break;
      note(stems, shown, start, false);
    }
  }
  for (let start = 0; start < words.length; start += 1) {
    const first = words[start]!;
    if (!first.content) continue;
    for (let end = start + 2; end < words.length && end <= start + FARTHEST_PAIR; end += 1) {
      const second = words[end]!;
      if (second.afterBreak) break;
      if (!second.content || second.stem === first.stem) continue;
      let before = end - 1;
      while (before > start && words[before]!.determiner) before -= 1;
      const tie = words[before]!;
      const shown =
        before > start && tie.connector ? [first.text, tie.text, second.text] : [first.text, second.text];
      note([first.stem, second.stem], shown, start, true);
    }
  }
}

/** The form most members use; ties: the shorter, then by code point. */
export function surfaceOf(candidate: Candidate): string {
  let best = '';
  let bestWeight = -1;
  for (const [surface, weight] of candidate.surfaces) {
    const better =
      weight > bestWeight ||
      (weight === bestWeight &&
        (surface.length < best.length || (surface.length === best.length && surface < best)));
    if (better) {
      best = surface;
      bestWeight = weight;
    }
  }
  return best;
}

/** Joins words into a name: first letter a capital, at most 60 characters, cut at a word. */
export function finished(words: readonly string[], unspaced: boolean): string {
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
