/**
 * Common parts of the vectors of one script, for models that do not know its words. There, tokens are single letters,
 * so unrelated texts look alike. A model's `common-parts.json` lists groups of texts with the mean of their vectors.
 *
 * Test: test/reader/embedding/common-parts.test.ts.
 */
import { z } from 'zod';

const groupSchema = z.strictObject({
  /** Name of a Unicode script: the group of texts with at least half of their letters in it. */
  script: z
    .string()
    .regex(/^[A-Z][a-z]+$/)
    .optional(),
  /** Letters of a single language: the group of texts with one of them. */
  letters: z.string().min(1).optional(),
  vector: z.array(z.number()),
});

export const commonPartsSchema = z.array(groupSchema);
export type CommonPart = z.infer<typeof groupSchema>;
/** The definition of a group of texts. */
export type TextGroup = Pick<CommonPart, 'script' | 'letters'>;

/** Length of the beginning of a text that is read, UTF-16 units. */
const READ = 200;
const LETTER = /\p{L}/gu;
/** Returns a function that gives the index of a text's group, the first that fits, or −1. */
export function groupFinder(groups: readonly TextGroup[]): (text: string) => number {
  const tests = groups.map(({ script, letters }) => {
    const isOne = script === undefined ? null : new RegExp(`\\p{Script=${script}}`, 'gu');
    const telling = new Set(letters ?? '');
    return (text: string, count: () => number): boolean => {
      if (isOne !== null) return (text.match(isOne)?.length ?? 0) * 2 >= count();
      for (const letter of text) if (telling.has(letter)) return true;
      return false;
    };
  });
  // Most texts have no such letter and belong to no group, so this test comes first.
  const telling = groups.map(({ script, letters }) =>
    script === undefined ? letters : `\\p{Script=${script}}`,
  );
  const mayBelong = new RegExp(`[${telling.join('')}]`, 'iu');
  return (content) => {
    const text = content.slice(0, READ);
    if (!mayBelong.test(text)) return -1;
    const folded = text.toLowerCase().normalize('NFC');
    let letters = -1;
    const count = (): number => (letters < 0 ? (letters = folded.match(LETTER)?.length ?? 0) : letters);
    if (count() === 0) return -1;
    return tests.findIndex((belongs) => belongs(folded, count));
  };
}
