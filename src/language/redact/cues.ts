/** Finds the words of `lexicon/personal/` in a text: one trie over words for all languages, read from every word on. */
import { everyPhrase, PERSONAL_LANGUAGES, type PersonalSection } from './personal-lexicon.ts';
import { piecesOf, type Piece } from './pieces.ts';

const SECTIONS = [
  'introductions',
  'nameFields',
  'presentations',
  'greetings',
  'titles',
  'persons',
  'roles',
  'numbered',
  'secrets',
  'userNames',
  'births',
  'addressCues',
] as const satisfies readonly PersonalSection[];

export type CueKind = (typeof SECTIONS)[number];

/** Of each kind, one bit. */
export const CUE = Object.fromEntries(SECTIONS.map((section, place) => [section, 1 << place])) as Readonly<
  Record<CueKind, number>
>;
/** Said in a language that writes every noun with a capital. */
export const NOUN_CAPITALS = 1 << SECTIONS.length;

export interface Cue {
  /** Of the first piece, and behind the last. */
  readonly from: number;
  readonly to: number;
  /** The kinds that the phrase has. */
  readonly kinds: number;
}

interface Node {
  kinds: number;
  next: Map<string, Node> | null;
}

const ROOT = new Map<string, Node>();

function insert(phrase: string, kinds: number): void {
  let level = ROOT;
  let node: Node | null = null;
  for (const { lower } of piecesOf(phrase)) {
    if (node !== null) level = node.next ??= new Map();
    node = level.get(lower) ?? { kinds: 0, next: null };
    level.set(lower, node);
  }
  if (node !== null) node.kinds |= kinds;
}

for (const [code, language] of PERSONAL_LANGUAGES) {
  const nouns = code === 'de' ? NOUN_CAPITALS : 0;
  for (const section of SECTIONS) {
    if (nouns !== 0 && (section === 'presentations' || section === 'persons' || section === 'roles'))
      continue;
    for (const phrase of language[section]) insert(phrase, CUE[section]);
  }
}
// A word of another language outweighs the German one: "man", "die".
for (const section of ['presentations', 'persons', 'roles'] as const) {
  const others = new Set(everyPhrase(section).filter((phrase) => !isGermanOnly(section, phrase)));
  for (const phrase of PERSONAL_LANGUAGES.get('de')?.[section] ?? [])
    insert(phrase, CUE[section] | (others.has(phrase) ? 0 : NOUN_CAPITALS));
}

function isGermanOnly(section: PersonalSection, phrase: string): boolean {
  return [...PERSONAL_LANGUAGES].every(
    ([code, language]) => code === 'de' || !language[section].includes(phrase),
  );
}

/** Longest phrases have so many pieces; the search from one word ends there. */
const LONGEST = 8;

/** Every phrase that stands in the pieces, in order of its first piece, the longer one last. */
export function cuesIn(pieces: readonly Piece[]): Cue[] {
  const cues: Cue[] = [];
  for (let from = 0; from < pieces.length; from += 1) {
    let node = ROOT.get(pieces[from]!.lower);
    for (let to = from + 1; node !== undefined; to += 1) {
      if (node.kinds !== 0) cues.push({ from, to, kinds: node.kinds });
      const following = pieces[to];
      if (following === undefined || to - from >= LONGEST) break;
      node = node.next?.get(following.lower);
    }
  }
  return cues;
}
