/**
 * The name of what was asked once: a phrase of its own words, else the thing that it is about, else its shortest
 * sentence. Covered by test/reader/conversations/request-name.test.ts.
 */
import { LANGUAGES, LEXICON } from '../document/lexicon.ts';
import { requestParts } from '../document/request-parts.ts';
import { sentencesOf } from '../document/sentences.ts';
import { SHOWN } from '../shortening/phrase-set.ts';
import { isUnspaced } from '../document/words.ts';
import { requestName } from '../topics/naming/names.ts';
import { isVerb, isVerbForm } from '../topics/naming/verb-forms.ts';
import { capitalised, withoutMarks } from './title-and-summary.ts';

const LONGEST = 60;
/** Fewer characters of a script without spaces are no phrase. */
const LEAST_UNSPACED = 3;
const LEAST_NOUN = 3;
/** So many words that end in what somebody did are a clause: "Zip on jacket broke". "Payment failed" is a name. */
const CLAUSE = 4;
const NUMBER = /\p{N}/u;
const CONNECTORS: ReadonlySet<string> = new Set(LEXICON.connectors.all);
/** "Find out", "want that back": they say nothing without what it is done with. */
const PARTICLES: ReadonlySet<string> = new Set([...LANGUAGES.get('en')!.particles, 'in']);
/** Words that only a sentence holds: its subject, its auxiliary. By language. */
const OF_SENTENCES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...LANGUAGES].map(([code, { subjects, auxiliaries }]) => [code, new Set([...subjects, ...auxiliaries])]),
);

/** '' for a text that names nothing. */
export function nameOfRequest(text: string): string {
  const isThing = (noun: string): boolean =>
    noun.length >= LEAST_NOUN && !NUMBER.test(noun) && !PARTICLES.has(noun);
  const said = [text, ...sentencesOf(text)].map((part) => requestParts(part));
  const { verb, noun, language } = said.find((parts) => isThing(parts.noun)) ?? said[0]!;
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
    .filter((sentence) => sentence !== '' && sentence.length <= LONGEST && !NUMBER.test(sentence))
    .toSorted((one, other) => one.length - other.length);
  return capitalised(shortest);
}

/** How the infinitives of a language end, where they tell what is wished for. */
const INFINITIVES: Readonly<Record<string, RegExp>> = {
  de: /(?:en|ern|eln)$/u,
  es: /[aei]r(?:me|te|se|lo|la)?$/u,
  fr: /(?:er|ir|re)$/u,
  it: /[aei]r(?:e|mi|ti|lo|la)$/u,
  nl: /en$/u,
  pt: /[aei]r$/u,
};
const MOST_WORDS = 5;

/** What is to be done with what: "Send invoice", "alterar a morada", "Adresse ändern"; '' where the text does not say. */
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

/** Whether a phrase is torn from a sentence: "Paid 19.90 for express", "Try it's really just house". */
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

/** "Damaged goods form": what a thing has become is a part of its name. */
function withParticiple(noun: string, text: string): string {
  const front = text.slice(0, Math.max(0, text.indexOf(noun))).trimEnd();
  const before = front.slice(front.lastIndexOf(' ') + 1).toLowerCase();
  return before.endsWith('ed') && isVerbForm(before) ? `${before} ${noun}` : noun;
}

/** "Sleeping bag for minus 10": what leads up to a number that no name holds goes with it. */
function beforeNumber(phrase: string, text: string): string {
  const behind = text.toLowerCase().split(phrase.toLowerCase())[1] ?? '';
  if (!/^\s\p{N}/u.test(behind)) return phrase;
  const words = phrase.split(' ');
  const at = words.findLastIndex((word) => CONNECTORS.has(word.toLowerCase()));
  return at > 0 ? words.slice(0, at).join(' ') : phrase;
}

/** "Payment failed but money left": what comes first stands by itself. */
function upToContrast(phrase: string): string {
  const words = phrase.split(' ');
  const at = words.findIndex((word) => SHOWN.contrasts.hasWord(word.toLowerCase()));
  return at > 1 ? words.slice(0, at).join(' ') : phrase;
}
