/**
 * What the embedding model learns from: texts that belong together, by source. Only sets whose licence
 * permits shipping weights (CC0, CC BY, MIT, Apache-2.0, BSD, CDLA-Permissive); `left out` sets, and what
 * the evaluations hold out, never come in.
 */
import { z } from 'zod';
import {
  collect,
  dataSetPath,
  isHeldOut,
  readAs,
  readDialogues,
  readIntents,
  readPairs,
} from '../eval/data.ts';
import { PACKAGES, readEditorTexts, readEmojiWords, readInterfaceTexts, readMeanings } from './packages.ts';
import { preTokensOf } from './pieces.ts';
import { isSupported, LANGUAGES, TextList } from './text-list.ts';

/** Texts that belong together: either by label, any two of a group, or as pairs. */
export type Source =
  | {
      readonly kind: 'groups';
      readonly name: string;
      readonly weight: number;
      /** Share of pieces that a text of this source loses each time, where it is not the usual one. */
      readonly dropout?: number;
      /** Places in `texts`; at least two a group. */
      readonly groups: readonly (readonly number[])[];
    }
  | {
      readonly kind: 'pairs';
      readonly name: string;
      readonly weight: number;
      readonly dropout?: number;
      readonly pairs: readonly (readonly [number, number])[];
    }
  | {
      /** Each text alone: one half of its pieces, drawn each time, and the other belong together. */
      readonly kind: 'halves';
      readonly name: string;
      readonly weight: number;
      readonly list: readonly number[];
    };

export interface TrainingData {
  /** Names of the sets read, without those left out. */
  readonly sets: readonly string[];
  readonly texts: readonly string[];
  readonly sources: readonly Source[];
  /** Places of what people said: labelled requests, and their turns in conversations. */
  readonly messages: readonly number[];
  /** How often each word occurs; rarer languages count more than once, so that the vocabulary has room for them. */
  readonly wordCounts: ReadonlyMap<string, number>;
  /** Characters of the supported languages, which must be in the vocabulary. */
  readonly characters: ReadonlySet<string>;
}

/** Labelled sets with their share of the batches. dstc11 is left to measure with. */
const INTENT_SETS = [
  { name: 'banking77', weight: 1 },
  { name: 'clinc150-5domains', weight: 1 },
  { name: 'multidogo-fastfood-media-software', weight: 1 },
  { name: 'nlupp', weight: 1 },
  { name: 'snips-train', weight: 0.5 },
  { name: 'rasa-nlu', weight: 0.5 },
] as const;
/** Labels whose texts have little in common. */
const LOOSE_LABELS = new Set(['contentonly', 'outofdomain', 'oos']);
/** Conversations whose neighbouring turns make pairs. */
const DIALOGUE_SETS = [
  'llm-hh-rlhf-harmless',
  'llm-oasst-en100',
  'llm-tau-bench-retail-fewshot',
  'llm-glaive-toolcall-en-zh',
  'taskmaster4-coffee',
  'chatterbot-multilingual',
  'crosswoz-zh',
] as const;
/** Questions with their answers; paraphrases. */
const ANSWER_SETS = ['dstc9-faq', 'paws-sample'] as const;
/** Tasks of P3 whose own sets are CC BY, MIT or free of conditions; the others are share-alike or unknown. */
const PROMPT_TASKS = new Set([
  'cosmos_qa',
  'common_gen',
  'paws',
  'duorc',
  'quartz',
  'qasc',
  'quarel',
  'ropes',
  'quoref',
]);

/** Names that `--leave-out` takes: the sets with labels. */
export const LEAVABLE: readonly string[] = INTENT_SETS.map(({ name }) => name);

const replySchema = z.looseObject({ text: z.string().catch('') });
const promptSchema = z.looseObject({
  task: z.string().catch(''),
  a: z.string().catch(''),
  b: z.string().catch(''),
});

const MIN_WORDS_TO_HALVE = 8;
const MIN_TURN_LENGTH = 12;
/** Meanings of rarer words are not worth their room. */
const MIN_COUNT_OF_MEANING = 8;
/**
 * Share of the batches of each kind of source. More than a few labelled requests make the model know their
 * domains and forget what sets others' requests apart.
 */
