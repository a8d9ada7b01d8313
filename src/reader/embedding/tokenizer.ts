import type { ModelFolder } from './model-folder.ts';

/**
 * Cuts texts into the tokens that the model takes.
 * Covered by test/reader/embedding/embedder.test.ts and test/reader/embedding/hub-layouts.test.ts.
 */
export interface Tokenizer {
  /** Tokens of a text, prefix included, at most as many as the model takes. */
  tokensOf(text: string): readonly number[];
  /** Whether a text has no token of its own. */
  isBlank(text: string, tokens: readonly number[]): boolean;
}

/** `tokensOf` gives all tokens of a text; `sample` is any text with words. */
export function createTokenizer(
  tokensOf: (text: string) => readonly number[],
  { prefix, maxTokens }: Pick<ModelFolder, 'prefix' | 'maxTokens'>,
  sample: string,
): Tokenizer {
  // What stands after every text (`</s>`). The library's own truncation cuts it off; models were trained with it.
  const closing = closingOf(tokensOf(''), tokensOf(sample));
  const tokenize = (text: string): readonly number[] => {
    const tokens = tokensOf(prefix + text.toWellFormed());
    if (tokens.length <= maxTokens) return tokens;
    return [...tokens.slice(0, Math.max(0, maxTokens - closing.length)), ...closing].slice(0, maxTokens);
  };
  // Their number says nothing: the space that ends a prefix is a token to byte-level models until a word follows.
  const blank = tokenize('');
  return {
    tokensOf: tokenize,
    isBlank: (text, tokens) =>
      text.trim() === '' ||
      (tokens.length === blank.length && tokens.every((token, i) => token === blank[i])),
  };
}

/** What of an empty text's tokens stands after a text. */
function closingOf(empty: readonly number[], text: readonly number[]): readonly number[] {
  const opening = empty.findIndex((token, i) => token !== text[i]);
  return opening < 0 ? [] : empty.slice(opening);
}
