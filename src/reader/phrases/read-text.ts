/**
 * Cuts text into the tokens of phrases. A token is a word where spaces separate words. It is a character with its
 * combining marks where they do not (Chinese, Japanese, Thai), and in Korean, whose endings vary. Emoji and emoticons
 * are tokens too.
 *
 * Test: test/reader/phrases/read-text.test.ts.
 */
import { composed } from '../document/normalise.ts';
import { holdsQuestionMarkIn, QUESTION_ENDS } from '../document/question-marks.ts';
import { wordKey } from '../document/spaced-phrases.ts';
import { UNSPACED_SCRIPTS } from '../document/unspaced-scripts.ts';

/** The break before a token: nothing, a space or quote, a mark within a sentence, or the end of a sentence. */
export const BREAK = { none: 0, space: 1, mark: 2, end: 3 } as const;
export type Break = (typeof BREAK)[keyof typeof BREAK];

export interface Token {
  /** Its lookup key. */
  readonly key: string;
  /** Its range in the read text, UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly before: Break;
  /** True for a character of a script in which a word takes several tokens. */
  readonly isCharacter: boolean;
}

/** The mark that closes a sentence; '' for any other mark or none. */
export type Closing = '?' | '!' | '';

/** A text with its tokens. */
export class ReadText {
  /** The text in NFC: a letter and its marks are one character if there is one. */
  readonly text: string;
  readonly tokens: readonly Token[];
  #closings: readonly Closing[] | null = null;

  constructor(text: string, tokens: readonly Token[]) {
    this.text = text;
    this.tokens = tokens;
  }

