/**
 * Finds passwords, codes, user names and dates of birth: values after the word for them.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { CUE } from './cues.ts';
import { anyWordOf, PERSONAL_WORDS } from './personal-words.ts';
import type { Reading } from './reading.ts';
import { suffixCue } from './unspaced-cues.ts';
import { COPULAS, NOT_NAMES, NUMBER_WORDS, STOP_WORDS, TECHNICAL, isGivenName } from './vocabulary.ts';

const LONGEST_VALUE = 100;
const OFFER_WORDS = PERSONAL_WORDS.offerWords;
const DATE_UNIT = new RegExp(`^${anyWordOf(PERSONAL_WORDS.dateUnits)}`, 'u');

/** Adds the spans of secrets, user names and dates of birth. */
export function findSecrets(reading: Reading): void {
  const { pieces } = reading;
  for (const { from, to, kinds } of reading.cues) {
    if ((kinds & (CUE.secrets | CUE.userNames)) !== 0 && !followsTechnical(reading, from))
      hideValue(reading, to, (kinds & CUE.secrets) !== 0);
    if ((kinds & CUE.births) !== 0) hideBirth(reading, to);
  }
  if (!reading.unspaced) return;
  for (const [place, piece] of pieces.entries()) {
    if (piece.kind !== 'unspaced' || place + 1 === pieces.length) continue;
    const { secret, userName, birth } = suffixCue(piece.lower);
    if (secret || userName) hideValue(reading, place + 1, secret);
    if (birth) hideBirth(reading, place + 1);
  }
}

function followsTechnical({ pieces }: Reading, from: number): boolean {
  const before = pieces[from - 1];
  return before !== undefined && (TECHNICAL.has(before.lower) || OFFER_WORDS.has(before.lower));
}

/** Hides the value of a secret (`secret`) or of a user name. */
function hideValue(reading: Reading, from: number, secret: boolean): void {
  const { text, pieces } = reading;
  const { at, marked, worded } = reading.valueAt(from);
  const value = pieces[at];
  if (value === undefined || value.kind === 'unspaced') return;
  if (value.line && !marked) return;
  const end = valueEnd(text, value.start);
  const own = text.slice(value.start, end);
  if (own === '' || !/[\p{L}\p{N}]/u.test(own)) return;
  if (!secret && own.length < 3) return;
  const digits = own.match(/\p{N}/gu)?.length ?? 0;
  const hasShape =
    (digits > 0 && /[\p{L}_.@!$%&*-]/u.test(own)) ||
    digits > (secret && value.kind === 'number' ? 2 : 3) ||
    /[\p{L}\p{N}][_.@!$%&*#-]+[\p{L}\p{N}]/u.test(own) ||
    /\p{Ll}\p{Lu}/u.test(own);
  const isWord =
    NOT_NAMES.has(value.lower) ||
    STOP_WORDS.has(value.lower) ||
    COPULAS.has(value.lower) ||
    NUMBER_WORDS.has(value.lower);
  const closes = reading.endsAt(reading.chunkEnd(at));
  const isStated = marked
    ? !isWord || own !== value.text
    : worded && !isWord && (closes || isGivenName(value));
  const isQuoted = marked && /["“„«'‘`]/u.test(text[value.start - 1] ?? '');
  if (
    !(
      isQuoted ||
      isStated ||
      (hasShape &&
        !/^\p{L}+['’]\p{L}+$/u.test(own) &&
        (secret || digits > 0 || /[_.]|\p{Ll}\p{Lu}/u.test(own))) ||
      (!secret &&
        closes &&
        !isWord &&
        own.length > 4 &&
        PERSONAL_WORDS.sureUserNames.has(pieces[from - 1]?.lower ?? ''))
    )
  )
    return;
  if (/^\p{L}+-\p{L}+$/u.test(own) && !marked) return;
  reading.spans.push({ start: value.start, end, kind: secret ? 'secret' : 'name' });
}

/** The end of the value: the next blank, without marks that end a sentence. */
function valueEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && end - start < LONGEST_VALUE && !/[\s,;，。、；"”»]/u.test(text[end]!)) {
    if (
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u.test(
        text[end]!,
      )
    )
      break;
    end += 1;
  }
  while (end > start && /[.!?:)'’\]]/u.test(text[end - 1]!)) end -= 1;
  return end;
}

/** Most pieces between a cue and a date of birth, and most pieces of the date. */
const BIRTH_WITHIN = 5;
const BIRTH_PIECES = 9;
const YEAR = /^(?:19|20)\d{2}$/u;

function hideBirth(reading: Reading, from: number): void {
  const { pieces } = reading;
  let first = from;
  while (first < from + BIRTH_WITHIN && pieces[first] !== undefined && !startsDate(reading, first))
    first += 1;
  let last = -1;
  for (let at = first, gap = 0; at < first + BIRTH_PIECES && at < pieces.length && gap < 4; at += 1) {
    const { kind, text, line } = pieces[at]!;
    if (line && at > first) break;
    // The rest belongs to something else: "born on 14 March 1981, passport 533401287".
    if (text === ',' && YEAR.test(pieces[at - 1]?.text ?? '')) break;
    if (kind === 'number' || kind === 'mixed') [last, gap] = [at, 0];
    else if (!/^[./,-]$/u.test(text) && !DATE_UNIT.test(text)) gap += 1;
    if (DATE_UNIT.test(text)) last = at;
  }
  if (last < first || first >= from + BIRTH_WITHIN) return;
  const start = pieces[first]!.start;
  const end = pieces[last]!.kind === 'unspaced' ? pieces[last]!.start + 1 : pieces[last]!.end;
  const digits = reading.text.slice(start, end).match(/\p{N}/gu)?.length ?? 0;
  if (digits > 2) reading.spans.push({ start, end, kind: 'date' });
}

const MONTH = new RegExp(`^${anyWordOf(PERSONAL_WORDS.monthBeginnings)}`, 'u');

function startsDate({ pieces }: Reading, at: number): boolean {
  const { kind, lower } = pieces[at]!;
  if (kind === 'number' || kind === 'mixed') return true;
  const next = pieces[at + 1]?.kind;
  return kind === 'word' && MONTH.test(lower) && (next === 'number' || next === 'mixed');
}
