/**
 * Characters that nobody sees and that deceive whoever reads a text, in a class of a pattern: marks that turn the
 * direction of what follows (embeddings, overrides, isolates, and the deprecated ones beside them), annotations, and
 * the mark of the byte order. Joiners stay everywhere: scripts and emoji need them.
 */
const DECEIVING = '\\u202a-\\u202e\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb';
/** Marks that only say which way a sign belongs. People who write from right to left use them. */
const DIRECTIONS = '\\u061c\\u200e\\u200f';
/** Ends of lines and paragraphs. */
const SEPARATORS = '\\u2028\\u2029';

/**
 * What a terminal would obey or be deceived by: control characters (C0, DEL, C1), line and paragraph separators,
 * and the marks that turn the direction of text.
 */
const UNPRINTABLE = new RegExp(`[\\p{Cc}${DIRECTIONS}${SEPARATORS}${DECEIVING}]`, 'gu');

/** What a name may not hold, wherever somebody gives one. */
const NOT_IN_NAMES = new RegExp(`[\\p{Cc}${SEPARATORS}${DECEIVING}]`, 'u');
export const NAME_RULE = 'must not hold control characters, or characters that turn the direction of text';

/** Whether a name can stand in a line among others and look like what it is. */
export function isPlainName(text: string): boolean {
  return !NOT_IN_NAMES.test(text);
}

/** Seen in no text: hyphens and joiners of words that only say where a line may end, and invisible signs of formulas. */
const INVISIBLE = '\\u00ad\\u2060-\\u2064';
const NOT_READ = new RegExp(`(?![\\t-\\r])[\\p{Cc}${INVISIBLE}${DIRECTIONS}${SEPARATORS}${DECEIVING}]`, 'gu');
/** With \u2028 and \u2029; of these, JavaScript takes the first for no white space. */
const ENDS_LINE = /[\u0085\u2028\u2029]/u;

/**
 * What is read of a message: without characters that nobody sees, so that they come into no name that is made of it,
 * and hide nothing from what looks for numbers and names. Ends of lines are line breaks.
 */
export function readable(text: string): string {
  return text.replace(NOT_READ, (character) => (ENDS_LINE.test(character) ? '\n' : ''));
}

/** A text from outside for one line of a terminal: what is no letter, mark or space is escaped as JSON does it. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** The same for a text of several lines, JSON among them: its line breaks stay. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escaped(character)));
}

const TURNING = new RegExp(`[${DECEIVING}]`, 'gu');

/** A text from outside among others of a page: what would turn the direction of its neighbours is escaped. */
export function undeceiving(text: string): string {
  return text.replace(TURNING, escaped);
}

function escaped(character: string): string {
  const short = JSON.stringify(character).slice(1, -1);
  return short === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : short;
}
