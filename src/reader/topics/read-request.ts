/** A request as topics take it. What its text says is read when it is first asked for, and once. */
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

  /** Its words, by what they can be in a name. */
  get tokens(): Tokens {
    return (this.#tokens ??= tokensOf(this.text));
  }

  /** Its phrases by their keys. */
  get phrases(): ReadonlyMap<string, PhraseUse> {
    return (this.#phrases ??= phraseUsesOf(this.tokens));
  }

  /** Stems of the words that say its action, and of those that say its thing. */
  get verbStems(): readonly string[] {
    return (this.#verbStems ??= stemsIn(this.parts.verb ?? ''));
  }
  get nounStems(): readonly string[] {
    return (this.#nounStems ??= stemsIn(this.parts.noun));
  }

  /** New ones at each call: who takes them adds to them. */
  keys(): RequestKeys {
    return keysOf(this.text, this.parts);
  }
}