const SHARES = {
  intents: 0.16,
  translations: 0.33,
  adjacent: 0.14,
  answers: 0.09,
  sameText: 0.09,
  meanings: 0.1,
  halves: 0.09,
} as const;
/** Share of pieces that each of two copies of a text loses: what is left of one tells what the other was about. */
const SAME_TEXT_DROPOUT = 0.4;
const KEYWORD_DROPOUT = 0.4;

/** Texts by place, and the places of those that people said. */
interface Collected {
  readonly directory: string;
  readonly texts: TextList;
  readonly messages: Set<number>;
}
type Pair = readonly [number, number];
/** Places of texts; null for those that are not kept. */
type Places = readonly (number | null)[];

/** Collects everything. Throws SetupError when a set is not in `directory`. */
export async function readTrainingData(
  directory: string,
  leftOut: ReadonlySet<string>,
): Promise<TrainingData> {
  const texts = new TextList(await heldOutTexts(directory, leftOut));
  const collected: Collected = { directory, texts, messages: new Set() };
  // The order decides the places of texts, and so what training draws.
  const sources = [
    ...shared(await intentSources(collected, leftOut), SHARES.intents),
    ...shared(await translationSources(collected), SHARES.translations),
    ...shared(await adjacentSources(collected), SHARES.adjacent),
    ...shared(await answerSources(collected), SHARES.answers),
    ...shared([halvesOf(texts)], SHARES.halves),
    ...shared([meaningsIn(texts)], SHARES.meanings),
    ...shared([sameTexts(texts)], SHARES.sameText),
  ];
  return {
    sets: [
      ...INTENT_SETS.map(({ name }) => name).filter((name) => !leftOut.has(name)),
      'tatoeba-parallel-en',
      ...DIALOGUE_SETS,
      'wildbench-replies',
      ...ANSWER_SETS,
      'p3-t0-prompts',
      ...PACKAGES,
    ],
    texts: texts.list,
    sources: sources.filter((source) => sizeOf(source) > 0),
    messages: [...collected.messages],
    wordCounts: texts.wordCounts,
    characters: texts.characters,
  };
}

async function intentSources(
  { directory, texts, messages }: Collected,
  leftOut: ReadonlySet<string>,
): Promise<Source[]> {
  const sources: Source[] = [];
  const everyGroup: number[][] = [];
  for (const { name, weight } of INTENT_SETS) {
    if (leftOut.has(name)) continue;
    const requests: { label: string; place: number }[] = [];
    for await (const { text, intent, domain } of readIntents(dataSetPath(directory, `intents/${name}`))) {
      if (LOOSE_LABELS.has(intent)) continue;
      const place = texts.add(text, 'en');
      if (place === null) continue;
      requests.push({ label: `${domain ?? ''}|${intent}`, place });
      messages.add(place);
    }
    const byLabel = Map.groupBy(requests, ({ label }) => label);
    const groups = several([...byLabel.values()].map((group) => group.map(({ place }) => place)));
    everyGroup.push(...groups);
    sources.push({ kind: 'groups', name, weight, groups });
  }
  return [...sources, { kind: 'groups', name: 'all labelled', weight: 2, groups: everyGroup }];
}

async function translationSources({ directory, texts }: Collected): Promise<Source[]> {
  const found: { language: string; english: string; a: number; b: number }[] = [];
  for await (const pair of readPairs(dataSetPath(directory, 'pairs/tatoeba-parallel-en'))) {
    if (isHeldOut(pair.b)) continue;
    const language = typeof pair['lang_a'] === 'string' ? pair['lang_a'] : '';
    const a = texts.add(pair.a, language);
    const b = texts.add(pair.b, 'en');
    if (a !== null && b !== null) found.push({ language, english: pair.b, a, b });
  }
  const byLanguage = Map.groupBy(found, ({ language }) =>
    isSupported(language) ? language : 'other languages',
  );
  const byEnglish = Map.groupBy(found, ({ english }) => english);
  const groups = several([...byEnglish.values()].map((group) => group.flatMap(({ a, b }) => [b, a])));
  return [
    ...[...byLanguage].map(([language, own]): Source => ({
      kind: 'pairs',
      name: `tatoeba ${language}`,
      weight: 1,
      pairs: own.map(({ a, b }): Pair => [a, b]),
    })),
    { kind: 'groups', name: 'tatoeba across languages', weight: 4, groups },
    ...(await packageSources(texts)),
  ];
}

