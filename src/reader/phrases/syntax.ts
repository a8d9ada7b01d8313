/**
 * Parses one phrase in the notation of the lexicon. Throws PhraseFault on any fault.
 *
 *     that {be} {very?} helpful     words; a class of the file; a class or nothing
 *     not … what i (asked|wanted)   a gap of at most three words of the clause; alternatives
 *     no …5 thank-                  a gap of at most five; a prefix; "-karte" is a suffix
 *     ^ no thanks? $                the start of the clause; a word or nothing; the end of the clause
 *     ^^ no $$                      the start and end of the turn
 *
 * Test: test/reader/phrases/syntax.test.ts.
 */
import { BREAK, isHangul, isPlainWord, readText, type Token } from './read-text.ts';

/** The requirement before the first token or after the last: none, a mark, or the start or end of the turn. */
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
  /** "{very}" or "(it|that)"; equal for equal sets. */
  readonly name: string;
  readonly members: readonly Item[];
}

/** Condition on a character: none, directly after the one before, or at the beginning of a word. */
export type Glue = 'free' | 'glued' | 'first';

/** A part of a phrase: words and gaps in a row, or one of several ways. */
export type Part =
  | { readonly kind: 'items'; readonly items: readonly Item[] }
  | { readonly kind: 'either'; readonly of: readonly (readonly Part[])[] };

export interface ReadPhrase {
  readonly start: Anchor;
  readonly end: Anchor;
  readonly parts: readonly Part[];
}

export interface SyntaxOptions {
  /** Words by class. */
  readonly classes: ReadonlyMap<string, readonly string[]>;
  /** Most words in a gap without a number. */
  readonly gap: number;
}

/** Most word sequences that a phrase may stand for; more are a mistake. */
const MOST_SEQUENCES = 3000;
const MOST_IN_GAP = 12;

/** A phrase that cannot be parsed. */
export class PhraseFault extends Error {}

const SIGNS = /[:;=]-?[()](?= |$)|\^\^|\$\$|[\^$]|…\d*|[(|)]\??|\{[a-z][a-z-]*\??\}|[^\s^$…(){}|]+/gu;

/** Parses the phrases of one file. Expands each class and word once. */
export class PhraseSyntax {
  readonly #options: SyntaxOptions;
  readonly #classes = new Map<string, Part>();
  readonly #words = new Map<string, readonly Item[]>();

  constructor(options: SyntaxOptions) {
    this.#options = options;
  }

  /** Parses a phrase. Throws PhraseFault. */
  read(phrase: string): ReadPhrase {
    const signs = phrase.match(SIGNS) ?? [];
    if (signs.join('') !== phrase.replaceAll(' ', '')) throw new PhraseFault(`"${phrase}" cannot be read`);
    let start: Anchor = ANCHOR.none;
    let end: Anchor = ANCHOR.none;
    const first = signs[0];
    if (first === '^' || first === '^^') start = signs.shift() === '^' ? ANCHOR.clause : ANCHOR.turn;
    const last = signs.at(-1);
    if (last === '$' || last === '$$') end = signs.pop() === '$' ? ANCHOR.clause : ANCHOR.turn;
    if (isGap(signs[0]) || isGap(signs.at(-1)))
      throw new PhraseFault(`"${phrase}" begins or ends with a gap`);
    const parts = new PhraseReader(phrase, signs, this).read();
    if (countOf(parts) > MOST_SEQUENCES)
      throw new PhraseFault(`"${phrase}" stands for more than ${MOST_SEQUENCES} sequences of words`);
    if (mayBeEmpty(parts)) throw new PhraseFault(`"${phrase}" may be empty`);
    return { start, end, parts };
  }

  /** Parses a gap. `sign`: "…", or "…" and a number. */
  gapOf(sign: string, phrase: string): Item {
    const most = sign === '…' ? this.#options.gap : Number(sign.slice(1));
    if (most < 1 || most > MOST_IN_GAP)
      throw new PhraseFault(`"${phrase}": a gap holds 1 to ${MOST_IN_GAP} words`);
    return { kind: 'gap', most };
  }

  classOf(name: string, phrase: string): Part {
    const known = this.#classes.get(name);
    if (known !== undefined) return known;
    const members = this.#options.classes.get(name);
    if (members === undefined) throw new PhraseFault(`"${phrase}": there is no class "${name}"`);
    const ways = members.map((member): Part[] => [{ kind: 'items', items: memberItems(member) }]);
    const part = eitherOf(ways, `{${name}}`);
    this.#classes.set(name, part);
    return part;
  }

  itemsOf(word: string, phrase: string): readonly Item[] {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    const items = wordItems(word, phrase);
    this.#words.set(word, items);
    return items;
  }
}

function isGap(sign: string | undefined): boolean {
  return sign?.startsWith('…') === true;
}

/** Number of word sequences that parts stand for. */
function countOf(parts: readonly Part[]): number {
  let count = 1;
  for (const part of parts)
    if (part.kind === 'either') count *= part.of.reduce((sum, way) => sum + countOf(way), 0);
  return count;
}

