/**
 * Finds mail addresses, links, addresses of machines, handles and keys.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { WORD } from './cues.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { everyWord } from './personal-lexicon.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import { STOP_WORDS, TECHNICAL } from './vocabulary.ts';

const DOT_WORDS = everyWord('dot');
/** Rules of style sheets and groups in chats: "@" before them marks no person. */
const NO_HANDLES = PERSONAL_WORDS.noHandles;
const SPELLED_MARKS = PERSONAL_WORDS.spelledMarks;
const BEFORE_HOSTS = PERSONAL_WORDS.beforeHosts;
const LONGEST_LOCAL = 64;
const LONGEST_DOMAIN = 120;
const LOCAL = /[\p{L}\p{M}\p{N}._%+'’*~&$!#/=?^{|}-]/u;
const DOMAIN = /[\p{L}\p{M}\p{N}._-]/u;
/** Hosts of mail: "anna at gmail.com" is an address; "available at booking.com" is none. */
const MAIL_HOSTS = PERSONAL_WORDS.mailHosts;

/** Adds the spans of mail addresses, links, machine addresses and handles. */
export function findElectronic(reading: Reading): void {
  const { text } = reading;
  if (text.includes('@')) findAtSigns(reading);
  if ((reading.words & WORD.at) !== 0 || text.includes('@')) findSpokenAddresses(reading);
  if (text.includes('/') || text.includes('\\') || text.includes('www.')) findLinks(reading);
  if (reading.numbers) findMachines(reading);
}

function findAtSigns({ text, spans }: Reading): void {
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && at - start < LONGEST_LOCAL && LOCAL.test(text[start - 1]!)) start -= 1;
    let end = at + 1;
    while (end < text.length && end - at < LONGEST_DOMAIN && DOMAIN.test(text[end]!)) end += 1;
    while (end > at + 1 && /[._-]/u.test(text[end - 1]!)) end -= 1;
    if (start === at && end === at + 1) [start, end] = aroundSpaces(text, at);
    while (start < at && /[.'’!?#/=&]/u.test(text[start]!)) start += 1;
    const domain = text.slice(at + 1, end);
    // Excludes "react@18.2.0", "@types/node", "git@github.com".
    if (/^[\d.]+$/u.test(domain) || (start === at && text[end] === '/')) continue;
    if (text.slice(start, at) === 'git') continue;
    if (start === at && NO_HANDLES.has(domain.toLowerCase())) continue;
    if (end > at + 1 && (start < at || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? ' ')))
      spans.push({ start, end, kind: 'contact' });
  }
}

const BEFORE_SPACED_AT = /[\p{L}\p{N}._%+-]{1,64} {0,3}$/u;
const AFTER_SPACED_AT = /^ {0,3}[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,4}/u;

/** The range of "anna @ example.com" around the sign. */
function aroundSpaces(text: string, at: number): [number, number] {
  const before = BEFORE_SPACED_AT.exec(text.slice(Math.max(0, at - 68), at));
  const after = AFTER_SPACED_AT.exec(text.slice(at + 1, at + 200));
  if (before === null || after === null) return [at, at + 1];
  return [at - before[0].length, at + 1 + after[0].length];
}

/** Finds "anna at example dot com", "anna (at) example.com". */
function findSpokenAddresses(reading: Reading): void {
  const { pieces } = reading;
  for (const [place, piece] of pieces.entries()) {
    const isSign = piece.text === '@';
    if (!isSign && (!reading.isWord(place, WORD.at) || piece.kind === 'mark')) continue;
    const isBracketed = opens(pieces[place - 1]) && closes(pieces[place + 1]);
    const left = isBracketed ? place - 2 : place - 1;
    // "snabel-a" is three pieces.
    const spelled = pieces[place + 1]?.text === '-' && pieces[place + 2]?.lower === 'a' ? 2 : 0;
    const right = (isBracketed ? place + 2 : place + 1) + spelled;
    const first = pieces[left];
    const host = pieces[right];
    if (first === undefined || host === undefined || first.kind === 'mark' || host.kind === 'mark') continue;
    if (first.kind === 'unspaced' || (!isBracketed && STOP_WORDS.has(first.lower))) continue;
    const { end, dots, spoken } = hostEnd(reading, right, isSign);
    const local = localStart(reading, left, isSign);
    const isMailHost = !isSign && MAIL_HOSTS.has(host.lower);
    if (dots === 0 || !(spoken || isBracketed || isMailHost || (isSign && local.spoken))) continue;
    if (!isBracketed && local.start === left && !isMailHost && BEFORE_HOSTS.has(first.lower)) continue;
    reading.hide(local.start, end, 'contact');
  }
}

/**
 * The end of a host ("garden-corner dot example", "example [dot] net") and how its dots are written. Beside "@", spoken
 * dots must be in brackets: "in this period anna@example.com".
 */
function hostEnd(
  { pieces }: Reading,
  from: number,
  mustBeBracketed: boolean,
): { end: number; dots: number; spoken: boolean } {
  let [end, dots, spoken] = [from + 1, 0, false];
  for (let joints = 0; joints < 6; joints += 1) {
    const opened = opens(pieces[end]) && closes(pieces[end + 2]) ? 1 : 0;
    const joint = pieces[end + opened];
    const next = pieces[end + 1 + 2 * opened];
    if (joint === undefined || next === undefined || next.kind === 'mark') break;
    const isSpoken = DOT_WORDS.has(joint.lower) && (opened === 1 || !mustBeBracketed);
    const isWritten = opened === 1 ? joint.text === '.' : !next.spaced && /^[.-]$/u.test(joint.text);
    if (!isSpoken && !isWritten) break;
    spoken ||= isSpoken;
    dots += joint.text === '-' ? 0 : 1;
    end += 2 + 2 * opened;
  }
  return { end, dots, spoken };
}

