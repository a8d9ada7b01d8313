/**
 * Base forms of verbs for names such as "Cancel order". English forms follow by rule or are listed in the lexicon; a
 * language whose requests use the infinitive needs none.
 *
 * Test: test/reader/topics/naming/verb-forms.test.ts.
 */
import { LEXICON } from '../../document/lexicon.ts';
import { stemOf } from '../../document/stem.ts';

interface Verb {
  readonly base: string;
  /** Stem of the base form. */
  readonly stem: string;
  /** The form in "not received". */
  readonly participle: string;
  /** True for an event, which happens to people without their asking. A name keeps its past form: "Lost card". */
  readonly isEvent: boolean;
}

const VERB_BY_FORM: ReadonlyMap<string, Verb> = verbsByForm();

function verbsByForm(): Map<string, Verb> {
  const forms = new Map<string, Verb>();
  const bases: [string, Verb][] = [];
  const read = (entries: readonly string[], isEvent: boolean): void => {
    for (const entry of entries) {
      const [base, ...irregular] = entry.split(' ');
      const participle = irregular.at(-1) ?? regularForms(base!)[1]!;
      const verb = { base: base!, stem: stemOf(base!), participle, isEvent };
      bases.push([base!, verb]);
      for (const form of [...irregular, ...regularForms(base!)]) if (!forms.has(form)) forms.set(form, verb);
    }
  };
  read(LEXICON.verbs.all, false);
  read(LEXICON.eventVerbs.all, true);
  for (const [base, verb] of bases) forms.set(base, verb);
  return forms;
}

/** The regular forms of an English verb. */
function regularForms(verb: string): string[] {
  if (verb.endsWith('e')) return [`${verb}s`, `${verb}d`, `${verb.slice(0, -1)}ing`];
  if (/[^aeiou]y$/.test(verb)) return [`${verb.slice(0, -1)}ies`, `${verb.slice(0, -1)}ied`, `${verb}ing`];
  const third = /(?:s|sh|ch|x|z|o)$/.test(verb) ? `${verb}es` : `${verb}s`;
  const doubled = /[^aeiou][aeiou][bdgklmnprt]$/.test(verb) ? verb + verb.at(-1)! : verb;
  return [third, `${verb}ed`, `${verb}ing`, `${doubled}ed`, `${doubled}ing`];
}

/** True if a lower-case word is the base form of a verb. */
export function isVerb(lower: string): boolean {
  return VERB_BY_FORM.get(lower)?.base === lower;
}

/** True if a lower-case word is a verb of the lexicon, in any form. */
export function isVerbForm(lower: string): boolean {
  return VERB_BY_FORM.has(lower);
}

/** The stem that all forms of a verb share; null if the lexicon does not know the word. */
export function verbStemOf(lower: string): string | null {
  return VERB_BY_FORM.get(lower)?.stem ?? null;
}

/** The form of a verb in a name: its base, or the past form of an event ("lost"). */
export function namingForm(lower: string): string {
  const verb = VERB_BY_FORM.get(lower);
  if (verb === undefined) return lower;
  if (!verb.isEvent) return verb.base;
  return lower === verb.base ? verb.participle : lower;
}

/** True if a lower-case word is a form of an event: "declined", "lost". */
export function isEvent(lower: string): boolean {
  return VERB_BY_FORM.get(lower)?.isEvent ?? false;
}
