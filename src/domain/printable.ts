/**
 * Removes or escapes characters that a reader cannot see and that can deceive him, in names, message texts and terminal
 * output. Joiners always stay: scripts and emoji need them.
 *
 * Test: test/domain/printable.test.ts.
 */

/**
 * Invisible characters, as part of a character class: those that change the direction of the following text
 * (embeddings, overrides, isolates, deprecated format characters), annotations and the byte order mark.
 */
const DECEIVING = '\\u202a-\\u202e\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb';
/** Marks that give a single sign its direction; right-to-left writers use them. */
const DIRECTIONS = '\\u061c\\u200e\\u200f';
/** Line and paragraph separators. */
const SEPARATORS = '\\u2028\\u2029';

/**
 * Characters that a terminal would obey or that would deceive its reader: control characters (C0, DEL, C1), line and
 * paragraph separators, and direction marks.
 */
const UNPRINTABLE = new RegExp(`[\\p{Cc}${DIRECTIONS}${SEPARATORS}${DECEIVING}]`, 'gu');

/** Characters that no given name may contain. */
const NOT_IN_NAMES = new RegExp(`[\\p{Cc}${SEPARATORS}${DECEIVING}]`, 'u');
export const NAME_RULE = 'must not hold control characters, or characters that turn the direction of text';

/** Returns true if a name is safe to print in a line of text. */
export function isPlainName(text: string): boolean {
  return !NOT_IN_NAMES.test(text);
}

/** Invisible in every text: soft hyphens, word joiners and invisible operators of formulas. */
const INVISIBLE = '\\u00ad\\u2060-\\u2064';
const NOT_READ = new RegExp(`(?![\\t-\\r])[\\p{Cc}${INVISIBLE}${DIRECTIONS}${SEPARATORS}${DECEIVING}]`, 'gu');
/** U+0085 too: JavaScript's `\s` does not match it. */
const ENDS_LINE = /[\u0085\u2028\u2029]/u;

/**
 * Returns a message text without invisible characters, so that they get into no derived name and hide no number or name
 * from detection. Line ends become `\n`.
 */
export function readable(text: string): string {
  return text.replace(NOT_READ, (character) => (ENDS_LINE.test(character) ? '\n' : ''));
}

/** Escapes an external text, as JSON does, for one line of a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** As `printable`, but keeps line breaks: for a text of several lines, such as JSON. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escaped(character)));
}

const TURNING = new RegExp(`[${DECEIVING}]`, 'gu');

/** Escapes direction marks of an external text on a page, so that they cannot reverse the text beside it. */
export function undeceiving(text: string): string {
  return text.replace(TURNING, escaped);
}

function escaped(character: string): string {
  const short = JSON.stringify(character).slice(1, -1);
  return short === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : short;
}
