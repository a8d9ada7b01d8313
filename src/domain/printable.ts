/**
 * What a terminal would obey or be deceived by: control characters (C0, DEL, C1), line and paragraph separators,
 * and the marks that turn the direction of text. Joiners stay: scripts and emoji need them.
 */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** A text from outside for one line of a terminal: what is no letter, mark or space is escaped as JSON does it. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** The same for a text of several lines, JSON among them: its line breaks stay. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  const short = JSON.stringify(character).slice(1, -1);
  return short === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : short;
}
