/**
 * What a change did to something that people said is fixed, in words.
 *
 * Test: test/query/effects/effect.test.ts.
 */
/** In the order in which they are news. */
export const EFFECT_VERDICTS = [
  'CAME_BACK',
  'WORSE',
  'HELPED',
  'AS_USUAL',
  'NO_DIFFERENCE',
  'TOO_EARLY',
  'NOTHING_BEFORE',
] as const;
export type EffectVerdict = (typeof EFFECT_VERDICTS)[number];

/** True for a change that is told: others say that there is none, or that nobody can tell. */
export function isTold(verdict: EffectVerdict): boolean {
  return verdict === 'CAME_BACK' || verdict === 'WORSE' || verdict === 'HELPED';
}

/** `label`: a few words; `meaning`: a sentence that explains them. */
export const EFFECT_WORDS: Readonly<
  Record<EffectVerdict, { readonly label: string; readonly meaning: string }>
> = {
  HELPED: { label: 'Helped', meaning: 'Its share of conversations fell in the weeks after.' },
  CAME_BACK: { label: 'Came back', meaning: 'Its share of conversations fell, and rose again.' },
  WORSE: { label: 'More often since', meaning: 'Its share of conversations rose in the weeks after.' },
  AS_USUAL: {
    label: 'Unclear',
    meaning: 'Its share differs, but a steady trend, or the season, explains that as well.',
  },
  NO_DIFFERENCE: { label: 'No difference', meaning: 'No difference is larger than chance explains.' },
  TOO_EARLY: {
    label: 'Too early to tell',
    meaning: 'No whole week with conversations has passed since then.',
  },
  NOTHING_BEFORE: {
    label: 'Nothing to compare',
    meaning: 'It came up in no conversation of the weeks before.',
  },
};
