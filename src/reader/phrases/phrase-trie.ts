/**
 * The phrases of one language as a trie over symbols (words, stems, classes). Expands lazily and keeps the invariant
 * that a node is complete before a walk reads it: most nodes are never reached.
 *
 * Test: test/reader/phrases/phrase-matcher.test.ts.
 */
import { memberItems, nameOf, type Anchor, type Item, type Part, type ReadPhrase } from './syntax.ts';

const SHORTEST_STEM = 2;
const LONGEST_KEY = 40;

export interface TrieNode {
  /** Its edges: symbols, and the target nodes at the same indices. */
  symbols: number[];
  nexts: TrieNode[];
  /** The same edges by symbol, if there are many. */
  edges: Map<number, TrieNode> | null;
  /** The node of a gap that begins here: it lets up to `gap` tokens pass without leaving it. */
  gapNode: TrieNode | null;
  readonly gap: number;
  ends: End[] | null;
  /** The phrases from which its edges, gaps and ends are yet to be made; null once they are. */
  pending: Pending[] | null;
  /** Number of the walk's step that last reached the node, and its thread then. */
  mark: number;
  thread: Thread | null;
}

interface End {
  readonly phrase: number;
  readonly from: Anchor;
  readonly to: Anchor;
}

/** A place in the trie that a walk has reached. */
export interface Thread {
  node: TrieNode;
  start: number;
  gapLeft: number;
  skipsLeft: number;
  /** True if the last token led here, rather than being passed over. */
  arrived: boolean;
}

/** The possible symbols of a token in one language. */
export interface Reading {
  /** One step per word: several for a spelling such as "dont". */
  readonly steps: readonly Step[];
  readonly isSkipped: boolean;
  /** True if the token negates what follows, so that no gap contains it. */
  readonly isNegation: boolean;
}

/** The possible symbols of one word. */
export interface Step {
  readonly symbols: readonly number[];
  /** The same symbols, as a set. */
  readonly has: ReadonlySet<number>;
  /** Nodes behind the root for phrases that begin with it. */
  readonly starts: readonly TrieNode[];
}

export interface TrieOptions {
  readonly skipped: readonly string[];
  readonly negations: readonly string[];
  readonly spellings: Readonly<Record<string, string>>;
}

/** The rest of a phrase after a node. Its nodes are made when a walk comes there: texts reach few. */
interface Rest {
  readonly parts: readonly Part[];
  /** Index of the next part, and of the next item in it. */
  readonly at: number;
  readonly item: number;
  /** The rest after these parts; null if there is none. */
  readonly after: Rest | null;
}

interface Pending {
  readonly rest: Rest | null;
  readonly phrase: Added;
}

interface Added {
  readonly number: number;
  readonly start: Anchor;
  readonly end: Anchor;
}

function newNode(gap = 0): TrieNode {
  return {
    symbols: NO_SYMBOLS,
    nexts: NO_NODES,
    edges: null,
    gapNode: null,
    gap,
    ends: null,
    pending: null,
    mark: 0,
    thread: null,
  };
}

/** Shared empty arrays of most nodes, replaced at the first edge. */
const NO_SYMBOLS: number[] = [];
const NO_NODES: TrieNode[] = [];
/** Up to this many edges, a linear search is as fast as a map. */
const FEW_EDGES = 8;
const NO_SETS: readonly number[] = [];

function addEnd(node: TrieNode, { number, start, end }: Added): void {
  const ends = (node.ends ??= []);
  if (ends.at(-1)?.phrase !== number) ends.push({ phrase: number, from: start, to: end });
}

/** The target of an edge. */
export function nextOf({ symbols, nexts, edges }: TrieNode, symbol: number): TrieNode | undefined {
  if (edges !== null) return edges.get(symbol);
  const at = symbols.indexOf(symbol);
  return at < 0 ? undefined : nexts[at];
}

/** The trie of one language. `PhraseWalk` walks it. */
export class PhraseTrie {
  readonly #root = newNode();
  readonly #symbols = new Map<string, number>();
  readonly #setsOf = new Map<number, number[]>();
  /** The symbols of each item: as the first of a phrase, and later in one. */
  readonly #items = new Map<Item, { readonly first: number; readonly later: number }>();
  readonly #skipped: ReadonlySet<string>;
  readonly #negations: ReadonlySet<string>;
  readonly #spellings: ReadonlyMap<string, readonly string[]>;
  #marks = 0;
  #longestStem = 0;
  #longestEnding = 0;

