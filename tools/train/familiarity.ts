/**
 * Learns by which of its tokens a model tells texts in languages that it knows from texts in others, and writes it
 * beside the weights. Which languages it knows is measured.
 * Covered by test/tools/train/familiarity.test.ts.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Familiarity } from '../../src/reader/embedding/familiarity.ts';
import { loadEmbedder, type Embedder } from '../../src/reader/embedding/embedder.ts';
import {
  collect,
  dataSetPath,
  isHeldOut,
  readDialogues,
  readIntents,
  readLanguages,
  readPairs,
} from '../eval/data.ts';
import { dotOf } from '../../src/reader/numeric/vectors.ts';
import { LEAVABLE } from './embedding-data.ts';
import { Pieces, UNKNOWN } from './pieces.ts';
import { Random } from './random.ts';
import { LANGUAGES } from './text-list.ts';
import { varied } from './typed-text.ts';

/** Languages that nothing may be lost of: those with room in the vocabulary, English, and Polish, which groups well. */
const KNOWN = ['en', ...LANGUAGES, 'pl'];
/** From this mean cosine of held-out sentences and their English translations on, another language is near a known one. */
const NEAR = 0.35;
/** A language keeps its topics, too, while fewer pairs of its unrelated sentences than this reach the threshold. */
const UNRELATED = 0.005;
const MEASURED_SENTENCES = 400;

/** Texts of a set or language, at most. */
const TEXTS = 3000;
const DIALOGUES = [
  'llm-oasst-en100',
  'llm-tau-bench-retail-fewshot',
  'taskmaster4-coffee',
  'crosswoz-zh',
] as const;
const REQUESTS_DIRECTORY = join(import.meta.dirname, 'requests');
/** How often what we wrote counts. */
const REQUEST_WEIGHT = 3;
/** How much more a text in a known language counts, and a sentence in one of them where few are. */
const KNOWN_WEIGHT = 3;
const KNOWN_SENTENCE_WEIGHT = 4;
/** With two words of another language in it, which names are to the model. */
const NAMES_WEIGHT = 1;
const MOST_TOKENS = 40;
/** Words of the beginning that is learned beside a text, and how much it counts. */
const BEGINNING = 3;
const BEGINNING_WEIGHT = 0.5;

const EPOCHS = 4;
const RATE = 0.15;
const BIAS_RATE = 0.02;
const L2 = 1e-4;
/** A text is unfamiliar at odds of e^1.5 to 1. */
const LEAST_ODDS = -1.5;
const HIGHEST_WEIGHT = 6;

interface Example {
  readonly tokens: readonly number[];
  readonly known: boolean;
  readonly weight: number;
}

/** Writes `familiarity.json` into a model's folder. `leftOut`: sets that the model must not have seen. */
export async function writeFamiliarity(
  folder: string,
  dataDirectory: string,
  leftOut: readonly string[],
): Promise<void> {
  const file = join(folder, 'familiarity.json');
  rmSync(file, { force: true });
  const embedder = await loadEmbedder({ model: basename(folder), modelsDirectory: dirname(folder) });
  const sentences = Map.groupBy(
    await collect(readLanguages(dataSetPath(dataDirectory, 'language/tatoeba-sentences'))),
    ({ lang }) => lang,
  );
  const texts = new Map([...sentences].map(([language, own]) => [language, own.map(({ text }) => text)]));
  const unknown = await unknownLanguages(embedder, texts, dataDirectory);
  await embedder.close();
  const pieces = piecesOf(folder);
  const examples = new Examples(pieces);
  addSentences(examples, texts, unknown);
  addOwnRequests(examples, unknown);
  await addSets(
    examples,
    dataDirectory,
    leftOut,
    [...unknown].flatMap((l) => texts.get(l)!),
  );
  writeFileSync(file, `${JSON.stringify(fit(examples.list, pieces.list.length))}\n`);
  process.stdout.write(`familiarity: ${examples.list.length} examples; unknown: ${[...unknown].join(' ')}\n`);
}

