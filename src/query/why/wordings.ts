/**
 * Chooses typical messages of an entity from its largest micro-clusters.
 *
 * Test: test/query/why/wordings.test.ts.
 */

/** A possible example: its micro-cluster and its text. */
export interface Candidate {
  readonly micro: number | null;
  readonly text: string;
}

/**
 * Returns the `count` candidates that are most similar to the others: first one of each micro-cluster, in the order in
 * which micro-clusters first appear.
 */
export function mostTypical<C extends Candidate>(candidates: readonly C[], count: number): C[] {
  const trigrams = candidates.map(({ text }) => trigramsOf(text));
  const ranked = candidates
    .map((candidate, index) => {
      const own = trigrams[index] ?? new Set();
      const likeness = trigrams.reduce((sum, other) => sum + (other === own ? 0 : overlap(own, other)), 0);
      return { candidate, index, likeness };
    })
    .sort((a, b) => b.likeness - a.likeness || a.index - b.index);
  const seen = new Set<string>();
  const different = ranked.filter(({ candidate }) => {
    const key = candidate.text.toLowerCase();
    return !seen.has(key) && seen.add(key);
  });
  const best = new Map<number | null, (typeof different)[number]>();
  for (const entry of different) if (!best.has(entry.candidate.micro)) best.set(entry.candidate.micro, entry);
  const order = [...new Set(candidates.map(({ micro }) => micro))];
  const chosen = order.flatMap((micro) => best.get(micro) ?? []).slice(0, count);
  for (const entry of different) {
    if (chosen.length >= count) break;
    if (!chosen.includes(entry)) chosen.push(entry);
  }
  return chosen.map(({ candidate }) => candidate);
}

/** Returns sequences of three letters or digits, which work for texts of any script. */
function trigramsOf(text: string): ReadonlySet<string> {
  const letters = [
    ...` ${text
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
      .trim()} `,
  ];
  return new Set(letters.slice(2).map((_, index) => letters.slice(index, index + 3).join('')));
}

/** Jaccard similarity, 0 to 1. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const item of a) if (b.has(item)) shared += 1;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}
