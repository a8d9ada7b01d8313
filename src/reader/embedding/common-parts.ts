/**
 * What all texts of a script have in common, where a model does not know its words: there, pieces are single letters,
 * so unrelated texts look alike. A model's `common-parts.json` names such groups of texts with the mean of their
 * vectors. Covered by test/reader/embedding/common-parts.test.ts.
 */
import { z } from 'zod';

const groupSchema = z.strictObject({
  /** Name of a Unicode script: texts of which at least half of the letters are of it. */
  script: z
    .string()
    .regex(/^[A-Z][a-z]+$/)
    .optional(),
  /** Letters that no other language has: texts with one of them. */
  letters: z.string().min(1).optional(),
  vector: z.array(z.number()),
});

export const commonPartsSchema = z.array(groupSchema);
export type CommonPart = z.infer<typeof groupSchema>;
/** Which texts belong to a group. */
export type TextGroup = Pick<CommonPart, 'script' | 'letters'>;

/** Only the beginning of a text is looked at. UTF-16 units. */
const READ = 200;
const LETTER = /\p{L}/gu;
/** Tells the group of a text: its place in the list, or −1. The first that fits. */
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
  // Most texts have no such letter, and belong to no group.
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
