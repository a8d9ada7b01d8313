/**
 * Judges whether a sequence of words is a name, and of which form: "Cancel order" is an action, "Funds come" is no
 * name. Judges English only, by its verbs and connectors; requests in other languages mostly use infinitives and nouns
 * already.
 *
 * Test: test/reader/topics/naming/name-form.test.ts.
 */
import { LANGUAGES, LEXICON } from '../../document/lexicon.ts';
import { stemOf } from '../../document/stem.ts';
import { NAMING_WORDS } from './naming-words.ts';
import { isEvent, isVerb, isVerbForm, verbStemOf } from './verb-forms.ts';

const CONNECTORS: ReadonlySet<string> = new Set(LANGUAGES.get('en')!.connectors);
const PARTICLES: ReadonlySet<string> = new Set(LEXICON.particles.all);
const LIGHT: ReadonlySet<string> = new Set(LEXICON.lightWords.all);
const { negations: NEGATIONS, emptyVerbs: EMPTY_VERBS, vagueNouns: VAGUE } = NAMING_WORDS;
const PARTICIPLE = /(?:ed|ing)$/;
const ADJECTIVE = /(?:able|ible|ous|ful|less|est|ive|ly)$/;

/** Worth of a true name by its form, 0 to 1. */
const WORTH = {
  action: 1,
  indirect: 0.92,
  statement: 1,
  thing: 0.94,
  /** "Charged fee" beside "Fee charged", "New account" beside "Create account". */
  participle: 0.88,
  word: 0.62,
  lightAction: 0.62,
  light: 0.3,
  /** "Cost", "Mail": the word lacks its object. */
  vague: 0.4,
  bareWord: 0.55,
  verb: 0.2,
  none: 0,
} as const;
/** Factor for "Where available": the words lack their object. */
const OF_ADJECTIVE = 0.75;

/** Tells whether the samples use a stem as a noun. */
export type IsNoun = (stem: string) => boolean;

/** True for a verb that agrees with the noun before it: "Funds come", "ride arrives". False for "shopping list". */
export function isClause(noun: string, word: string, asks: boolean): boolean {
  if (!isVerbForm(word)) return ADJECTIVE.test(word);
  if (asks) return true;
  return isVerb(word) ? noun.endsWith('s') : !word.endsWith('s') || !noun.endsWith('s');
}

/** Worth of an English name by its form; 0 if it is no name. */
export function worthOf(name: string, isNoun: IsNoun): number {
  if (/^\p{Lu}{2,5}s?$/u.test(name)) return WORTH.word;
  const words = name.toLowerCase().split(' ');
  const content = words.filter((word) => !CONNECTORS.has(word) && !NEGATIONS.has(word));
  if (content.length < 2 && words.length === content.length) return WORTH[formOfWord(words[0]!, isNoun)];
  if (!isWhole(words, isNoun)) return 0;
  const [first] = words as [string];
  const rest = content.slice(1).filter((word) => !PARTICLES.has(word));
  const isAction = isVerb(first) || words[0] === 'cannot';
  if (isAction && rest.length === 0) return WORTH.verb;
  if (rest.every((word) => LIGHT.has(word)))
    return isAction || LIGHT.has(first) ? WORTH.lightAction : WORTH.thing;
  if (isAction) {
    // "Add to account", "Cancel for card" lack the object.
    if (CONNECTORS.has(words[1] ?? '') && content.length === 2)
      return words[1] === 'for' ? WORTH.lightAction : WORTH.indirect;
    const last = words.at(-1)!;
    if (EMPTY_VERBS.has(first)) return WORTH.lightAction;
    // "Find available" lacks the object.
    return ADJECTIVE.test(last) && !isNoun(stemOfForm(last)) ? WORTH.lightAction : WORTH.action;
  }
  if (ADJECTIVE.test(words.at(-1)!) && !isNoun(stemOfForm(words.at(-1)!))) return OF_ADJECTIVE * WORTH.thing;
  if (isEvent(first) && first.endsWith('ed')) return WORTH.participle;
  if (LIGHT.has(first)) return WORTH.participle;
  const isStatement = words.some((word) => NEGATIONS.has(word)) || isEvent(words.at(-1)!) || isEvent(first);
  return isStatement ? WORTH.statement : WORTH.thing;
}

function formOfWord(word: string, isNoun: IsNoun): keyof typeof WORTH {
  if (PARTICLES.has(word) || CONNECTORS.has(word)) return 'none';
  const isNamed = isNoun(stemOfForm(word));
  if ((isVerbForm(word) || PARTICIPLE.test(word)) && !isNamed) return 'verb';
  if (ADJECTIVE.test(word) && !isNamed) return 'verb';
  if (LIGHT.has(word)) return 'light';
  if (VAGUE.has(word) || VAGUE.has(word.replace(/s$/, ''))) return 'vague';
  return isNamed ? 'word' : 'bareWord';
}

function stemOfForm(word: string): string {
  return verbStemOf(word) ?? stemOf(word);
}

/** True if no word is cut off and no words are joined that do not belong together. */
function isWhole(words: readonly string[], isNoun: IsNoun): boolean {
  const last = words.at(-1)!;
  const before = words.at(-2)!;
  if (NEGATIONS.has(last)) return false;
  if (CONNECTORS.has(last) || PARTICLES.has(last)) return PARTICLES.has(last) && isVerbForm(before);
  const isVerbal = (word: string): boolean => isVerbForm(word) && !isNoun(stemOfForm(word));
  return words.every((word, at) => {
    const next = words[at + 1];
    if (CONNECTORS.has(word) && next !== undefined && (CONNECTORS.has(next) || NEGATIONS.has(next)))
      return false;
    if (NEGATIONS.has(word))
      return next !== undefined && (!isVerb(next) || word === 'no' || isNoun(stemOfForm(next)));
    if (at === 0) return true;
    const lead = words[at - 1]!;
    if (lead === 'to' && at === 2 && isVerb(words[0]!) && isVerbal(word)) return false;
    if (!isVerbal(word) || lead === 'cannot' || lead === 'to') return true;
    // "Cancel order": a noun follows a command, even if it can be a verb.
    if (at === 1 && isVerb(lead) && (isVerb(word) || isVerb(word.replace(/e?s$/, '')))) return true;
    // "Jump start car": a verb of two words.
    if (at === 1 && isVerb(word) && next !== undefined && !isVerbForm(lead) && isNoun(stemOfForm(next)))
      return true;
    // "funds come", "gas car uses" are statements of their own. "card declined" is one too, but a good name.
    if (!PARTICIPLE.test(word) && !isEvent(word)) return false;
    return !isVerbal(lead) || (next !== undefined && isVerb(lead));
  });
}
