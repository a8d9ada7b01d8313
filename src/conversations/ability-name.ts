/**
 * Names missing abilities in the assistant's words: "Change delivery address", "Access tracking data".
 * Covered by test/conversations/ability-name.test.ts.
 */
import type { MissingAbility } from '../domain/facts.ts';
import { accessPhrases } from '../text/ability-keys.ts';
import { requestParts } from '../text/request-parts.ts';
import { isUnspaced } from '../text/words.ts';
import { requestName } from '../topics/naming/names.ts';

const MOST_WORDS = 6;
/** Languages in which a phrase without its small words is none: "composition du sac de couchage". */
const NEEDS_ALL_WORDS: ReadonlySet<string> = new Set(['de', 'es', 'fr', 'it', 'nl', 'pt']);
const MOST_QUESTION_WORDS = 8;
const LONGEST = 60;
/** A verb before its object. */
const ENGLISH_OBJECT = /^\S+ (?:your|the|my|our|an?|this|that|these|those|their|his|her|its|any)\b/iu;
/** Digits, addresses, placeholders of personal data. */
const TELLS_TOO_MUCH = /[\p{N}@•/\\]/u;
/** A capital where no name begins: a person or a product, but for abbreviations. German writes all nouns so. */
const INNER_CAPITAL = /\s\p{Lu}\p{Ll}/u;

/** A name for one missing ability; '' where its words make none. `words` and `question` hold no personal data. */
export function abilityName({ type, words, question, isUnseen, language }: MissingAbility): string {
  if (question !== undefined) return questionName(question, language);
  const told = language === 'en' ? words.replace(/^.* such as /u, '') : words;
  if (told === '' || TELLS_TOO_MUCH.test(told)) return '';
  return saidName(told, { type, isUnseen, language });
}

type Said = Omit<MissingAbility, 'words' | 'question'>;

function saidName(words: string, { type, isUnseen, language }: Said): string {
  const { verb, noun } = requestParts(words, language);
  const isShort = words.split(' ').length <= MOST_WORDS;
  const isVerbFirst = verb !== null && noun !== '' && words.toLowerCase().startsWith(verb.toLowerCase());
  const isWhole = NEEDS_ALL_WORDS.has(language ?? '') && words.split(' ').length <= MOST_QUESTION_WORDS;
  const brief = (): string =>
    !isShort && isVerbFirst && !noun.includes(verb) ? `${verb} ${noun}` : requestName(words);
  const short = isWhole ? words : brief();
  const withNoun = isShort || noun === '' ? asSaid(short, words) : noun;
  const isAccess = isUnseen && type === 'TOOL' && !(isVerbFirst && isInfinitive(verb, words, language));
  const name = isAccess ? withAccess(withNoun, language) : short;
  if (
    !isFit(name, isWhole ? MOST_QUESTION_WORDS + 2 : MOST_WORDS + 1, language) ||
    (!isAccess && saysLittle(name, type, verb))
  )
    return '';
  return name[0]!.toUpperCase() + name.slice(1);
}

/** "When the ferry leaves": what is not known, asked as the assistant said it. */
function questionName(question: string, language: string | null): string {
  if (TELLS_TOO_MUCH.test(question) || !isFit(question, MOST_QUESTION_WORDS, language)) return '';
  const said = language === 'en' ? question.replace(/^if\b/iu, 'whether') : question;
  return said[0]!.toUpperCase() + said.slice(1);
}

function isFit(name: string, mostWords: number, language: string | null): boolean {
  if (name === '' || name.length > LONGEST || name.split(' ').length > mostWords) return false;
  return language === 'de' || !INNER_CAPITAL.test(name);
}

/** "Access to (edit your profile)", but "access to (tracking data)" and "access to (order data)". */
function isInfinitive(verb: string, words: string, language: string | null): boolean {
  if (verb.endsWith('ing')) return false;
  return language !== 'en' || ENGLISH_OBJECT.test(words);
}

/** A bare verb says nothing of what is to be done; nor does one word for what is to be done with something. */
function saysLittle(name: string, type: MissingAbility['type'], verb: string | null): boolean {
  if (name.includes(' ') || isUnspaced(name)) return false;
  return type === 'TOOL' || name.toLowerCase() === verb?.toLowerCase();
}

/** A name without the capital that naming gave it. */
function asSaid(name: string, words: string): string {
  const lower = name.slice(0, 1).toLowerCase() + name.slice(1);
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

/**
 * The best of the names of a group, best first: those in the language of most, the most frequent, the shortest.
 * `spoken`: the languages of all groups' names, which decide where a group has as many of two.
 */
export function rankedAbilityNames(
  named: readonly NamedAbility[],
  spoken: readonly (string | null)[] = [],
): string[] {
  const known = named.filter(({ name }) => name !== '');
  const languages = countsOf(known.map(({ language }) => language ?? ''));
  const all = countsOf(spoken.map((language) => language ?? ''));
  const names = countsOf(known.map(({ name }) => name.toLowerCase()));
  const isWhole = (name: string): number => (name.includes(' ') ? 1 : 0);
  const sorted = known.toSorted(
    (a, b) =>
      languages.get(b.language ?? '')! - languages.get(a.language ?? '')! ||
      (all.get(b.language ?? '') ?? 0) - (all.get(a.language ?? '') ?? 0) ||
      Number(b.isWhole) - Number(a.isWhole) ||
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
