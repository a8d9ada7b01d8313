/**
 * Runs texts through a model in batches. Keeps the invariant that a text's vector never depends on its neighbours: only
 * texts of equal length run together.
 *
 * Test: test/reader/embedding/embedder.test.ts.
 */
import type { StepListener } from './step-listener.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Runs token ids of equal length through the model; returns one vector of unit length per text. */
export type Runner = (batch: readonly (readonly number[])[]) => Promise<Float32Array[]>;

/** Most texts in one run of the model. */
export const MAX_BATCH = 64;
/** Most tokens in one run of the model, which bounds its memory. */
const MAX_BATCH_TOKENS = 4096;
/** Sizes and length of the trial batches that show whether neighbours matter. */
const TRIAL_BATCHES = [MAX_BATCH, 7, 2] as const;
const TRIAL_TOKENS = 12;

/** A text's tokens and vector; null for a text without a token of its own. */
export interface Embedded {
  readonly tokens: readonly number[];
  readonly vector: Float32Array | null;
}

/** Embeds texts, in their order. Texts of equal length run together. */
export async function embedInBatches(
  texts: readonly string[],
  tokenizer: Tokenizer,
  run: Runner,
  batchSize: number,
  steps: StepListener,
): Promise<Embedded[]> {
  const byLength = new Map<number, { tokens: readonly number[]; place: number }[]>();
  const tokensOf = texts.map((text, place) => {
    steps.onText(place);
    const tokens = tokenizer.tokensOf(text);
    if (tokenizer.isBlank(text, tokens)) return tokens;
    const group = byLength.get(tokens.length);
    if (group === undefined) byLength.set(tokens.length, [{ tokens, place }]);
    else group.push({ tokens, place });
    return tokens;
  });
  const vectors: (Float32Array | null)[] = texts.map(() => null);
  for (const [length, group] of byLength) {
    const size = Math.max(1, Math.min(batchSize, Math.floor(MAX_BATCH_TOKENS / length)));
    for (let start = 0; start < group.length; start += size) {
      steps.onShared();
      const batch = group.slice(start, start + size);
      const made = await run(batch.map(({ tokens }) => tokens));
      batch.forEach(({ place }, i) => (vectors[place] = made[i] ?? null));
    }
  }
  return tokensOf.map((tokens, place) => ({ tokens, vector: vectors[place]! }));
}

/** True if rows of a full, a small and the smallest batch get the same vectors, to the bit, as alone. */
export async function ignoresNeighbours(
  run: Runner,
  tokens: readonly number[],
  maxTokens: number,
): Promise<boolean> {
  const length = Math.min(TRIAL_TOKENS, maxTokens);
  const rows = Array.from({ length: MAX_BATCH }, (_, row) =>
    Array.from({ length }, (__, place) => tokens[(row * 7 + place) % tokens.length] ?? 0),
  );
  const alone: Float32Array[] = [];
  for (const row of rows) alone.push(...(await run([row])));
  for (const size of TRIAL_BATCHES) {
    if (!sameBits(await run(rows.slice(0, size)), alone.slice(0, size))) return false;
  }
  return true;
}

/** True if two lists of vectors are equal to the bit. */
export function sameBits(a: readonly Float32Array[], b: readonly Float32Array[]): boolean {
  return a.length === b.length && a.every((vector, i) => bytesOf(vector).equals(bytesOf(b[i]!)));
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
