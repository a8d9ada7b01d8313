/**
 * Trains the model that tells languages, from Tatoeba's sentences, English as it is typed, and requests and words of
 * our own (`requests/`, `request-words/`).
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collect, dataSetPath, readIntents, readLanguages } from '../eval/data.ts';
import { isMeasured, languageOf } from '../eval/language-sets.ts';
import { lettersOf, type Script } from '../../src/reader/document/letters.ts';
import {
  BUCKETS,
  encodeModel,
  featuresOf,
  MAX_FEATURES,
  MODEL_PATH,
} from '../../src/reader/document/language-model.ts';
import type { LanguageGroup, Posting } from '../../src/reader/document/language-model.ts';
import { varied } from './typed-text.ts';
import { Random } from './random.ts';

const REQUESTS_DIRECTORY = join(import.meta.dirname, 'requests');
/** File of names, and of words that say nothing of the language. */
const NO_LANGUAGE = 'none';
const WORDS_DIRECTORY = join(import.meta.dirname, 'request-words');

/** Languages that are told apart within a script. What else Tatoeba has in it is one more, '': no answer. */
const GROUPS: readonly LanguageGroup[] = [
  group('Latin', 'af az ca cs cy da de en es et eu fi fr ga gl hi hr hu id is it lt lv'),
  group('Latin', 'ms nl no pl pt ro sk sl sq sr sv sw tl tr uz vi'),
  group('Cyrillic', 'be bg kk mk mn ru sr uk'),
  group('Arabic', 'ar fa ur'),
  group('Han', 'ja zh'),
  group('Hebrew', 'he'),
  group('Devanagari', 'hi mr ne'),
].reduce<LanguageGroup[]>((merged, { script, languages }) => {
  const last = merged.at(-1);
  if (last?.script !== script) return [...merged, { script, languages: ['', ...languages] }];
  return [...merged.slice(0, -1), { script, languages: [...last.languages, ...languages] }];
}, []);

/** English as it is typed to assistants; all may be used in products. */
const ENGLISH_SETS = [
  'banking77',
  'clinc150-5domains',
  'multidogo-fastfood-media-software',
  'snips-train',
  'rasa-nlu',
];

/** Examples of a language in one epoch, at most: of Tatoeba, of each language behind '', of English sets each. */
const SENTENCES = 900;
const SENTENCES_OF_OTHERS = 90;
const ENGLISH_EACH = 350;
/** How often a request of our own comes in one epoch, and how many combinations of names. */
const REQUEST_REPEATS = 6;
const NAMES = 2500;
/** Pieces of two to four words of requests, of each language, in all epochs. */
const COMBINATIONS = 4000;

/**
 * Languages that far fewer people write to assistants in than in one beside them, and how much less likely they are
 * taken to be before a word is read. Training shows all languages about as often.
 */
const RARE: ReadonlySet<string> = new Set('af az be ca cy eu ga gl is kk mk mn ms sq sw tl uz'.split(' '));
const RARITY = Math.log(2.5);

const EPOCHS = 10;
const RATE = 0.35;
const BIAS_RATE = 0.01;
const L2 = 1e-5;
/** What the file may weigh, and what a weight of 127 is at most. */
const POSTINGS = 520_000;
const HIGHEST_WEIGHT = 6;

interface Source {
  readonly language: string;
  readonly texts: readonly string[];
  /** Examples in one epoch; more than there are texts means that they come again, varied anew. */
  readonly perEpoch: number;
}

function group(script: Script, languages: string): LanguageGroup {
  return { script, languages: languages.split(' ') };
}

