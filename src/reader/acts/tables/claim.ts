/**
 * The act of an assistant's claim: "I cannot …" may lack an ability or knowledge, refuse, or speak of somebody else.
 *
 * Test: test/reader/acts/tables/act-tables.test.ts, test/reader/acts/gap-claims.test.ts.
 */
import { BREAK } from '../../phrases/read-text.ts';
import { requestParts } from '../../document/request-parts.ts';
import {
  isObject,
  isVerbFinal,
  saysWe,
  type GapMatch,
  type GapPhraseKind,
  type GapRead,
} from '../gap-phrases.ts';
import { isNear, objectOf, questionOf, segmentOf, wordsOf, type Segment } from '../missing-words.ts';
import { firstRule, type ActRule } from './act-table.ts';

/** Most words of a thing that the assistant cannot help with; a longer text gives the reason of a refusal. */
const MOST_HELP_WORDS = 2;

/** `unable` and `unknown`: an ability or knowledge is missing. `none`: the assistant claims nothing of itself. */
export type ClaimAct = 'none' | 'refuse' | 'unknown' | 'unable';

/** A claim within its message, for the rules below. Each property is computed once. */
export class ClaimRead {
  readonly claim: GapMatch;
  readonly read: GapRead;
  readonly quoted: readonly Span[];
  #segment: Segment | undefined;
  #within: readonly GapMatch[] | undefined;
  #question: Segment | null | undefined;
  #object: string | undefined;
  #candidates: readonly GapMatch[] | undefined;

  /** `quoted`: spans of the text that others say, UTF-16 units. */
  constructor(claim: GapMatch, read: GapRead, quoted: readonly Span[]) {
    this.claim = claim;
    this.read = read;
    this.quoted = quoted;
  }

  /** The segment of the sentence around the claim. */
  get segment(): Segment {
    return (this.#segment ??= segmentOf(this.claim, this.read));
  }

  /** The phrases of the claim's language in its segment. */
  get within(): readonly GapMatch[] {
    const { language } = this.claim;
    return (this.#within ??= this.read.matches.filter(
      (match) =>
        match.language === language && match.start >= this.segment.start && match.end <= this.segment.end,
    ));
  }

  /** Index in the text at which the claim begins, UTF-16 units. */
  get from(): number {
    return this.read.tokens[this.claim.start]!.start;
  }

  /** True if the claim states all that the assistant can do: what follows is not missing. */
  get isLimit(): boolean {
    return this.within.some((match) => match.kind === 'limit' && isNear(match, this.claim));
  }

  /** The question that the claim has no answer to; null if there is none. */
  get question(): Segment | null {
    const { kind } = this.claim;
    if (kind !== 'unknown' && kind !== 'unable') return null;
    return (this.#question ??= questionOf(this.claim, this.segment, this.read));
  }

  /** The words that name what is missing; '' if there are none. */
  get object(): string {
    return (this.#object ??= this.#readObject());
  }

  #readObject(): string {
    const own = objectOf(this.claim, this.segment, this.read, this.within);
    if (this.isLimit) return '';
    return own === '' && this.question !== null ? wordsOf(this.question, this.claim, this.read) : own;
  }

  /** True if the claim is about knowing, by itself or by the verb after it: "I cannot say". */
  get isKnowledge(): boolean {
    const { kind } = this.claim;
    return kind === 'unknown' || kind === 'not-found' || (kind === 'unable' && this.governs('knowing'));
  }

  /** True if the assistant is not allowed to, rather than unable to. */
  get isForbidden(): boolean {
    const { claim } = this;
    return this.within.some(
      ({ kind, start, end }) => kind === 'forbidden' && start < claim.end && claim.start < end,
    );
  }

  /** True if a question back follows. */
  get asks(): boolean {
    return asksAfter(this.claim, this.read);
  }

  /** True if the claim's segment holds a phrase of the kind. */
  holds(kind: GapPhraseKind): boolean {
    return this.within.some((match) => match.kind === kind);
  }

  /** True if the claim's sentence holds a phrase of the kind: "I can't look that up (without your number)". */
  sentenceHolds(kind: GapPhraseKind): boolean {
    return inSentence(kind, this.claim, this.read);
  }

  /** True if a phrase of the kind is what the assistant is unable to do. */
  governs(kind: GapPhraseKind): boolean {
    return this.#near.some((match) => match.kind === kind && isObject(match, this.claim));
  }

  /** True if a phrase of the kind begins inside the claim and ends after it. */
  goesOnWith(kind: GapPhraseKind): boolean {
    const { start, end } = this.claim;
    return this.#near.some(
      (match) => match.kind === kind && match.start > start && match.start < end && match.end > end,
    );
  }

