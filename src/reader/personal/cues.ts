/**
 * The cues: phrases of `lexicon/<language>/personal.json` beside which personal data stands, of all languages in one
 * trie over words.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { once } from '../document/once.ts';
import { FIGURES } from './figures.ts';
import { everyPhrase, everyWord, PERSONAL_LANGUAGES, type PersonalSection } from './personal-lexicon.ts';
import { eachRun } from './runs.ts';
import { DIGIT_WORDS, lowerOf } from './vocabulary.ts';

const SECTIONS = [
  'introductions',
  'nameFields',
  'presentations',
  'greetings',
  'titles',
  'persons',
  'roles',
  'heldUnder',
  'signOffs',
  'here',
  'numbered',
  'calls',
  'secrets',
  'userNames',
  'births',
  'addressCues',
  'deeds',
  'figures',
] as const satisfies readonly (PersonalSection | 'figures')[];

export type CueKind = (typeof SECTIONS)[number];

/** One bit per kind. */
export const CUE = Object.fromEntries(SECTIONS.map((section, place) => [section, 1 << place])) as Readonly<
  Record<CueKind, number>
>;
/** Kinds after which a noun may follow as well as a name. */
const NOUNS_FOLLOW = ['presentations', 'persons', 'roles', 'heldUnder'] as const;
/** Bit of a cue in a language that capitalises every noun. */
export const NOUN_CAPITALS = 1 << SECTIONS.length;

export interface Cue {
  /** Index of its first piece, and of the one after its last. */
  readonly from: number;
  readonly to: number;
  /** Bits of the phrase's kinds. */
  readonly kinds: number;
}

/**
 * Bits of a word on its own. `smallName`: a listed name in lower case. `mayName`: a name may begin with it. `given`: a
 * given name without another meaning, written as names are.
 */
export const WORD = {
  at: 1,
  digit: 2,
  numberWord: 4,
  street: 8,
  link: 16,
  smallName: 32,
  mayName: 64,
  given: 128,
} as const;

/** A node of the trie: the phrases that continue with a word. */
export interface Node {
  kinds: number;
  next: Map<string, Node> | null;
  /** Bits of `WORD`, for a first word. */
  words: number;
}

type Level = Map<string, Node>;

function insert(root: Level, phrase: string, kinds: number): void {
  const words: string[] = [];
  eachRun(phrase, (start, end) => words.push(lowerOf(phrase.slice(start, end))));
  let level = root;
  for (const [place, word] of words.entries()) {
    const node = level.get(word) ?? { kinds: 0, next: null, words: 0 };
    level.set(word, node);
    if (place === words.length - 1) node.kinds |= kinds;
    else level = node.next ??= new Map();
  }
}

/** The root of the trie: the first words of all phrases. */
export const firstWords = once((): ReadonlyMap<string, Node> => {
  const root: Level = new Map();
  for (const [code, language] of PERSONAL_LANGUAGES) {
    const nouns = code === 'de' ? NOUN_CAPITALS : 0;
    for (const section of SECTIONS) {
      if (nouns !== 0 && NOUNS_FOLLOW.some((other) => other === section)) continue;
      if (section === 'figures') continue;
      for (const phrase of language[section]) insert(root, phrase, CUE[section]);
    }
  }
  // If a word is a cue in another language too, German's capitals do not matter: "man", "die".
  for (const section of NOUNS_FOLLOW) {
    const others = new Set(everyPhrase(section).filter((phrase) => !isGermanOnly(section, phrase)));
    for (const phrase of PERSONAL_LANGUAGES.get('de')?.[section] ?? [])
      insert(root, phrase, CUE[section] | (others.has(phrase) ? 0 : NOUN_CAPITALS));
  }
  mark(root, everyWord('at'), WORD.at);
  mark(root, DIGIT_WORDS, WORD.digit);
  mark(root, everyWord('numberWords'), WORD.numberWord);
  mark(root, everyPhrase('links'), WORD.link);
  mark(root, everyPhrase('streetsBefore'), WORD.street);
  mark(root, everyPhrase('streetsAfter'), WORD.street);
  for (const figure of FIGURES) {
    insert(root, figure, CUE.figures);
    insert(root, `${figure}'s`, CUE.figures);
  }
  return root;
});

function isGermanOnly(section: PersonalSection, phrase: string): boolean {
  return [...PERSONAL_LANGUAGES].every(
    ([code, language]) => code === 'de' || !language[section].includes(phrase),
  );
}

function mark(root: Level, words: Iterable<string>, bit: number): void {
  for (const word of words) {
    const node = root.get(word) ?? { kinds: 0, next: null, words: 0 };
    node.words |= bit;
    root.set(word, node);
  }
}