/** Neighbouring turns of conversations, and neighbouring sentences of long replies. */
async function adjacentSources({ directory, texts, messages }: Collected): Promise<Source[]> {
  const sources: Source[] = [];
  for (const name of DIALOGUE_SETS) {
    const pairs: Pair[] = [];
    for await (const { turns, lang = 'en' } of readDialogues(dataSetPath(directory, `dialogues/${name}`))) {
      const places = turns
        .filter(({ content }) => content.length >= (isDense(content) ? 4 : MIN_TURN_LENGTH))
        .map(({ role, content }) => {
          const place = texts.add(content, lang);
          if (role === 'user' && place !== null) messages.add(place);
          return place;
        });
      pairs.push(...neighbours(places));
    }
    sources.push({ kind: 'pairs', name, weight: Math.sqrt(pairs.length), pairs });
  }
  const pairs: Pair[] = [];
  for await (const { text } of readAs(dataSetPath(directory, 'text/wildbench-replies'), replySchema)) {
    const sentences = trainingSentencesOf(text).slice(0, 40);
    pairs.push(...neighbours(sentences.map((sentence) => texts.add(sentence, 'en'))));
  }
  return [...sources, { kind: 'pairs', name: 'wildbench', weight: Math.sqrt(pairs.length), pairs }];
}

/** Questions with their answers; paraphrases; neighbouring sentences of tasks. */
async function answerSources({ directory, texts }: Collected): Promise<Source[]> {
  const sources: Source[] = [];
  for (const name of ANSWER_SETS) {
    const examples = await collect(readPairs(dataSetPath(directory, `pairs/${name}`)));
    const pairs = examples
      .filter(({ label }) => label >= 0.8)
      .flatMap(({ a, b }) => neighbours([texts.add(a, 'en'), texts.add(b, 'en')]));
    sources.push({ kind: 'pairs', name, weight: Math.sqrt(pairs.length) * 2, pairs });
  }
  const pairs: Pair[] = [];
  for await (const { task, a, b } of readAs(dataSetPath(directory, 'text/p3-t0-prompts'), promptSchema)) {
    if (!PROMPT_TASKS.has(task)) continue;
    const sentences = [...trainingSentencesOf(a), ...trainingSentencesOf(b)];
    pairs.push(...neighbours(sentences.map((sentence) => texts.add(sentence, 'en'))));
  }
  return [...sources, { kind: 'pairs', name: 'p3', weight: Math.sqrt(pairs.length), pairs }];
}

function halvesOf({ list }: TextList): Source {
  const long = list.flatMap((text, place) => (preTokensOf(text).length >= MIN_WORDS_TO_HALVE ? [place] : []));
  return { kind: 'halves', name: 'halves of a text', weight: 1, list: long };
}

function sameTexts({ list }: TextList): Source {
  const pairs = list.flatMap((text, place): Pair[] =>
    text.length >= (isDense(text) ? 10 : 25) ? [[place, place]] : [],
  );
  return { kind: 'pairs', name: 'a text and itself', weight: 1, dropout: SAME_TEXT_DROPOUT, pairs };
}

/** How many groups, pairs or texts a source has. */
export function sizeOf(source: Source): number {
  if (source.kind === 'groups') return source.groups.length;
  return source.kind === 'pairs' ? source.pairs.length : source.list.length;
}

