/**
 * What an assistant claims of itself: that it cannot do or does not know something. Whether a turn has a gap, `gaps.ts`
 * decides. Every phrase comes from the lexicon; what
 * stands here is how they work together. Covered by test/turns/gap-claims.test.ts.
 */
import type { MissingAbility } from '../domain/facts.ts';
import { LANGUAGES } from '../text/lexicon.ts';
import type { Match, MatchedText } from '../text/phrases/phrase-matcher.ts';
import { BREAK } from '../text/phrases/read-text.ts';
import { requestParts } from '../text/request-parts.ts';
import { frameOf, gapMatcher, saysInformation, saysWe, type GapPhraseKind } from './gap-phrases.ts';
import { isVerse, quotedSpans } from './quoted-text.ts';

/** What a message says about abilities. */
export interface GapFinding {
  readonly missing: MissingAbility | null;
  /** An inability was seen, but it is a refusal, a question back or the like. */
  readonly isExcused: boolean;
}

type GapMatch = Match<GapPhraseKind>;
type Read = MatchedText<GapPhraseKind>;

const NOTHING: GapFinding = { missing: null, isExcused: false };
const EXCUSED: GapFinding = { missing: null, isExcused: true };

/** Weaker kinds count where no stronger one is found. */
const STRENGTH: Partial<Record<GapPhraseKind, number>> = {
  unseen: 4,
  unable: 3,
  unknown: 2,
  failed: 1,
  'not-found': 1,
};

/** Whether a text holds a phrase that says that something is missing, however it is meant. */
export function claimsIn(text: string): boolean {
  return gapMatcher()
    .match(text)
    .matches.some(({ kind }) => STRENGTH[kind] !== undefined);
}

/** UTF-16 units of a message that opens with what it is not, and answers all the same. */
const LONG_BEHIND_DISCLAIMER = 220;

/** Words of a thing that it cannot help with; more say why it refuses. */
const MOST_HELP_WORDS = 2;

/** Finds the first inability of the strongest kind. In linear time. */
export function findGap(text: string): GapFinding {
  const read = gapMatcher().match(text);
  const claims = read.matches.filter(({ kind }) => STRENGTH[kind] !== undefined);
  if (claims.length === 0) return NOTHING;
  if (isVerse(text)) return EXCUSED;
  const quoted = quotedSpans(read.text);
  const has = (kind: GapPhraseKind): boolean => read.matches.some((match) => match.kind === kind);
  const isPolicy = has('policy');
  const isUnclear = has('clarifying');
  const isDisclaimer = has('disclaimer') && read.text.length > LONG_BEHIND_DISCLAIMER;
  let best: MissingAbility | null = null;
  let strength = 0;
  let isExcused = false;
  for (const claim of longest(claims)) {
    const own = STRENGTH[claim.kind]!;
    if (own <= strength) continue;
    const judged = judge(claim, read, quoted);
    if (judged === 'silent') continue;
    if (judged === 'refused' || isPolicy || isDisclaimer || (isUnclear && own < 3)) {
      isExcused = true;
      continue;
    }
    best = judged;
    strength = own;
  }
  if (best !== null) return { missing: best, isExcused: false };
  return isExcused ? EXCUSED : NOTHING;
}

/** Of phrases of one kind that share words the longest, in the order of the text. */
function longest(claims: readonly GapMatch[]): GapMatch[] {
  const kept: GapMatch[] = [];
  for (const claim of claims.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.findLast(({ kind }) => kind === claim.kind);
    if (last !== undefined && claim.start < last.end) {
      if (claim.end > last.end) kept[kept.indexOf(last)] = { ...last, end: claim.end };
      continue;
    }
    kept.push(claim);
  }
  return kept;
}

