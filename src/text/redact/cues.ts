/** Finds the words of `lexicon/personal/` in a text: one trie over words for all languages, read from every word on. */
import { once } from '../once.ts';
import { FIGURES } from './figures.ts';
import { everyPhrase, everyWord, PERSONAL_LANGUAGES, type PersonalSection } from './personal-lexicon.ts';
import { piecesOf, type Piece } from './pieces.ts';
import { DIGIT_WORDS } from './spelled.ts';

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

/** Of each kind, one bit. */
export const CUE = Object.fromEntries(SECTIONS.map((section, place) => [section, 1 << place])) as Readonly<
  Record<CueKind, number>
>;
/** A noun may follow as well as a name. */
const NOUNS_FOLLOW = ['presentations', 'persons', 'roles', 'heldUnder'] as const;
/** Said in a language that writes every noun with a capital. */
export const NOUN_CAPITALS = 1 << SECTIONS.length;

export interface Cue {
  /** Of the first piece, and behind the last. */
  readonly from: number;
  readonly to: number;
  /** The kinds that the phrase has. */
  readonly kinds: number;
}

/** What a word may be by itself, one bit each. */
export const WORD = { at: 1, digit: 2, numberWord: 4, street: 8, link: 16 } as const;

interface Node {
  kinds: number;
  next: Map<string, Node> | null;
  /** Of a first word: bits of `WORD`. */
  words: number;
}

type Level = Map<string, Node>;

/** Words with single spaces: each is a piece, and in lower case already. */
const WORDS = /^[a-zà-öø-ÿа-я]+(?: [a-zà-öø-ÿа-я]+)*$/;

function insert(root: Level, phrase: string, kinds: number): void {
  let level = root;
  let node: Node | null = null;
  const words = WORDS.test(phrase) ? phrase.split(' ') : piecesOf(phrase).map(({ lower }) => lower);
  for (const word of words) {
    if (node !== null) level = node.next ??= new Map();
    node = level.get(word) ?? { kinds: 0, next: null, words: 0 };
    level.set(word, node);
  }
  if (node !== null) node.kinds |= kinds;
}

/** The first words of all phrases. */
const firstWords = once((): ReadonlyMap<string, Node> => {
  const root: Level = new Map();
  for (const [code, language] of PERSONAL_LANGUAGES) {
    const nouns = code === 'de' ? NOUN_CAPITALS : 0;
    for (const section of SECTIONS) {
      if (nouns !== 0 && NOUNS_FOLLOW.some((other) => other === section)) continue;
      if (section === 'figures') continue;
      for (const phrase of language[section]) insert(root, phrase, CUE[section]);
    }
  }
  // A word of another language outweighs the German one: "man", "die".
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

/** Longest phrases have so many pieces; the search from one word ends there. */
const LONGEST = 8;

export interface FoundCues {
  /** Every phrase that stands in the pieces, in order of its first piece, the longer one last. */
  readonly cues: readonly Cue[];
  /** Of each piece, bits of `WORD`; empty when no piece has one. */
  readonly words: Uint8Array;
  /** The bits of all pieces together. */
  readonly every: number;
}

const NO_WORDS = new Uint8Array(0);

export function cuesIn(pieces: readonly Piece[]): FoundCues {
  const cues: Cue[] = [];
  let words = NO_WORDS;
  let every = 0;
  const root = firstWords();
  for (let from = 0; from < pieces.length; from += 1) {
    const { kind, lower } = pieces[from]!;
    if (kind === 'number' || (kind === 'mark' && lower !== '@')) continue;
    let node = root.get(lower);
    if (node === undefined) continue;
    if (node.words !== 0) {
      if (words.length === 0) words = new Uint8Array(pieces.length);
      words[from] = node.words;
      every |= node.words;
    }
    for (let to = from + 1; node !== undefined; to += 1) {
      if (node.kinds !== 0) cues.push({ from, to, kinds: node.kinds });
      if (node.next === null || to - from >= LONGEST) break;
      const following = pieces[to];
      if (following === undefined) break;
      node = node.next.get(following.lower);
    }
  }
  return { cues, words, every };
}
