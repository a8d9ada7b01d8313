/**
 * Cuts texts into the model's tokens, with its prefix and within its limit.
 *
 * Test: test/reader/embedding/embedder.test.ts, test/reader/embedding/hub-layouts.test.ts.
 */
import type { ModelFolder } from './model-folder.ts';

/** Tokenises texts for one model. */
export interface Tokenizer {
  /** Returns the tokens of a text with its prefix, at most as many as the model takes. */
  tokensOf(text: string): readonly number[];
  /** True if a text has no token of its own. */
  isBlank(text: string, tokens: readonly number[]): boolean;
}

/** Creates a tokenizer. `tokensOf` returns all tokens of a text; `sample` is any text with words. */
export function createTokenizer(
  tokensOf: (text: string) => readonly number[],
  { prefix, maxTokens }: Pick<ModelFolder, 'prefix' | 'maxTokens'>,
  sample: string,
): Tokenizer {
  // The tokens after every text (`</s>`). The library's truncation cuts them off, but models were trained with them.
  const closing = closingOf(tokensOf(''), tokensOf(sample));
  const tokenize = (text: string): readonly number[] => {
    const tokens = tokensOf(prefix + text.toWellFormed());
    if (tokens.length <= maxTokens) return tokens;
    return [...tokens.slice(0, Math.max(0, maxTokens - closing.length)), ...closing].slice(0, maxTokens);
  };
  // Their number alone tells nothing: to byte-level models, the space at the end of a prefix is a token until a word
  // follows.
  const blank = tokenize('');
  return {
    tokensOf: tokenize,
    isBlank: (text, tokens) =>
      text.trim() === '' ||
      (tokens.length === blank.length && tokens.every((token, i) => token === blank[i])),
  };
}

/** The tokens of an empty text that stand after a text. */
function closingOf(empty: readonly number[], text: readonly number[]): readonly number[] {
  const opening = empty.findIndex((token, i) => token !== text[i]);
  return opening < 0 ? [] : empty.slice(opening);
}
