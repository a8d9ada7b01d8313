/** Which language a text is in. The only door to eld. */
import { eld } from 'eld/small';

/** ISO 639-1 codes of the languages that can be told. */
export const KNOWN_LANGUAGES: ReadonlySet<string> = new Set(Object.values(eld.info().Languages));

/** Shorter texts say too little about their language. UTF-16 units, after trimming. */
const MIN_LENGTH = 24;
/** More than this decides nothing and costs time. */
const MAX_LENGTH = 1000;

/**
 * ISO 639-1 code of the text's language; null below 24 characters or when the finding is not reliable.
 */
export function detectLanguage(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length < MIN_LENGTH) return null;
  const result = eld.detect(trimmed.slice(0, MAX_LENGTH));
  return result.language !== '' && result.isReliable() ? result.language : null;
}
