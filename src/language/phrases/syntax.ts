/**
 * Reads one phrase as the lexicon writes it, and spells it out as the sequences of tokens that it stands for.
 *
 *     that {be} {very?} helpful     words; a class of the file; a class or nothing
 *     not … what i (asked|wanted)   a gap of at most three words of the clause; alternatives
 *     no …5 thank-                  a gap of at most five; a word that begins so; "-karte": one that ends so
 *     ^ no thanks? $                the start of the clause; a word or nothing; the end of the clause
 *     ^^ no $$                      the start and end of the turn
 *
 * Covered by test/language/phrases/syntax.test.ts.
 */
import { BREAK, isHangul, readText, type Token } from './read-text.ts';

/** What must stand before the first token, or behind the last: anything, a mark, or the start or end of the turn. */
export const ANCHOR = { none: 0, clause: 1, turn: 2 } as const;
export type Anchor = (typeof ANCHOR)[keyof typeof ANCHOR];

export type Item =
  | { readonly kind: 'word'; readonly text: string; readonly glue: Glue }
  | { readonly kind: 'stem'; readonly text: string }
  | { readonly kind: 'ending'; readonly text: string }
  | SymbolSet
  | { readonly kind: 'gap'; readonly most: number };

/** Any one of several words: those of a class, or of alternatives in a phrase. */
export interface SymbolSet {
  readonly kind: 'set';
  /** "{very}", or "(it|that)": equal for equal sets. */
  readonly name: string;
  readonly members: readonly Item[];
}

/** Of a character: it may stand anywhere, follows the one before without a space, or begins a word. */
export type Glue = 'free' | 'glued' | 'first';

export interface Sequence {
  readonly start: Anchor;
  readonly end: Anchor;
  readonly items: readonly Item[];
}

export interface SyntaxOptions {
  /** The words of each class. */
  readonly classes: ReadonlyMap<string, readonly string[]>;
  /** Most words in a gap that gives no number. */
  readonly gap: number;
}

/** A phrase stands for more sequences than these only by mistake. */
const MOST_SEQUENCES = 3000;
const MOST_IN_GAP = 12;

/** Where a phrase cannot be read. */
export class PhraseFault extends Error {}

type Node =
  | { readonly kind: 'items'; readonly items: readonly Item[] }
  | { readonly kind: 'either'; readonly of: readonly (readonly Node[])[] };

const PARTS = /[:;=]-?[()](?= |$)|\^\^|\$\$|[\^$]|…\d*|[(|)]\??|\{[a-z][a-z-]*\??\}|[^\s^$…(){}|]+/gu;

/** The sequences of a phrase. Throws PhraseFault. */
export function sequencesOf(phrase: string, options: SyntaxOptions): Sequence[] {
  const parts = phrase.match(PARTS) ?? [];
  if (parts.join('') !== phrase.replaceAll(' ', '')) throw new PhraseFault(`"${phrase}" cannot be read`);
  let start: Anchor = ANCHOR.none;
  let end: Anchor = ANCHOR.none;
  const first = parts[0];
  if (first === '^' || first === '^^') start = parts.shift() === '^' ? ANCHOR.clause : ANCHOR.turn;
  const last = parts.at(-1);
  if (last === '$' || last === '$$') end = parts.pop() === '$' ? ANCHOR.clause : ANCHOR.turn;
  const reader = new PhraseReader(phrase, parts, options);
  if (isGap(parts[0]) || isGap(parts.at(-1))) throw new PhraseFault(`"${phrase}" begins or ends with a gap`);
  const sequences = spelled(reader.read(), phrase).map((items) => ({
    start,
    end,
    items: withoutIdleGaps(items).map(anywhereWithin),
  }));
  if (sequences.some(({ items }) => items.length === 0)) throw new PhraseFault(`"${phrase}" may be empty`);
  return sequences;
}

/** Only the first word of a phrase must begin where a word does: endings follow it. */
function anywhereWithin(item: Item, at: number): Item {
  return at > 0 && item.kind === 'word' && item.glue === 'first' ? { ...item, glue: 'free' } : item;
}

function isGap(part: string | undefined): boolean {
  return part?.startsWith('…') === true;
}

/** Where what may be left out is left out, a gap leads nowhere, or follows another: the longer one stays. */
function withoutIdleGaps(items: readonly Item[]): Item[] {
  const kept: Item[] = [];
  for (const item of items) {
    const last = kept.at(-1);
    if (item.kind !== 'gap' || (last !== undefined && last.kind !== 'gap')) kept.push(item);
    else if (last?.kind === 'gap' && item.most > last.most) kept[kept.length - 1] = item;
  }
  if (kept.at(-1)?.kind === 'gap') kept.pop();
  return kept;
}

class PhraseReader {
  readonly #phrase: string;
  readonly #parts: readonly string[];
  readonly #options: SyntaxOptions;
  #at = 0;

  constructor(phrase: string, parts: readonly string[], options: SyntaxOptions) {
    this.#phrase = phrase;
    this.#parts = parts;
    this.#options = options;
  }

