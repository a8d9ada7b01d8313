/**
 * Names missing abilities in the assistant's words: "Change delivery address", "Access tracking data".
 * Covered by test/conversations/ability-name.test.ts.
 */
import type { MissingAbility } from '../domain/facts.ts';
import { accessPhrases } from '../language/ability-keys.ts';
import { requestParts } from '../language/request-parts.ts';
import { requestName } from '../topics/naming/names.ts';

const MOST_WORDS = 5;
const LONGEST = 60;
/** Digits, addresses, placeholders of personal data. */
const TELLS_TOO_MUCH = /[\p{N}@•/\\]/u;
/** A capital where no name begins: a person or a product, but for abbreviations. German writes all nouns so. */
const INNER_CAPITAL = /\s\p{Lu}\p{Ll}/u;

/** A name for one missing ability; '' where its words make none. `words` hold no personal data. */
export function abilityName({ type, words, isUnseen, language }: MissingAbility): string {
  if (words === '' || TELLS_TOO_MUCH.test(words)) return '';
  const { verb, noun } = requestParts(words, language);
  const isShort = words.split(' ').length <= MOST_WORDS;
  const isVerbFirst = verb !== null && noun !== '' && words.toLowerCase().startsWith(verb.toLowerCase());
  // "Access to (edit your profile)", but "access to (tracking data)".
  const isInfinitive = isVerbFirst && !verb.endsWith('ing');
  const short = !isShort && isVerbFirst && !noun.includes(verb) ? `${verb} ${noun}` : requestName(words);
  const name =
    isUnseen && !isInfinitive && type === 'TOOL'
      ? withAccess(isShort || noun === '' ? asSaid(short, words) : noun, language)
      : short;
  if (name === '' || name.length > LONGEST || name.split(' ').length > MOST_WORDS + 1) return '';
  if (language !== 'de' && INNER_CAPITAL.test(name)) return '';
  return name[0]!.toUpperCase() + name.slice(1);
}

/** A name without the capital that naming gave it. */
function asSaid(name: string, words: string): string {
  const lower = name[0]!.toLowerCase() + name.slice(1);
  return words.includes(lower) ? lower : name;
}

function withAccess(thing: string, language: string | null): string {
  const { before, after } = accessPhrases(language);
  return `${before}${thing}${after}`;
}

/** A name and its language. */
export interface NamedAbility {
  readonly name: string;
  readonly language: string | null;
  /** The words of the assistant name all of it. */
  readonly isWhole: boolean;
}

/** The best of the names of a group, best first: those in the language of most, the most frequent, the shortest. */
export function rankedAbilityNames(named: readonly NamedAbility[]): string[] {
  const known = named.filter(({ name }) => name !== '');
  const languages = countsOf(known.map(({ language }) => language ?? ''));
  const names = countsOf(known.map(({ name }) => name.toLowerCase()));
  const isWhole = (name: string): number => (name.includes(' ') ? 1 : 0);
  const sorted = known.toSorted(
    (a, b) =>
      Number(b.isWhole) - Number(a.isWhole) ||
      languages.get(b.language ?? '')! - languages.get(a.language ?? '')! ||
      names.get(b.name.toLowerCase())! - names.get(a.name.toLowerCase())! ||
      isWhole(b.name) - isWhole(a.name) ||
      a.name.length - b.name.length ||
      (a.name < b.name ? -1 : 1),
  );
  return [...new Set(sorted.map(({ name }) => name))];
}

function countsOf(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