function mayBeEmpty(parts: readonly Part[]): boolean {
  return parts.every((part) =>
    part.kind === 'items' ? part.items.every(({ kind }) => kind === 'gap') : part.of.some(mayBeEmpty),
  );
}

class PhraseReader {
  readonly #phrase: string;
  readonly #signs: readonly string[];
  readonly #syntax: PhraseSyntax;
  #at = 0;

  constructor(phrase: string, signs: readonly string[], syntax: PhraseSyntax) {
    this.#phrase = phrase;
    this.#signs = signs;
    this.#syntax = syntax;
  }

  read(): Part[] {
    const parts = this.#run();
    if (this.#at < this.#signs.length)
      throw new PhraseFault(`"${this.#phrase}" has a "${this.#signs[this.#at]}" too many`);
    return parts;
  }

  #run(): Part[] {
    const parts: Part[] = [];
    for (; this.#at < this.#signs.length; this.#at++) {
      const sign = this.#signs[this.#at]!;
      if (sign === ')' || sign === ')?' || sign === '|') break;
      parts.push(sign === '(' ? this.#alternatives() : this.#single(sign));
    }
    return parts;
  }

  #alternatives(): Part {
    const of: Part[][] = [];
    do {
      this.#at += 1;
      of.push(this.#run());
    } while (this.#signs[this.#at] === '|');
    const close = this.#signs[this.#at];
    if (close !== ')' && close !== ')?') throw new PhraseFault(`"${this.#phrase}" lacks a ")"`);
    const part = eitherOf(of);
    return close === ')?' ? { kind: 'either', of: [[part], []] } : part;
  }

  #single(sign: string): Part {
    if (sign.startsWith('…')) return { kind: 'items', items: [this.#syntax.gapOf(sign, this.#phrase)] };
    const isOptional = sign.startsWith('{') ? sign.endsWith('?}') : sign.endsWith('?');
    const part = sign.startsWith('{')
      ? this.#syntax.classOf(sign.slice(1, isOptional ? -2 : -1), this.#phrase)
      : this.#wordOf(isOptional ? sign.slice(0, -1) : sign);
    return isOptional ? { kind: 'either', of: [[part], []] } : part;
  }

  #wordOf(word: string): Part {
    return { kind: 'items', items: this.#syntax.itemsOf(word, this.#phrase) };
  }
}

/** Joins ways of one word into a set; each longer way stays separate. */
function eitherOf(ways: readonly (readonly Part[])[], name?: string): Part {
  const single: Item[] = [];
  const of: (readonly Part[])[] = [];
  for (const way of ways) {
    const only = way.length === 1 ? wordsOf(way[0]!) : { single: [], others: [way] };
    single.push(...only.single);
    of.push(...only.others);
  }
  if (single.length === 0) return { kind: 'either', of };
  if (single.length === 1) return { kind: 'either', of: [[{ kind: 'items', items: single }], ...of] };
  const set: SymbolSet = { kind: 'set', name: name ?? nameOfSet(single), members: single };
  return { kind: 'either', of: [[{ kind: 'items', items: [set] }], ...of] };
}

function nameOfSet(members: readonly Item[]): string {
  return `(${[...new Set(members.map(nameOf))].sort().join('|')})`;
}

/** Splits a part into single words and longer ways. */
function wordsOf(part: Part): { single: readonly Item[]; others: readonly (readonly Part[])[] } {
  if (part.kind === 'either') {
    const ways = part.of.map((way) => (way.length === 1 ? wordsOf(way[0]!) : { single: [], others: [way] }));
    return { single: ways.flatMap(({ single }) => single), others: ways.flatMap(({ others }) => others) };
  }
  const [item] = part.items;
  if (part.items.length !== 1 || item === undefined) return { single: [], others: [[part]] };
  if (item.kind === 'set') return { single: item.members, others: [] };
  return isOneSymbol(item) ? { single: [item], others: [] } : { single: [], others: [[part]] };
}

/** A name that is unique per symbol. */
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

/** True if the item can be in a set; a character that depends on the one before it cannot. */
function isOneSymbol(item: Item): boolean {
  return item.kind === 'stem' || item.kind === 'ending' || (item.kind === 'word' && item.glue === 'free');
}

/** The items of a class member: words with spaces between them. */
export function memberItems(member: string): Item[] {
  return member.split(' ').flatMap((word) => wordItems(word, member));
}

function wordItems(word: string, phrase: string): Item[] {
  if (isPlainWord(word)) return [{ kind: 'word', text: word, glue: 'free' }];
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

/** A short Korean word must begin at a word boundary, because one or two syllables occur inside many other words. */
function glueOf(tokens: readonly Token[], at: number, isEnding: boolean): Glue {
  const { isCharacter, key, before } = tokens[at]!;
  if (!isCharacter) return 'free';
  if (at > 0 && before === BREAK.none) return 'glued';
  return isHangul(key) && tokens.length <= 2 && !isEnding ? 'first' : 'free';
}
