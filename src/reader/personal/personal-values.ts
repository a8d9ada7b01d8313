/**
 * Lists the personal values of a text with their kinds: what is masked before a text is stored. The rules are those of
 * redaction. Numbers of things, such as orders and parcels, stay, because they identify nobody and people ask about
 * them.
 *
 * Test: test/reader/personal/personal-values.test.ts.
 */
import {
  placeholdersIn,
  type MaskedKind,
  type PersonalValue,
  type ReadPersonalValues,
} from '../../domain/placeholders.ts';
import { UNSPACED_SCRIPTS } from '../document/unspaced-scripts.ts';
import { cueBefore } from './number-cues.ts';
import { personalParts } from './redact.ts';
import { mergedSpans, type Span } from './spans.ts';

/** Takes linear time. `known`: the result of `withKnown`. `persons`: places of names that a model found. */
export const personalValues: ReadPersonalValues = (text, known, persons = []) => {
  const { spans: ruled, names } = personalParts(text, known);
  const spans = [...ruled, ...persons.map(({ start, end }): Span => ({ start, end, kind: 'name' }))];
  if (spans.length === 0) return { values: [], names };
  const free = outside(placeholdersIn(text), mergedSpans(spans));
  const values = joined(text, free).flatMap((span) => valuesIn(text, span));
  return { values, names };
};

/** The parts of the spans outside `places`: earlier masking leaves placeholders inside spans. */
function outside(
  places: readonly { readonly start: number; readonly end: number }[],
  spans: readonly Span[],
): readonly Span[] {
  const left: Span[] = [];
  let at = 0;
  for (const { start, end, kind } of spans) {
    while (at < places.length && places[at]!.end <= start) at += 1;
    let from = start;
    for (let next = at; next < places.length && places[next]!.start < end; next += 1) {
      if (places[next]!.start > from) left.push({ start: from, end: places[next]!.start, kind });
      from = Math.max(from, places[next]!.end);
    }
    if (from < end) left.push({ start: from, end, kind });
  }
  return left;
}

/** Joins the adjacent parts of one value: first and last name, the groups of a number, a postcode and its town. */
function joined(text: string, spans: readonly Span[]): Span[] {
  const values: Span[] = [];
  for (const span of spans) {
    const last = values.at(-1);
    const between = last === undefined ? '' : text.slice(last.end, span.start);
    const kind = last === undefined ? null : jointKind(last.kind, span.kind, between);
    if (last === undefined || kind === null) values.push(span);
    else values[values.length - 1] = { start: last.start, end: span.end, kind };
  }
  return values;
}

function jointKind(first: Span['kind'], second: Span['kind'], between: string): Span['kind'] | null {
  const kinds = new Set([first, second]);
  if (kinds.has('address') && (kinds.size === 1 || kinds.has('number')))
    return /^[\s,.-]{0,2}$/u.test(between) ? 'address' : null;
  if (kinds.size === 1 && kinds.has('number')) return /^[ -]?$/u.test(between) ? 'number' : null;
  if ([...kinds].every((kind) => kind === 'name' || kind === 'known'))
    return /^[ .-]{0,2}$/u.test(between) ? 'name' : null;
  return null;
}

function valuesIn(text: string, span: Span): PersonalValue[] {
  const { start, end, kind } = span;
  const value = text.slice(start, end);
  const one = (masked: MaskedKind): PersonalValue[] => [
    { start, end, kind: masked, key: keyOf(masked, value) },
  ];
  switch (kind) {
    case 'contact':
      return contactsIn(text, span);
    case 'number': {
      const found = numberKind(text, span);
      return found === null ? [] : one(found);
    }
    case 'known':
      // A known word in lower case is mostly an ordinary word: "rose".
      return /^\p{Ll}/u.test(value) ? [] : one('NAME');
    case 'name':
      return one('NAME');
    case 'address':
      return one('ADDRESS');
    case 'date':
      return one('BIRTHDATE');
    case 'secret':
      return one('SECRET');
  }
}

