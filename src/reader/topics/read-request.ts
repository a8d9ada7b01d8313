/**
 * A request as topics read it. Keeps the invariant that each property of its text is computed at most once, on first
 * use.
 *
 * Test: test/reader/topics/naming/wording.test.ts.
 */
import { requestParts, type RequestParts } from '../document/request-parts.ts';
import { phraseUsesOf, type PhraseUse } from './naming/phrases.ts';
import { stemsIn, tokensOf, type Tokens } from './naming/tokens.ts';
import { keysOf, type RequestKeys } from './request-keys.ts';

export class ReadRequest {
  readonly text: string;
  #parts: RequestParts | null = null;
  #tokens: Tokens | null = null;
  #phrases: ReadonlyMap<string, PhraseUse> | null = null;
  #verbStems: readonly string[] | null = null;
  #nounStems: readonly string[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  get parts(): RequestParts {
    return (this.#parts ??= requestParts(this.text));
  }

  /** Its words, by the part that each can play in a name. */
  get tokens(): Tokens {
    return (this.#tokens ??= tokensOf(this.text));
  }

  /** Its phrases by their keys. */
  get phrases(): ReadonlyMap<string, PhraseUse> {
    return (this.#phrases ??= phraseUsesOf(this.tokens));
  }

  /** Stems of the words for its action, and of those for its thing. */
  get verbStems(): readonly string[] {
    return (this.#verbStems ??= stemsIn(this.parts.verb ?? ''));
  }
  get nounStems(): readonly string[] {
    return (this.#nounStems ??= stemsIn(this.parts.noun));
  }

  /** Returns a new object at each call, because callers add to it. */
  keys(): RequestKeys {
    return keysOf(this.text, this.parts);
  }
}
