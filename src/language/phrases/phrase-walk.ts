/**
 * A text walks a trie of phrases once, in every place that a phrase may have reached; two ways to one place of the trie
 * are one, so that their number is bounded by the trie and not by the text. Covered by
 * test/language/phrases/phrase-matcher.test.ts.
 */
import {
  nextOf,
  type PhraseTrie,
  type Reading,
  type Step,
  type Thread,
  type TrieNode,
} from './phrase-trie.ts';
import { ANCHOR, type Anchor } from './syntax.ts';

/** Words skipped in a row. */
const MOST_SKIPPED = 3;
const NO_STEPS: readonly Step[] = [{ symbols: new Set(), starts: [] }];

/** What a walk asks of the text. */
export interface Anchors {
  startsClause(token: number): boolean;
  endsClause(token: number): boolean;
  readonly count: number;
}

/** One text on its way through a trie. */
export class PhraseWalk {
  readonly #trie: PhraseTrie;
  #threads: Thread[] = [];
  #next: Thread[] = [];
  /** Of the nodes that this move has reached. */
  #mark = 0;
  /** How often a thread was moved: what the walk costs. */
  steps = 0;

  constructor(trie: PhraseTrie) {
    this.#trie = trie;
  }

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
    this.#mark = this.#trie.newMark();
    for (const thread of this.#threads) {
      this.steps += 1;
      const { node, start, gapLeft, skipsLeft } = thread;
      if (node.symbols.length > 0 && symbols.size > 0 && !(marked && node.gap > 0))
        this.#follow(node, symbols, start);
      if (gapLeft > 0 && passable) this.#stay(thread, gapLeft - 1, skipsLeft);
      else if (isSkipped && skipsLeft > 0 && start < token) this.#stay(thread, gapLeft, skipsLeft - 1);
    }
  }

  /** Of a node's edges and a word's symbols, the fewer are looked up among the others. */
  #follow(node: TrieNode, symbols: ReadonlySet<number>, start: number): void {
    if (node.symbols.length > symbols.size) {
      for (const symbol of symbols) {
        const next = nextOf(node, symbol);
        if (next !== undefined) this.#reach(next, start);
      }
      return;
    }
    for (let at = 0; at < node.symbols.length; at++)
      if (symbols.has(node.symbols[at]!)) this.#reach(node.nexts[at]!, start);
  }

  /** Of two ways to a node, the one stays that began later: the shorter phrase. */
  #reach(node: TrieNode, start: number): void {
    this.#trie.expand(node);
    this.#put(node, start, 0, MOST_SKIPPED, true);
    for (let gap = node.gapNode; gap !== null; gap = gap.gapNode) this.#put(gap, start, gap.gap, 0, false);
  }

  #stay({ node, start }: Thread, gapLeft: number, skipsLeft: number): void {
    this.#put(node, start, gapLeft, skipsLeft, false);
  }

  #put(node: TrieNode, start: number, gapLeft: number, skipsLeft: number, arrived: boolean): void {
    const known = node.mark === this.#mark ? node.thread : null;
    if (known === null) {
      const thread = { node, start, gapLeft, skipsLeft, arrived };
      node.mark = this.#mark;
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
