/**
 * Finds names of people in texts with a local token-classification model. Keeps the invariant that the same text gives
 * the same places.
 *
 * Test: test/reader/embedding/name-finder.test.ts.
 */
import { z } from 'zod';
import { SetupError } from '../../errors.ts';
import { localSettings } from './local-settings.ts';
import { AutoModelForTokenClassification, AutoTokenizer, Tensor } from './transformers.ts';

/** A range of UTF-16 units, `end` exclusive. */
export interface NamePlace {
  readonly start: number;
  readonly end: number;
}

export interface NameFinder {
  /** Returns the places of people's names in a text, in order, without overlaps. */
  find(text: string): Promise<readonly NamePlace[]>;
}

/** Words as models of names are trained on them; each letter of a script without spaces is one. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu;
/** Marks between the words of one name: "Ana-María", "J. Smith", "O’Brien". */
const WITHIN_NAME = /^[\s.'’-]{0,2}$/u;
/** Labels of people: "B-PER", "I-PERSON", "PER". */
const PERSON = /(?:^|[-_])PER(?:SON)?$/iu;
/** Most tokens in one call: the limit of nearly all such models. */
const MOST_PIECES = 384;

const configSchema = z.looseObject({ id2label: z.record(z.string(), z.string()) });

interface Word extends NamePlace {
  readonly pieces: readonly number[];
}

/** Loads a model. Throws SetupError if it has no label for people; passes on the library's errors. */
export async function openNameFinder(folder: string): Promise<NameFinder> {
  const { name, settings } = localSettings(folder);
  const tokenizer = await AutoTokenizer.from_pretrained(name, { local_files_only: true });
  const model = await AutoModelForTokenClassification.from_pretrained(name, settings);
  const labels = configSchema.safeParse(model.config).data?.id2label ?? {};
  const persons = new Set(
    Object.keys(labels)
      .filter((id) => PERSON.test(labels[id] ?? ''))
      .map(Number),
  );
  if (persons.size === 0)
    throw new SetupError(`MASK_NAMES_MODEL: the labels of ${folder} name no persons (B-PER, I-PER).`);
  // The tokens that the model expects before and after a text.
  const frame = tokenizer.encode('');
  const [before, behind] = [frame.slice(0, frame.length / 2), frame.slice(frame.length / 2)];

  async function labelOf(words: readonly Word[]): Promise<boolean[]> {
    const ids = [...before, ...words.flatMap(({ pieces }) => pieces), ...behind];
    const row = (values: readonly number[]): Tensor =>
      new Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
    const output = (await model({ input_ids: row(ids), attention_mask: row(ids.map(() => 1)) })) as {
      readonly logits: Tensor;
    };
    const scores = output.logits.data as Float32Array;
    const width = output.logits.dims.at(-1) ?? 0;
    let at = before.length;
    return words.map(({ pieces }) => {
      const label = largestOf(scores.subarray(at * width, (at + 1) * width));
      at += pieces.length;
      return persons.has(label);
    });
  }

  return {
    async find(text) {
      const places: { start: number; end: number }[] = [];
      for (const words of windowsOf(
        wordsOf(text, (word) => tokenizer.encode(word, { add_special_tokens: false })),
      )) {
        const isName = await labelOf(words);
        for (const [index, { start, end }] of words.entries()) {
          if (isName[index] !== true) continue;
          const last = places.at(-1);
          if (last !== undefined && WITHIN_NAME.test(text.slice(last.end, start))) last.end = end;
          else places.push({ start, end });
        }
      }
      return places;
    },
  };
}

function wordsOf(text: string, piecesOf: (word: string) => number[]): Word[] {
  return [...text.matchAll(WORDS)].flatMap(({ 0: word, index }) => {
    const pieces = piecesOf(word).slice(0, MOST_PIECES);
    return pieces.length === 0 ? [] : [{ start: index, end: index + word.length, pieces }];
  });
}

/** Splits words into groups that fit into one call. */
function* windowsOf(words: readonly Word[]): Iterable<readonly Word[]> {
  let window: Word[] = [];
  let pieces = 0;
  for (const word of words) {
    if (pieces + word.pieces.length > MOST_PIECES) {
      yield window;
      [window, pieces] = [[], 0];
    }
    window.push(word);
    pieces += word.pieces.length;
  }
  if (window.length > 0) yield window;
}

function largestOf(scores: Float32Array): number {
  let largest = 0;
  for (let at = 1; at < scores.length; at++) if (scores[at]! > scores[largest]!) largest = at;
  return largest;
}