/** The start of the part before the sign: "anna dot smith", "anna(dot)smith". */
function localStart(
  { pieces }: Reading,
  left: number,
  mustBeBracketed: boolean,
): { start: number; spoken: boolean } {
  let [start, spoken] = [left, false];
  for (let parts = 0; parts < 6; parts += 1) {
    const closed = closes(pieces[start - 1]) && opens(pieces[start - 3]) ? 1 : 0;
    const joint = pieces[start - 1 - closed];
    const before = pieces[start - 2 - 2 * closed];
    if (joint === undefined || before === undefined || before.kind === 'mark') break;
    const isWord = DOT_WORDS.has(joint.lower) || SPELLED_MARKS.has(joint.lower);
    const isSpoken = closed === 1 ? isWord || joint.text === '.' : isWord && !mustBeBracketed;
    const isWritten = !joint.spaced && !pieces[start]!.spaced && /^[._-]$/u.test(joint.text);
    if (!isSpoken && !isWritten) break;
    spoken ||= isSpoken;
    start -= 2 + 2 * closed;
  }
  return { start, spoken };
}

function opens(piece: Piece | undefined): boolean {
  return /^[([{<]$/u.test(piece?.text ?? '');
}

function closes(piece: Piece | undefined): boolean {
  return /^[)\]}>]$/u.test(piece?.text ?? '');
}

const LINK = /(?:(?<![a-z0-9])[a-z][a-z0-9+.-]{1,15}:\/\/|www\.)[^\s<>"]{1,2000}/giu;
const HOME = /[\\/](?:users|home|benutzer|utilisateurs|usuarios)[\\/]([^\\/\s:*?"<>|]{1,64})/giu;
const LONGEST_HOST = 100;
const HOST_BEFORE = /(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,12}$/iu;

/** Hides all of a link but its host: paths and queries hold ids, names and tokens. */
function findLinks({ text, spans }: Reading): void {
  for (const { 0: link, index } of text.matchAll(LINK)) {
    const scheme = link.indexOf('://');
    const authority = scheme < 0 ? 0 : scheme + 3;
    const path = link.slice(authority).search(/[/?#]/u);
    const hostEnd = path < 0 ? link.length : authority + path;
    const user = link.lastIndexOf('@', hostEnd);
    if (user > authority) spans.push({ start: index + authority, end: index + user + 1, kind: 'secret' });
    const end = link.replace(/[.,!?;:)\]'…]{1,20}$/u, '').length;
    if (path >= 0 && end > hostEnd + 1)
      spans.push({ start: index + hostEnd + 1, end: index + end, kind: 'contact' });
  }
  for (let at = text.indexOf('/'); at >= 0; at = text.indexOf('/', at + 1)) {
    if (!HOST_BEFORE.test(text.slice(Math.max(0, at - LONGEST_HOST), at))) continue;
    const rest = /^[^\s<>"]{1,2000}/u.exec(text.slice(at + 1, at + 2001));
    if (rest === null) continue;
    const end = at + 1 + rest[0].replace(/[.,!?;:)\]'…]{1,20}$/u, '').length;
    if (end > at + 1) spans.push({ start: at + 1, end, kind: 'contact' });
    at = Math.max(at, end - 1);
  }
  for (const { 0: whole, 1: name = '', index } of text.matchAll(HOME)) {
    const start = index + whole.length - name.length;
    spans.push({ start, end: start + name.length, kind: 'name' });
  }
}

const IPV4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![.\d]{0,3}\d)/gu;
/** Addresses of many home routers, which identify nobody. */
const ROUTERS = /^(?:192\.168\.[012]\.(?:1|254)|127\.0\.0\.1|10\.0\.0\.1|0\.0\.0\.0)$/u;
const IPV6 = /(?<![\p{L}\p{N}:])(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}(?![\p{L}\p{N}:])/giu;
const MAC = /(?<![\p{L}\p{N}])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\p{L}\p{N}])/giu;
const UUID =
  /(?<![\p{L}\p{N}])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\p{L}\p{N}])/giu;

function findMachines({ text, spans }: Reading): void {
  if (text.includes('.')) {
    for (const { 0: address, index } of text.matchAll(IPV4)) {
      if (address.split('.').some((part) => Number(part) > 255) || followsVersion(text, index)) continue;
      if (ROUTERS.test(address)) continue;
      spans.push({ start: index, end: index + address.length, kind: 'contact' });
    }
  }
  const [colons, hyphens] = [countIn(text, ':'), countIn(text, '-')];
  const patterns: RegExp[] = [];
  if (colons > 2) patterns.push(IPV6);
  if (colons + hyphens > 4) patterns.push(MAC);
  if (hyphens > 3) patterns.push(UUID);
  for (const pattern of patterns) {
    for (const { 0: address, index } of text.matchAll(pattern)) {
      if (pattern === IPV6 && !/[a-f]|::/iu.test(address)) continue;
      if (address.length > 6) spans.push({ start: index, end: index + address.length, kind: 'contact' });
    }
  }
}

function countIn(text: string, mark: string): number {
  let count = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) count += 1;
  return count;
}

/** True for "version 1.2.3.4", "v1.2.3.4". */
function followsVersion(text: string, index: number): boolean {
  const words =
    text
      .slice(Math.max(0, index - 24), index)
      .toLowerCase()
      .match(/[\p{L}]+/gu) ?? [];
  return TECHNICAL.has(words.at(-1) ?? '');
}
