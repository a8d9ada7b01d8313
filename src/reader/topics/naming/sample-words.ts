/**
 * Counts how the samples of a group use each word, in one pass: as noun or verb, singular or plural, at the end of a
 * thing or before it.
 *
 * Test: test/reader/topics/naming/sample-words.test.ts.
 */
import { LEXICON } from '../../document/lexicon.ts';
import type { ReadRequest } from '../read-request.ts';
import { mostOften } from './grammar.ts';
import { isClause } from './name-form.ts';
import { NAMING_WORDS } from './naming-words.ts';
import { nameFrom } from './phrases.ts';
import { isVerbForm } from './verb-forms.ts';

/** A request of a group, and its weight. */
export interface Sample {
  readonly request: ReadRequest;
  readonly weight: number;
}

/** A word is a noun if its uses as one exceed this share of its uses as a verb. */
const VERB_USES = 0.7;
/** A possible verb is a thing if this share of its uses are one. */
const NOUN_USES = 0.2;
const PARTICLES: ReadonlySet<string> = new Set(LEXICON.particles.all);
const PARTICIPLE = /^[a-z]+(?:ed|ing)$/;

/** A word in its most common form, without particles. */
export interface SingleWord {
  readonly stem: string;
  readonly name: string;
  /** Share of its uses that end a thing, as nouns do and adjectives before them do not. */
  readonly closed: number;
  /** Share of its uses as a verb or participle; alone, those name nothing. */
  readonly verbal: number;
}

interface Uses {
  /** 1 for each sample that holds the word. */
  readonly holders: Uint8Array;
  /** Number of uses, and of uses as a noun after an article. */
  count: number;
  nouns: number;
  /** Weight of the uses as a noun minus that of the uses as a verb. */
  noun: number;
  /** Weights without particles. */
  weight: number;
  closed: number;
  verbal: number;
  /** Uses by form. */
  readonly forms: Map<string, { count: number; weight: number }>;
}

/** The uses of words in the samples of one group. */
export class SampleWords {
  readonly #samples: number;
  readonly #uses = new Map<string, Uses>();
  /** ISO 639-1 code of the language of most samples; null if no function word tells it. */
  readonly language: string | null;

  constructor(samples: readonly Sample[]) {
    this.#samples = samples.length;
    for (let place = 0; place < samples.length; place += 1) this.#read(samples[place]!, place);
    this.language = mostOften(samples.map(({ request }) => request.tokens.language));
  }

  #read({ request, weight }: Sample, sample: number): void {
    let inThing = false;
    let before = '';
    let asks = false;
    const { tokens } = request.tokens;
    for (let place = 0; place < tokens.length; place += 1) {
      const { part, stem, surface, verb, afterBreak, afterDeterminer } = tokens[place]!;
      const lower = surface.toLowerCase();
      asks = (asks && !afterBreak) || NAMING_WORDS.asking.has(lower);
      const goesOn: boolean = inThing && !afterBreak && !isClause(before, lower, asks);
      inThing = part === 'content' && !verb && (afterDeterminer || goesOn);
      before = lower;
      if (part !== 'content') continue;
      const next = tokens[place + 1];
      const isLast = next === undefined || next.part !== 'content';
      const ends = isLast || next.afterBreak;
      const uses = this.#usesOf(stem);
      uses.holders[sample] = 1;
      uses.count += 1;
      if (afterDeterminer && isLast) uses.nouns += 1;
      if (inThing && !surface.endsWith('ed') && (ends || isClause(lower, next.surface.toLowerCase(), asks)))
        uses.noun += weight;
      else if (verb) uses.noun -= weight * VERB_USES;
      const form = uses.forms.get(surface);
      if (form === undefined) uses.forms.set(surface, { count: 1, weight });
      else {
        form.count += 1;
        form.weight += weight;
      }
      if (PARTICLES.has(surface)) continue;
      uses.weight += weight;
      if (ends) uses.closed += weight;
      if (verb || isVerbForm(lower) || PARTICIPLE.test(surface)) uses.verbal += weight;
    }
  }

  #usesOf(stem: string): Uses {
    const known = this.#uses.get(stem);
    if (known !== undefined) return known;
    const holders = new Uint8Array(this.#samples);
    const uses = { holders, count: 0, nouns: 0, noun: 0, weight: 0, closed: 0, verbal: 0, forms: new Map() };
    this.#uses.set(stem, uses);
    return uses;
  }

  /** 1 for each sample that holds a stem; null if none does. */
  holdersOf(stem: string): Readonly<Uint8Array> | null {
    return this.#uses.get(stem)?.holders ?? null;
  }

  /** True if a stem is a noun: after an article or another noun, where a thing ends. */
  isNoun(stem: string): boolean {
    return (this.#uses.get(stem)?.noun ?? 0) > 0;
  }

  /**
   * True if many samples use a word as a noun, after an article and as the last word of its thing, even if it is more
   * often a verb.
   */
  mayBeNoun(stem: string): boolean {
    const { count, nouns } = this.#uses.get(stem) ?? { count: 0, nouns: 0 };
    return nouns >= NOUN_USES * count;
  }

  /**
   * A word in its most common form; of equal forms the shorter, then the first by code point. Null for a mere particle.
   */
  wordOf(stem: string): SingleWord | null {
    const uses = this.#uses.get(stem);
    if (uses === undefined || uses.weight === 0) return null;
    const forms = [...uses.forms].filter(([form]) => !PARTICLES.has(form));
    const usual = mostUsed(forms.map(([form, { weight }]) => [form, weight]))[0]!;
    const { weight, closed, verbal } = uses;
    return { stem, name: nameFrom([usual], true), closed: closed / weight, verbal: verbal / weight };
  }

  words(): SingleWord[] {
    return [...this.#uses.keys()].flatMap((stem) => this.wordOf(stem) ?? []);
  }

  /**
   * A word as a heading: the plural if the samples use it, else the most common form. Null if no sample holds it, since
   * a stem is no word.
   */
  headingOf(stem: string): string | null {
    const uses = this.#uses.get(stem);
    if (uses === undefined) return null;
    const forms = mostUsed([...uses.forms].map(([form, { count }]) => [form, count]));
    const usual = forms[0]!;
    const plural = forms.find(
      (form) => form === `${usual}s` || form === `${usual}es` || form === `${usual.slice(0, -1)}ies`,
    );
    return nameFrom([plural ?? usual], true);
  }
}

function mostUsed(forms: readonly (readonly [form: string, uses: number])[]): string[] {
  return forms
    .toSorted(([x, a], [y, b]) => b - a || x.length - y.length || (x < y ? -1 : 1))
    .map(([form]) => form);
}