/** As its tokenizer cuts texts. */
function piecesOf(folder: string): Pieces {
  const { model } = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')) as {
    model: { vocab: Record<string, number> };
  };
  const byPlace = Object.entries(model.vocab).toSorted((a, b) => a[1] - b[1]);
  return new Pieces(byPlace.map(([piece]) => piece));
}

/** Languages far from English translations whose unrelated sentences look alike too often. */
async function unknownLanguages(
  embedder: Embedder,
  texts: ReadonlyMap<string, readonly string[]>,
  dataDirectory: string,
): Promise<Set<string>> {
  const pairs = await collect(readPairs(dataSetPath(dataDirectory, 'pairs/tatoeba-parallel-en')));
  const heldOut = Map.groupBy(
    pairs.filter(({ b }) => isHeldOut(b)),
    (pair) => String(pair['lang_a']),
  );
  const unknown = new Set<string>();
  for (const [language, own] of texts) {
    const translated = heldOut.get(language);
    if (KNOWN.includes(language) || translated === undefined) continue;
    const here = await embedder.embed(translated.map(({ a }) => a));
    const english = await embedder.embed(translated.map(({ b }) => b));
    const total = here.reduce((sum, vector, at) => sum + dotOf(vector, english[at]!), 0);
    if (total / translated.length >= NEAR) continue;
    const vectors = await embedder.embed(own.slice(0, MEASURED_SENTENCES));
    if (alikeShare(vectors, embedder.thresholds.topic) >= UNRELATED) unknown.add(language);
  }
  return unknown;
}

/** Share of pairs from a cosine on. */
function alikeShare(vectors: readonly Float32Array[], threshold: number): number {
  let alike = 0;
  vectors.forEach((vector, at) => {
    for (let other = 0; other < at; other += 1) if (dotOf(vector, vectors[other]!) >= threshold) alike += 1;
  });
  return alike / ((vectors.length * (vectors.length - 1)) / 2);
}

class Examples {
  readonly list: Example[] = [];
  readonly #pieces: Pieces;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
  }

  /** A text and its beginning. */
  add(text: string, known: boolean, weight: number): void {
    const tokens = this.#tokensOf(text);
    const beginning = this.#tokensOf(text.split(/\s+/).slice(0, BEGINNING).join(' '));
    if (tokens.length > 0) this.list.push({ tokens, known, weight });
    if (beginning.length > 0 && beginning.length < tokens.length)
      this.list.push({ tokens: beginning, known, weight: weight * BEGINNING_WEIGHT });
  }

  /** What is in no vocabulary says nothing: an emoji as well as a letter. */
  #tokensOf(text: string): number[] {
    return this.#pieces.ofText(text, MOST_TOKENS).filter((token) => token !== UNKNOWN);
  }
}

function addSentences(
  examples: Examples,
  texts: ReadonlyMap<string, readonly string[]>,
  unknown: ReadonlySet<string>,
): void {
  const names = namesIn(REQUESTS_DIRECTORY);
  const random = new Random(5);
  for (const [language, own] of texts) {
    if (unknown.has(language)) for (const text of own) examples.add(text, false, 1);
    if (!KNOWN.includes(language)) continue;
    const weight = language === 'en' ? 1 : KNOWN_SENTENCE_WEIGHT;
    for (const text of thinned(own, 4 * TEXTS)) {
      examples.add(text, true, weight);
      if (language !== 'en') examples.add(varied(text, language, names, random), true, weight);
    }
  }
}

