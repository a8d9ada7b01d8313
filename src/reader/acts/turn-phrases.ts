/**
 * The phrases that tell what a user turn is: `lexicon/<language>/turns.json`, loaded on first use.
 *
 * Test: test/reader/acts/courtesy-words.test.ts, test/reader/acts/turn-kinds.test.ts.
 */
import { memoise } from '../document/word-cache.ts';
import { loadPhraseFiles, type PhraseFile } from '../phrases/phrase-files.ts';
import { PhraseMatcher } from '../phrases/phrase-matcher.ts';
import { CourtesyWords } from './courtesy-words.ts';
import { isKeyboardNoise } from './keyboard-noise.ts';

/** The kinds of phrases, by what each says of its turn. */
export const TURN_PHRASE_KINDS = [
  /** Greetings, thanks, farewells. */
  'courtesy',
  /** A tail that belongs to the courtesy or tail before it: "(thanks) so much for your help". */
  'courtesy-tail',
  /** Yes and no, praise, politeness, sounds. */
  'filler',
  /** Looks like a misspelt courtesy, and is another word. */
  'no-courtesy',
  /** Small talk: how one is, jokes, the meaning of life. */
  'small-talk',
  /** Judges the answer, or talks about the talk. */
  'about-answer',
  /** "It works now", about the matter under discussion. */
  'works-now',
  /** Announces a name or contact data: the words after it are the value. */
  'field',
  /** The name of such data: "account number". */
  'bare-field',
  /** Begins no value: "my email is wrong". */
  'no-value',
  /** Numbers, dates, sizes: answers to a question back. */
  'small-answer',
  /** A sentence that only gives data. */
  'data',
  /** Introduces the speaker, before a name. */
  'introduction',
  /** A wish, a question or a command. */
  'asking',
  /** A wish, question or command if another word follows: "please". */
  'asks-for',
  /** Says that something is wrong. */
  'problem',
  /** Says that something is wrong if another word follows: "not". */
  'denies',
  /** Asks for help and names nothing. */
  'general-help',
  /** Leads up to what the sentence says. */
  'lead',
  /** Asks the assistant about itself. */
  'about-assistant',
  /** A tail that belongs to such a question: "(are you a robot) or a real person". */
  'about-tail',
] as const;

export type TurnPhraseKind = (typeof TURN_PHRASE_KINDS)[number];

interface Loaded {
  readonly matcher: PhraseMatcher<TurnPhraseKind>;
  readonly names: ReadonlyMap<string, string>;
  readonly courtesies: CourtesyWords;
}

let loaded: Loaded | null = null;

function load(): Loaded {
  if (loaded !== null) return loaded;
  const files = loadPhraseFiles({ purpose: 'turns', kinds: TURN_PHRASE_KINDS, checked: false });
  const names = files.map(({ language, names: of }) => [language, of['about-assistant'] ?? ''] as const);
  loaded = {
    matcher: new PhraseMatcher(files.map(withoutOthers)),
    names: new Map(names),
    courtesies: new CourtesyWords(files),
  };
  return loaded;
}

/** Leaves out `no-courtesy`, which `CourtesyWords` looks up. */
function withoutOthers(file: PhraseFile<TurnPhraseKind>): PhraseFile<TurnPhraseKind> {
  const kinds = Object.entries(file.kinds).filter(([kind]) => kind !== 'no-courtesy');
  return { ...file, kinds: Object.fromEntries(kinds) };
}

/** The matcher of all kinds, loaded on first use. Throws SetupError if a file cannot be used. */
export function turnMatcher(): PhraseMatcher<TurnPhraseKind> {
  return load().matcher;
}

/** The name in a language of the topic of requests to the assistant about itself. */
export function nameOfAboutAssistant(language: string): string {
  return load().names.get(language) ?? '';
}

/** Least letters of a typed courtesy or noise: the lexicon lists all shorter words of talk. */
const SHORTEST_TYPED = 4;

/** True if a word in no phrase is a courtesy, run together or misspelt, or keyboard noise. */
export const isTypedTalk = memoise(
  (key) => key.length >= SHORTEST_TYPED && (load().courtesies.has(key) || isKeyboardNoise(key)),
);
