/**
 * A sentence of a user turn with its matched phrases, and its substance: the text without phrases that say nothing of
 * what the turn is about.
 *
 * Test: test/reader/acts/read-sentence.test.ts.
 */
import { fold } from '../document/normalise.ts';
import type { Match, MatchedText } from '../phrases/phrase-matcher.ts';
import { BREAK } from '../phrases/read-text.ts';
import { isFoldedStopWord } from '../document/words.ts';
import { isTypedTalk, turnMatcher, type TurnPhraseKind } from './turn-phrases.ts';

type TurnMatch = Match<TurnPhraseKind>;

/** Mark of a token: 0 if it belongs to the substance, else why it does not. */
const HELD = { none: 0, answer: 1, talk: 2 } as const;

export interface ReadSentence {
  /** The text as written. */
  readonly text: string;
  readonly folded: string;
  /** The phrases, matched in the text without mail and page addresses. */
  readonly matched: MatchedText<TurnPhraseKind>;
  /** The mark of each token, a value of HELD. */
  readonly held: Uint8Array;
}

/** Kinds of phrases that never belong to the substance. */
const TALK: ReadonlySet<TurnPhraseKind> = new Set([
  'courtesy',
  'filler',
  'small-talk',
  'about-answer',
  'works-now',
] satisfies TurnPhraseKind[]);
/** Most words of a name, a number or an address. */
const MOST_OF_VALUE = 6;
const ADDRESS = /(?<!\S)[^\s@]{1,64}@[^\s@]{1,64}|(?<!\S)https?:\/\/\S{1,200}/gu;

/** Reads one sentence. */
export function readSentence(text: string): ReadSentence {
  const matched = turnMatcher().match(withoutAddress(text));
  return { text, folded: fold(text), matched, held: heldTokens(matched) };
}

function withoutAddress(text: string): string {
  return text.includes('@') || text.includes('//') ? text.replace(ADDRESS, ' ') : text;
}

function heldTokens(matched: MatchedText<TurnPhraseKind>): Uint8Array {
  const { tokens, matches } = matched;
  const held = new Uint8Array(tokens.length);
  let hasField = false;
  // Matches come in the order of their ends, so a tail comes after the phrase that it belongs to.
  for (const { kind, start, end } of matches) {
    if (kind === 'courtesy') held.fill(HELD.talk, start, end);
    else if (kind === 'courtesy-tail') extend(held, start, end);
    else if (kind === 'field') hasField = true;
  }
  for (const { kind, start, end } of matches)
    if (TALK.has(kind)) held.fill(HELD.talk, start, end);
    else if (kind === 'small-answer')
      for (let at = start; at < end; at++) if (held[at] === HELD.none) held[at] = HELD.answer;
  if (hasField)
    for (const field of ofKind(matched, 'field')) {
      const end = endOfValue(field, matched);
      if (end > field.end) held.fill(HELD.talk, field.start, end);
    }
  for (let at = 0; at < tokens.length; at++) {
    const { key, isCharacter } = tokens[at]!;
    if (held[at] === HELD.none && !isCharacter && isTypedTalk(key)) held[at] = HELD.talk;
  }
  return held;
}

/** Marks a tail that directly follows marked tokens. */
function extend(held: Uint8Array, start: number, end: number): void {
  if (start > 0 && held[start - 1] === HELD.talk) held.fill(HELD.talk, start, end);
}

/** The matches of one kind, in the order of their ends. */
export function ofKind({ matches }: MatchedText<TurnPhraseKind>, kind: TurnPhraseKind): TurnMatch[] {
  return matches.filter((match) => match.kind === kind);
}

/** Index of the token at which the value of a field ends: at a mark, or at a word that no value has. */
function endOfValue({ end }: TurnMatch, matched: MatchedText<TurnPhraseKind>): number {
  const { tokens } = matched;
  const stops = new Set(ofKind(matched, 'no-value').map(({ start }) => start));
  let at = end;
  while (
    at < tokens.length &&
    at < end + MOST_OF_VALUE &&
    !stops.has(at) &&
    (at === end || tokens[at]!.before < BREAK.mark)
  )
    at += 1;
  return at;
}

export interface LeftOut {
  /** True: leaves out numbers, dates and sizes too. */
  readonly answers?: boolean;
  /** Further kinds to leave out. */
  readonly also?: readonly TurnPhraseKind[];
  /** Index of the first token that is read. */
  readonly from?: number;
}

/** The substance of a sentence, folded. */
export function substanceOf(
  { folded, matched, held }: ReadSentence,
  { answers = false, also = [], from = 0 }: LeftOut = {},
): string {
  const gone = also.length === 0 ? held : withKinds(matched, held, also);
  const { text, tokens } = matched;
  let rest = '';
  let end = from === 0 ? 0 : tokens[from]!.start;
  for (let at = from; at < tokens.length; at++) {
    if (gone[at] === HELD.none || (gone[at] === HELD.answer && !answers)) continue;
    rest += `${text.slice(end, tokens[at]!.start)} `;
    end = tokens[at]!.end;
  }
  return end === 0 && text.length === folded.length ? folded : fold(rest + text.slice(end));
}

function withKinds(
  matched: MatchedText<TurnPhraseKind>,
  held: Uint8Array,
  kinds: readonly TurnPhraseKind[],
): Uint8Array {
  const all = held.slice();
  for (const { kind, start, end } of matched.matches)
    if (kinds.includes(kind)) all.fill(HELD.talk, start, end);
    else if (kind === 'about-tail') extend(all, start, end);
  return all;
}

/** True if the sentence holds a phrase of the kind. */
export function says({ matched }: ReadSentence, kind: TurnPhraseKind): boolean {
  return matched.matches.some((match) => match.kind === kind);
}

/** True if the sentence holds a phrase of the kind with another word after it. */
export function saysBefore({ matched }: ReadSentence, kind: TurnPhraseKind): boolean {
  const { tokens } = matched;
  return ofKind(matched, kind).some(({ end }) => end < tokens.length && tokens[end]!.before < BREAK.mark);
}

/** True if a content word follows a wish: "I'd like to book it", not "that is what I need". */
export function wishesMore({ matched, held }: ReadSentence): boolean {
  const { tokens } = matched;
  const idle = held.slice();
  for (const { kind, start, end } of matched.matches)
    if (kind === 'asking' || kind === 'courtesy-tail') idle.fill(HELD.talk, start, end);
  const says = (key: string, at: number): boolean =>
    idle[at] === HELD.none && key.length > 1 && !isFoldedStopWord(key);
  return ofKind(matched, 'asking').some(({ end }) => {
    for (let at = end; at < tokens.length && tokens[at]!.before < BREAK.end; at++)
      if (says(tokens[at]!.key, at)) return true;
    return false;
  });
}
