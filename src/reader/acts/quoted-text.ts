/**
 * Finds the parts of a message that its author does not say in their own name: quotations, code, verse, drafts. Reads
 * only the layout, so it works in every language.
 *
 * Test: test/reader/acts/quoted-text.test.ts.
 */

/** A span of UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const OPENING = '“„«‹「『《‟';
const CLOSING: Readonly<Record<string, string>> = {
  '“': '”',
  '„': '“”',
  '«': '»',
  '‹': '›',
  '「': '」',
  '『': '』',
  '《': '》',
  '‟': '”',
};
/** Longest quotation, UTF-16 units. A quotation does not cross an empty line. */
const LONGEST_QUOTATION = 400;

/** The quoted spans of a text, ascending. */
export function quotedSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]!;
    const end = mark === '"' || mark === '`' ? closingOf(text, at, mark) : quotationEnd(text, at);
    if (end < 0) continue;
    spans.push({ start: at, end: end + 1 });
    at = end;
  }
  const draft = draftStart(text);
  return draft < 0 ? spans : [...spans.filter(({ end }) => end <= draft), { start: draft, end: text.length }];
}

function quotationEnd(text: string, at: number): number {
  const mark = text[at]!;
  return OPENING.includes(mark) ? closingOf(text, at, CLOSING[mark]!) : -1;
}

/** Index of the closing mark; −1 if none follows near enough. */
function closingOf(text: string, at: number, marks: string): number {
  const last = Math.min(text.length, at + LONGEST_QUOTATION);
  for (let end = at + 1; end < last; end++) {
    if (marks.includes(text[end]!)) return end;
    if (text[end] === '\n' && text[end + 1] === '\n') return -1;
  }
  return -1;
}

const LIST_ITEM = /^\s*(?:[-*•·–→]|\d{1,3}[.)]|[a-z][.)])\s/i;
const LETTER_HEAD = /^[^\s:]{2,14}: \S/u;
const MOST_HEAD_WORDS = 5;

/**
 * Index at which a draft begins: after a line that ends in a colon and an empty line, or after a letter's head; −1 if
 * there is none.
 */
function draftStart(text: string): number {
  const paragraphs = text.split(/\n[ \t]*\n/, 40);
  let start = 0;
  for (const [place, paragraph] of paragraphs.entries()) {
    const next = paragraphs[place + 1];
    start += paragraph.length;
    if (next === undefined) return -1;
    const from = text.indexOf(next, start);
    const isLead = /[:：]\s*$/u.test(paragraph) && !LIST_ITEM.test(next) && !next.startsWith('```');
    if (isLead && paragraphs.length > place + 2 && isSalutation(next)) return from;
    if (
      place === 0 &&
      LETTER_HEAD.test(paragraph) &&
      !paragraph.includes('\n') &&
      isSalutation(next.split('\n', 1)[0]!)
    )
      return 0;
    if (isLead && isSalutation(next.split('\n', 1)[0]!)) return from;
    if (place === 0 && LETTER_HEAD.test(paragraph) && !/[.!?]$/.test(paragraph) && startsWithSalutation(next))
      return 0;
    start = from;
  }
  return -1;
}

/** True for "Dear Ms Ford," alone. */
function isSalutation(line: string): boolean {
  return /[,،，!]\s*$/u.test(line) && line.trim().split(/\s+/u).length <= MOST_HEAD_WORDS;
}

function startsWithSalutation(line: string): boolean {
  const comma = line.search(/[,،，]/u);
  return comma > 0 && comma < 40 && isSalutation(line.slice(0, comma + 1));
}

const MOST_VERSE_LETTERS = 64;
const LEAST_WORDS = 4;
const HEAVY = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const SPEAKER = /^\p{L}[\p{L}\p{N} ]{0,15}: \S/u;

/** True if a whole message is verse or a dialogue: short lines without full stops, or speakers in turn. */
export function isVerse(text: string): boolean {
  const lines = text
    .trim()
    .split('\n', 60)
    .map((line) => line.trim());
  if (lines.length < 2) return false;
  if (lines.every((line) => SPEAKER.test(line))) return true;
  const verses = lines.filter((line) => line !== '');
  if (verses.some((line) => line.length > MOST_VERSE_LETTERS || LIST_ITEM.test(line))) return false;
  const first = verses[0]!;
  if (first.split(/\s+/u).length < LEAST_WORDS && !(HEAVY.test(first) && verses.length > 2)) return false;
  const open = verses.slice(0, -1).filter((line) => /[\p{L}\p{M},،，、;]$/u.test(line)).length;
  return 2 * open >= verses.length - 1;
}