  read(): Node[] {
    const nodes = this.#run();
    if (this.#at < this.#parts.length)
      throw new PhraseFault(`"${this.#phrase}" has a "${this.#parts[this.#at]}" too many`);
    return nodes;
  }

  #run(): Node[] {
    const nodes: Node[] = [];
    for (; this.#at < this.#parts.length; this.#at++) {
      const part = this.#parts[this.#at]!;
      if (part === ')' || part === ')?' || part === '|') break;
      nodes.push(part === '(' ? this.#alternatives() : this.#single(part));
    }
    return nodes;
  }

  #alternatives(): Node {
    const of: Node[][] = [];
    do {
      this.#at += 1;
      of.push(this.#run());
    } while (this.#parts[this.#at] === '|');
    const close = this.#parts[this.#at];
    if (close !== ')' && close !== ')?') throw new PhraseFault(`"${this.#phrase}" lacks a ")"`);
    const node = eitherOf(of);
    return close === ')?' ? { kind: 'either', of: [[node], []] } : node;
  }

  #single(part: string): Node {
    if (part.startsWith('…')) {
      const most = part === '…' ? this.#options.gap : Number(part.slice(1));
      if (most < 1 || most > MOST_IN_GAP)
        throw new PhraseFault(`"${this.#phrase}": a gap holds 1 to ${MOST_IN_GAP} words`);
      return { kind: 'items', items: [{ kind: 'gap', most }] };
    }
    const isOptional = part.startsWith('{') ? part.endsWith('?}') : part.endsWith('?');
    const node = part.startsWith('{')
      ? this.#class(part.slice(1, isOptional ? -2 : -1))
      : ({ kind: 'items', items: wordItems(isOptional ? part.slice(0, -1) : part, this.#phrase) } as const);
    return isOptional ? { kind: 'either', of: [[node], []] } : node;
  }

  #class(name: string): Node {
    const members = this.#options.classes.get(name);
    if (members === undefined) throw new PhraseFault(`"${this.#phrase}": there is no class "${name}"`);
    return eitherOf(
      members.map((member) => [{ kind: 'items', items: memberItems(member) }]),
      `{${name}}`,
    );
  }
}

/** Ways of one word each are one set; every longer one is a way of its own. */
function eitherOf(ways: readonly (readonly Node[])[], name?: string): Node {
  const single: Item[] = [];
  const of: (readonly Node[])[] = [];
  for (const way of ways) {
    const only = way.length === 1 ? wordsOf(way[0]!) : { single: [], others: [way] };
    single.push(...only.single);
    of.push(...only.others);
  }
  if (single.length === 0) return { kind: 'either', of };
  if (single.length === 1) return { kind: 'either', of: [[{ kind: 'items', items: single }], ...of] };
  const names = [...new Set(single.map(nameOf))].sort();
  const set: SymbolSet = { kind: 'set', name: name ?? `(${names.join('|')})`, members: single };
  return { kind: 'either', of: [[{ kind: 'items', items: [set] }], ...of] };
}

/** The words that a node stands for, and its longer ways. */
function wordsOf(node: Node): { single: readonly Item[]; others: readonly (readonly Node[])[] } {
  if (node.kind === 'either') {
    const parts = node.of.map((way) => (way.length === 1 ? wordsOf(way[0]!) : { single: [], others: [way] }));
    return { single: parts.flatMap(({ single }) => single), others: parts.flatMap(({ others }) => others) };
  }
  const [item] = node.items;
  if (node.items.length !== 1 || item === undefined) return { single: [], others: [[node]] };
  if (item.kind === 'set') return { single: item.members, others: [] };
  return isOneSymbol(item) ? { single: [item], others: [] } : { single: [], others: [[node]] };
}

/** What tells a symbol from others. */
export function nameOf(item: Item): string {
  switch (item.kind) {
    case 'word':
      return item.glue === 'free' ? item.text : `${item.glue}:${item.text}`;
    case 'stem':
      return `${item.text}-`;
    case 'ending':
      return `-${item.text}`;
    case 'set':
      return item.name;
    case 'gap':
      return `…${item.most}`;
  }
}

/** In a set, a character is no symbol where it depends on what precedes it. */
function isOneSymbol(item: Item): boolean {
  return item.kind === 'stem' || item.kind === 'ending' || (item.kind === 'word' && item.glue === 'free');
}

/** The items of a member of a class: words with spaces between them. */
export function memberItems(member: string): Item[] {
  return member.split(' ').flatMap((word) => wordItems(word, member));
}

function wordItems(word: string, phrase: string): Item[] {
  const { tokens } = readText(word.replace(/^-|-$/g, ''));
  if (tokens.length === 0)
    throw new PhraseFault(`"${phrase}": "${word}" holds neither a letter nor an emoji`);
  const items = tokens.map((token, at): Item => ({
    kind: 'word',
    text: token.key,
    glue: glueOf(tokens, at, word.startsWith('-')),
  }));
  const isCharacters = tokens.some(({ isCharacter }) => isCharacter);
  if (word.endsWith('-') && !isCharacters) return [...items.slice(0, -1), stem('stem', tokens.at(-1)!)];
  if (word.startsWith('-') && !isCharacters) return [stem('ending', tokens[0]!), ...items.slice(1)];
  return items;
}

function stem(kind: 'stem' | 'ending', { key }: Token): Item {
  return { kind, text: key };
}

/** A short Korean word begins where a word does: a syllable or two stand within many others. */
function glueOf(tokens: readonly Token[], at: number, isEnding: boolean): Glue {
  const { isCharacter, key, before } = tokens[at]!;
  if (!isCharacter) return 'free';
  if (at > 0 && before === BREAK.none) return 'glued';
  return isHangul(key) && tokens.length <= 2 && !isEnding ? 'first' : 'free';
}

function spelled(nodes: readonly Node[], phrase: string): Item[][] {
  let sequences: Item[][] = [[]];
  for (const node of nodes) {
    const ways = node.kind === 'items' ? [node.items] : node.of.flatMap((way) => spelled(way, phrase));
    if (sequences.length * ways.length > MOST_SEQUENCES)
      throw new PhraseFault(`"${phrase}" stands for more than ${MOST_SEQUENCES} sequences of words`);
    sequences = sequences.flatMap((sequence) => ways.map((way) => [...sequence, ...way]));
  }
  return sequences;
}
