/**
 * Finds the claims of an assistant that it cannot do or does not know something. `gaps.ts` decides whether the turn has
 * a gap.
 *
 * Test: test/reader/acts/gap-claims.test.ts.
 */
import type { MissingAbility } from '../../domain/facts.ts';
import { claimActOf, ClaimRead } from './tables/claim.ts';
import { gapMatcher, type GapMatch, type GapPhraseKind, type GapRead } from './gap-phrases.ts';
import { isVerse, quotedSpans } from './quoted-text.ts';

/** The result of the search: the missing ability, if there is one. */
export interface GapFinding {
  readonly missing: MissingAbility | null;
  /** True if an inability was found, but only as a refusal, a question back or the like. */
  readonly isExcused: boolean;
}

const NOTHING: GapFinding = { missing: null, isExcused: false };
const EXCUSED: GapFinding = { missing: null, isExcused: true };

/** Strength of each kind of claim; a weaker one counts only if there is no stronger one. */
const STRENGTH: Partial<Record<GapPhraseKind, number>> = {
  unseen: 4,
  unable: 3,
  unknown: 2,
  failed: 1,
  'not-found': 1,
};

/** True if a text holds a phrase of an inability, whatever the phrase means there. */
export function claimsIn(text: string): boolean {
  return gapMatcher()
    .match(text)
    .matches.some(({ kind }) => STRENGTH[kind] !== undefined);
}

/** Least length of a message that opens with a disclaimer and answers all the same, UTF-16 units. */
const LONG_BEHIND_DISCLAIMER = 220;

/** Finds the first inability of the strongest kind. Takes linear time. */
export function findGap(text: string): GapFinding {
  const read = gapMatcher().match(text);
  const claims = claimsOf(read);
  if (claims.length === 0) return NOTHING;
  if (isVerse(text)) return EXCUSED;
  const has = (kind: GapPhraseKind): boolean => read.matches.some((match) => match.kind === kind);
  const isPolicy = has('policy');
  const isUnclear = has('clarifying');
  const isDisclaimer = has('disclaimer') && read.text.length > LONG_BEHIND_DISCLAIMER;
  let best: MissingAbility | null = null;
  let strength = 0;
  let isExcused = false;
  for (const claimed of claims) {
    const own = STRENGTH[claimed.claim.kind]!;
    if (own <= strength) continue;
    const act = claimActOf(claimed);
    if (act === 'none') continue;
    if (act === 'refuse' || isPolicy || isDisclaimer || (isUnclear && own < 3)) {
      isExcused = true;
      continue;
    }
    best = missingOf(claimed, act);
    strength = own;
  }
  if (best !== null) return { missing: best, isExcused: false };
  return isExcused ? EXCUSED : NOTHING;
}

/** The claims of a message, in the order of the text. */
export function claimsOf(read: GapRead): ClaimRead[] {
  const claims = read.matches.filter(({ kind }) => STRENGTH[kind] !== undefined);
  if (claims.length === 0) return [];
  const quoted = quotedSpans(read.text);
  return longest(claims).map((claim) => new ClaimRead(claim, read, quoted));
}

/** Keeps, of overlapping phrases of one kind, the longest; in the order of the text. */
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

function missingOf(claimed: ClaimRead, act: 'unknown' | 'unable'): MissingAbility {
  const { claim, read, object, from, question, isLimit } = claimed;
  const { text, tokens } = read;
  const found = {
    type: act === 'unknown' ? 'KNOWLEDGE' : 'TOOL',
    words: object,
    claim: text.slice(from, tokens[claim.end - 1]!.end),
    isUnseen: claim.kind === 'unseen',
    language: claim.language,
  } as const;
  if (question === null || act !== 'unknown' || isLimit) return found;
  return { ...found, question: text.slice(tokens[question.start]!.start, tokens[question.end - 1]!.end) };
}