async function sourcesOf(dataDirectory: string): Promise<Source[]> {
  const sentences = new Map<string, string[]>();
  for await (const { text, lang } of readLanguages(
    dataSetPath(dataDirectory, 'language/tatoeba-sentences'),
  )) {
    if (isMeasured(text)) continue;
    const language = languageOf(lang);
    const list = sentences.get(language);
    if (list === undefined) sentences.set(language, [text]);
    else list.push(text);
  }
  const detected = new Set(GROUPS.flatMap(({ languages }) => languages));
  const sources = [...sentences].map(([language, texts]): Source => {
    const most = detected.has(language) ? SENTENCES : SENTENCES_OF_OTHERS;
    return { language, texts, perEpoch: Math.min(most, texts.length) };
  });
  for (const set of ENGLISH_SETS) {
    const texts = (await collect(readIntents(dataSetPath(dataDirectory, `intents/${set}`)))).map(
      ({ text }) => text,
    );
    sources.push({ language: 'en', texts, perEpoch: Math.min(ENGLISH_EACH, texts.length) });
  }
  for (const [language, texts] of textFiles(REQUESTS_DIRECTORY, /\n/)) {
    if (language === NO_LANGUAGE) continue;
    sources.push({ language, texts, perEpoch: texts.length * REQUEST_REPEATS });
  }
  const random = new Random(6);
  for (const [language, list] of textFiles(WORDS_DIRECTORY, /\s+/)) {
    const texts = Array.from({ length: COMBINATIONS }, () =>
      Array.from({ length: 2 + random.below(3) }, () => list[random.below(list.length)]!).join(' '),
    );
    sources.push({ language, texts, perEpoch: COMBINATIONS / EPOCHS });
  }
  return sources;
}

/** What was written for this repository, by language; 'none' are names and words of no one language. */
function textFiles(directory: string, separator: RegExp): [language: string, texts: string[]][] {
  return readdirSync(directory)
    .sort()
    .map((file): [string, string[]] => [
      file.replace(/\.txt$/, ''),
      readFileSync(join(directory, file), 'utf8').trim().split(separator),
    ]);
}

interface Example {
  readonly features: Uint32Array;
  readonly group: number;
  /** Place within the group. */
  readonly language: number;
}

const buffer = new Uint32Array(MAX_FEATURES);

function exampleOf(text: string, language: string): Example | null {
  for (const { script, words, titled } of lettersOf(text)) {
    const place = GROUPS.findIndex((one) => one.script === script);
    // Japanese also writes Chinese characters, which tell it from Chinese where no kana stands beside them.
    if (place < 0 || (language === 'ja' && script !== 'Han')) continue;
    const count = featuresOf(words, titled, buffer);
    const known = GROUPS[place]!.languages.indexOf(language);
    return { features: buffer.slice(0, count), group: place, language: Math.max(0, known) };
  }
  return null;
}

function epochOf(sources: readonly Source[], names: readonly string[], random: Random): Example[] {
  const examples: Example[] = [];
  const add = (text: string, language: string): void => {
    const example = exampleOf(text, language);
    if (example !== null) examples.push(example);
  };
  for (const { language, texts, perEpoch } of sources) {
    const start = random.below(texts.length);
    for (let i = 0; i < perEpoch; i++) {
      const text =
        perEpoch >= texts.length ? texts[i % texts.length]! : texts[(start + i * 7919) % texts.length]!;
      add(varied(text, language, names, random), language);
    }
  }
  for (let i = 0; i < NAMES; i++) {
    const list = Array.from({ length: 1 + random.below(4) }, () => names[random.below(names.length)]!);
    const text = list.join(' ');
    add(random.below(2) === 0 ? text : text.replace(/(^|\s)\p{L}/gu, (start) => start.toUpperCase()), '');
  }
  for (let i = examples.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [examples[i], examples[j]] = [examples[j]!, examples[i]!];
  }
  return examples;
}

interface Fitted {
  readonly weights: Float32Array;
  readonly bias: Float32Array;
}

const FIRST = GROUPS.map((_, place) =>
  GROUPS.slice(0, place).reduce((sum, { languages }) => sum + languages.length, 0),
);
const LANGUAGES = GROUPS.reduce((sum, { languages }) => sum + languages.length, 0);

/** Softmax regression within the script, by gradient descent with Adagrad. */
class Regression implements Fitted {
  readonly weights = new Float32Array(BUCKETS * LANGUAGES);
  readonly bias = new Float32Array(LANGUAGES);
  readonly #squares = new Float32Array(BUCKETS * LANGUAGES).fill(1e-2);
  readonly #odds = new Float64Array(LANGUAGES);

