import { LEXICON } from '../lexicon.ts';

/** Digits as people spell numbers, and what repeats one. */
export const DIGIT_WORDS: ReadonlySet<string> = new Set(
  [...LEXICON.digits.all, 'double', 'triple', 'oh'].filter((word) => word.length > 1 && !word.includes(' ')),
);
