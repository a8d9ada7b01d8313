/**
 * The phrases with which assistants say what they cannot do or do not know: `lexicon/<language>/gaps.json`, loaded on
 * first use.
 *
 * Test: test/reader/acts/gap-triggers.test.ts, test/reader/acts/tables/act-tables.test.ts.
 */
import { LANGUAGES } from '../document/lexicon.ts';
import { once } from '../document/once.ts';
import { loadPhraseFiles } from '../phrases/phrase-files.ts';
import { PhraseMatcher, type Match, type MatchedText } from '../phrases/phrase-matcher.ts';
import { phraseKey, readText } from '../phrases/read-text.ts';

/** The kinds of phrases, by what each says. */
export const GAP_PHRASE_KINDS = [
  /** The assistant cannot do something: TOOL. */
  'unable',
  /** The assistant has no access to something, or cannot see it: TOOL. */
  'unseen',
  /** The assistant does not know something: KNOWLEDGE. */
  'unknown',
  /** A search found nothing, or the thing is not on offer: KNOWLEDGE, unless it was a record of the user's. */
  'not-found',
  /** An action did not succeed: TOOL. */
  'failed',
  /** The search was for a record of the user's. */
  'lookup',
  /** A verb of telling or finding: after "cannot" it makes a gap KNOWLEDGE. */
  'knowing',
  /** A verb of advising, promising or feeling: after "cannot" there is no gap. */
  'refusing',
  /** A verb of helping: after "cannot" there is no gap, unless the help is with something known. */
  'helping',
  /** All that the assistant can do: what follows is no inability. */
  'limit',
  /** A disclaimer of what the assistant is or is not: a long message after it is an answer. */
  'disclaimer',
  /** A rule of a business: with "we cannot" it is no gap. */
  'rule',
  /** Principles, law and safety: the turn refuses. */
  'policy',
  /** The request was not understood. */
  'clarifying',
  /** A condition under which the assistant could: "without your number", "only the owner may". */
  'condition',
  /** Names what the user means, has or wants: with a question after it, the turn asks back. */
  'asking-back',
  /** A question that offers something, so it does not ask back. */
  'offering',
  /** The assistant is not allowed to: before telling, it refuses. */
  'forbidden',
  /** Somebody else could not. */
  'others',
  /** Begins a clause that names what is not known: "whether", "when". */
  'asked',
  /** Begins a clause that states nothing: "if I cannot". */
  'hypothetical',
  /** An aside that says nothing about what is missing: "unfortunately", "from here". */
  'aside',
  /** A word at the edge of the missing thing that does not belong to it: "about". */
  'edge',
  /** Begins a clause on something else: "because". */
  'divider',
] as const;

export type GapPhraseKind = (typeof GAP_PHRASE_KINDS)[number];
export type GapMatch = Match<GapPhraseKind>;
/** A message with the phrases of gaps in it. */
export type GapRead = MatchedText<GapPhraseKind>;

/** Loaded on first use; the maps below are filled later. */
const shipped = once(() => {
  const files = loadPhraseFiles({ purpose: 'gaps', kinds: GAP_PHRASE_KINDS, checked: false });
  return {
    matcher: new PhraseMatcher(files, { inOneLanguage: true }),
    files: new Map(files.map((file) => [file.language, file])),
    /** Keys of the words for "we", by language. */
    we: new Map<string, ReadonlySet<string>>(),
    /** Keys of the words for information in general, by language. */
    information: new Map<string, ReadonlySet<string>>(),
    /** Frames (`frameOf`), by language and phrase. */
    frames: new Map<string, readonly string[]>(),
  };
});

/** The matcher of the shipped phrases. Throws SetupError if a file cannot be used. */
export function gapMatcher(): PhraseMatcher<GapPhraseKind> {
  return shipped().matcher;
}

/** True if a token of a language says "we". */
export function saysWe(language: string, key: string): boolean {
  const { files, we } = shipped();
  let keys = we.get(language);
  if (keys === undefined) {
    keys = new Set(files.get(language)?.classes.get('we')?.map(phraseKey));
    we.set(language, keys);
  }
  return keys.has(key);
}

/** True if a token of a language means information in general: "information", "records". */
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
 * Keys of the tokens that a lexicon phrase consists of; a run of characters is one key. The other tokens of a match
 * fill the phrase's gaps, and name what is missing.
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

/** True if a phrase is the object of a claim: directly after it, or anywhere in a verb-final language. */
export function isObject({ start, end }: GapMatch, claim: GapMatch): boolean {
  if (isVerbFinal(claim.language))
    return end <= claim.start || start >= claim.end || (start > claim.start && end < claim.end);
  return start >= claim.end - 1 && start <= claim.end + 1 && end > claim.end;
}

/** True if the verb may follow its object in the language, and for unknown languages. */
export function isVerbFinal(language: string): boolean {
  return LANGUAGES.get(language)?.verbFinal ?? true;
}
