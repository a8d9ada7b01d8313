/**
 * Whether a model knows enough of a text's words to tell what it is about. A model's `familiarity.json` has a weight
 * for each of its tokens: above zero those that texts in languages that it knows hold more often than others. Covered
 * by test/reader/embedding/familiarity.test.ts.
 */
import { z } from 'zod';

export const familiaritySchema = z.strictObject({
  bias: z.number(),
  /** What a weight of 1 counts. */
  scale: z.number().positive(),
  /** One signed byte a token. */
  weights: z.base64(),
});
export type Familiarity = z.infer<typeof familiaritySchema>;

/** From the tokens of a text: whether it is familiar. Nothing is unfamiliar to a model without the file. */
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
