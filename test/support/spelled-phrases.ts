import type { Item, Part, ReadPhrase } from '../../src/reader/phrases/syntax.ts';

/** The sequences of items that a phrase stands for. */
export function sequencesOf({ parts }: ReadPhrase): Item[][] {
  return spelled(parts).map((items) => withoutIdleGaps(items).map(anywhereWithin));
}

function spelled(parts: readonly Part[]): Item[][] {
  let sequences: Item[][] = [[]];
  for (const part of parts) {
    const ways = part.kind === 'items' ? [part.items] : part.of.flatMap(spelled);
    sequences = sequences.flatMap((sequence) => ways.map((way) => [...sequence, ...way]));
  }
  return sequences;
}

/** Where what may be left out is left out, a gap leads nowhere, or follows another: the longer one stays. */
function withoutIdleGaps(items: readonly Item[]): Item[] {
  const kept: Item[] = [];
  for (const item of items) {
    const last = kept.at(-1);
    if (item.kind !== 'gap' || (last !== undefined && last.kind !== 'gap')) kept.push(item);
    else if (last?.kind === 'gap' && item.most > last.most) kept[kept.length - 1] = item;
  }
  if (kept.at(-1)?.kind === 'gap') kept.pop();
  return kept;
}

/** Only the first word of a phrase must begin where a word does. */
function anywhereWithin(item: Item, at: number): Item {
  return at > 0 && item.kind === 'word' && item.glue === 'first' ? { ...item, glue: 'free' } : item;
}
