/**
 * Names a single request: by a phrase of its own words, else by its thing, else by its shortest sentence.
 *
 * Test: test/reader/conversations/request-name.test.ts.
 */
import { LANGUAGES, LEXICON } from '../document/lexicon.ts';
import { requestParts } from '../document/request-parts.ts';
import { sentencesOf } from '../document/sentences.ts';
import { TEXT_PHRASES } from '../shortening/phrase-set.ts';
import { isUnspaced } from '../document/words.ts';
import { requestName } from '../topics/naming/names.ts';
import { LONGEST_NAME } from '../topics/naming/phrases.ts';
import { isVerb, isVerbForm } from '../topics/naming/verb-forms.ts';
import { capitalised, withoutMarks } from './title-and-summary.ts';

/** Least characters of a phrase in a script without spaces. */
const LEAST_UNSPACED = 3;
/** Least characters of a thing. */
export const LEAST_NOUN = 3;
/**
 * A phrase of this many words that ends in a past form is a clause: "Zip on jacket broke". "Payment failed" is a name.
 */
const CLAUSE = 4;
const NUMBER = /\p{N}/u;
const CONNECTORS: ReadonlySet<string> = new Set(LEXICON.connectors.all);
/** Particles: "find out", "want that back" say nothing without their object. */
const PARTICLES: ReadonlySet<string> = new Set([...LANGUAGES.get('en')!.particles, 'in']);
/** A participle stands at most so many words behind its noun: "card keeps getting declined". */
const MOST_BEHIND = 4;
const SUBJECTS: ReadonlySet<string> = new Set(LANGUAGES.get('en')!.subjects);
/** Words that only sentences have, subjects and auxiliaries, by language. */
const OF_SENTENCES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...LANGUAGES].map(([code, { subjects, auxiliaries }]) => [code, new Set([...subjects, ...auxiliaries])]),
);

/** Returns the name; '' for a text that names nothing. */
export function nameOfRequest(text: string): string {
  const isThing = (noun: string): boolean =>
    noun.length >= LEAST_NOUN && !NUMBER.test(noun) && !PARTICLES.has(noun);
  const candidates = [text, ...sentencesOf(text)].map((part) => requestParts(part));
  const { verb, noun, language } = candidates.find((parts) => isThing(parts.noun)) ?? candidates[0]!;
  const hasThing = isThing(noun);
  if (hasThing && verb !== null) {
    const wish = wishOf(verb, noun, text, language);
    if (wish !== '') return capitalised(wish);
  }
  const phrase = beforeNumber(upToContrast(requestName(text)), text);
  if (phrase !== '' && !isFragment(phrase, language) && (language === 'en' || text.includes(phrase.slice(1))))
    return phrase;
  if (hasThing) return capitalised(withParticiple(noun, text));
  const [shortest = ''] = sentencesOf(text)
    .map(withoutMarks)
    .filter((sentence) => sentence !== '' && sentence.length <= LONGEST_NAME && !NUMBER.test(sentence))
    .toSorted((one, other) => one.length - other.length);
  return capitalised(shortest);
}

/** Endings of infinitives by language, for languages in which they mark the wish. */
const INFINITIVES: Readonly<Record<string, RegExp>> = {
  de: /(?:en|ern|eln)$/u,
  es: /[aei]r(?:me|te|se|lo|la)?$/u,
  fr: /(?:er|ir|re)$/u,
  it: /[aei]r(?:e|mi|ti|lo|la)$/u,
  nl: /en$/u,
  pt: /[aei]r$/u,
};
const MOST_WORDS = 5;

/**
 * The wish as action and thing: "Send invoice", "alterar a morada", "Adresse ändern"; '' if the text does not say it.
 */
function wishOf(verb: string, noun: string, text: string, language: string | null): string {
  if (language === 'en') {
    const [first = ''] = verb.toLowerCase().split(' ');
    return isVerb(first) ? `${first} ${noun}` : '';
  }
  if (INFINITIVES[language ?? '']?.test(verb) !== true) return '';
  const [from, at] = [text.indexOf(verb), text.indexOf(noun)];
  if (from < 0 || at < 0) return '';
  if (at < from) return `${noun} ${verb}`;
  const between = text.slice(from, at + noun.length);
  return between.split(' ').length <= MOST_WORDS && !/[.!?,;:]/u.test(between) ? between : '';
}

/** True if a phrase is torn out of a sentence: "Paid 19.90 for express", "Try it's really just house". */
export function isFragment(phrase: string, language: string | null = 'en'): boolean {
  if (NUMBER.test(phrase)) return true;
  if (isUnspaced(phrase)) return Array.from(phrase).length < LEAST_UNSPACED;
  const words = phrase.toLowerCase().split(' ');
  const [first, last] = [words[0]!, words.at(-1)!];
  const isPast = (word: string): boolean => isVerbForm(word) && !isVerb(word);
  return (
    (language === 'en' && (isPast(first) || (words.length >= CLAUSE && isPast(last)))) ||
    (words.length <= 2 && PARTICLES.has(last)) ||
    words.some(
      (word) => OF_SENTENCES.get(language ?? '')?.has(word) === true || /['’](?:s|re|m|ve|ll|d)$/u.test(word),
    )
  );
}

/** Adds the participle beside a noun, which is part of the name: "Damaged goods form", "Card declined". */
function withParticiple(noun: string, text: string): string {
  const at = Math.max(0, text.indexOf(noun));
  const front = text.slice(0, at).trimEnd();
  const before = front.slice(front.lastIndexOf(' ') + 1).toLowerCase();
  if (isParticiple(before)) return `${before} ${noun}`;
  const [clause = ''] = text.slice(at + noun.length).split(/[^\p{L}\s'’]/u, 1);
  const behind = clause.toLowerCase().split(' ').filter(Boolean).slice(0, MOST_BEHIND);
  const place = behind.findIndex(isParticiple);
  return place < 0 || behind.slice(0, place).some((word) => SUBJECTS.has(word))
    ? noun
    : `${noun} ${behind[place]}`;
}

function isParticiple(word: string): boolean {
  return word.endsWith('ed') && isVerbForm(word);
}

/** Drops the connector before an omitted number: "Sleeping bag for minus 10" becomes "Sleeping bag". */
function beforeNumber(phrase: string, text: string): string {
  const behind = text.toLowerCase().split(phrase.toLowerCase())[1] ?? '';
  if (!/^\s\p{N}/u.test(behind)) return phrase;
  const words = phrase.split(' ');
  const at = words.findLastIndex((word) => CONNECTORS.has(word.toLowerCase()));
  return at > 0 ? words.slice(0, at).join(' ') : phrase;
}

/** The phrase up to a contrast: "Payment failed but money left" becomes "Payment failed". */
function upToContrast(phrase: string): string {
  const words = phrase.split(' ');
  const at = words.findIndex((word) => TEXT_PHRASES.contrasts.hasWord(word.toLowerCase()));
  return at > 1 ? words.slice(0, at).join(' ') : phrase;
}
