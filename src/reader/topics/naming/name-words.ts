/**
 * What a name says: the stems of its content words, and which of them is the action. Two names with the same stems do
 * not tell their topics apart. Covered by test/reader/topics/naming/topic-names.test.ts.
 */
import { tokensOf, type Token } from './tokens.ts';

export interface NameWords {
  readonly name: string;
  /** In the order of the name. */
  readonly stems: readonly string[];
  /** The stems, sorted and joined with a space. */
  readonly key: string;
  /** The content words behind the verb, or all when it begins with none. */
  readonly thing: readonly Token[];
  /** The verb that the name begins with. */
  readonly action: Token | null;
}

/** Read once for each topic or cluster and name: the same names are asked for at every regrouping. */
const known = new WeakMap<object, NameWords>();

/** The words of the name that `owner` has now. */
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
