/**
 * Tells from the words before a number what it belongs to: a phone, a card, a thing such as an order, or a person's
 * document such as a passport.
 *
 * Test: test/reader/personal/personal-values.test.ts.
 */
import { once } from '../document/once.ts';
import { UNSPACED_SCRIPTS } from '../document/unspaced-scripts.ts';
import { everyWord } from './personal-lexicon.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import { COPULAS, lowerOf, NUMBER_WORDS } from './vocabulary.ts';

export type NumberCue = 'phone' | 'card' | 'thing' | 'person';

/** UTF-16 units before the number that are read, and most words between cue and number. */
const WINDOW = 64;
const WORDS_BETWEEN = 3;
/** Letters at the end of an unspaced run in which a cue may stand. */
const RUN_LETTERS = 12;

const cues = once((): ReadonlyMap<string, NumberCue> => {
  const found = new Map<string, NumberCue>();
  for (const word of [...everyWord('secrets'), ...everyWord('numbered')]) found.set(word, 'person');
  for (const word of everyWord('numberedThings')) found.set(word, 'thing');
  for (const word of [...everyWord('calls'), ...PERSONAL_WORDS.phoneThings]) found.set(word, 'phone');
  for (const word of PERSONAL_WORDS.cardThings) found.set(word, 'card');
  return found;
});

const TOKEN = /[\p{L}\p{M}][\p{L}\p{M}'’-]*|\S/gu;
const CLAUSE_END = /^[\p{N},;!?。！？，、；]$/u;
const UNSPACED_RUN = new RegExp(String.raw`[${UNSPACED_SCRIPTS}\p{Script=Hangul}ー々]`, 'u');
const COMPOUND = /\p{L}{3}(?:nummer|numret|nummeret|nr|number|szám|numero)$/u;

/** The cue of the number that begins at `start`; null if there is none. */
export function cueBefore(text: string, start: number): NumberCue | null {
  const before = text.slice(Math.max(0, start - WINDOW), start);
  const tokens = before.match(TOKEN) ?? [];
  let between = 0;
  for (let at = tokens.length - 1; at >= 0 && between <= WORDS_BETWEEN; at -= 1) {
    const token = tokens[at]!;
    if (CLAUSE_END.test(token)) return null;
    if (!/\p{L}/u.test(token)) {
      // The dot of an abbreviation: "no. 4711".
      if (token === '.' && (tokens[at - 1]?.length ?? 9) > 4) return null;
      continue;
    }
    const word = lowerOf(token);
    const cue = UNSPACED_RUN.test(word) ? cueInRun(word) : cueOfWord(word, tokens[at - 1]);
    if (cue !== null) return cue;
    if (!NUMBER_WORDS.has(word) && !COPULAS.has(word)) between += 1;
  }
  return null;
}

function cueOfWord(word: string, before: string | undefined): NumberCue | null {
  const known = cues();
  const pair = before === undefined ? undefined : known.get(`${lowerOf(before)} ${word}`);
  // "l'ordine", "d'ordine".
  const cue = pair ?? known.get(word) ?? known.get(word.slice(word.lastIndexOf("'") + 1));
  return cue ?? (COMPOUND.test(word) ? 'person' : null);
}

/** The last cue in an unspaced run; of those that end together, the longest. */
function cueInRun(run: string): NumberCue | null {
  const known = cues();
  const end = run.slice(-RUN_LETTERS);
  for (let to = end.length; to > 0; to -= 1)
    for (let from = 0; from < to; from += 1) {
      const cue = known.get(end.slice(from, to));
      if (cue !== undefined && to - from > 1) return cue;
    }
  return null;
}
