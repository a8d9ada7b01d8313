/**
 * Names missing abilities in the assistant's words: "Change delivery address", "Access tracking data". Keeps the
 * promise that no name holds digits, addresses or redacted parts.
 *
 * Test: test/reader/conversations/ability-name.test.ts.
 */
import type { MissingAbility } from '../../domain/facts.ts';
import { accessPhrases } from '../phrases/ability-keys.ts';
import { requestParts } from '../document/request-parts.ts';
import { isUnspaced } from '../document/words.ts';
import { requestName } from '../topics/naming/names.ts';
import { LONGEST_NAME } from '../topics/naming/phrases.ts';
import { isFragment, LEAST_NOUN } from './request-name.ts';
import { isEvent, isVerb, isVerbForm, namingForm } from '../topics/naming/verb-forms.ts';

const MOST_WORDS = 6;
/** Languages whose phrases need their small words: "composition du sac de couchage". */
const NEEDS_ALL_WORDS: ReadonlySet<string> = new Set(['de', 'es', 'fr', 'it', 'nl', 'pt']);
const MOST_QUESTION_WORDS = 8;
/** A verb before its object. */
const ENGLISH_OBJECT = /^\S+ (?:your|the|my|our|an?|this|that|these|those|their|his|her|its|any)\b/iu;
/** Digits, addresses, placeholders of personal data. */
const TELLS_TOO_MUCH = /[\p{N}@•/\\]/u;
/** A capital inside the text: a person or a product, abbreviations excepted. German capitalises all nouns. */
const INNER_CAPITAL = /\s\p{Lu}\p{Ll}/u;

/** Names one missing ability; '' if its words make no name. `words` and `question` must hold no personal data. */
export function abilityName({ type, words, question, isUnseen, language }: MissingAbility): string {
  if (question !== undefined) return questionName(question, language);
  const plain = language === 'en' ? words.replace(/^.* such as /u, '') : words;
  if (plain === '' || TELLS_TOO_MUCH.test(plain)) return '';
  return nameInWords(plain, { type, isUnseen, language });
}

type AbilityContext = Omit<MissingAbility, 'words' | 'question'>;

function nameInWords(text: string, { type, isUnseen, language }: AbilityContext): string {
  const words = language === 'en' ? inBaseForm(text) : text;
  const { verb, noun } = requestParts(words, language);
  const isShort = words.split(' ').length <= MOST_WORDS;
  const isVerbFirst = verb !== null && noun !== '' && words.toLowerCase().startsWith(verb.toLowerCase());
  const isWhole = NEEDS_ALL_WORDS.has(language ?? '') && words.split(' ').length <= MOST_QUESTION_WORDS;
  const brief = (): string =>
    !isShort && isVerbFirst && !noun.includes(verb) ? `${verb} ${noun}` : requestName(words);
  const short = isWhole ? words : brief();
  const withNoun = isShort || noun === '' ? withoutCapital(short, words) : noun;
  const isAccess = isUnseen && type === 'TOOL' && !(isVerbFirst && isInfinitive(verb, words, language));
  const name = isAccess ? withAccess(withNoun, language) : short;
  if (
    !isFit(name, isWhole ? MOST_QUESTION_WORDS + 2 : MOST_WORDS + 1, language) ||
    (isAccess ? isVague(words, language) : saysLittle(name, type, verb, noun))
  )
    return '';
  return name[0]!.toUpperCase() + name.slice(1);
}

/** Names missing knowledge by the question that the assistant cannot answer: "When the ferry leaves". */
function questionName(question: string, language: string | null): string {
  if (TELLS_TOO_MUCH.test(question) || !isFit(question, MOST_QUESTION_WORDS, language)) return '';
  const text = language === 'en' ? question.replace(/^if\b/iu, 'whether') : question;
  return text[0]!.toUpperCase() + text.slice(1);
}

function isFit(name: string, mostWords: number, language: string | null): boolean {
  if (name === '' || name.length > LONGEST_NAME || name.split(' ').length > mostWords) return false;
  return language === 'de' || !INNER_CAPITAL.test(name);
}

/**
 * True for an infinitive: "access to (edit your profile)", not "access to (tracking data)" or "access to (order data)".
 */
function isInfinitive(verb: string, words: string, language: string | null): boolean {
  if (verb.endsWith('ing')) return false;
  return language !== 'en' || ENGLISH_OBJECT.test(words) || isVerbAlone(verb.toLowerCase());
}

/** True for a verb that is no thing as well: "edit", not "order". */
function isVerbAlone(verb: string): boolean {
  return isVerb(verb) && requestParts(verb, 'en').thing.length === 0;
}

/**
 * Puts the verb into its base form, first: "changing the address" to "change the address", "photos uploaded" to "upload
 * photos".
 */
function inBaseForm(words: string): string {
  const all = words.split(' ');
  const [first, last] = [all[0]!.toLowerCase(), all.at(-1)!.toLowerCase()];
  if (first.endsWith('ing') && all.length > 1 && isVerbForm(first) && ENGLISH_OBJECT.test(words))
    return [namingForm(first), ...all.slice(1)].join(' ');
  if (last.endsWith('ed') && all.length > 1 && isVerbForm(last) && !isEvent(last))
    return [namingForm(last), ...all.slice(0, -1)].join(' ');
  return words;
}

/** True for a name that says too little: a bare verb, or for TOOL a single word. */
function saysLittle(name: string, type: MissingAbility['type'], verb: string | null, noun: string): boolean {
  if (isUnspaced(name)) return false;
  if (name.includes(' ')) return type === 'TOOL' && noun.length < LEAST_NOUN && isFragment(name, 'en');
  return type === 'TOOL' || name.toLowerCase() === verb?.toLowerCase();
}

/** True for "access to that function", which could be any ability. */
function isVague(words: string, language: string | null): boolean {
  return !words.includes(' ') && requestParts(words, language).thing.length === 0;
}

/** The name without the capital that naming gave it. */
function withoutCapital(name: string, words: string): string {
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
  /** True if the assistant's words name all of the ability. */
  readonly isWhole: boolean;
}

/**
 * Ranks the names of a group, best first: those in the most common language, the most frequent, the shortest. `spoken`:
 * the languages of all groups' names; they decide a tie of two languages.
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
