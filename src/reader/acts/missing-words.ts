/**
 * Finds the words of a message that name what is missing: the clause of a claim, without the claim and its asides.
 *
 * Test: test/reader/acts/gap-claims.test.ts.
 */
import { BREAK } from '../phrases/read-text.ts';
import { frameOf, isObject, saysInformation, type GapMatch, type GapRead } from './gap-phrases.ts';

export interface Segment {
  readonly start: number;
  readonly end: number;
}

/** The part of the sentence around a claim, bounded by commas, dashes and words such as "because". */
export function segmentOf(claim: GapMatch, read: GapRead): Segment {
  const { tokens, matches } = read;
  const dividers = matches.filter(({ kind, language }) => kind === 'divider' && language === claim.language);
  const begins = new Set(dividers.map(({ start }) => start));
  let { start, end } = claim;
  while (start > 0 && !isParted(read, start)) {
    const divider = dividers.find((one) => one.end === start);
    if (divider !== undefined) break;
    start -= 1;
  }
  while (end < tokens.length && !isParted(read, end) && !begins.has(end)) end += 1;
  return { start, end };
}

const JOINS = new Set(['-', '‐', '‑', '/', '&', ' & ', '+', '.', '’', "'"]);

/** True if a mark separates a token from the one before. "E-mail" is not separated. */
function isParted({ text, tokens }: Pick<GapRead, 'text' | 'tokens'>, at: number): boolean {
  const { before, start } = tokens[at]!;
  return (
    before >= BREAK.mark && !(before === BREAK.mark && JOINS.has(text.slice(tokens[at - 1]?.end ?? 0, start)))
  );
}

/**
 * The question that a claim has no answer to: directly after it ("I don't know (when the ferry leaves)"), else the
 * clause before it ("(Wann die Fähre ablegt), weiß ich nicht"), in the same sentence. Null if there is none.
 */
export function questionOf(
  claim: GapMatch,
  segment: Segment,
  { text, tokens, matches }: GapRead,
): Segment | null {
  const asks = (from: number, to: number): number | undefined =>
    matches.find(
      ({ kind, language, start }) =>
        kind === 'asked' && language === claim.language && start >= from && start <= to,
    )?.start;
  const isEnd = (at: number): boolean => at >= tokens.length || tokens[at]!.before === BREAK.end;
  const behind = asks(Math.max(claim.start + 1, claim.end - 1), claim.end) ?? asks(segment.end, segment.end);
  if (behind !== undefined && (behind < claim.end || !isEnd(behind))) {
    let end = behind + 1;
    while (!isEnd(end) && !isParted({ text, tokens }, end)) end += 1;
    if (end - behind > 1) return { start: behind, end };
  }
  let { start } = segment;
  if (start === 0 || isEnd(start)) return null;
  do start -= 1;
  while (start > 0 && !isParted({ text, tokens }, start));
  return asks(start, start) === undefined ? null : { start, end: segment.start };
}

/** The words of a range that name what is missing. */
export function wordsOf(range: Segment, claim: GapMatch, read: GapRead): string {
  const within = read.matches.filter(
    ({ language, start, end }) => language === claim.language && start >= range.start && end <= range.end,
  );
  return objectOf(claim, range, read, within);
}

/** True if a phrase overlaps a claim or directly follows it. */
export function isNear(one: Segment, claim: Segment): boolean {
  return one.start <= claim.end + 1 && one.end >= claim.start;
}

/** The words of a segment that name what is missing: all but the claim and its asides. */
export function objectOf(
  claim: GapMatch,
  { start, end }: Segment,
  { text, tokens }: GapRead,
  within: readonly GapMatch[],
): string {
  const gone = new Uint8Array(end - start);
  const drop = (one: Segment): void => {
    gone.fill(1, Math.max(0, one.start - start), Math.max(0, one.end - start));
  };
  dropFrame(claim, tokens, drop);
  for (const match of within)
    if (match.kind === 'aside' || (match.kind === 'knowing' && isObject(match, claim))) drop(match);
  const edges = within.filter(({ kind }) => kind === 'edge');
  for (let changed = true; changed;) {
    changed = false;
    const first = gone.indexOf(0) + start;
    const last = gone.lastIndexOf(0) + start;
    if (first < start) return '';
    for (const edge of edges) {
      if (edge.start !== first && edge.end !== last + 1) continue;
      if (gone.subarray(edge.start - start, edge.end - start).every((one) => one === 1)) continue;
      drop(edge);
      changed = true;
    }
  }
  if (tokens.slice(start, end).every(({ key }, at) => gone[at] === 1 || saysInformation(claim.language, key)))
    return '';
  let words = '';
  let last = -1;
  for (let at = start; at < end; at++) {
    if (gone[at - start] === 1) continue;
    const { start: from, end: to } = tokens[at]!;
    if (words !== '') words += last === at - 1 ? text.slice(tokens[last]!.end, from) : ' ';
    words += text.slice(from, to);
    last = at;
  }
  return words;
}

/** Drops the words of the phrase and keeps those that fill its gaps: "habe ich nichts zum (Herkunftsland) gefunden". */
function dropFrame(
  { language, phrase, start, end }: GapMatch,
  tokens: GapRead['tokens'],
  drop: (one: Segment) => void,
): void {
  const frame = frameOf(language, phrase);
  for (let at = start; at < end; at++) {
    const token = tokens[at]!;
    if (!token.isCharacter) {
      if (at === start || at === end - 1 || frame.some((key) => isForm(token.key, key)))
        drop({ start: at, end: at + 1 });
      continue;
    }
    const rest = tokens
      .slice(at, end)
      .map(({ key }) => key)
      .join('');
    const run = frame.find((key) => rest.startsWith(key));
    if (run === undefined) continue;
    const length = [...run].length;
    drop({ start: at, end: at + length });
    at += length - 1;
  }
}

function isForm(key: string, frame: string): boolean {
  return key === frame || (frame.length > 3 && key.endsWith(frame));
}
