/**
 * Tells whether a model knows enough of a text's words. A model's `familiarity.json` holds a weight per token: above
 * zero for tokens that are more frequent in the languages that it knows.
 *
 * Test: test/reader/embedding/familiarity.test.ts.
 */
import { z } from 'zod';

export const familiaritySchema = z.strictObject({
  bias: z.number(),
  /** Value of one step of a weight. */
  scale: z.number().positive(),
  /** One signed byte per token, in base64. */
  weights: z.base64(),
});
export type Familiarity = z.infer<typeof familiaritySchema>;

/** Returns a test that tells from a text's tokens whether it is familiar. Without the file, every text is. */
export function familiarityTest(familiarity: Familiarity | null): (tokens: readonly number[]) => boolean {
  if (familiarity === null) return () => true;
  const weights = new Int8Array(Buffer.from(familiarity.weights, 'base64'));
  const least = -familiarity.bias / familiarity.scale;
  return (tokens) => {
    let sum = 0;
    for (const token of tokens) sum += weights[token] ?? 0;
    return sum >= least;
  };
}
