/**
 * Whether a user asks the same thing again: a request that is near one that the assistant has answered in the same
 * session, in meaning and in words, and that brings nothing new.
 */
import { quantise, quantisedCosine } from '../numeric/quantised.ts';
import { LEXICON } from '../language/lexicon.ts';
import { phrasePattern } from '../language/patterns.ts';
import { wordsOf, type Word } from '../language/words.ts';

/** Requests that a session keeps. */
export const KEPT_REQUESTS = 32;
/** Words that are kept of a request. */
const MOST_WORDS = 24;
/** What sharing all words adds to the cosine. */
const OVERLAP_WEIGHT = 0.5;
/**
 * How far over the model's threshold cosine and overlap together must be: three tenths of the words shared at the
 * threshold.
 */
const MARGIN = 0.15;

/** A request as a session keeps it: enough to tell whether a later one asks for the same. */
export interface KeptRequest {
  readonly vector: Int8Array;
  /** 16-bit hashes of its telling words and numbers, each once, in order of appearance. */
  readonly words: readonly number[];
}

/** A request that is being compared with earlier ones. */
export interface NewRequest extends KeptRequest {
  /** Numbers and names: hashes in `words` that an earlier request must hold too. */
  readonly specifics: readonly number[];
  /** It says itself that it wants something else or goes on ("another", "instead", "now"). */
  readonly goesOn: boolean;
}

const GOES_ON = phrasePattern(LEXICON.continuations);

/** What a request is compared by. */
export function newRequest(text: string, vector: Float32Array): NewRequest {
  const words: number[] = [];
  const specifics: number[] = [];
  wordsOf(text)
    .filter((word) => word.content || /\p{N}/u.test(word.text))
    .slice(0, MOST_WORDS)
    .forEach((word, index) => {
      const hash = hashOf(word.stem);
      if (!words.includes(hash)) words.push(hash);
      if (isSpecific(word, index === 0)) specifics.push(hash);
    });
  return { vector: quantise(vector), words, specifics, goesOn: GOES_ON.test(text) };
}

/** A number, or a name: written with a capital where no sentence begins. */
function isSpecific(word: Word, first: boolean): boolean {
  if (/\p{N}/u.test(word.text)) return true;
  return !first && !word.afterBreak && word.text.length > 1 && /^\p{Lu}/u.test(word.text);
}

/** FNV-1a over UTF-16 units, folded to 16 bits. */
function hashOf(stem: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < stem.length; index += 1)
    hash = Math.imul(hash ^ stem.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 16)) & 0xffff;
}

/**
 * Whether a request asks again for what the session asked before and an assistant turn followed: as close
 * to one of the first `answered` of `earlier` as `threshold` (a cosine) asks for, the more so the fewer
 * words they share, and with no number or name that was not there before. `scale`: the similarity scale.
 */
export function isRepeated(
  request: NewRequest,
  earlier: readonly KeptRequest[],
  answered: number,
  threshold: number,
  scale = 1,
): boolean {
  if (request.goesOn) return false;
  return earlier.slice(0, answered).some((peer) => {
    const cosine = quantisedCosine(request.vector, peer.vector);
    if (cosine < threshold) return false;
    if (!request.specifics.every((hash) => peer.words.includes(hash))) return false;
    const shared = request.words.filter((hash) => peer.words.includes(hash)).length;
    const all = request.words.length + peer.words.length - shared;
    return cosine + OVERLAP_WEIGHT * scale * (all === 0 ? 0 : shared / all) >= threshold + MARGIN * scale;
  });
}