  /** The mark that closes each token's sentence. */
  get closings(): readonly Closing[] {
    return (this.#closings ??= closingsOf(this.text, this.tokens));
  }
}

/** Scripts whose tokens are characters. */
const CHARACTER = new RegExp(String.raw`[${UNSPACED_SCRIPTS}\u30fc\p{Script=Hangul}]`, 'u');
const HANGUL = /\p{Script=Hangul}/u;
const MARK = /\p{M}/u;
const NOT_ASCII = /[^\0-\x7f]/;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

const EMOTICON = String.raw`[:;=]'?-?[()D\[\]|](?![\p{L}\p{N}])|<\/?3(?!\d)`;
const EMOJI = String.raw`\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0e\ufe0f]*`;
const PART = String.raw`[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c`;
const RUN = String.raw`${PART}\u30fc]*(?:['’‘ʼ´\u0060]${PART}]*)*`;
const TOKENS = new RegExp(`${RUN}|${EMOJI}|${EMOTICON}`, 'gu');
const TOKENS_OF_ASCII = /[a-z0-9]+(?:['`][a-z0-9]+)*|[:;=]'?-?[()D[\]|](?![a-z0-9])|<\/?3(?!\d)/gi;

/** Cuts a text of any language. */
export function readText(content: string): ReadText {
  const isAscii = !NOT_ASCII.test(content);
  const text = isAscii ? content : composed(content);
  const tokens: Token[] = [];
  if (isAscii) addRunsOfAscii(tokens, text);
  else {
    let end = 0;
    for (const { 0: run, index } of text.matchAll(TOKENS)) {
      addRun(tokens, run, index, breakAt(text, end, index, tokens.length));
      end = index + run.length;
    }
  }
  return new ReadText(text, tokens);
}

const LETTER = 1;
const BEGINS_EMOTICON = 2;
/** The class of each ASCII character in `TOKENS_OF_ASCII`. */
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[a-z0-9]/i.test(character) ? LETTER : /[:;=<]/.test(character) ? BEGINS_EMOTICON : 0;
});
const EMOTICON_OF_ASCII = /[:;=]'?-?[()D[\]|](?![a-z0-9])|<\/?3(?!\d)/iy;

/** Finds the same runs as `TOKENS_OF_ASCII`, faster: most texts are ASCII. */
function addRunsOfAscii(tokens: Token[], text: string): void {
  let end = 0;
  for (let at = 0; at < text.length;) {
    const kind = ASCII[text.charCodeAt(at)]!;
    const start = at;
    let hasApostrophe = false;
    if (kind === LETTER) {
      for (at += 1; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (ASCII[code] === LETTER) continue;
        if ((code !== 0x27 && code !== 0x60) || at + 1 >= text.length) break;
        if (ASCII[text.charCodeAt(at + 1)] !== LETTER) break;
        hasApostrophe = true;
      }
    } else {
      if (kind === BEGINS_EMOTICON) {
        EMOTICON_OF_ASCII.lastIndex = at;
        at += EMOTICON_OF_ASCII.exec(text)?.[0].length ?? 0;
      }
      if (at === start) {
        at += 1;
        continue;
      }
    }
    const run = text.slice(start, at);
    const before = breakAt(text, end, start, tokens.length);
    if (kind !== LETTER || hasApostrophe) addRun(tokens, run, start, before);
    else {
      const key = run.length > LONGEST_WORD ? '' : run.toLowerCase();
      tokens.push({ key, start, end: at, before, isCharacter: false });
    }
    end = at;
  }
}

/**
 * The break between the end of a run and the next one. `count`: number of tokens before; the first token follows a
 * sentence end.
 */
function breakAt(text: string, end: number, start: number, count: number): Break {
  if (count === 0) return BREAK.end;
  if (start === end) return BREAK.none;
  return start === end + 1 && text.charCodeAt(end) === 0x20 ? BREAK.space : breakOf(text.slice(end, start));
}

/** Adds the keys of a text's tokens to `keys`. */
export function addKeys(content: string, keys: Set<string>): void {
  const runs = NOT_ASCII.test(content) ? composed(content).match(TOKENS) : content.match(TOKENS_OF_ASCII);
  const tokens: Token[] = [];
  for (const run of runs ?? []) {
    if (SMALL.test(run)) keys.add(run);
    else if (CHARACTERS.test(run)) for (const letter of run) keys.add(letter);
    else addRun(tokens, run, 0, BREAK.none);
  }
  for (const { key } of tokens) keys.add(key);
}

const ENDS = `!。！；｡।;\n\u2028\u2029${QUESTION_ENDS}`;
const STOPS = '.…';
const CLOSERS = `"'”’)]`;
const SPACES = /\s/;
/** Marks around words rather than between them. */
const AROUND = `"'“”„«»‘’*_~#\u200d\ufe0e\ufe0f`;

/** A full stop ends a sentence before a space, unless it is one of several: "so ... thanks". */
function breakOf(between: string): Break {
  let found: Break = BREAK.space;
  let stops = 0;
  for (const mark of between) {
    if (ENDS.includes(mark)) return BREAK.end;
    if (STOPS.includes(mark)) stops += mark === '…' ? 2 : 1;
    else if (SPACES.test(mark)) {
      if (stops === 1) return BREAK.end;
    } else if (stops > 0 && CLOSERS.includes(mark)) continue;
    else if (AROUND.includes(mark)) continue;
    else stops = 0;
    if (!SPACES.test(mark)) found = BREAK.mark;
  }
  return found;
}

function addRun(tokens: Token[], run: string, index: number, before: Break): void {
  if (NOT_ASCII.test(run) && CHARACTER.test(run)) return addCharacters(tokens, run, index, before);
  if (run.length > LONGEST_WORD || !APOSTROPHE.test(run)) {
    tokens.push({ key: phraseKey(run), start: index, end: index + run.length, before, isCharacter: false });
    return;
  }
  const cuts = cutsOf(run);
  for (let at = 0; at < cuts.length; at++) {
    const start = at === 0 ? 0 : cuts[at - 1]!;
    tokens.push({
      key: phraseKey(run.slice(start, cuts[at])),
      start: index + start,
      end: index + cuts[at]!,
      before: at === 0 ? before : BREAK.none,
      isCharacter: false,
    });
  }
}

/** Cuts a run that contains characters as tokens; letters of other scripts in it form words. */
function addCharacters(tokens: Token[], run: string, index: number, before: Break): void {
  let start = -1;
  let at = 0;
  let isCharacter = false;
  const close = (end: number): void => {
    if (start < 0) return;
    const key = phraseKey(run.slice(start, end));
    if (key !== '')
      tokens.push({
        key,
        start: index + start,
        end: index + end,
        before: start === 0 ? before : 0,
        isCharacter,
      });
    start = -1;
  };
  for (const letter of run) {
    const isOne = CHARACTER.test(letter);
    if (!MARK.test(letter) && (isOne || isCharacter || start < 0)) {
      close(at);
      start = at;
      isCharacter = isOne;
    }
    at += letter.length;
  }
  close(at);
}

/** A short word with an apostrophe before a vowel, in French and Italian: "l'aide", "dell'ordine". */
const ELISION =
  /^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|quelqu|un|gl|quest|quell|(?:d|n|s|c)?(?:e|a|o|u)ll|bell)$/i;
