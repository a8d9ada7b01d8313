/**
 * Maps a BCP 47 tag such as `en`, `en-US` or `zh-Hant-TW` to the code of its language.
 *
 * Test: test/query/language-tag.test.ts.
 */

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Built on first use: it takes 8 ms, and most processes never need it. */
interface Known {
  readonly names: Intl.DisplayNames;
  /** Maps a canonical three-letter code to the older two-letter code that is stored: Filipino is `tl`. */
  readonly shorter: ReadonlyMap<string, string>;
}

let known: Known | null = null;

function readKnown(): Known {
  return {
    names: new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }),
    shorter: new Map(
      [...LETTERS]
        .flatMap((first) => [...LETTERS].map((second) => first + second))
        .map((code) => [new Intl.Locale(code).language, code] as const)
        .filter(([language]) => language.length > 2),
    ),
  };
}

/**
 * Returns the ISO 639-1 code where one exists of the language in a tag's first part; null for an unknown language.
 * Ignores case, takes `_` for `-`, and knows older and longer codes (`eng`, `iw`).
 */
export function languageOf(tag: string): string | null {
  const { names, shorter } = (known ??= readKnown());
  try {
    const { language } = new Intl.Locale(tag.replaceAll('_', '-'));
    return names.of(language) === undefined ? null : (shorter.get(language) ?? language);
  } catch {
    return null;
  }
}
