/**
 * Recognises words that are mere keyboard noise: "asdf", "hhhhh", "dfdfdf".
 *
 * Test: test/reader/acts/keyboard-noise.test.ts.
 */

/** Rows of letters on common keyboards. */
const ROWS = [
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  'йцукенгшщзхъ',
  'фывапролджэ',
  'ячсмитьбю',
];
/** Least letters in a row, from left to right or back. */
const SHORTEST_STRETCH = 3;
/** Least letters of a word that is one stretch; Russian has more real words that look like one than English. */
const SHORTEST_SINGLE = { latin: 4, other: 5 } as const;
const LATIN = /^[a-z]/;
const SHORTEST_WORD = 4;
const LONGEST_WORD = 60;
/** Least letters of noise without a vowel; shorter ones are real words in other languages and trades. */
const SHORTEST_WITHOUT_VOWEL = 6;

const NEIGHBOURS = new Set(
  ROWS.flatMap((row) => [...row].flatMap((letter, at) => (at === 0 ? [] : [row[at - 1]! + letter]))),
);
/** One, two or three letters, repeated. */
const OVER_AND_OVER =
  /^(?:([\p{Script=Latin}\p{Script=Cyrillic}])\1{3,}|([a-zа-я]{2})\2{2,}|([a-zа-я]{3})\3{2,})$/u;
const NO_VOWEL = /^[bcdfghjklmnpqstvwxz]+$/;

/** True if a lower-case word is only keyboard noise. */
export function isKeyboardNoise(word: string): boolean {
  if (word.length < SHORTEST_WORD || word.length > LONGEST_WORD) return false;
  if (OVER_AND_OVER.test(word)) return true;
  if (word.length >= SHORTEST_WITHOUT_VOWEL && NO_VOWEL.test(word)) return true;
  return isOfStretches(word);
}

/** True if a word consists of stretches of neighbouring keys: several, or one that is long enough. */
function isOfStretches(word: string): boolean {
  const letters = [...word];
  if (letters.length < SHORTEST_SINGLE[LATIN.test(word) ? 'latin' : 'other']) return false;
  for (let start = 0; start < letters.length;) {
    const end = endOfStretch(letters, start);
    if (end - start < SHORTEST_STRETCH) return false;
    start = end;
  }
  return true;
}

function endOfStretch(letters: readonly string[], start: number): number {
  const goesOn = (at: number, step: 1 | -1): boolean => {
    const [one, next] = [letters[at]!, letters[at + 1]];
    return next !== undefined && NEIGHBOURS.has(step === 1 ? one + next : next + one);
  };
  let longest = start + 1;
  for (const step of [1, -1] as const) {
    let at = start;
    while (goesOn(at, step)) at += 1;
    longest = Math.max(longest, at + 1);
  }
  return longest;
}
