/** The phrases that tell what a user turn is: `lexicon/<language>/turns.json`. */
import { loadPhraseFiles, type PhraseFile } from '../phrases/phrase-files.ts';
import { PhraseMatcher } from '../phrases/phrase-matcher.ts';
import { CourtesyWords } from './courtesy-words.ts';
import { isKeyboardNoise } from './keyboard-noise.ts';

/** What a phrase says of the turn that it stands in. */
export const TURN_PHRASE_KINDS = [
  /** Greetings, thanks, farewells. */
  'courtesy',
  /** Belongs to the courtesy, or to the other tail, that it follows: "(thanks) so much for your help". */
  'courtesy-tail',
  /** Yes and no, praise, politeness, sounds. */
  'filler',
  /** Looks like a courtesy with a slip of the hand, and is another word. */
  'no-courtesy',
  /** How one is, jokes, the meaning of life. */
  'small-talk',
  /** What one thinks of the answer, and other talk about the talk. */
  'about-answer',
  /** "It works now", of what was discussed. */
  'works-now',
  /** Announces who one is or how one can be reached: the words behind it are the value. */
  'field',
  /** What such data is called: "account number". */
  'bare-field',
  /** No value begins with it: "my email is wrong". */
  'no-value',
  /** Numbers, dates, sizes: what answers a question back. */
  'small-answer',
  /** A sentence that only gives data. */
  'data',
  /** Says who speaks, before a name. */
  'introduction',
  /** A wish, a question or a command. */
  'asking',
  /** The same, when another word follows: "please". */
  'asks-for',
  /** Something is wrong. */
  'problem',
  /** The same, when another word follows: "not". */
  'denies',
  /** Asks for help and names nothing. */
  'general-help',
  /** Leads up to what the sentence says. */
  'lead',
  /** Asks the assistant about itself. */
  'about-assistant',
  /** Belongs to such a question: "(are you a robot) or a real person". */
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

/** `no-courtesy` is looked up and not matched. */
function withoutOthers(file: PhraseFile<TurnPhraseKind>): PhraseFile<TurnPhraseKind> {
  const kinds = Object.entries(file.kinds).filter(([kind]) => kind !== 'no-courtesy');
  return { ...file, kinds: Object.fromEntries(kinds) };
}

/** Made when it is first needed. Throws SetupError when a file cannot be used. */
export function turnMatcher(): PhraseMatcher<TurnPhraseKind> {
  return load().matcher;
}

/** What requests to the assistant about itself are called in a language. */
export function nameOfAboutAssistant(language: string): string {
  return load().names.get(language) ?? '';
}

/** Letters: of shorter words all that are talk stand in the lexicon as they are. */
const SHORTEST_TYPED = 4;
/** So many words are remembered; how many, changes no result. */
const REMEMBERED = 20_000;
const typed = new Map<string, boolean>();

/** Whether a word that no phrase holds is a courtesy, run together or with a slip, or noise of the keyboard. */
export function isTypedTalk(key: string): boolean {
  if (key.length < SHORTEST_TYPED) return false;
  let isTalk = typed.get(key);
  if (isTalk !== undefined) return isTalk;
  if (typed.size >= REMEMBERED) typed.clear();
  isTalk = load().courtesies.has(key) || isKeyboardNoise(key);
  typed.set(key, isTalk);
  return isTalk;
}
