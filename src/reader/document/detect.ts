/**
 * Detects the language of a text: by its script, and within a script by n-grams. Nothing else detects languages.
 *
 * Test: test/reader/document/detect.test.ts.
 */
import { languageModel } from './language-model.ts';
import { lettersOf, weightOf, type Script, type ScriptWords } from './letters.ts';

/** Longest part of a text that is read, UTF-16 units: more decides nothing and costs time. */
const MAX_LENGTH = 1000;
/** Least letters of a script; a Latin text also needs this many different words. */
const LEAST = 2;
/** A script with fewer than one letter in this many of the main one is only quoted. */
const QUOTED = 4;

/** Scripts of one language, among the languages that are detected. */
const ONE_LANGUAGE: Partial<Record<Script, string>> = {
  Armenian: 'hy',
  Bengali: 'bn',
  Ethiopic: 'am',
  Georgian: 'ka',
  Greek: 'el',
  Gujarati: 'gu',
  Gurmukhi: 'pa',
  Hangul: 'ko',
  Kannada: 'kn',
  Khmer: 'km',
  Lao: 'lo',
  Malayalam: 'ml',
  Myanmar: 'my',
  Oriya: 'or',
  Sinhala: 'si',
  Tamil: 'ta',
  Telugu: 'te',
  Thai: 'th',
};

/** Letters of languages that are not detected, by script: Assamese; Pashto, Sorani, Sindhi, Uyghur. */
const FOREIGN_LETTERS: Partial<Record<Script, RegExp>> = {
  Bengali: /[ৰৱ]/,
  Arabic: /[ټډړږښڼۍڵێۆڕڤڪڏٻڄڃڇڙڳڱۈۋې]/,
};

/**
 * Least probability of an answer, by `weightOf` the text: the shorter, the higher. docs/decisions/0049 has the figures.
 */
const LEAST_PROBABILITY: readonly (readonly [end: number, probability: number])[] = [
  [6, 0.75],
  [12, 0.65],
  [24, 0.6],
  [Infinity, 0.5],
];
/** Probability times the script's share of the text from which an earlier answer is replaced. */
const CLEAR = 0.9;

/** See `detectLanguage`. */
export type DetectLanguage = (text: string, before: string | null) => string | null;

/** ISO 639-1 codes of the languages that are detected. */
export function detectableLanguages(): ReadonlySet<string> {
  return new Set([...languageModel().languages, ...Object.values(ONE_LANGUAGE)]);
}

/** A language, its probability within its script, and the script's share of the text. */
interface Finding {
  readonly language: string;
  readonly probability: number;
  readonly share: number;
}

/**
 * Returns the ISO 639-1 code of the text's language; null if the evidence is too weak. Links, addresses, numbers, code
 * and emoji are no evidence; neither is a single word in Latin letters, nor a name.
 *
 * `before`: the answer for the beginning of the text. It stands unless another language is clear.
 */
export function detectLanguage(text: string, before: string | null = null): string | null {
  const found = findingOf(text.slice(0, MAX_LENGTH));
  if (found === null) return before;
  if (before === null || found.language === before) return found.language;
  return found.probability * found.share >= CLEAR ? found.language : before;
}

function findingOf(text: string): Finding | null {
  const scripts = withKana(lettersOf(text));
  const total = scripts.reduce((sum, script) => sum + weightOf(script), 0);
  const most = scripts[0] === undefined ? 0 : weightOf(scripts[0]);
  for (const script of scripts) {
    if (weightOf(script) * QUOTED < most) break;
    const found = withinScript(script);
    if (found !== null) return { ...found, share: weightOf(script) / total };
  }
  return null;
}

/** Adds Han characters to kana, because Japanese mixes both. A single kana also occurs in Chinese names. */
function withKana(scripts: ScriptWords[]): ScriptWords[] {
  const kana = scripts.find(({ script }) => script === 'Kana');
  const han = scripts.find(({ script }) => script === 'Han');
  if (kana === undefined || han === undefined || kana.letters < LEAST) return scripts;
  kana.letters += han.letters;
  return scripts.filter((script) => script !== han).sort((a, b) => weightOf(b) - weightOf(a));
}

function withinScript(found: ScriptWords): Omit<Finding, 'share'> | null {
  const { script, words, letters, titled } = found;
  if (letters < LEAST || words.some((word) => FOREIGN_LETTERS[script]?.test(word))) return null;
  if (script === 'Kana') return { language: 'ja', probability: 1 };
  const only = ONE_LANGUAGE[script];
  if (only !== undefined) return { language: only, probability: 1 };
  if (script === 'Latin' && new Set(words).size < LEAST) return null;
  const best = languageModel().likeliest(script, words, titled);
  if (best === null || best.language === '' || best.probability < leastProbability(weightOf(found)))
    return null;
  return best;
}

function leastProbability(weight: number): number {
  return LEAST_PROBABILITY.find(([end]) => weight < end)![1];
}