function judge(
  claim: GapMatch,
  read: Read,
  quoted: readonly { start: number; end: number }[],
): MissingAbility | 'silent' | 'refused' {
  const { tokens, matches } = read;
  const from = tokens[claim.start]!.start;
  if (quoted.some(({ start, end }) => start <= from && from < end)) return 'silent';
  const segment = segmentOf(claim, read);
  const within = matches.filter(
    ({ language, start, end }) => language === claim.language && start >= segment.start && end <= segment.end,
  );
  if (within.some((match) => isOfAnother(match, claim))) return 'silent';
  const own = objectOf(claim, segment, read, within);
  const asked = claim.kind === 'unknown' || claim.kind === 'unable' ? questionOf(claim, segment, read) : null;
  const isLimit = within.some((match) => match.kind === 'limit' && isNear(match, claim));
  const object = isLimit ? '' : own === '' && asked !== null ? wordsOf(asked, claim, read) : own;
  // Where verbs stand last, any verb of the segment is the object's; else it stands behind the phrase, even if it opens
  // another clause: "tell you (if she applied)".
  const candidates = isVerbFinal(claim.language)
    ? within
    : matches.filter(({ language }) => language === claim.language);
  const behind = (kind: GapPhraseKind): boolean =>
    candidates.some((match) => match.kind === kind && isObject(match, claim));
  let { kind } = claim;
  // "I cannot tell (you which shares to buy)": where the phrase of not knowing holds the refusal's verb.
  if (kind === 'unknown' && candidates.some((match) => match.kind === 'refusing' && goesOn(match, claim)))
    return 'refused';
  if (kind === 'unable') {
    if (behind('refusing')) return 'refused';
    if (behind('helping') && !namesKnownThing(object, claim.language)) return 'refused';
    if (behind('knowing') && within.some((match) => match.kind === 'forbidden' && touches(match, claim)))
      return 'refused';
    if (behind('knowing')) kind = 'unknown';
  }
  const isKnowledge = kind === 'unknown' || kind === 'not-found';
  const asks = asksAfter(claim, read);
  const says = (one: GapPhraseKind): boolean => within.some((match) => match.kind === one);
  if (says('lookup') && (isKnowledge || asks)) return 'refused';
  if (asks && isKnowledge && inSentence('asking-back', claim, read)) return 'refused';
  if (isRule(claim, read) || inSentence('condition', claim, read)) return 'refused';
  const type = isKnowledge ? 'KNOWLEDGE' : 'TOOL';
  const found = {
    type,
    words: object,
    claim: read.text.slice(from, tokens[claim.end - 1]!.end),
    isUnseen: kind === 'unseen',
    language: claim.language,
  } as const;
  if (asked === null || !isKnowledge || isLimit) return found;
  return { ...found, question: read.text.slice(tokens[asked.start]!.start, tokens[asked.end - 1]!.end) };
}

/** Whether a phrase takes what is said away from the assistant: "if I cannot", "your bank could not". */
function isOfAnother({ kind, start, end }: GapMatch, claim: GapMatch): boolean {
  if (kind === 'others') return start < claim.end;
  if (kind !== 'hypothetical') return false;
  return end <= claim.start || (isVerbFinal(claim.language) && start >= claim.end);
}

function touches(one: Segment, other: Segment): boolean {
  return one.start < other.end && other.start < one.end;
}

/** Whether a phrase begins within a claim and ends behind it. */
function goesOn({ start, end }: Segment, claim: Segment): boolean {
  return start > claim.start && start < claim.end && end > claim.end;
}

/** Whether something is asked back in the sentence of a phrase or behind it: no question that offers something. */
function asksAfter({ end, language }: GapMatch, read: Read): boolean {
  const { closings, matches } = read;
  const offers = matches.filter(({ kind, language: own }) => kind === 'offering' && own === language);
  let isOffer = false;
  for (let at = end - 1; at < closings.length; at++) {
    if (offers.some(({ start }) => start === at)) isOffer = true;
    if (at + 1 < closings.length && read.tokens[at + 1]!.before < BREAK.end) continue;
    if (closings[at] === '?' && !isOffer) return true;
    isOffer = false;
  }
  return false;
}

