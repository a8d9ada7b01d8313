/**
 * Computes a key of a sentence that ignores numbers, ids and names: "My workspace is Falcon 7" and "my workspace is
 * Orion" have equal keys.
 *
 * Test: test/reader/document/sentence-key.test.ts.
 */
import { LEXICON } from './lexicon.ts';
import { fold } from './normalise.ts';

const TOKEN = /[\p{L}\p{M}\p{N}]+(?:['’._@/-][\p{L}\p{M}\p{N}]+)*/gu;
const DIGIT = /\p{N}/u;
const CAPITAL = /^\p{Lu}/u;
/** "I", "I'm", "I’ve", and letters that enumerate. */
const NO_NAME = /^\p{L}(?:$|['’])/u;
const NUMBER = '0';
const NAME = '*';

const ENGLISH: ReadonlySet<string> = new Set(LEXICON.stopWords.all.filter((word) => /^[a-z']+$/.test(word)));
/** Words that identify German, among languages that capitalise only names. */
const GERMAN: ReadonlySet<string> = new Set(
  [
    'ich und ist nicht mein meine meinen meinem meiner das der den dem ein eine einen einem einer sie ihr ihre',
    'mit auf für von zu zum zur wie wo wann kann habe haben bitte noch auch',
  ].flatMap((line) => line.split(' ')),
);
/** Words between the name of a value and the value: "mein Workspace ist Falcon". */
const MARKERS: ReadonlySet<string> = new Set(LEXICON.valueMarkers.all.map(fold));

/**
 * Returns a number of 53 bits, equal for sentences that differ only in numbers, ids and names. A name has a capital
 * inside a sentence; in German, which capitalises all nouns, only after "ist" and the like.
 */
export function sentenceKey(sentence: string): number {
  const tokens = sentence.match(TOKEN) ?? [];
  const lower = tokens.map((token) => token.toLowerCase());
  const isName = (place: number): boolean => {
    const token = tokens[place]!;
    return token !== lower[place] && CAPITAL.test(token) && !NO_NAME.test(token);
  };
  const hasDigits = DIGIT.test(sentence);
  const german = lower.some((word) => GERMAN.has(word) && !ENGLISH.has(word));
  // In a line of names the first word is a name too: "Karen Smith", "Northwind Ltd".
  const onlyNames = tokens.length > 1 && !german && tokens.every((_, place) => isName(place));
  let afterMarker = false;
  const parts: string[] = [];
  for (const [place, token] of tokens.entries()) {
    const mayBeName = onlyNames || (place > 0 && (!german || afterMarker));
    let part = lower[place]!;
    if (hasDigits && DIGIT.test(token)) part = NUMBER;
    else if (mayBeName && isName(place)) part = NAME;
    afterMarker = MARKERS.has(part) || (afterMarker && part === NAME);
    if (part !== parts.at(-1) || (part !== NUMBER && part !== NAME)) parts.push(part);
  }
  return hashOf(parts.join(' '));
}

/** Two FNV-1a hashes over UTF-16 units, side by side. */
function hashOf(text: string): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let index = 0; index < text.length; index += 1) {
    high = Math.imul(high ^ text.charCodeAt(index), 0x01000193);
    low = Math.imul(low ^ text.charCodeAt(index), 0x85ebca6b);
    low ^= low >>> 13;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
