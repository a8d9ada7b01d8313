/**
 * Base forms of verbs, for names such as "Cancel order". English makes its forms by rule, or the lexicon lists them;
 * a language whose requests use the infinitive already needs none.
 * Covered by test/reader/topics/naming/verb-forms.test.ts.
 */
import { LEXICON } from '../../document/lexicon.ts';
import { stemOf } from '../../document/stem.ts';

interface Verb {
  readonly base: string;
  /** Of the base form. */
  readonly stem: string;
  /** As in "not received". */
  readonly participle: string;
  /** What happens to people and is not what they ask for keeps its past in a name: "Lost card". */
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

/** Whether a word in lower case is the base form of a verb that people ask with. */
export function isVerb(lower: string): boolean {
  return VERB_BY_FORM.get(lower)?.base === lower;
}

/** Whether a word in lower case is a verb of the lexicon, in any form. */
export function isVerbForm(lower: string): boolean {
  return VERB_BY_FORM.has(lower);
}

/** The stem of a verb's base form, which all its forms share; null when the lexicon does not know the word. */
export function verbStemOf(lower: string): string | null {
  return VERB_BY_FORM.get(lower)?.stem ?? null;
}

/** The form that a name uses where the verb is what is asked for: its base, but
 * "lost" of what happens to people. */
export function namingForm(lower: string): string {
  const verb = VERB_BY_FORM.get(lower);
  if (verb === undefined) return lower;
  if (!verb.isEvent) return verb.base;
  return lower === verb.base ? verb.participle : lower;
}

/** Whether a word in lower case is a form of what happens to people: "declined", "lost". */
export function isEvent(lower: string): boolean {
  return VERB_BY_FORM.get(lower)?.isEvent ?? false;
}
