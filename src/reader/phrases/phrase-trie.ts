/**
 * The phrases of one language as a trie over symbols: words, stems and classes. Covered by
 * test/reader/phrases/phrase-matcher.test.ts.
 */
import { memberItems, nameOf, type Anchor, type Item, type Part, type ReadPhrase } from './syntax.ts';

const SHORTEST_STEM = 2;
const LONGEST_KEY = 40;

export interface TrieNode {
  /** Its edges: a symbol, and the node behind it at the same place. */
  symbols: number[];
  nexts: TrieNode[];
  /** The same edges by symbol where they are many. */
  edges: Map<number, TrieNode> | null;
  /** Where a gap begins: tokens pass without leaving that node, at most `gap` of them. */
  gapNode: TrieNode | null;
  readonly gap: number;
  ends: End[] | null;
  /** What the node's edges, gaps and ends are made from; null once they are. */
  pending: Pending[] | null;
  /** The walk that reached the node last, and the thread with which. */
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
  /** The last token led here, and was not passed over. */
  arrived: boolean;
}

/** What a token may be in one language. */
export interface Reading {
  /** Of the token; of a spelling such as "dont" those of each of its words. */
  readonly steps: readonly Step[];
  readonly isSkipped: boolean;
  /** It denies what follows it, so no gap holds it. */
  readonly isNegation: boolean;
}

/** What one word may be. */
export interface Step {
  readonly symbols: readonly number[];
  /** The same. */
  readonly has: ReadonlySet<number>;
  /** Where phrases have come that begin with it. */
  readonly starts: readonly TrieNode[];
}

export interface TrieOptions {
  readonly skipped: readonly string[];
  readonly negations: readonly string[];
  readonly spellings: Readonly<Record<string, string>>;
}

/** What is left of a phrase behind a node. Nodes behind it are made when a walk comes there: texts reach few. */
interface Rest {
  readonly parts: readonly Part[];
  /** The next part, and the next item in it. */
  readonly at: number;
  readonly item: number;
  /** What follows the parts; null: nothing. */
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

/** What most nodes have: their arrays are made with the first edge. */
const NO_SYMBOLS: number[] = [];
const NO_NODES: TrieNode[] = [];
/** Of so many edges, one is found as fast in a row. */
const FEW_EDGES = 8;
const NO_SETS: readonly number[] = [];

function addEnd(node: TrieNode, { number, start, end }: Added): void {
  const ends = (node.ends ??= []);
  if (ends.at(-1)?.phrase !== number) ends.push({ phrase: number, from: start, to: end });
}

/** The node behind an edge. */
export function nextOf({ symbols, nexts, edges }: TrieNode, symbol: number): TrieNode | undefined {
  if (edges !== null) return edges.get(symbol);
  const at = symbols.indexOf(symbol);
  return at < 0 ? undefined : nexts[at];
}

export class PhraseTrie {
  readonly #root = newNode();
  readonly #symbols = new Map<string, number>();
  readonly #setsOf = new Map<number, number[]>();
  /** The symbols of items, as the first of a phrase and later in one. */
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

  /** How many nodes it has when all are made. */
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
   * Adds to a node what a phrase may go on with. A gap leads nowhere by itself, and of several in a row the longest
   * counts; none opens a phrase.
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
    // Gaps of several lengths at one place share none: each is a node of its own behind an edge that no token takes.
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

  /** Numbers the symbols of parts: what a token may be is told before a walk comes to them. */
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

  /** Only the first word of a phrase must begin where a word does: endings follow it. */
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

  /** What a token may be; null: no phrase holds it. `keys`: how it may be written. `glue` of a character. */
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

  /** Told from all before by whoever marks nodes with it. */
  newMark(): number {
    return (this.#marks += 1);
  }
}

/** "don't" as a phrase has it is two words; to look up one, its last. */
function keyOf(phrase: string): string {
  const items = memberItems(phrase);
  const item = items[0]!;
  return items.length === 1 && item.kind === 'word' ? item.text : '';
}
