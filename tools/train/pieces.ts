/**
 * How the embedding model cuts text into pieces: normalised, lower-cased, without accents, cut into
 * words, punctuation and single Han characters, and each word into the longest pieces that the
 * vocabulary has. `tokenizerFile` says the same to transformers.js; a test keeps both equal.
 */

/** Ranges of Han characters: each is a word of its own. */
const HAN = '\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{323AF}';
/**
 * Combining accents of Latin, Greek and Cyrillic, variation selectors, marks without a shape, controls that are no
 * space.
 */
const DROPPED = `[\u0300-\u036F\uFE00-\uFE0F\\p{Cf}\u0000-\u0008\u000E-\u001F\uFFFD]`;
const WORD = `[${HAN}\\p{P}\\p{S}]|[^\\s${HAN}\\p{P}\\p{S}]+`;

const DROPPED_PATTERN = new RegExp(DROPPED, 'gu');
const WORD_PATTERN = new RegExp(WORD.replace('\\s', '\\p{White_Space}'), 'gu');

/** Pieces with a meaning of their own, at the first places of every vocabulary. */
export const SPECIAL_PIECES = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'] as const;
/** Place of the piece that stands for a word with a character that the vocabulary lacks. */
export const UNKNOWN = 1;
/** Put before every piece that does not begin its word. */
export const INNER = '##';
/** Longer words, in characters, are unknown. */
export const MAX_WORD_LENGTH = 60;

/**
 * The words of a text, in order, as the vocabulary sees them; it decides the tokens, so it never follows
 * `src/language`.
 */
export function preTokensOf(text: string): string[] {
  const plain = text.toWellFormed().normalize('NFKD').replaceAll(DROPPED_PATTERN, '').normalize('NFKC');
  return plain.toLowerCase().match(WORD_PATTERN) ?? [];
}

/** Cuts words into the pieces of a vocabulary. */
export class Pieces {
  readonly list: readonly string[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #known = new Map<string, readonly number[]>();

  constructor(list: readonly string[]) {
    this.list = list;
    this.#places = new Map(list.map((piece, place) => [piece, place]));
  }

  /** Places of a word's pieces; with `parted`, never the whole word as one piece. */
  ofWord(word: string, parted = false): readonly number[] {
    if (parted) return this.#cut(word, true);
    let places = this.#known.get(word);
    if (places === undefined) this.#known.set(word, (places = this.#cut(word, false)));
    return places;
  }

  /** Places of a text's pieces, at most `limit`. */
  ofText(text: string, limit: number): number[] {
    const places: number[] = [];
    for (const word of preTokensOf(text)) {
      places.push(...this.ofWord(word));
      if (places.length >= limit) return places.slice(0, limit);
    }
    return places;
  }

  #cut(word: string, parted: boolean): number[] {
    const characters = [...word];
    if (characters.length > MAX_WORD_LENGTH) return [UNKNOWN];
    const places: number[] = [];
    for (let start = 0; start < characters.length;) {
      let end = characters.length - (parted && start === 0 && characters.length > 1 ? 1 : 0);
      let place: number | undefined;
      for (; end > start; end -= 1) {
        const piece = characters.slice(start, end).join('');
        place = this.#places.get(start === 0 ? piece : INNER + piece);
        if (place !== undefined) break;
      }
      if (place === undefined) return [UNKNOWN];
      places.push(place);
      start = end;
    }
    return places;
  }
}

/** The content of `tokenizer.json` for a vocabulary. */
export function tokenizerFile(list: readonly string[]): object {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL_PIECES.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'NFKD' },
        { type: 'Replace', pattern: { Regex: DROPPED }, content: '' },
        { type: 'NFKC' },
        { type: 'Lowercase' },
      ],
    },
    pre_tokenizer: { type: 'Split', pattern: { Regex: WORD }, behavior: 'Removed', invert: true },
    post_processor: null,
    decoder: { type: 'WordPiece', prefix: INNER, cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: INNER,
      max_input_chars_per_word: MAX_WORD_LENGTH,
      vocab: Object.fromEntries(list.map((piece, place) => [piece, place])),
    },
  };
}