/** "don't", "that's", "I'm". */
const CONTRACTION = /^(?:s|re|ve|ll|d|m|t)$/i;

/** Longest word that is split and looked up, UTF-16 units. */
const LONGEST_WORD = 60;
const APOSTROPHE = /['’‘ʼ´`]/;

/** Ends of the parts of a word with apostrophes: "do" and "n't", "that" and "'s", "l'" and "aide". */
function cutsOf(run: string): number[] {
  let last = run.length - 1;
  while (last >= 0 && !APOSTROPHE.test(run[last]!)) last -= 1;
  if (last < 0) return [run.length];
  const [head, tail] = [run.slice(0, last), run.slice(last + 1)];
  if (!CONTRACTION.test(tail)) return ELISION.test(head) ? [last + 1, run.length] : [run.length];
  if (tail.toLowerCase() !== 't') return [...cutsOf(head), run.length];
  return head.length > 1 && head.at(-1)!.toLowerCase() === 'n' ? [last - 1, run.length] : [run.length];
}

/** A run that is one token and its own key. */
const SMALL = /^[a-zа-я]{1,60}$/;
/** A run whose characters are each a token and its own key. */
const CHARACTERS = /^[ぁ-ゖァ-ヺー一-龥가-힣]+$/;
/** A token that folding does not change. */
const PLAIN = /^[a-z0-9а-яぁ-ゖァ-ヺー一-鿿가-힣]+$/;
const SELDOM = /\u0451|\u0901|\u093c|\ufe0e|\ufe0f|\p{Emoji_Modifier}/gu;

/**
 * The lookup key of a token: folded, with interchangeable letters unified. "Ещё" gives "еще", a thumb loses its colour,
 * an emoticon its nose. '' for an overlong token.
 */
export function phraseKey(token: string): string {
  if (token.length > LONGEST_WORD) return '';
  if (PLAIN.test(token)) return token;
  if (/^[:;=<]/.test(token))
    return token.toLowerCase().replace(/[-']/g, '').replace('=', ':').replace(']', ')').replace('[', '(');
  return wordKey(token.replaceAll('`', "'"))
    .replace(/^'|'$/g, '')
    .replace(SELDOM, (letter) => (letter === 'ё' ? 'е' : letter === '\u0901' ? '\u0902' : ''));
}

/** True if a word is one token and its own key. */
export function isPlainWord(word: string): boolean {
  return SMALL.test(word);
}

/** True if a character token directly follows another one. */
export function isGlued(tokens: readonly Token[], at: number): boolean {
  return at > 0 && tokens[at]!.before === BREAK.none && tokens[at - 1]!.isCharacter;
}

/** True for an emoji or emoticon. */
export function isEmoji({ key }: Token): boolean {
  const first = key.charCodeAt(0);
  // Fast path for the most common case, a lower-case Latin letter.
  if (first >= 97 && first <= 122) return false;
  return key !== '' && (/^[:;=<]/.test(key) || !LETTER_OR_DIGIT.test(key));
}

export function isHangul(key: string): boolean {
  return HANGUL.test(key);
}

/** The mark that closes the sentence of each token. */
function closingsOf(text: string, tokens: readonly Token[]): Closing[] {
  const closings = tokens.map((): Closing => '');
  for (let at = tokens.length - 1; at >= 0; at--) {
    const next = tokens[at + 1];
    if (next !== undefined && next.before !== BREAK.end) closings[at] = closings[at + 1]!;
    else closings[at] = closingOf(text, tokens[at]!.end, next?.start ?? text.length);
  }
  return closings;
}

/** The closing mark among the characters from `from` to `to`. */
function closingOf(text: string, from: number, to: number): Closing {
  const marks = text.slice(from, to);
  if (marks === '' || marks === '.') return '';
  const line = marks.split('\n', 1)[0]!;
  if (holdsQuestionMarkIn(text, from, from + line.length)) return '?';
  return /[!！]/u.test(line) ? '!' : '';
}
