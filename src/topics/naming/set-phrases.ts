/**
 * Names for groups that share a set phrase and no thing: "That works for me", "Anything else". With its function words
 * it says more than the one content word in it.
 * Covered by test/topics/naming/set-phrases.test.ts.
 */
import { LEXICON } from '../../text/lexicon.ts';
import { wordsOf } from '../../text/words.ts';
import { MOST_WORDS, nameFrom } from './phrases.ts';
import { isVerb, isVerbForm } from './verb-forms.ts';
import type { Sample } from './sample-words.ts';

const FEWEST_WORDS = 2;
/** Requests of more words are no set phrases. */
const MOST_READ = 10;
const OPENINGS: ReadonlySet<string> = new Set([
  ...LEXICON.politeOpenings.all,
  ...LEXICON.questionOpenings.all,
  ...LEXICON.requestLeads.all,
]);
const CONNECTORS: ReadonlySet<string> = new Set(LEXICON.connectors.all);
const NO_END: ReadonlySet<string> = new Set(
  [LEXICON.determiners, LEXICON.subjects, LEXICON.auxiliaries, LEXICON.verbLeads, LEXICON.and].flatMap(
    ({ all }) => all,
  ),
);
const FILLERS: ReadonlySet<string> = new Set(LEXICON.fillers.all);
const ADVERBS: ReadonlySet<string> = new Set(LEXICON.adverbs.all);
const SUBJECTS: ReadonlySet<string> = new Set(LEXICON.subjects.all);
const DETERMINERS: ReadonlySet<string> = new Set(LEXICON.determiners.all);
const PREDICATES: ReadonlySet<string> = new Set([...LEXICON.auxiliaries.all, ...LEXICON.verbLeads.all]);
const SLOT = /[\p{N}@_]/u;

export interface SetPhrase {
  readonly name: string;
  /** Share of the samples, by weight, that hold it. */
  readonly share: number;
}

/** The runs of words that many samples hold, function words among them, and the short samples as they are. */
export function setPhrases(samples: readonly Sample[]): SetPhrase[] {
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  const held = new Map<string, { name: string; weight: number }>();
  for (const { request, weight } of samples) {
    if (request.tokens.unspaced) continue;
    const words = wordsOf(request.text).map(({ text: word }) => word);
    if (words.length > MOST_READ) continue;
    const seen = new Set<string>();
    for (let start = 0; start < words.length; start += 1) {
      for (let end = start + FEWEST_WORDS; end <= Math.min(words.length, start + MOST_WORDS); end += 1) {
        const run = words
          .slice(start, end)
          .map((word) => (/^I(?:['’]|$)/.test(word) ? word : word.toLowerCase()));
        const key = run.join(' ').toLowerCase();
        if (seen.has(key) || !isPhrase(key.split(' '))) continue;
        seen.add(key);
        const known = held.get(key);
        if (known === undefined) held.set(key, { name: nameFrom(run, false), weight });
        else known.weight += weight;
      }
    }
  }
  return [...held.values()].map(({ name, weight }) => ({ name, share: weight / total }));
}

function isPhrase(words: readonly string[]): boolean {
  const [first, second] = [words[0]!, words[1]!];
  const last = words.at(-1)!;
  if (words.some((word) => SLOT.test(word) || LEXICON.please.all.includes(word))) return false;
  if (CONNECTORS.has(last) || NO_END.has(last) || OPENINGS.has(words.join(' '))) return false;
  if (words.length === FEWEST_WORDS && ADVERBS.has(last)) return false;
  // "I will wait", "anything else".
  if (SUBJECTS.has(first)) return words.length > FEWEST_WORDS || FILLERS.has(last);
  // "That will work".
  if (DETERMINERS.has(first)) return PREDICATES.has(second) || (isVerbForm(second) && !isVerb(second));
  // "Take your time".
  return isVerbForm(first) && !PREDICATES.has(first) && !isVerbForm(second);
}
