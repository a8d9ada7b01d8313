/**
 * The phrases of one language as a trie over symbols: words, stems and classes. A text walks it once, in every place
 * that a phrase may have reached; two ways to one place of the trie are one, so that their number is bounded by the
 * trie and not by the text. Covered by test/language/phrases/phrase-matcher.test.ts.
 */
import { ANCHOR, memberItems, nameOf, type Anchor, type Item, type Sequence } from './syntax.ts';

/** Words skipped in a row. */
const MOST_SKIPPED = 3;
const SHORTEST_STEM = 2;
const LONGEST_KEY = 40;

export interface TrieNode {
  edges: Map<number, TrieNode> | null;
  /** The keys and values of `edges`, once a walk has been there. */
  symbols: readonly number[] | null;
  nexts: readonly TrieNode[];
  /** Where a gap begins: tokens pass without leaving that node, at most `gap` of them. */
  gapNode: TrieNode | null;
  readonly gap: number;
  ends: End[] | null;
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
interface Thread {
  readonly node: TrieNode;
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
  readonly symbols: ReadonlySet<number>;
  /** Where phrases have come that begin with it. */
  readonly starts: readonly TrieNode[];
}

/** What a walk asks of the text. */
export interface Anchors {
  startsClause(token: number): boolean;
  endsClause(token: number): boolean;
  readonly count: number;
}

export interface TrieOptions {
  readonly skipped: readonly string[];
  readonly negations: readonly string[];
  readonly spellings: Readonly<Record<string, string>>;
}

function newNode(gap = 0): TrieNode {
  return { edges: null, symbols: null, nexts: [], gapNode: null, gap, ends: null, mark: 0, thread: null };
}

const NO_SETS: readonly number[] = [];
const NO_STEPS: readonly Step[] = [{ symbols: new Set(), starts: [] }];
let walks = 0;

export class PhraseTrie {
  readonly #root = newNode();
  readonly #symbols = new Map<string, number>();
  readonly #setsOf = new Map<number, number[]>();
  readonly #skipped: ReadonlySet<string>;
  readonly #negations: ReadonlySet<string>;
  readonly #spellings: ReadonlyMap<string, readonly string[]>;
  #longestStem = 0;
  #longestEnding = 0;
  #nodes = 1;

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

  /** How many nodes it has. */
  get size(): number {
    return this.#nodes;
  }

  /** `sequences`: what the phrase stands for. */
  add(sequences: readonly Sequence[], phrase: number): void {
    for (const { start, end, items } of sequences) {
      let node = this.#root;
      for (const item of items)
        node = item.kind === 'gap' ? this.#gapOf(node, item.most) : this.#next(node, item);
      const ends = (node.ends ??= []);
      if (!ends.some((known) => known.phrase === phrase)) ends.push({ phrase, from: start, to: end });
    }
  }

  #gapOf(node: TrieNode, most: number): TrieNode {
    // Gaps of several lengths at one place share none: each is a node of its own behind an edge that no token takes.
    let at = node;
    while (at.gapNode !== null && at.gapNode.gap !== most) at = at.gapNode;
    if (at.gapNode === null) {
      at.gapNode = newNode(most);
      this.#nodes += 1;
    }
    return at.gapNode;
  }

  #next(node: TrieNode, item: Item): TrieNode {
    const symbol = this.#symbolOf(item);
    const edges = (node.edges ??= new Map<number, TrieNode>());
    let next = edges.get(symbol);
    if (next === undefined) {
      next = newNode();
      edges.set(symbol, next);
      this.#nodes += 1;
    }
    return next;
  }

  #symbolOf(item: Item): number {
    const name = nameOf(item);
    const known = this.#symbols.get(name);
    if (known !== undefined) return known;
    const number = this.#symbols.size;
    this.#symbols.set(name, number);
    if (item.kind === 'stem') this.#longestStem = Math.max(this.#longestStem, item.text.length);
    if (item.kind === 'ending') this.#longestEnding = Math.max(this.#longestEnding, item.text.length);
    if (item.kind === 'set') {
      for (const member of item.members) {
        const symbol = this.#symbolOf(member);
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
    if (!isSkipped && !isNegation && steps.every(({ symbols }) => symbols.size === 0)) return null;
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
    const { edges } = this.#root;
    return { symbols: found, starts: [...found].flatMap((symbol) => edges?.get(symbol) ?? []) };
  }

  newWalk(): Walk {
    return new Walk();
  }
}

