/** Which language a tag of BCP 47 names, such as `en`, `en-US` or `zh-Hant-TW`. */

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Read for the first tag: it takes 8 ms, and most processes are given none. */
interface Known {
  readonly names: Intl.DisplayNames;
  /**
   * Languages whose own code has three letters today, but which are stored by an older one of two: Filipino as `tl`.
   */
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
 * The ISO 639-1 code (where there is one) of the language that a tag names by its first part, in any case and with
 * `_` for `-`, older and longer codes included (`eng`, `iw`); null when no language has it.
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
