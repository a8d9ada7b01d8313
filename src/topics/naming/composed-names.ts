/**
 * Names that no single request need hold: the verb that most requests use for their action, with the words that most
 * use for their thing. English alone has base forms to write them with.
 * Covered by test/topics/naming/composed-names.test.ts.
 */
import { LANGUAGES } from '../../text/lexicon.ts';
import { nameFrom } from './phrases.ts';
import type { ReadRequest } from '../read-request.ts';
import type { Sample } from './sample-words.ts';
import { stemsIn, type Token } from './tokens.ts';
import { isVerb, isVerbForm, namingForm } from './verb-forms.ts';

/** An action or a trouble names a group from this share of its samples on. */
const LEAST_ACTION = 0.25;
/** The pair of both from this share on. */
const LEAST_PAIR = 0.15;
const ENGLISH = 'en';
const MOST_NOUNS = 6;
const TROUBLE_NOUN = /^(?:problem|issue|trouble|error)s?$/;
const NEGATIVE = /^(?:not|never|no)$|n['’]t$/;
/** The verb for a question after something on its way. */
const TRACK = LANGUAGES.get(ENGLISH)!.tracking[0] ?? null;
/** Things on their way, by the keys of the lexicon. */
const TRACKED: ReadonlySet<string> = new Set([
  'application',
  'card',
  'claim',
  'delivery',
  'luggage',
  'order',
  'payment',
  'refund',
  'transfer',
]);
const PROPER = /[\p{N}@_]/u;

export interface ComposedName {
  readonly name: string;
  readonly stems: readonly string[];
  /** Share of the samples that name both. */
  readonly pair: number;
  /** Requests of its meaning need not hold one of its words: "where is my parcel" holds no "track". */
  readonly isMeant: boolean;
}

/** The last word of a thing: what stands before it describes it. */
interface Noun {
  readonly word: string;
  readonly stems: readonly string[];
  /** Its key in the lexicon, or its stem. */
  readonly thing: string;
  /** Of the samples that name the thing, in whatever word. */
  weight: number;
}

/** The names that pairs of action and thing give, in no order. */
export function composedNames(samples: readonly Sample[]): ComposedName[] {
  const total = weightOf(samples);
  const byAction = Map.groupBy(
    samples.filter(({ request }) => request.parts.action !== null),
    ({ request }) => request.parts.action!,
  );
  return [...byAction].flatMap(([action, own]) => {
    if (weightOf(own) < LEAST_ACTION * total) return [];
    const said = mostUsed(own, verbOf);
    const isMeant = said === null && action === 'track';
    const trouble = action === 'fix' || action === 'track' ? mostUsed(own, troubleOf) : null;
    return nounsOf(own).flatMap(({ word, stems, thing, weight }) => {
      const pair = weight / total;
      if (pair < LEAST_PAIR) return [];
      const names: ComposedName[] = [];
      const verb = isMeant && TRACKED.has(thing) ? TRACK : said;
      if (verb !== null && thing !== action && !stems.includes(stemsIn(verb)[0]!))
        names.push({
          name: nameFrom([verb, word], false),
          stems: [stemOfVerb(verb), ...stems],
          pair,
          isMeant,
        });
      const stem = trouble === null ? undefined : stemsIn(trouble).at(-1)!;
      if (stem !== undefined && !stems.includes(stem))
        names.push({
          name: nameFrom([word, trouble!], false),
          stems: [...stems, stem],
          pair,
          isMeant: false,
        });
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

/** The form that most samples, by weight, have; of equal ones the first by code point. */
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

/** The verb of a request in its base form, if the thing follows it. */
function verbOf({ text, parts, tokens, verbStems }: ReadRequest): string | null {
  if (parts.language !== ENGLISH || parts.verb === null) return null;
  if (text.indexOf(parts.noun) < text.indexOf(parts.verb)) return null;
  const isSaid = ({ verb, stem }: Token): boolean =>
    verb && (verbStems.includes(stem) || verbStems.includes(stem.split('-')[0]!));
  const token = tokens.tokens.find(isSaid);
  if (token === undefined) return null;
  const [word = '', ...particles] = token.shown.toLowerCase().split(' ');
  const base = namingForm(word);
  return isVerb(base) ? [base, ...particles].join(' ') : null;
}

/** How a request says that something fails, as a name says it. */
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

/** The nouns of the things. A name is in one language, and verbs are English here. */
function nounsOf(samples: readonly Sample[]): Noun[] {
  const byThing = new Map<string, number>();
  for (const { request, weight } of samples) {
    const thing = request.parts.thing[0] ?? '';
    byThing.set(thing, (byThing.get(thing) ?? 0) + weight);
  }
  const nouns = new Map<string, Noun>();
  for (const { request } of samples) {
    const { parts, tokens } = request;
    const last = parts.noun.split(/\s+/).at(-1)!;
    if (parts.language !== ENGLISH || last === '' || PROPER.test(last)) continue;
    const [word, thing] = [shownAs(last, tokens.tokens), parts.thing[0] ?? ''];
    const weight = byThing.get(thing)!;
    const known = nouns.get(word);
    if (known === undefined) nouns.set(word, { word, stems: stemsIn(last), thing, weight });
    else known.weight = Math.max(known.weight, weight);
  }
  return [...nouns.values()]
    .sort((x, y) => y.weight - x.weight || (x.stems.join(' ') < y.stems.join(' ') ? -1 : 1))
    .slice(0, MOST_NOUNS);
}

/** A word as names write it: without the capital that only begins a sentence. */
function shownAs(word: string, tokens: readonly Token[]): string {
  const lower = word.toLowerCase();
  return tokens.find(({ shown }) => shown.toLowerCase() === lower)?.shown ?? lower;
}
