/**
 * Tells where clauses and the turn begin and end, for phrases with anchors. Emoji beside a word do not count: "great
 * 👍" ends with "great".
 *
 * Test: test/reader/acts/signals.test.ts.
 */
import { BREAK, isEmoji, type Token } from './read-text.ts';

/** Bits of a token: before or after it, the clause or turn holds nothing but emoji. */
const EDGE = { clauseStart: 1, turnStart: 2, clauseEnd: 4, turnEnd: 8 } as const;

/** The edges of a text, computed when the first phrase with an anchor is found: few texts hold one. */
export class Anchors {
  readonly #tokens: readonly Token[];
  #edges: Uint8Array | null = null;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  startsClause(token: number): boolean {
    return this.#has(token, EDGE.clauseStart);
  }

  endsClause(token: number): boolean {
    return this.#has(token, EDGE.clauseEnd);
  }

  startsTurn(token: number): boolean {
    return this.#has(token, EDGE.turnStart);
  }

  endsTurn(token: number): boolean {
    return this.#has(token, EDGE.turnEnd);
  }

  #has(token: number, bit: number): boolean {
    return ((this.#edges ??= edgesOf(this.#tokens))[token]! & bit) !== 0;
  }
}

/** Takes linear time, however many emoji stand in a row. */
function edgesOf(tokens: readonly Token[]): Uint8Array {
  const last = tokens.length - 1;
  const edges = new Uint8Array(tokens.length);
  for (let at = 0; at <= last; at++) {
    const passed = at > 0 && isEmoji(tokens[at - 1]!) ? edges[at - 1]! : 0;
    const starts = at === 0 || tokens[at]!.before >= BREAK.mark ? EDGE.clauseStart : 0;
    edges[at] = passed | starts | (at === 0 ? EDGE.turnStart : 0);
  }
  for (let at = last; at >= 0; at--) {
    const passed = at < last && isEmoji(tokens[at + 1]!) ? edges[at + 1]! : 0;
    const ends = at === last || tokens[at + 1]!.before >= BREAK.mark ? EDGE.clauseEnd : 0;
    edges[at]! |= (passed & (EDGE.clauseEnd | EDGE.turnEnd)) | ends | (at === last ? EDGE.turnEnd : 0);
  }
  return edges;
}