/** Whether the sentence of a claim holds a phrase of a kind: "I can't look that up (without your number)". */
function inSentence(kind: GapPhraseKind, claim: GapMatch, { tokens, matches }: Read): boolean {
  const { language } = claim;
  const sentenceOf = (at: number): number => {
    let first = at;
    while (first > 0 && tokens[first]!.before < BREAK.end) first -= 1;
    return first;
  };
  const sentence = sentenceOf(claim.start);
  return matches.some(
    (match) => match.kind === kind && match.language === language && sentenceOf(match.start) === sentence,
  );
}

/** What one is unable to: right behind the phrase, or anywhere where verbs stand last. */
function isObject({ start, end }: GapMatch, claim: GapMatch): boolean {
  if (isVerbFinal(claim.language))
    return end <= claim.start || start >= claim.end || (start > claim.start && end < claim.end);
  return start >= claim.end - 1 && start <= claim.end + 1 && end > claim.end;
}

function isVerbFinal(language: string): boolean {
  return LANGUAGES.get(language)?.verbFinal ?? true;
}

/** "We cannot (deliver to islands)": a rule of the business, not an ability. */
function isRule({ kind, language, start, end }: GapMatch, { tokens, matches, clauses }: Read): boolean {
  if (kind !== 'unable' || !tokens.slice(start, end).some(({ key }) => saysWe(language, key))) return false;
  const clause = clauses.find((one) => one.start <= start && start < one.end);
  return matches.some(
    (match) =>
      match.kind === 'rule' &&
      match.language === language &&
      match.start >= end &&
      match.end <= (clause?.end ?? 0),
  );
}

/** "Help with (refunds)": a few words of which the lexicon knows what they ask for. */
function namesKnownThing(words: string, language: string): boolean {
  if (words.split(' ').length > MOST_HELP_WORDS) return false;
  const { thing, action } = requestParts(words, language);
  return action !== null && thing.length > 0;
}

interface Segment {
  readonly start: number;
  readonly end: number;
}

/** The stretch of the sentence that a phrase stands in: up to commas, dashes and words such as "because". */
function segmentOf(claim: GapMatch, read: Read): Segment {
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

/** Whether a mark parts a token from the one before: "e-mail" is one piece. */
function isParted({ text, tokens }: Pick<Read, 'text' | 'tokens'>, at: number): boolean {
  const { before, start } = tokens[at]!;
  return (
    before >= BREAK.mark && !(before === BREAK.mark && JOINS.has(text.slice(tokens[at - 1]?.end ?? 0, start)))
  );
}

/**
 * The question that a claim has no answer to: right behind it ("I don't know (when the ferry leaves)"), else the clause
 * before it ("(Wann die Fähre ablegt), weiß ich nicht"), in the same sentence.
 */
function questionOf(claim: GapMatch, segment: Segment, { text, tokens, matches }: Read): Segment | null {
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

/** What a range says is missing. */
function wordsOf(range: Segment, claim: GapMatch, read: Read): string {
  const within = read.matches.filter(
    ({ language, start, end }) => language === claim.language && start >= range.start && end <= range.end,
  );
  return objectOf(claim, range, read, within);
}

/** Whether a phrase shares a word with a claim, or follows it at once. */
function isNear(one: Segment, claim: Segment): boolean {
  return one.start <= claim.end + 1 && one.end >= claim.start;
}

/** The words of a segment that say what is missing: all but the phrase and what stands aside. */
function objectOf(
  claim: GapMatch,
  { start, end }: Segment,
  { text, tokens }: Read,
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

/** Drops the words of the phrase, and keeps what stands in its gaps: "habe ich nichts zum (Herkunftsland) gefunden". */
function dropFrame(
  { language, phrase, start, end }: GapMatch,
  tokens: Read['tokens'],
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
