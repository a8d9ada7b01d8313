/**
 * Makes a WordPiece vocabulary: beginning with characters, joins the pair of neighbouring pieces that is
 * most frequent, again and again (Sennrich et al. 2016; the choice of pairs that today's WordPiece
 * trainers make).
 */
import { INNER, MAX_WORD_LENGTH, SPECIAL_PIECES } from './pieces.ts';

export interface VocabularyOptions {
  /** Pieces in all, the special ones included. */
  readonly size: number;
  /** Characters below this count are left out of the vocabulary, unless they are among `characters`. */
  readonly minCharacterCount: number;
  /** Pairs below this count are never joined. */
  readonly minPairCount: number;
  /** Characters that are in the vocabulary whatever their count, at the beginning and inside of words. */
  readonly characters: Iterable<string>;
}

interface Word {
  pieces: number[];
  readonly count: number;
}

/** Pieces by place. `counts`: words with their counts, from `preTokensOf`. The order of `counts` does not matter. */
export function trainVocabulary(counts: ReadonlyMap<string, number>, options: VocabularyOptions): string[] {
  const pieces: string[] = [...SPECIAL_PIECES];
  const places = new Map<string, number>(pieces.map((piece, place) => [piece, place]));
  const placeOf = (piece: string): number => {
    let place = places.get(piece);
    if (place === undefined) {
      place = pieces.push(piece) - 1;
      places.set(piece, place);
    }
    return place;
  };

  const sorted = [...counts]
    .filter(([word]) => [...word].length <= MAX_WORD_LENGTH)
    .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const characters = new Map<string, number>();
  for (const [word, count] of sorted)
    for (const character of word) characters.set(character, (characters.get(character) ?? 0) + count);
  const kept = new Set([
    ...options.characters,
    ...[...characters]
      .filter(([, count]) => count >= options.minCharacterCount)
      .map(([character]) => character),
  ]);
  const isWord = /^[\p{L}\p{M}\p{N}]$/u;
  for (const character of [...kept].toSorted()) {
    placeOf(character);
    if (isWord.test(character) && !/\p{Script=Han}/u.test(character)) placeOf(INNER + character);
  }

  const words: Word[] = [];
  for (const [word, count] of sorted) {
    const list = [...word];
    if (list.length < 2 || !list.every((character) => kept.has(character))) continue;
    words.push({
      pieces: list.map((character, at) => placeOf(at === 0 ? character : INNER + character)),
      count,
    });
  }
  join(words, pieces, placeOf, options);
  return pieces.slice(0, options.size);
}

/** Pairs are keyed by `left * PAIR + right`. */
const PAIR = 2 ** 20;

function join(
  words: readonly Word[],
  pieces: readonly string[],
  placeOf: (piece: string) => number,
  { size, minPairCount }: VocabularyOptions,
): void {
  const pairCounts = new Map<number, number>();
  const pairWords = new Map<number, number[]>();
  const queue = new PairQueue(pieces);
  words.forEach((word, index) => {
    for (let at = 1; at < word.pieces.length; at += 1) {
      const pair = word.pieces[at - 1]! * PAIR + word.pieces[at]!;
      pairCounts.set(pair, (pairCounts.get(pair) ?? 0) + word.count);
      const inWords = pairWords.get(pair);
      if (inWords === undefined) pairWords.set(pair, [index]);
      else if (inWords[inWords.length - 1] !== index) inWords.push(index);
    }
  });
  for (const [pair, count] of pairCounts) if (count >= minPairCount) queue.push(pair, count);

  while (pieces.length < size) {
    const best = queue.pop();
    if (best === null) return;
    const { pair, count } = best;
    const now = pairCounts.get(pair) ?? 0;
    if (now !== count) {
      if (now >= minPairCount && now < count) queue.push(pair, now);
      continue;
    }
    const left = Math.floor(pair / PAIR);
    const right = pair % PAIR;
    const joined = placeOf(pieces[left]! + pieces[right]!.slice(INNER.length));
    const grown = new Set<number>();
    for (const index of pairWords.get(pair) ?? []) {
      const word = words[index]!;
      const before = word.pieces;
      const after: number[] = [];
      for (let at = 0; at < before.length; at += 1) {
        if (before[at] === left && before[at + 1] === right) {
          after.push(joined);
          at += 1;
        } else after.push(before[at]!);
      }
      if (after.length === before.length) continue;
      for (let at = 1; at < before.length; at += 1) {
        const old = before[at - 1]! * PAIR + before[at]!;
        pairCounts.set(old, pairCounts.get(old)! - word.count);
      }
      for (let at = 1; at < after.length; at += 1) {
        const fresh = after[at - 1]! * PAIR + after[at]!;
        pairCounts.set(fresh, (pairCounts.get(fresh) ?? 0) + word.count);
        if (after[at - 1] !== joined && after[at] !== joined) continue;
        grown.add(fresh);
        const inWords = pairWords.get(fresh);
        if (inWords === undefined) pairWords.set(fresh, [index]);
        else if (inWords[inWords.length - 1] !== index) inWords.push(index);
      }
      word.pieces = after;
    }
    pairCounts.delete(pair);
    pairWords.delete(pair);
    for (const fresh of grown) {
      const count = pairCounts.get(fresh) ?? 0;
      if (count >= minPairCount) queue.push(fresh, count);
    }
  }
}

/** Pairs by count, greatest first; equal counts by the text of the pair, so that the order is one. */
class PairQueue {
  readonly #heap: { pair: number; count: number }[] = [];
  readonly #pieces: readonly string[];

  constructor(pieces: readonly string[]) {
    this.#pieces = pieces;
  }

  push(pair: number, count: number): void {
    const heap = this.#heap;
    let at = heap.push({ pair, count }) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  pop(): { pair: number; count: number } | null {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined) return null;
    if (heap.length === 0) return top;
    heap[0] = last;
    for (let at = 0; ;) {
      let next = 2 * at + 1;
      if (next >= heap.length) return top;
      if (next + 1 < heap.length && this.#isBefore(next + 1, next)) next += 1;
      if (!this.#isBefore(next, at)) return top;
      [heap[at], heap[next]] = [heap[next]!, heap[at]!];
      at = next;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const left = this.#heap[a]!;
    const right = this.#heap[b]!;
    if (left.count !== right.count) return left.count > right.count;
    if (left.pair === right.pair) return false;
    const leftText = this.#textOf(left.pair);
    const rightText = this.#textOf(right.pair);
    return leftText === rightText ? left.pair < right.pair : leftText < rightText;
  }

  #textOf(pair: number): string {
    return `${this.#pieces[Math.floor(pair / PAIR)]} ${this.#pieces[pair % PAIR]}`;
  }
}
