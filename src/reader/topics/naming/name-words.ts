/**
 * The words of a name: the stems of its content words, and its action. Two names with equal keys do not tell their
 * topics apart.
 *
 * Test: test/reader/topics/naming/topic-names.test.ts.
 */
import { tokensOf, type Token } from './tokens.ts';

export interface NameWords {
  readonly name: string;
  /** Stems of the content words, in the order of the name. */
  readonly stems: readonly string[];
  /** The stems, sorted and joined with a space. */
  readonly key: string;
  /** The content words after the verb, or all of them if the name begins with none. */
  readonly thing: readonly Token[];
  /** The verb that the name begins with; null if there is none. */
  readonly action: Token | null;
}

/** Caches the words by owner: every regrouping asks for the same names. */
const known = new WeakMap<object, NameWords>();

/** The words of the owner's current name. */
export function nameWordsOf(owner: { readonly name: string }): NameWords {
  const words = known.get(owner);
  if (words !== undefined && words.name === owner.name) return words;
  const read = readName(owner.name);
  known.set(owner, read);
  return read;
}

function readName(name: string): NameWords {
  const tokens = tokensOf(name).tokens.filter(({ part }) => part === 'content');
  const stems = tokens.map(({ stem }) => stem);
  const isAction = tokens.length > 1 && tokens[0]!.verb;
  return {
    name,
    stems,
    key: nameKey(stems),
    thing: isAction ? tokens.slice(1) : tokens,
    action: isAction ? tokens[0]! : null,
  };
}

export function nameKey(stems: readonly string[]): string {
  return stems.toSorted().join(' ');
}