/** Requests of our own, and each as somebody may have typed it. */
function addOwnRequests(examples: Examples, unknown: ReadonlySet<string>): void {
  const names = namesIn(REQUESTS_DIRECTORY);
  const random = new Random(6);
  for (const file of readdirSync(REQUESTS_DIRECTORY).sort()) {
    const language = basename(file, '.txt');
    const known = KNOWN.includes(language);
    if (!known && !unknown.has(language)) continue;
    const weight = known ? REQUEST_WEIGHT * KNOWN_SENTENCE_WEIGHT : REQUEST_WEIGHT;
    for (const text of linesOf(join(REQUESTS_DIRECTORY, file))) {
      examples.add(text, known, weight);
      examples.add(varied(text, language, names, random), known, weight);
    }
  }
}

/** What people said, in English and Chinese. */
async function addSets(
  examples: Examples,
  directory: string,
  leftOut: readonly string[],
  foreign: readonly string[],
): Promise<void> {
  const random = new Random(8);
  const add = (texts: readonly string[]): void => {
    for (const text of thinned([...new Set(texts)], TEXTS)) {
      examples.add(text, true, KNOWN_WEIGHT);
      examples.add(withForeignWords(text, foreign, random), true, NAMES_WEIGHT);
    }
  };
  for (const set of LEAVABLE.filter((name) => !leftOut.includes(name)))
    add((await collect(readIntents(dataSetPath(directory, `intents/${set}`)))).map(({ text }) => text));
  for (const set of DIALOGUES) {
    const dialogues = await collect(readDialogues(dataSetPath(directory, `dialogues/${set}`)));
    const turns = dialogues.flatMap(({ turns: own }) => own.filter(({ role }) => role === 'user'));
    add(turns.map(({ content }) => content));
  }
}

/** A text with two words of another language in it, as a name would be. */
function withForeignWords(text: string, foreign: readonly string[], random: Random): string {
  const from = foreign[random.below(foreign.length)]!.split(/\s+/);
  const start = random.below(Math.max(1, from.length - 1));
  const words = text.split(/\s+/);
  return words.toSpliced(random.below(words.length + 1), 0, ...from.slice(start, start + 2)).join(' ');
}

/** At most so many, evenly from the whole list. */
function thinned(texts: readonly string[], most: number): string[] {
  const step = Math.ceil(texts.length / most);
  return texts.filter((_, at) => at % step === 0);
}

/** Names and words of no one language. */
function namesIn(directory: string): string[] {
  return linesOf(join(directory, 'none.txt'));
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').trim().split('\n');
}

/** Logistic regression by gradient descent (Adagrad); the sum is over all tokens, so that short texts say little. */
export function fit(examples: readonly Example[], tokens: number): Familiarity {
  const weights = new Float64Array(tokens);
  const squares = new Float64Array(tokens).fill(1e-2);
  let bias = 0;
  let biasSquare = 1e-2;
  const random = new Random(7);
  const order = Array.from(examples.keys());
  for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
    for (let last = order.length - 1; last > 0; last -= 1) {
      const other = random.below(last + 1);
      [order[last], order[other]] = [order[other]!, order[last]!];
    }
    for (const place of order) {
      const { tokens: own, known, weight } = examples[place]!;
      let logit = bias;
      for (const token of own) logit += weights[token]!;
      const error = weight * (1 / (1 + Math.exp(-logit)) - Number(known));
      for (const token of own) {
        const gradient = error + L2 * weight * weights[token]!;
        squares[token]! += gradient * gradient;
        weights[token]! -= (RATE * gradient) / Math.sqrt(squares[token]!);
      }
      biasSquare += error * error;
      bias -= (BIAS_RATE * error) / Math.sqrt(biasSquare);
    }
  }
  const scale = HIGHEST_WEIGHT / 127;
  const bytes = Int8Array.from(weights, (weight) =>
    Math.max(-127, Math.min(127, Math.round(weight / scale))),
  );
  return {
    bias: Number((bias - LEAST_ODDS).toFixed(4)),
    scale: Number(scale.toFixed(6)),
    weights: Buffer.from(bytes.buffer).toString('base64'),
  };
}