/** A mail address of common letters, among letters without spaces: "邮箱是anna@example.cn". */
const PLAIN_MAIL = /[\w.%+'&-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,6}/giu;
const UNSPACED = new RegExp(String.raw`[${UNSPACED_SCRIPTS}\p{Script=Hangul}]`, 'u');
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/iu;
const MACHINE = /^(?:[\d.]{7,15}|[0-9a-f:-]{6,45})$/iu;

function contactsIn(text: string, { start, end }: Span): PersonalValue[] {
  const value = text.slice(start, end);
  const one = (kind: MaskedKind): PersonalValue[] => [{ start, end, kind, key: keyOf(kind, value) }];
  if (value.startsWith('@')) return one('HANDLE');
  if (value.includes('@') && UNSPACED.test(value)) {
    const plain = [...value.matchAll(PLAIN_MAIL)].map(({ 0: mail, index }): PersonalValue => {
      const from = start + index;
      return { start: from, end: from + mail.length, kind: 'EMAIL', key: keyOf('EMAIL', mail) };
    });
    if (plain.length > 0) return plain;
  }
  if (UUID.test(value)) return cueBefore(text, start) === 'thing' ? [] : one('ID');
  if (MACHINE.test(value)) return one('IP');
  if (text[start - 1] === '/' || (value.includes('/') && !value.includes('@'))) return one('LINK');
  return one('EMAIL');
}

const CARD_DIGITS = { least: 13, most: 19 };
const PHONE_DIGITS = { least: 7, most: 15 };
/** Groups of digits on cards. */
const CARD_GROUPS = /^\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}$|^\d{4}([ -])\d{6}\2\d{5}$/u;
const IBAN_GROUPS = /^[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){3,7}(?: [A-Z0-9]{1,3})?$/u;
/** Chinese mobile numbers have neither groups nor a leading zero. */
const CHINESE_MOBILE = /^1[3-9]\d{9}$/u;
/** "18:30 12.01.2025", in which the rules for numbers find groups. */
const TIMES = /^\d{1,2} \d{1,2}[./-]\d{1,2}[./-]\d{2,4}$/u;
const ISBN = /^97[89]\d{10}$/u;
/** Most digits of a number without a cue that may be a count. */
const COUNT_DIGITS = 6;

/** The kind of a number; null if it is a thing's or identifies nobody. */
function numberKind(text: string, { start, end }: Span): MaskedKind | null {
  const value = text.slice(start, end).normalize('NFKC');
  const compact = compactOf(value);
  if (isIban(compact) || IBAN_GROUPS.test(value)) return 'IBAN';
  const digits = value.replace(/\D/gu, '');
  const isPlain = !/\p{L}/u.test(value);
  const cue = cueBefore(text, start);
  if (isPlain && digits.length >= CARD_DIGITS.least && digits.length <= CARD_DIGITS.most) {
    if (cue === 'card' || CARD_GROUPS.test(value) || (cue === null && hasCheckDigit(digits))) return 'CARD';
  }
  if (cue === null && (TIMES.test(value) || ISBN.test(digits))) return null;
  const mayBePhone =
    isPlain && digits.length >= PHONE_DIGITS.least && digits.length <= PHONE_DIGITS.most && cue !== 'card';
  if (mayBePhone && (text[start - 1] === '+' || value.startsWith('+'))) return 'PHONE';
  if (cue === 'thing') return null;
  if (cue !== null) return cue === 'phone' && mayBePhone ? 'PHONE' : 'ID';
  if (mayBePhone && (/^\(?0|\d[^\d]/u.test(value) || CHINESE_MOBILE.test(digits))) return 'PHONE';
  return isPlain && digits.length <= COUNT_DIGITS ? null : 'ID';
}

/** ISO 13616: the remainder modulo 97 is 1. */
function isIban(compact: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/u.test(compact)) return false;
  let rest = 0;
  for (const character of compact.slice(4) + compact.slice(0, 4)) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** ISO/IEC 7812-1: the Luhn sum. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at -= 1, isDoubled = !isDoubled) {
    const digit = Number(digits[at]) * (isDoubled ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

function compactOf(value: string): string {
  return value.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
}

function keyOf(kind: MaskedKind, value: string): string {
  const plain = value.normalize('NFKC');
  if (kind === 'PHONE') return plain.replace(/\D/gu, '').replace(/^00/u, '');
  if (kind === 'CARD' || kind === 'IBAN' || kind === 'ID') return compactOf(plain);
  if (kind === 'SECRET') return plain;
  return plain.toLowerCase().replace(/\s+/gu, ' ');
}