/** "don't" as a phrase has it is two words; to look up one, its last. */
function keyOf(phrase: string): string {
  const items = memberItems(phrase);
  const item = items[0]!;
  return items.length === 1 && item.kind === 'word' ? item.text : '';
}

/** One text on its way through a trie. */
export class Walk {
  #threads: Thread[] = [];
  #next: Thread[] = [];
  /** How often a thread was moved: what the walk costs. */
  steps = 0;

  get isIdle(): boolean {
    return this.#threads.length === 0;
  }

  /** Forgets what it has reached: a sentence ends. */
  stop(): void {
    this.#threads.length = 0;
  }

  /**
   * Takes a token; null: one that no phrase holds. `marked`: a mark stands before it, at which gaps end. Tells of each
   * phrase that ends there.
   */
  take(
    reading: Reading | null,
    token: number,
    marked: boolean,
    anchors: Anchors,
    found: (phrase: number, start: number) => void,
  ): void {
    for (const step of reading?.steps ?? NO_STEPS) {
      this.#move(step.symbols, token, marked, reading);
      for (const start of step.starts) this.#reach(start, token);
      this.steps += step.starts.length;
      [this.#threads, this.#next] = [this.#next, this.#threads];
      this.#next.length = 0;
    }
    for (const { node, start, arrived } of this.#threads) {
      if (node.ends === null || !arrived) continue;
      for (const { phrase, from, to } of node.ends)
        if (isAnchored(from, to, start, token, anchors)) found(phrase, start);
    }
  }

  #move(symbols: ReadonlySet<number>, token: number, marked: boolean, reading: Reading | null): void {
    const passable = !marked && reading?.isNegation !== true;
    const isSkipped = reading?.isSkipped === true;
    walks += 1;
    for (const thread of this.#threads) {
      this.steps += 1;
      const { node, start, gapLeft, skipsLeft } = thread;
      if (node.edges !== null && symbols.size > 0 && !(marked && node.gap > 0))
        this.#follow(node, node.edges, symbols, start);
      if (gapLeft > 0 && passable) this.#stay(thread, gapLeft - 1, skipsLeft);
      else if (isSkipped && skipsLeft > 0 && start < token) this.#stay(thread, gapLeft, skipsLeft - 1);
    }
  }

  /** Of a node's edges and a word's symbols, the fewer are looked up among the others. */
  #follow(
    node: TrieNode,
    edges: ReadonlyMap<number, TrieNode>,
    symbols: ReadonlySet<number>,
    start: number,
  ): void {
    if (edges.size > symbols.size) {
      for (const symbol of symbols) {
        const next = edges.get(symbol);
        if (next !== undefined) this.#reach(next, start);
      }
      return;
    }
    if (node.symbols === null) {
      node.symbols = [...edges.keys()];
      node.nexts = [...edges.values()];
    }
    for (let at = 0; at < node.symbols.length; at++)
      if (symbols.has(node.symbols[at]!)) this.#reach(node.nexts[at]!, start);
  }

  /** Of two ways to a node, the one stays that began later: the shorter phrase. */
  #reach(node: TrieNode, start: number): void {
    this.#put(node, start, 0, MOST_SKIPPED, true);
    for (let gap = node.gapNode; gap !== null; gap = gap.gapNode) this.#put(gap, start, gap.gap, 0, false);
  }

  #stay({ node, start }: Thread, gapLeft: number, skipsLeft: number): void {
    this.#put(node, start, gapLeft, skipsLeft, false);
  }

  #put(node: TrieNode, start: number, gapLeft: number, skipsLeft: number, arrived: boolean): void {
    const known = node.mark === walks ? node.thread : null;
    if (known === null) {
      const thread = { node, start, gapLeft, skipsLeft, arrived };
      node.mark = walks;
      node.thread = thread;
      this.#next.push(thread);
      return;
    }
    known.arrived ||= arrived;
    if (start < known.start || (start === known.start && gapLeft <= known.gapLeft)) return;
    known.start = start;
    known.gapLeft = gapLeft;
    known.skipsLeft = skipsLeft;
  }
}

function isAnchored(from: Anchor, to: Anchor, start: number, token: number, anchors: Anchors): boolean {
  if (from === ANCHOR.turn ? start > 0 : from === ANCHOR.clause && !anchors.startsClause(start)) return false;
  return to === ANCHOR.turn ? token === anchors.count - 1 : to === ANCHOR.none || anchors.endsClause(token);
}
