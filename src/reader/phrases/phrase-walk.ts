/**
 * Walks a trie of phrases along a text, on all possible paths at once. Keeps the invariant that paths to one node
 * merge, so their number is bounded by the trie and the walk takes linear time.
 *
 * Test: test/reader/phrases/phrase-matcher.test.ts.
 */
import {
  nextOf,
  type PhraseTrie,
  type Reading,
  type Step,
  type Thread,
  type TrieNode,
} from './phrase-trie.ts';
import type { Anchors } from './anchors.ts';
import { ANCHOR, type Anchor } from './syntax.ts';

/** Most words that are skipped in a row. */
const MOST_SKIPPED = 3;
const NO_STEPS: readonly Step[] = [{ symbols: [], has: new Set(), starts: [] }];

/** A walk that serves one text after the other. */
export class PhraseWalk {
  readonly #trie: PhraseTrie;
  /** The first `count` threads are active; the rest are kept for reuse. */
  #threads: Thread[] = [];
  #count = 0;
  #next: Thread[] = [];
  #nextCount = 0;
  /** Mark of the nodes that the current step has reached. */
  #mark = 0;
  #steps = 0;

  constructor(trie: PhraseTrie) {
    this.#trie = trie;
  }

  /** Number of thread moves since the text began: the cost of the walk. */
  get steps(): number {
    return this.#steps;
  }

  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** Begins a text. */
  begin(): void {
    this.#count = 0;
    this.#steps = 0;
  }

  /** Drops all threads, at the end of a sentence. */
  stop(): void {
    this.#count = 0;
  }

  /**
   * Takes a token; null if no phrase holds it. `marked`: a mark stands before it, which ends gaps. Calls `found` for
   * each phrase that ends here.
   */
  take(
    reading: Reading | null,
    token: number,
    marked: boolean,
    anchors: Anchors,
    found: (phrase: number, start: number) => void,
  ): void {
    for (const step of reading?.steps ?? NO_STEPS) {
      this.#move(step, token, marked, reading);
      for (const start of step.starts) this.#reach(start, token);
      this.#steps += step.starts.length;
      const moved = this.#threads;
      this.#threads = this.#next;
      this.#next = moved;
      this.#count = this.#nextCount;
      this.#nextCount = 0;
    }
    for (let at = 0; at < this.#count; at++) {
      const { node, start, arrived } = this.#threads[at]!;
      if (node.ends === null || !arrived) continue;
      for (const { phrase, from, to } of node.ends)
        if (isAnchored(from, to, start, token, anchors)) found(phrase, start);
    }
  }

  #move(step: Step, token: number, marked: boolean, reading: Reading | null): void {
    const passable = !marked && reading?.isNegation !== true;
    const isSkipped = reading?.isSkipped === true;
    const threads = this.#threads;
    const hasSymbols = step.symbols.length > 0;
    this.#mark = this.#trie.newMark();
    this.#steps += this.#count;
    for (let at = 0; at < this.#count; at++) {
      const { node, start, gapLeft, skipsLeft } = threads[at]!;
      if (hasSymbols && node.symbols.length > 0 && !(marked && node.gap > 0)) this.#follow(node, step, start);
      if (gapLeft > 0 && passable) this.#put(node, start, gapLeft - 1, skipsLeft, false);
      else if (isSkipped && skipsLeft > 0 && start < token)
        this.#put(node, start, gapLeft, skipsLeft - 1, false);
    }
  }

  /** Follows the edges that match a word; iterates over the smaller of edges and symbols. */
  #follow(node: TrieNode, { symbols, has }: Step, start: number): void {
    if (node.symbols.length > symbols.length) {
      for (let at = 0; at < symbols.length; at++) {
        const next = nextOf(node, symbols[at]!);
        if (next !== undefined) this.#reach(next, start);
      }
      return;
    }
    for (let at = 0; at < node.symbols.length; at++)
      if (has.has(node.symbols[at]!)) this.#reach(node.nexts[at]!, start);
  }

  /** Puts a thread on a node. Of two paths to a node, the one with the later start stays: the shorter phrase. */
  #reach(node: TrieNode, start: number): void {
    if (node.pending !== null) this.#trie.expand(node);
    this.#put(node, start, 0, MOST_SKIPPED, true);
    for (let gap = node.gapNode; gap !== null; gap = gap.gapNode) this.#put(gap, start, gap.gap, 0, false);
  }

  #put(node: TrieNode, start: number, gapLeft: number, skipsLeft: number, arrived: boolean): void {
    const known = node.mark === this.#mark ? node.thread : null;
    if (known === null) {
      let thread = this.#next[this.#nextCount];
      if (thread === undefined) {
        thread = { node, start, gapLeft, skipsLeft, arrived };
        this.#next.push(thread);
      } else {
        thread.node = node;
        thread.start = start;
        thread.gapLeft = gapLeft;
        thread.skipsLeft = skipsLeft;
        thread.arrived = arrived;
      }
      this.#nextCount += 1;
      node.mark = this.#mark;
      node.thread = thread;
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
  if (
    from === ANCHOR.turn ? !anchors.startsTurn(start) : from === ANCHOR.clause && !anchors.startsClause(start)
  )
    return false;
  return to === ANCHOR.turn ? anchors.endsTurn(token) : to === ANCHOR.none || anchors.endsClause(token);
}
