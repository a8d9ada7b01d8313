/** A request as topics take it. What its text says is read when it is first asked for. */
import { requestParts, type RequestParts } from '../text/request-parts.ts';
import { phraseUsesOf, type PhraseUse } from './naming/phrase-uses.ts';
import { tokensOf, type Tokens } from './naming/tokens.ts';
import { keysOf, type RequestKeys } from './request-keys.ts';

/** What the text of a request gives to names. */
interface NamingUse {
  readonly tokens: Tokens;
  /** Its phrases by their keys. */
  readonly phrases: ReadonlyMap<string, PhraseUse>;
}

export class ReadRequest {
  readonly text: string;
  #parts: RequestParts | null = null;
  #naming: NamingUse | null = null;

  constructor(text: string) {
    this.text = text;
  }

  get parts(): RequestParts {
    return (this.#parts ??= requestParts(this.text));
  }

  get naming(): NamingUse {
    return (this.#naming ??= namingOf(this.text, this.parts));
  }

  /** New ones at each call: who takes them adds to them. */
  keys(): RequestKeys {
    return keysOf(this.text, this.parts);
  }
}

function namingOf(text: string, parts: RequestParts): NamingUse {
  const tokens = tokensOf(text, parts);
  return { tokens, phrases: phraseUsesOf(tokens) };
}
