/**
 * Which reply an evaluated span stands for. Keeps the invariant that no reply is guessed: it is the one of the counted
 * span that the evaluated span is or lies below of, else the only one below it.
 *
 * Test: test/doors/traces/assembly/reply-targets.test.ts.
 */
import { markAbove, type Tree } from './spoken-spans.ts';

/** `replying`: the spans whose messages end with a reply. Returns the id of one of them, or undefined. */
export function replyTargets(
  tree: Tree,
  replying: ReadonlySet<string>,
): (spanId: string) => string | undefined {
  const upwards = tree.fromAbove<string | undefined>((id, above) => (replying.has(id) ? id : above));
  const first = firstBelow(tree, [...replying]);
  const last = firstBelow(tree, [...replying].toReversed());
  return (spanId) => {
    const below = first.get(spanId);
    return upwards(spanId) ?? (below === last.get(spanId) ? below : undefined);
  };
}

/** By a span above some, the first of those below it. */
export function firstBelow(tree: Tree, ids: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const id of ids)
    markAbove(tree, id, (above) => {
      if (found.has(above)) return false;
      found.set(above, id);
      return true;
    });
  return found;
}