  /** Learns from one example; whether it was right before. */
  learn({ features, group: place, language }: Example, rate: number): boolean {
    const first = FIRST[place]!;
    const size = GROUPS[place]!.languages.length;
    const norm = 1 / Math.sqrt(Math.max(1, features.length));
    const best = this.#errors(features, first, size, norm, language);
    const odds = this.#odds;
    for (let k = 0; k < size; k++) this.bias[first + k]! -= BIAS_RATE * odds[k]!;
    for (const feature of features) {
      const base = feature * LANGUAGES + first;
      for (let k = 0; k < size; k++) {
        const gradient = odds[k]! * norm + L2 * this.weights[base + k]!;
        const square = (this.#squares[base + k]! += gradient * gradient);
        this.weights[base + k]! -= (rate * gradient) / Math.sqrt(square);
      }
    }
    return best === language;
  }

  /** Leaves probability less truth in `#odds`; gives the likeliest language. */
  #errors(features: Uint32Array, first: number, size: number, norm: number, language: number): number {
    const odds = this.#odds.fill(0, 0, size);
    for (const feature of features) {
      const base = feature * LANGUAGES + first;
      for (let k = 0; k < size; k++) odds[k]! += this.weights[base + k]!;
    }
    let most = -Infinity;
    let best = 0;
    for (let k = 0; k < size; k++) {
      odds[k] = odds[k]! * norm + this.bias[first + k]!;
      if (odds[k]! > most) [most, best] = [odds[k]!, k];
    }
    let sum = 0;
    for (let k = 0; k < size; k++) sum += odds[k] = Math.exp(odds[k]! - most);
    for (let k = 0; k < size; k++) odds[k] = odds[k]! / sum - (k === language ? 1 : 0);
    return best;
  }
}

function fit(sources: readonly Source[], names: readonly string[]): Fitted {
  const regression = new Regression();
  const random = new Random(14);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const rate = RATE * (1 - (0.8 * epoch) / EPOCHS);
    const examples = epochOf(sources, names, random);
    const right = examples.filter((example) => regression.learn(example, rate)).length;
    const share = ((100 * right) / examples.length).toFixed(1);
    process.stdout.write(`languages: epoch ${epoch + 1}, ${share} % right before they were learnt\n`);
  }
  return regression;
}

/** Weights relative to the median of their script, which softmax does not see; small ones are left out. */
function sparse({ weights }: Fitted): Posting[][] {
  const relative = weights.slice();
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    GROUPS.forEach(({ languages }, place) => {
      const base = bucket * LANGUAGES + FIRST[place]!;
      const sorted = weights.slice(base, base + languages.length).sort();
      const median = sorted[sorted.length >> 1]!;
      for (let k = 0; k < languages.length; k++) relative[base + k]! -= median;
    });
  }
  const sizes = relative.map(Math.abs).sort();
  const least = Math.max(sizes[Math.max(0, sizes.length - POSTINGS)]!, HIGHEST_WEIGHT / 127);
  return Array.from({ length: BUCKETS }, (_, bucket) => {
    const list: Posting[] = [];
    for (let language = 0; language < LANGUAGES; language++) {
      const weight = relative[bucket * LANGUAGES + language]!;
      if (Math.abs(weight) < least) continue;
      const step = Math.round((weight / HIGHEST_WEIGHT) * 127);
      list.push({ language, weight: Math.max(-127, Math.min(127, step)) });
    }
    return list;
  });
}

/** Trains and writes `languages.bin`. */
export async function trainLanguages(dataDirectory: string, output = MODEL_PATH): Promise<void> {
  const names = readFileSync(join(REQUESTS_DIRECTORY, `${NO_LANGUAGE}.txt`), 'utf8')
    .trim()
    .split('\n');
  const fitted = fit(await sourcesOf(dataDirectory), names);
  const bias = GROUPS.flatMap(({ languages }) => languages).map((language, place) =>
    Number((fitted.bias[place]! - (RARE.has(language) ? RARITY : 0)).toFixed(4)),
  );
  const bytes = encodeModel({ groups: GROUPS, scale: HIGHEST_WEIGHT / 127, bias }, sparse(fitted));
  writeFileSync(output, bytes);
  process.stdout.write(`languages: ${Math.round(bytes.length / 1024)} KB\n`);
}
