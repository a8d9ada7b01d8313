/** The phrases with which assistants say what they cannot do or do not know: `lexicon/<language>/gaps.json`. */
import { LANGUAGES } from '../document/lexicon.ts';
import { once } from '../document/once.ts';
import { loadPhraseFiles } from '../phrases/phrase-files.ts';
import { PhraseMatcher, type Match, type MatchedText } from '../phrases/phrase-matcher.ts';
import { phraseKey, readText } from '../phrases/read-text.ts';

/** What a phrase of a gap says. */
export const GAP_PHRASE_KINDS = [
  /** It cannot do something: TOOL. */
  'unable',
  /** It has no access to something, or cannot see it: TOOL. */
  'unseen',
  /** It does not know something: KNOWLEDGE. */
  'unknown',
  /** A search found nothing, or the thing is not on offer: KNOWLEDGE, unless it was a record of the user's. */
  'not-found',
  /** An action did not succeed: TOOL. */
  'failed',
  /** What was looked for is a record of the user's. */
  'lookup',
  /** Behind "cannot": telling and finding, which makes it KNOWLEDGE. */
  'knowing',
  /** Behind "cannot": advising, promising, feeling, which makes it no gap. */
  'refusing',
  /** Behind "cannot": helping, which makes it no gap unless it is helping to do something known. */
  'helping',
  /** All that it can: what follows is no inability. */
  'limit',
  /** What it is or is not: a long answer behind it is an answer. */
  'disclaimer',
  /** What a business rules: with "we cannot" it is no gap. */
  'rule',
  /** Principles, law and safety: the turn refuses. */
  'policy',
  /** The request was not understood. */
  'clarifying',
  /** It could, if something were given: "without your number", "only the owner may". */
  'condition',
  /** What it does not know is what the user means, has or wants: with a question behind it, the turn asks back. */
  'asking-back',
  /** A question that offers something: it asks nothing back. */
  'offering',
  /** It may not: before telling, that refuses. */
  'forbidden',
  /** Somebody else who could not. */
  'others',
  /** Begins a clause that says what is not known: "whether", "when". */
  'asked',
  /** Begins a clause that states nothing: "if I cannot". */
  'hypothetical',
  /** Says nothing about what is missing: "unfortunately", "from here". */
  'aside',
  /** Says nothing at the edge of what is missing: "about". */
  'edge',
  /** Begins a clause that says something else: "because". */
  'divider',
] as const;

export type GapPhraseKind = (typeof GAP_PHRASE_KINDS)[number];
export type GapMatch = Match<GapPhraseKind>;
/** A message with the phrases of gaps in it. */
export type GapRead = MatchedText<GapPhraseKind>;

/** Read when they are first needed, with what is worked out from them later. */
const shipped = once(() => {
  const files = loadPhraseFiles({ purpose: 'gaps', kinds: GAP_PHRASE_KINDS, checked: false });
  return {
    matcher: new PhraseMatcher(files, { inOneLanguage: true }),
    files: new Map(files.map((file) => [file.language, file])),
    /** By language: what says "we". */
    we: new Map<string, ReadonlySet<string>>(),
    /** By language: what stands for whatever may be known. */
    information: new Map<string, ReadonlySet<string>>(),
    /** By language and phrase. */
    frames: new Map<string, readonly string[]>(),
  };
});

/** Throws SetupError when a file cannot be used. */
export function gapMatcher(): PhraseMatcher<GapPhraseKind> {
  return shipped().matcher;
}

/** Whether a token of a language says "we". */
export function saysWe(language: string, key: string): boolean {
  const { files, we } = shipped();
  let keys = we.get(language);
  if (keys === undefined) {
    keys = new Set(files.get(language)?.classes.get('we')?.map(phraseKey));
    we.set(language, keys);
  }
  return keys.has(key);
}

/** Whether a token of a language stands for whatever may be known: "information", "records". */
export function saysInformation(language: string, key: string): boolean {
  const { files, information } = shipped();
  let keys = information.get(language);
  if (keys === undefined) {
    const classes = files.get(language)?.classes;
    keys = new Set(['info', 'source'].flatMap((name) => classes?.get(name) ?? []).map(phraseKey));
    information.set(language, keys);
  }
  return keys.has(key);
}

const SYNTAX = /…\d*|[\^$()|?]/gu;

/**
 * The keys of the tokens that a phrase of the lexicon is made of, runs of characters in one: what else stands in a
 * match is a gap of the phrase, and tells what is missing.
 */
export function frameOf(language: string, phrase: string): readonly string[] {
  const name = `${language} ${phrase}`;
  const { files, frames } = shipped();
  const known = frames.get(name);
  if (known !== undefined) return known;
  const file = files.get(language);
  const words = phrase
    .replace(SYNTAX, ' ')
    .split(' ')
    .flatMap((word) => (word.startsWith('{') ? (file?.classes.get(word.slice(1, -1)) ?? []) : [word]))
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const keys = words.flatMap((word) => {
    const { tokens } = readText(word);
    const isRun = tokens.some(({ isCharacter }) => isCharacter);
    return isRun ? [tokens.map(({ key }) => key).join('')] : tokens.map(({ key }) => key);
  });
  const frame = [...new Set(keys)].sort((x, y) => y.length - x.length);
  frames.set(name, frame);
  return frame;
}

/** What one is unable to: right behind the phrase, or anywhere where verbs stand last. */
export function isObject({ start, end }: GapMatch, claim: GapMatch): boolean {
  if (isVerbFinal(claim.language))
    return end <= claim.start || start >= claim.end || (start > claim.start && end < claim.end);
  return start >= claim.end - 1 && start <= claim.end + 1 && end > claim.end;
}

export function isVerbFinal(language: string): boolean {
  return LANGUAGES.get(language)?.verbFinal ?? true;
}
