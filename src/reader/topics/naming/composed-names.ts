/**
 * Composes names that no single request need contain: the most common verb for the action with the most common words
 * for the thing. English only, because only English has base forms here.
 *
 * Test: test/reader/topics/naming/composed-names.test.ts.
 */
import { LANGUAGES } from '../../document/lexicon.ts';
import { nameFrom } from './phrases.ts';
import type { ReadRequest } from '../read-request.ts';
import type { Sample } from './sample-words.ts';
import { stemsIn, TRACKED, type Token } from './tokens.ts';
import { isVerb, isVerbForm, namingForm } from './verb-forms.ts';

/** Least share of samples with an action or trouble that names a group. */
const LEAST_ACTION = 0.25;
/** Least share of samples with both the action and the thing. */
const LEAST_PAIR = 0.15;
const ENGLISH = 'en';
const MOST_NOUNS = 6;
const MOST_NOUN_WORDS = 3;
const TROUBLE_NOUN = /^(?:problem|issue|trouble|error)s?$/;
const NEGATIVE = /^(?:not|never|no)$|n['’]t$/;
/** The verb for a question about something on its way. */
const TRACK = LANGUAGES.get(ENGLISH)!.tracking[0] ?? null;
const PROPER = /[\p{N}@_]/u;

export interface ComposedName {
  readonly name: string;
  readonly stems: readonly string[];
  /** Share of the samples that name both. */
  readonly pair: number;
  /** True if requests of this meaning need not contain its words: "where is my parcel" lacks "track". */
  readonly isMeant: boolean;
}

interface Noun {
  readonly words: readonly string[];
  readonly stems: readonly string[];
  /** Its key in the lexicon, or its stem. */
  readonly thing: string;
  /** Weight of the samples that name it. */
  weight: number;
}

/** Returns the names that pairs of action and thing give, unordered. */
export function composedNames(samples: readonly Sample[]): ComposedName[] {
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  const byAction = Map.groupBy(
    samples.filter(({ request }) => request.parts.action !== null),
    ({ request }) => request.parts.action!,
  );
  return [...byAction].flatMap(([action, own]) => {
    if (weightOf(own) < LEAST_ACTION * total) return [];
    const nouns = nounsOf(own).filter(({ weight }) => weight >= LEAST_PAIR * total);
    const usedVerb = mostUsed(own, verbOf);
    const isMeant = usedVerb === null && action === 'track';
    const trouble = action === 'fix' || action === 'track' ? mostUsed(own, troubleOf) : null;
    const price = action === 'ask-price' ? mostUsed(own, priceOf) : null;
    return nouns.flatMap(({ words, stems, thing, weight }) => {
      const pair = weight / total;
      const names: ComposedName[] = [];
      const verb = isMeant && TRACKED.has(thing) ? TRACK : usedVerb;
      if (verb !== null && thing !== action && !stems.includes(stemsIn(verb)[0]!))
        names.push({
          name: nameFrom([verb, ...words], false),
          stems: [stemOfVerb(verb), ...stems],
          pair,
          isMeant,
        });
      // Action and thing are the same ("refund"): a request for the action means the thing.
      if (thing === action)
        names.push({ name: nameFrom(words, false), stems, pair: weightOf(own) / total, isMeant: true });
      for (const behind of [trouble, price]) {
        const stem = behind === null ? undefined : stemsIn(behind).at(-1)!;
        if (behind === null || stem === undefined || stems.includes(stem)) continue;
        const name = nameFrom([...words, ...behind.split(' ')], false);
        names.push({ name, stems: [...stems, stem], pair, isMeant: false });
      }
      return names;
    });
  });
}

function weightOf(samples: readonly Sample[]): number {
  return samples.reduce((sum, { weight }) => sum + weight, 0);
}

function stemOfVerb(verb: string): string {
  const [stem = '', particle] = [stemsIn(verb)[0], verb.split(' ')[1]];
  return particle === undefined ? stem : `${stem}-${particle}`;
}

/** The form with the greatest weight of samples; of equal ones the first by code point. Null if there is none. */
function mostUsed(
  samples: readonly Sample[],
  formOf: (request: ReadRequest) => string | null,
): string | null {
  const counts = new Map<string, number>();
  for (const { request, weight } of samples) {
    const form = formOf(request);
    if (form !== null) counts.set(form, (counts.get(form) ?? 0) + weight);
  }
  const [best] = [...counts].sort(([x, a], [y, b]) => b - a || (x < y ? -1 : 1));
  return best?.[0] ?? null;
}

/** The verb of a request in its base form, if the thing follows it; else null. */
function verbOf({ text, parts, tokens, verbStems }: ReadRequest): string | null {
  if (parts.language !== ENGLISH || parts.verb === null) return null;
  if (text.indexOf(parts.noun) < text.indexOf(parts.verb)) return null;
  const isItsVerb = ({ verb, stem }: Token): boolean =>
    verb && (verbStems.includes(stem) || verbStems.includes(stem.split('-')[0]!));
  const token = tokens.tokens.find(isItsVerb);
  if (token === undefined) return null;
  const [word = '', ...particles] = token.surface.toLowerCase().split(' ');
  const base = namingForm(word);
  return isVerb(base) ? [base, ...particles].join(' ') : null;
}

/** The trouble that a request reports, in the words of a name; null if there is none. */
function troubleOf({ parts }: ReadRequest): string | null {
  if (parts.verb === null || parts.language !== ENGLISH) return null;
  const { action } = parts;
  const words = parts.verb.toLowerCase().split(' ');
  const last = words.at(-1)!;
  if (TROUBLE_NOUN.test(words[0]!) || TROUBLE_NOUN.test(last)) return 'problem';
  if (last.startsWith('work')) return 'not working';
  if (/^(?:receiv|arriv)/.test(last)) return words.some((word) => NEGATIVE.test(word)) ? `not ${last}` : null;
  if (action === 'track') return null;
  return words.length === 1 && isVerbForm(last) && last.endsWith('ed') ? last : null;
}

/** The word with which a request asks for a price, if it is a noun as well: "what does shipping cost". Else null. */
function priceOf({ parts }: ReadRequest): string | null {
  if (parts.language !== ENGLISH || parts.verb === null) return null;
  return /\b(?:cost|price|fee|charge)(?=s?$)/.exec(parts.verb.toLowerCase())?.[0] ?? null;
}

/** The nouns of the things, each with ever fewer of the words before the last. */
function nounsOf(samples: readonly Sample[]): Noun[] {
  const nouns = new Map<string, Noun>();
  const byThing = new Map<string, number>();
  for (const { request, weight } of samples) {
    const thing = request.parts.thing[0] ?? '';
    byThing.set(thing, (byThing.get(thing) ?? 0) + weight);
  }
  for (const { request, weight } of samples) {
    const { parts, tokens } = request;
    // A name is in one language, and verbs here are English.
    if (parts.language !== ENGLISH) continue;
    const plain = (word: string): string => surfaceAs(word, tokens.tokens);
    const words = parts.noun.split(/\s+/).filter((word) => word !== '');
    for (let from = Math.max(0, words.length - MOST_NOUN_WORDS); from < words.length; from += 1) {
      const own = words.slice(from);
      if (own.some((word) => PROPER.test(word))) continue;
      const stems = stemsIn(own.join(' '));
      const key = own.map(plain).join(' ');
      const known = nouns.get(key);
      // Other words for the same thing count too.
      const thing = own.length === 1 ? (byThing.get(parts.thing[0] ?? '') ?? 0) : 0;
      if (known === undefined)
        nouns.set(key, {
          words: own.map(plain),
          stems,
          thing: parts.thing[0] ?? '',
          weight: thing || weight,
        });
      else if (thing === 0) known.weight += weight;
      else known.weight = Math.max(known.weight, thing);
    }
  }
  return [...nouns.values()]
    .sort((x, y) => y.weight - x.weight || (x.stems.join(' ') < y.stems.join(' ') ? -1 : 1))
    .slice(0, MOST_NOUNS);
}

/** A word as names write it: without a capital that only opens a sentence. */
function surfaceAs(word: string, tokens: readonly Token[]): string {
  const lower = word.toLowerCase();
  return tokens.find(({ surface }) => surface.toLowerCase() === lower)?.surface ?? lower;
}
