/**
 * Stems English: cuts the endings that most often separate forms of one word. Words of other languages mostly stay as
 * they are. `lower` is a word in lower case.
 *
 * Test: test/reader/document/stem.test.ts.
 */
export function stemOf(lower: string): string {
  let stem = lower.replace(/'s$/, '');
  if (/[^a-z'-]/.test(stem) || stem.length < 4) return stem;
  if (stem.endsWith('ies') && stem.length > 4) stem = stem.slice(0, -2);
  else if (/(?:ss|sh|ch|x|z)es$/.test(stem)) stem = stem.slice(0, -2);
  else if (stem.endsWith('s') && !/(?:ss|us|is)$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.endsWith('ing') && stem.length > 5) stem = undoubled(stem.slice(0, -3));
  else if (stem.endsWith('ed') && stem.length > 4) stem = undoubled(stem.slice(0, -2));
  else if (stem.endsWith('ation') && stem.length > 8) stem = undoubled(stem.slice(0, -5)).replace(/ll$/, 'l');
  if (stem.length > 3 && stem.endsWith('e')) stem = stem.slice(0, -1);
  if (stem.length > 3 && /[^aeiou]y$/.test(stem)) stem = `${stem.slice(0, -1)}i`;
  return stem;
}

function undoubled(stem: string): string {
  return /([bdgklmnprt])\1$/.test(stem) && !/(?:ll|ss)$/.test(stem) ? stem.slice(0, -1) : stem;
}