/** Translations out of npm packages: texts of user interfaces and of an editor, and emoji by name and by keywords. */
async function packageSources(texts: TextList): Promise<Source[]> {
  const interfaces: { language: string; pair: Pair }[] = [];
  for (const wordings of await readInterfaceTexts(LANGUAGES)) {
    const english = wordings.get('en') ?? '';
    if (isHeldOut(english)) continue;
    for (const [language, text] of wordings) {
      if (language === 'en' || text === english) continue;
      const a = texts.add(text, language);
      const b = texts.add(english, 'en');
      if (a !== null && b !== null) interfaces.push({ language, pair: [a, b] });
    }
  }
  const editor: Places[] = [];
  for (const wordings of readEditorTexts(LANGUAGES)) {
    if (isHeldOut(wordings.get('en') ?? '')) continue;
    // Programmers' words are no measure of how often words are used.
    editor.push([...wordings].map(([language, text]) => texts.add(text, language, 1, 1)));
  }
  const names: Places[] = [];
  const keywords: Places[] = [];
  for (const emoji of readEmojiWords(LANGUAGES)) {
    const places = [...emoji].map(([language, [name, ...others]]) => ({
      byName: texts.add(name ?? '', language, 1),
      byKeyword: texts.add([name, ...others].join(', '), language, 1),
    }));
    names.push(places.map(({ byName }) => byName));
    keywords.push(places.map(({ byKeyword }) => byKeyword));
  }
  return [
    ...[...Map.groupBy(interfaces, ({ language }) => language)].map(([language, own]): Source => ({
      kind: 'pairs',
      name: `interfaces ${language}`,
      weight: 0.7,
      pairs: own.map(({ pair }) => pair),
    })),
    { kind: 'groups', name: 'editor', weight: 3, groups: several(editor) },
    { kind: 'groups', name: 'emoji by name', weight: 2.5, groups: several(names) },
    {
      kind: 'groups',
      name: 'emoji by keywords',
      weight: 2.5,
      dropout: KEYWORD_DROPOUT,
      groups: several(keywords),
    },
  ];
}

/** Words with their definition and examples, for words that the other texts use. */
function meaningsIn(texts: TextList): Source {
  const common = new Set(
    [...texts.wordCounts].filter(([, count]) => count >= MIN_COUNT_OF_MEANING).map(([word]) => word),
  );
  const groups = readMeanings().map(({ words, definition, examples }) => {
    const known = words.filter((word) => preTokensOf(word).every((part) => common.has(part)));
    if (known.length === 0) return [];
    // Dictionaries are no measure of how often words are used.
    return [known.join(', '), definition, ...examples].map((text) => texts.add(text, 'en', 1, 0));
  });
  return { kind: 'groups', name: 'meanings of words', weight: 1, groups: several(groups) };
}

/** Normalised texts of at least four words that measure the model: of left-out sets and of dstc11. */
async function heldOutTexts(directory: string, leftOut: ReadonlySet<string>): Promise<Set<string>> {
  const held = new Set<string>();
  const add = (text: string): void => {
    const words = preTokensOf(text);
    if (words.length >= 4) held.add(words.join(' '));
  };
  for (const name of ['dstc11-development-insurance', ...leftOut])
    for await (const { text } of readIntents(dataSetPath(directory, `intents/${name}`))) add(text);
  for await (const { a, b } of readPairs(dataSetPath(directory, 'pairs/stsb-multi-mt'))) [a, b].forEach(add);
  for await (const { a, b } of readPairs(dataSetPath(directory, 'pairs/tatoeba-parallel-en')))
    if (isHeldOut(b)) [a, b].forEach(add);
  return held;
}

function shared(sources: readonly Source[], share: number): Source[] {
  const total = sources.reduce((sum, { weight }) => sum + weight, 0);
  return sources.map((source) => ({ ...source, weight: (source.weight / total) * share }));
}

/** Groups of at least two different texts. */
function several(groups: readonly Places[]): number[][] {
  return groups
    .map((group) => [...new Set(group.filter((place) => place !== null))])
    .filter((group) => group.length >= 2);
}

/** Every text with the one before it, where both are kept and differ. */
function neighbours(places: Places): Pair[] {
  return places.flatMap((b, index): Pair[] => {
    const a = index === 0 ? null : places[index - 1]!;
    return a !== null && b !== null && a !== b ? [[a, b]] : [];
  });
}

/** Whether a text is written without spaces, so that few characters say much. */
function isDense(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);
}

function trainingSentencesOf(text: string): string[] {
  return text.split(/\n+|(?<=[.!?]) +/).filter((sentence) => sentence.length > 25 && sentence.length < 400);
}
