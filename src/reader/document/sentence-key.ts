/**
 * What two sentences have in common that say the same with other numbers, ids and names: "My workspace is Falcon 7"
 * and "my workspace is Orion".
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
/** Words by which German is told from languages that write only names with a capital. */
const GERMAN: ReadonlySet<string> = new Set(
  [
    'ich und ist nicht mein meine meinen meinem meiner das der den dem ein eine einen einem einer sie ihr ihre',
    'mit auf für von zu zum zur wie wo wann kann habe haben bitte noch auch',
  ].flatMap((line) => line.split(' ')),
);
/** What stands between the name of a value and the value: "mein Workspace ist Falcon". */
const MARKERS: ReadonlySet<string> = new Set(LEXICON.valueMarkers.all.map(fold));

/**
 * A number of 53 bits, equal for sentences that differ only in numbers, ids and names. A name is written with a
 * capital where no sentence begins; in German, where all nouns are, only what follows "ist" and the like.
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
  // "Karen Smith", "Northwind Ltd": a line of names has no first word.
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
