/**
 * Where clauses and the turn begin and end, for phrases with anchors. Emoji beside a word do not count: "great 👍" ends
 * with "great". Covered by test/turns/signals.test.ts.
 */
import type { Anchors } from './phrase-walk.ts';
import { BREAK, isEmoji, type ReadText } from './read-text.ts';

/** Takes time in proportion to the text, however many emoji stand in a row. */
export function anchorsOf({ tokens }: ReadText): Anchors {
  const last = tokens.length - 1;
  const startsClause = (token: number): boolean => token === 0 || tokens[token]!.before >= BREAK.mark;
  const endsClause = (token: number): boolean => (tokens[token + 1]?.before ?? BREAK.end) >= BREAK.mark;
  if (!tokens.some(isEmoji)) {
    const [startsTurn, endsTurn] = [(token: number) => token === 0, (token: number) => token === last];
    return { startsClause, endsClause, startsTurn, endsTurn };
  }
  // Of each token: what precedes, or follows, it in the clause or turn is emoji.
  const [clauseStarts, clauseEnds, turnStarts, turnEnds] = [0, 1, 2, 3].map(
    () => new Uint8Array(tokens.length),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  for (let at = 0; at <= last; at++) {
    const afterEmoji = at > 0 && isEmoji(tokens[at - 1]!);
    clauseStarts[at] = startsClause(at) ? 1 : afterEmoji ? clauseStarts[at - 1]! : 0;
    turnStarts[at] = at === 0 ? 1 : afterEmoji ? turnStarts[at - 1]! : 0;
  }
  for (let at = last; at >= 0; at--) {
    const beforeEmoji = at < last && isEmoji(tokens[at + 1]!);
    clauseEnds[at] = endsClause(at) ? 1 : beforeEmoji ? clauseEnds[at + 1]! : 0;
    turnEnds[at] = at === last ? 1 : beforeEmoji ? turnEnds[at + 1]! : 0;
  }
  return {
    startsClause: (token) => clauseStarts[token] === 1,
    endsClause: (token) => clauseEnds[token] === 1,
    startsTurn: (token) => turnStarts[token] === 1,
    endsTurn: (token) => turnEnds[token] === 1,
  };
}