  constructor(options: TrieOptions) {
    this.#skipped = new Set(options.skipped.map(keyOf));
    this.#negations = new Set(options.negations.map(keyOf));
    this.#spellings = new Map(
      Object.entries(options.spellings).map(([one, several]) => [
        keyOf(one),
        memberItems(several).map((item) => (item.kind === 'word' ? item.text : '')),
      ]),
    );
  }

  /** Number of nodes after full expansion. */
  get size(): number {
    const nodes = [this.#root];
    for (const node of nodes) {
      this.expand(node);
      nodes.push(...node.nexts);
      if (node.gapNode !== null) nodes.push(node.gapNode);
    }
    return nodes.length;
  }

  add({ start, end, parts }: ReadPhrase, number: number): void {
    this.#register(parts);
    const pending = { rest: { parts, at: 0, item: 0, after: null }, phrase: { number, start, end } };
    (this.#root.pending ??= []).push(pending);
  }

  /** Makes the edges of a node, once. */
  expand(node: TrieNode): void {
    const { pending } = node;
    if (pending === null) return;
    node.pending = null;
    for (const { rest, phrase } of pending) this.#advance(node, 0, rest, phrase);
  }

  /**
   * Adds the continuations of a phrase to a node. A gap alone leads nowhere, the longest of adjacent gaps counts, and
   * none opens a phrase.
   */
  #advance(node: TrieNode, gap: number, rest: Rest | null, phrase: Added): void {
    if (rest === null) return addEnd(node, phrase);
    const { parts, at, item: place, after } = rest;
    const part = parts[at];
    if (part === undefined) return this.#advance(node, gap, after, phrase);
    const behind: Rest | null = at + 1 < parts.length ? { parts, at: at + 1, item: 0, after } : after;
    if (part.kind === 'either') {
      for (const way of part.of)
        this.#advance(node, gap, { parts: way, at: 0, item: 0, after: behind }, phrase);
      return;
    }
    const item = part.items[place]!;
    const next = place + 1 < part.items.length ? { parts, at, item: place + 1, after } : behind;
    const isFirst = node === this.#root;
    if (item.kind === 'gap') return this.#advance(node, isFirst ? 0 : Math.max(gap, item.most), next, phrase);
    const from = gap === 0 ? node : this.#gapOf(node, gap);
    const to = this.#next(from, this.#symbolOf(item, isFirst));
    (to.pending ??= []).push({ rest: next, phrase });
  }

  #gapOf(node: TrieNode, most: number): TrieNode {
    // Gaps of different lengths at one place get different nodes, chained without symbols.
    let at = node;
    while (at.gapNode !== null && at.gapNode.gap !== most) at = at.gapNode;
    at.gapNode ??= newNode(most);
    return at.gapNode;
  }

  #next(node: TrieNode, symbol: number): TrieNode {
    const known = nextOf(node, symbol);
    if (known !== undefined) return known;
    const next = newNode();
    if (node.symbols.length === 0) {
      node.symbols = [symbol];
      node.nexts = [next];
      return next;
    }
    node.symbols.push(symbol);
    node.nexts.push(next);
    node.edges?.set(symbol, next);
    if (node.symbols.length > FEW_EDGES)
      node.edges ??= new Map(node.symbols.map((one, at) => [one, node.nexts[at]!]));
    return next;
  }

  /** Numbers the symbols of parts ahead of expansion, because the readings of tokens need them. */
  #register(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.kind === 'either') for (const way of part.of) this.#register(way);
      else
        for (const item of part.items) {
          if (item.kind === 'gap' || this.#items.has(item)) continue;
          const first = this.#numberOf(item);
          const isSplit = item.kind === 'word' && item.glue === 'first';
          this.#items.set(item, {
            first,
            later: isSplit ? this.#numberOf({ ...item, glue: 'free' }) : first,
          });
        }
    }
  }

  /** Only the first word of a phrase must begin at a word boundary: endings follow it. */
  #symbolOf(item: Item, isFirst: boolean): number {
    const { first, later } = this.#items.get(item)!;
    return isFirst ? first : later;
  }

  #numberOf(item: Item): number {
    const name = nameOf(item);
    const known = this.#symbols.get(name);
    if (known !== undefined) return known;
    const number = this.#symbols.size;
    this.#symbols.set(name, number);
    if (item.kind === 'stem') this.#longestStem = Math.max(this.#longestStem, item.text.length);
    if (item.kind === 'ending') this.#longestEnding = Math.max(this.#longestEnding, item.text.length);
    if (item.kind === 'set') {
      for (const member of item.members) {
        const symbol = this.#numberOf(member);
        const sets = this.#setsOf.get(symbol);
        if (sets === undefined) this.#setsOf.set(symbol, [number]);
        else if (!sets.includes(number)) sets.push(number);
      }
    }
    return number;
  }

  /**
   * The reading of a token; null if no phrase holds it. `keys`: its possible spellings. `glue`: relation of a character
   * to the one before it; null for a word.
   */
  readingOf(keys: readonly string[], glue: 'glued' | 'first' | null): Reading | null {
    const spelling = this.#spellings.get(keys[0]!);
    const steps =
      spelling === undefined
        ? [this.#symbolsOf(keys, glue)]
        : spelling.map((word) => this.#symbolsOf([word], null));
    const isSkipped = keys.some((key) => this.#skipped.has(key));
    const isNegation =
      keys.some((key) => this.#negations.has(key)) ||
      (spelling?.some((word) => this.#negations.has(word)) ?? false);
    if (!isSkipped && !isNegation && steps.every(({ symbols }) => symbols.length === 0)) return null;
    return { steps, isSkipped, isNegation };
  }

  #symbolsOf(keys: readonly string[], glue: 'glued' | 'first' | null): Step {
    const found = new Set<number>();
    const add = (name: string): void => {
      const symbol = this.#symbols.get(name);
      if (symbol === undefined) return;
      found.add(symbol);
      for (const of of this.#setsOf.get(symbol) ?? NO_SETS) found.add(of);
    };
    for (const key of keys) {
      if (key.length > LONGEST_KEY) continue;
      add(key);
      if (glue !== null) {
        add(`${glue}:${key}`);
        continue;
      }
      for (let length = Math.min(key.length, this.#longestStem); length >= SHORTEST_STEM; length--)
        add(`${key.slice(0, length)}-`);
      for (let length = Math.min(key.length - 1, this.#longestEnding); length >= SHORTEST_STEM; length--)
        add(`-${key.slice(-length)}`);
    }
    this.expand(this.#root);
    const symbols = [...found];
    return { symbols, has: found, starts: symbols.flatMap((symbol) => nextOf(this.#root, symbol) ?? []) };
  }

  /** A fresh mark for this step of a walk. */
  newMark(): number {
    return (this.#marks += 1);
  }
}

/** The lookup key of a grammar word; '' if it is several words, as "don't". */
function keyOf(phrase: string): string {
  const items = memberItems(phrase);
  const item = items[0]!;
  return items.length === 1 && item.kind === 'word' ? item.text : '';
}
