/**
 * Where clauses and the turn begin and end, for phrases with anchors. Emoji beside a word do not count: "great 👍" ends
 * with "great". Covered by test/turns/signals.test.ts.
 */
import { BREAK, isEmoji, type Token } from './read-text.ts';

/** Of each token: what precedes, or follows, it in the clause or turn is nothing, or emoji. */
interface Edges {
  readonly clauseStarts: Uint8Array;
  readonly clauseEnds: Uint8Array;
  readonly turnStarts: Uint8Array;
  readonly turnEnds: Uint8Array;
}

/** Looked at when a phrase with an anchor is found: few texts hold one. */
export class Anchors {
  readonly #tokens: readonly Token[];
  #edges: Edges | null = null;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  startsClause(token: number): boolean {
    return this.#found.clauseStarts[token] === 1;
  }

  endsClause(token: number): boolean {
    return this.#found.clauseEnds[token] === 1;
  }

  startsTurn(token: number): boolean {
    return this.#found.turnStarts[token] === 1;
  }

  endsTurn(token: number): boolean {
    return this.#found.turnEnds[token] === 1;
  }

  get #found(): Edges {
    return (this.#edges ??= edgesOf(this.#tokens));
  }
}

/** Takes time in proportion to the text, however many emoji stand in a row. */
function edgesOf(tokens: readonly Token[]): Edges {
  const last = tokens.length - 1;
  const [clauseStarts, clauseEnds, turnStarts, turnEnds] = [0, 1, 2, 3].map(
    () => new Uint8Array(tokens.length),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  for (let at = 0; at <= last; at++) {
    const afterEmoji = at > 0 && isEmoji(tokens[at - 1]!);
    const starts = at === 0 || tokens[at]!.before >= BREAK.mark;
    clauseStarts[at] = starts ? 1 : afterEmoji ? clauseStarts[at - 1]! : 0;
    turnStarts[at] = at === 0 ? 1 : afterEmoji ? turnStarts[at - 1]! : 0;
  }
  for (let at = last; at >= 0; at--) {
    const beforeEmoji = at < last && isEmoji(tokens[at + 1]!);
    const ends = at === last || tokens[at + 1]!.before >= BREAK.mark;
    clauseEnds[at] = ends ? 1 : beforeEmoji ? clauseEnds[at + 1]! : 0;
    turnEnds[at] = at === last ? 1 : beforeEmoji ? turnEnds[at + 1]! : 0;
  }
  return { clauseStarts, clauseEnds, turnStarts, turnEnds };
}
