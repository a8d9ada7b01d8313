/**
 * Names missing abilities in the assistant's words: "Change delivery address", "Access tracking data".
 * Covered by test/reader/conversations/ability-name.test.ts.
 */
import type { MissingAbility } from '../../domain/facts.ts';
import { accessPhrases } from '../phrases/ability-keys.ts';
import { requestParts } from '../document/request-parts.ts';
import { isUnspaced } from '../document/words.ts';
import { requestName } from '../topics/naming/names.ts';
import { isFragment } from './request-name.ts';
import { isEvent, isVerb, isVerbForm, namingForm } from '../topics/naming/verb-forms.ts';

const MOST_WORDS = 6;
/** Languages in which a phrase without its small words is none: "composition du sac de couchage". */
const NEEDS_ALL_WORDS: ReadonlySet<string> = new Set(['de', 'es', 'fr', 'it', 'nl', 'pt']);
const MOST_QUESTION_WORDS = 8;
const LONGEST = 60;
/** A verb before its object. */
const ENGLISH_OBJECT = /^\S+ (?:your|the|my|our|an?|this|that|these|those|their|his|her|its|any)\b/iu;
const LEAST_NOUN = 3;
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

function saidName(said: string, { type, isUnseen, language }: Said): string {
  const words = language === 'en' ? inBaseForm(said) : said;
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
    (isAccess ? isVague(words, language) : saysLittle(name, type, verb, noun))
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
  return language !== 'en' || ENGLISH_OBJECT.test(words) || isVerbAlone(verb.toLowerCase());
}

/** A verb that is no thing as well: "edit", and not "order". */
function isVerbAlone(verb: string): boolean {
  return isVerb(verb) && requestParts(verb, 'en').thing.length === 0;
}

/** "Changing the address" and "photos uploaded" as what is to be done: "change the address", "upload photos". */
function inBaseForm(words: string): string {
  const all = words.split(' ');
  const [first, last] = [all[0]!.toLowerCase(), all.at(-1)!.toLowerCase()];
  if (first.endsWith('ing') && all.length > 1 && isVerbForm(first) && ENGLISH_OBJECT.test(words))
    return [namingForm(first), ...all.slice(1)].join(' ');
  if (last.endsWith('ed') && all.length > 1 && isVerbForm(last) && !isEvent(last))
    return [namingForm(last), ...all.slice(0, -1)].join(' ');
  return words;
}

/** A bare verb says nothing of what is to be done; nor does one word for what is to be done with something. */
function saysLittle(name: string, type: MissingAbility['type'], verb: string | null, noun: string): boolean {
  if (isUnspaced(name)) return false;
  if (name.includes(' ')) return type === 'TOOL' && noun.length < LEAST_NOUN && isFragment(name, 'en');
  return type === 'TOOL' || name.toLowerCase() === verb?.toLowerCase();
}

/** "Access to that function": any ability is one. */
function isVague(words: string, language: string | null): boolean {
  return !words.includes(' ') && requestParts(words, language).thing.length === 0;
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
