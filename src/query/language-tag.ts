/** Which language a tag of BCP 47 names, such as `en`, `en-US` or `zh-Hant-TW`. */

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Languages whose own code has three letters today, but which are stored by an older one of two: Filipino as `tl`. */
const SHORTER: ReadonlyMap<string, string> = new Map(
  [...LETTERS]
    .flatMap((first) => [...LETTERS].map((second) => first + second))
    .map((code) => [new Intl.Locale(code).language, code] as const)
    .filter(([language]) => language.length > 2),
);

/**
 * The ISO 639-1 code (where there is one) of the language that a tag names by its first part, in any case and with
 * `_` for `-`, older and longer codes included (`eng`, `iw`); null when no language has it.
 */
export function languageOf(tag: string): string | null {
  try {
    const { language } = new Intl.Locale(tag.replaceAll('_', '-'));
    return NAMES.of(language) === undefined ? null : (SHORTER.get(language) ?? language);
  } catch {
    return null;
  }
}
