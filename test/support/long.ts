/**
 * Whether this is the long form of the tests (`npm run test:long`), which has every case; `npm test` has those that no
 * other one stands for.
 */
export const isLong = process.env['TEST_LONG'] !== undefined;

/** All cases in the long form, else each so-many-th, from the first on. */
export function sampled<Case>(cases: readonly Case[], each: number): readonly Case[] {
  return isLong ? cases : cases.filter((_, index) => index % each === 0);
}