  /**
   * The phrases that may be the claim's object. In a verb-final language, all in the segment; else also those of a
   * clause after it: "tell you (if she applied)".
   */
  get #near(): readonly GapMatch[] {
    const { language } = this.claim;
    return (this.#candidates ??= isVerbFinal(language)
      ? this.within
      : this.read.matches.filter((match) => match.language === language));
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Exported for its test; use `claimActOf`. */
export const CLAIM_ACTS: readonly ActRule<ClaimRead, ClaimAct>[] = [
  {
    act: 'none',
    when: ({ from, quoted }) => quoted.some(({ start, end }) => start <= from && from < end),
    example: 'It means: "I can\'t swim."',
  },
  {
    act: 'none',
    when: ({ claim, within }) => within.some((match) => isOfAnother(match, claim)),
    example: "When I can't reach you by phone, I write a letter.",
  },
  {
    act: 'refuse',
    when: (claimed) => claimed.claim.kind === 'unknown' && claimed.goesOnWith('refusing'),
    example: "I can't tell you which shares to buy.",
  },
  {
    act: 'refuse',
    when: (claimed) => claimed.claim.kind === 'unable' && claimed.governs('refusing'),
    example: "I can't promise you calm weather.",
  },
  {
    act: 'refuse',
    when: (claimed) =>
      claimed.claim.kind === 'unable' &&
      claimed.governs('helping') &&
      !namesKnownThing(claimed.object, claimed.claim.language),
    example: "I can't help you break into a boat.",
  },
  {
    act: 'refuse',
    when: (claimed) => claimed.claim.kind === 'unable' && claimed.governs('knowing') && claimed.isForbidden,
    example: 'Was Ihr Nachbar für den Liegeplatz zahlt, darf ich Ihnen nicht sagen.',
  },
  {
    act: 'refuse',
    when: (claimed) => claimed.holds('lookup') && (claimed.isKnowledge || claimed.asks),
    example: "I couldn't find that booking. Could you check the number?",
  },
  {
    act: 'refuse',
    when: (claimed) => claimed.isKnowledge && claimed.asks && claimed.sentenceHolds('asking-back'),
    example: 'Das Modell kenne ich nicht. Steht etwas auf dem Typenschild?',
  },
  {
    act: 'refuse',
    when: ({ claim, read }) => isRule(claim, read),
    example: "We can't rent boats after sunset.",
  },
  {
    act: 'refuse',
    when: (claimed) => claimed.sentenceHolds('condition'),
    example: "I can't look the boat up without its registration.",
  },
  {
    act: 'unknown',
    when: ({ isKnowledge }) => isKnowledge,
    example: "I don't know when the ferry leaves.",
  },
  { act: 'unable', example: "I can't move your piano lesson." },
];

/** The act of a claim. */
export function claimActOf(claimed: ClaimRead): ClaimAct {
  return firstRule(CLAIM_ACTS, claimed).act;
}

/** True if a phrase attributes the claim to somebody else or to a condition: "if I cannot", "your bank could not". */
function isOfAnother({ kind, start, end }: GapMatch, claim: GapMatch): boolean {
  if (kind === 'others') return start < claim.end;
  if (kind !== 'hypothetical') return false;
  return end <= claim.start || (isVerbFinal(claim.language) && start >= claim.end);
}

/** True if a question back, which offers nothing, stands in the claim's sentence or after it. */
function asksAfter({ end, language }: GapMatch, read: GapRead): boolean {
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

/** True if the sentence of a claim holds a phrase of the kind: "I can't look that up (without your number)". */
function inSentence(kind: GapPhraseKind, claim: GapMatch, { tokens, matches }: GapRead): boolean {
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

/** True for "We cannot (deliver to islands)": a rule of the business, not an ability. */
function isRule({ kind, language, start, end }: GapMatch, { tokens, matches, clauses }: GapRead): boolean {
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

/** True for "help with (refunds)": a few words whose action and thing the lexicon knows. */
function namesKnownThing(words: string, language: string): boolean {
  if (words.split(' ').length > MOST_HELP_WORDS) return false;
  const { thing, action } = requestParts(words, language);
  return action !== null && thing.length > 0;
}
