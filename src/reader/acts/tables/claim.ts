/**
 * What a claim of an assistant does: "I cannot …" may lack an ability or knowledge, refuse, or speak of somebody else.
 * Covered by test/reader/acts/tables/act-tables.test.ts and test/reader/acts/gap-claims.test.ts.
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

/** Words of a thing that it cannot help with; more say why it refuses. */
const MOST_HELP_WORDS = 2;

/** `unable` and `unknown`: an ability or knowledge is missing. `none`: it claims nothing of itself. */
export type ClaimAct = 'none' | 'refuse' | 'unknown' | 'unable';

/** A claim in its message. What is read of it more than once is kept. */
export class ClaimRead {
  readonly claim: GapMatch;
  readonly read: GapRead;
  readonly quoted: readonly Span[];
  #segment: Segment | undefined;
  #within: readonly GapMatch[] | undefined;
  #question: Segment | null | undefined;
  #object: string | undefined;
  #candidates: readonly GapMatch[] | undefined;

  /** `quoted`: UTF-16 units of the text that others say. */
  constructor(claim: GapMatch, read: GapRead, quoted: readonly Span[]) {
    this.claim = claim;
    this.read = read;
    this.quoted = quoted;
  }

  /** The stretch of its sentence that it stands in. */
  get segment(): Segment {
    return (this.#segment ??= segmentOf(this.claim, this.read));
  }

  /** The phrases of its language in its segment. */
  get within(): readonly GapMatch[] {
    const { language } = this.claim;
    return (this.#within ??= this.read.matches.filter(
      (match) =>
        match.language === language && match.start >= this.segment.start && match.end <= this.segment.end,
    ));
  }

  /** UTF-16 units of the text before it. */
  get from(): number {
    return this.read.tokens[this.claim.start]!.start;
  }

  /** It is all that the assistant can: what follows is not missing. */
  get isLimit(): boolean {
    return this.within.some((match) => match.kind === 'limit' && isNear(match, this.claim));
  }

  /** The question that it has no answer to; null: none is there. */
  get question(): Segment | null {
    const { kind } = this.claim;
    if (kind !== 'unknown' && kind !== 'unable') return null;
    return (this.#question ??= questionOf(this.claim, this.segment, this.read));
  }

  /** What is missing, '' where it is not said. */
  get object(): string {
    return (this.#object ??= this.#readObject());
  }

  #readObject(): string {
    const own = objectOf(this.claim, this.segment, this.read, this.within);
    if (this.isLimit) return '';
    return own === '' && this.question !== null ? wordsOf(this.question, this.claim, this.read) : own;
  }

  /** Whether the claim is of knowing, by itself or by the verb behind it: "I cannot say". */
  get isKnowledge(): boolean {
    const { kind } = this.claim;
    return kind === 'unknown' || kind === 'not-found' || (kind === 'unable' && this.governs('knowing'));
  }

  /** It may not, rather than cannot. */
  get isForbidden(): boolean {
    const { claim } = this;
    return this.within.some(
      ({ kind, start, end }) => kind === 'forbidden' && start < claim.end && claim.start < end,
    );
  }

  /** A question is asked back behind it. */
  get asks(): boolean {
    return asksAfter(this.claim, this.read);
  }

  /** Whether its clause holds a phrase of a kind. */
  holds(kind: GapPhraseKind): boolean {
    return this.within.some((match) => match.kind === kind);
  }

  /** Whether its sentence does: "I can't look that up (without your number)". */
  sentenceHolds(kind: GapPhraseKind): boolean {
    return inSentence(kind, this.claim, this.read);
  }

  /** Whether a phrase of a kind is what it is unable to do. */
  governs(kind: GapPhraseKind): boolean {
    return this.#near.some((match) => match.kind === kind && isObject(match, this.claim));
  }

  /** Whether a phrase of a kind begins in it and goes on behind it. */
  goesOnWith(kind: GapPhraseKind): boolean {
    const { start, end } = this.claim;
    return this.#near.some(
      (match) => match.kind === kind && match.start > start && match.start < end && match.end > end,
    );
  }

  /**
   * Where verbs stand last, any verb of the segment is the object's; else it stands behind the phrase, even if it opens
   * another clause: "tell you (if she applied)".
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

/** Exported for its test: `claimActOf` reads it. */
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

export function claimActOf(claimed: ClaimRead): ClaimAct {
  return firstRule(CLAIM_ACTS, claimed).act;
}

/** Whether a phrase takes what is said away from the assistant: "if I cannot", "your bank could not". */
function isOfAnother({ kind, start, end }: GapMatch, claim: GapMatch): boolean {
  if (kind === 'others') return start < claim.end;
  if (kind !== 'hypothetical') return false;
  return end <= claim.start || (isVerbFinal(claim.language) && start >= claim.end);
}

/** Whether something is asked back in the sentence of a phrase or behind it: no question that offers something. */
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

/** Whether the sentence of a claim holds a phrase of a kind: "I can't look that up (without your number)". */
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

/** "We cannot (deliver to islands)": a rule of the business, not an ability. */
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

/** "Help with (refunds)": a few words of which the lexicon knows what they ask for. */
function namesKnownThing(words: string, language: string): boolean {
  if (words.split(' ').length > MOST_HELP_WORDS) return false;
  const { thing, action } = requestParts(words, language);
  return action !== null && thing.length > 0;
}
