/**
 * What the embedding model learns from: texts that belong together, by source. Only sets whose licence
 * permits shipping weights (CC0, CC BY, MIT, Apache-2.0, BSD, CDLA-Permissive); `left out` sets, and what
 * the evaluations hold out, never come in.
 */
import {
  collect,
  dataSetPath,
  isHeldOut,
  readDialogues,
  readIntents,
  readJsonLines,
  readPairs,
} from '../eval/data.ts';
import { PACKAGES, readEditorTexts, readEmojiWords, readInterfaceTexts, readMeanings } from './packages.ts';
import { wordsOf } from './pieces.ts';

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

/** Languages that the vocabulary gives room to, besides English. */
export const LANGUAGES = ['es', 'fr', 'de', 'pt', 'it', 'nl', 'ru', 'zh', 'ja'] as const;

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

const MIN_WORDS_TO_HALVE = 8;
const MAX_TEXT_LENGTH = 400;
const MIN_TURN_LENGTH = 12;
/** Meanings of rarer words are not worth their room. */
const MIN_COUNT_OF_MEANING = 8;
/** How much more a word counts when it comes from one of `LANGUAGES`. */
const LANGUAGE_WEIGHT = 6;
/**
 * Share of the batches of each kind of source. More than a few labelled requests make the model know their
 * domains and forget what sets others' requests apart.
 */
export const SHARES = {
  intents: 0.16,
  translations: 0.33,
  adjacent: 0.14,
  answers: 0.09,
  sameText: 0.09,
  meanings: 0.1,
  halves: 0.09,
} as const;
export type Shares = Readonly<Record<keyof typeof SHARES, number>>;
/** Share of pieces that each of two copies of a text loses: what is left of one tells what the other was about. */
const SAME_TEXT_DROPOUT = 0.4;
const KEYWORD_DROPOUT = 0.4;

/** Collects everything. Throws SetupError when a set is not in `directory`. */
export async function readTrainingData(
  directory: string,
  leftOut: ReadonlySet<string>,
  otherShares: Partial<Shares> = {},
): Promise<TrainingData> {
  const share: Shares = { ...SHARES, ...otherShares };
  const texts = new TextList(await heldOutTexts(directory, leftOut));
  const sources: Source[] = [];
  const messages = new Set<number>();

  const intents: Source[] = [];
  for (const { name, weight } of INTENT_SETS) {
    if (leftOut.has(name)) continue;
    const groups = new Map<string, number[]>();
    for await (const { value } of readIntents(dataSetPath(directory, `intents/${name}`))) {
      if (LOOSE_LABELS.has(value.intent)) continue;
      const place = texts.add(value.text, 'en');
      if (place === null) continue;
      addTo(groups, `${value.domain ?? ''}|${value.intent}`, place);
      messages.add(place);
    }
    intents.push({ kind: 'groups', name, weight, groups: several(groups) });
  }
  const everyGroup = intents.flatMap((source) => (source.kind === 'groups' ? source.groups : []));
  intents.push({ kind: 'groups', name: 'all labelled', weight: 2, groups: everyGroup });
  sources.push(...shared(intents, share.intents));

  const translations = new Map<string, number[]>();
  const byLanguage: Source[] = [];
  const english = new Map<string, [number, number][]>();
  for await (const { value } of readPairs(dataSetPath(directory, 'pairs/tatoeba-parallel-en'))) {
    if (isHeldOut(value.b)) continue;
    const language = typeof value['lang_a'] === 'string' ? value['lang_a'] : '';
    const a = texts.add(value.a, language);
    const b = texts.add(value.b, 'en');
    if (a === null || b === null) continue;
    addTo(translations, value.b, b);
    addTo(translations, value.b, a);
    const group = isSupported(language) ? language : 'other languages';
    addTo(english, group, [a, b]);
  }
  for (const [language, pairs] of english)
    byLanguage.push({ kind: 'pairs', name: `tatoeba ${language}`, weight: 1, pairs });
  byLanguage.push({
    kind: 'groups',
    name: 'tatoeba across languages',
    weight: 4,
    groups: several(translations),
  });
  byLanguage.push(...(await packageSources(texts)));
  sources.push(...shared(byLanguage, share.translations));

  const adjacent: Source[] = [];
  for (const name of DIALOGUE_SETS) {
    const pairs: [number, number][] = [];
    for await (const { value } of readDialogues(dataSetPath(directory, `dialogues/${name}`))) {
      const turns = value.turns
        .filter(({ content }) => content.length >= (isDense(content) ? 4 : MIN_TURN_LENGTH))
        .map(({ role, content }) => {
          const place = texts.add(content, value.lang ?? 'en');
          if (role === 'user' && place !== null) messages.add(place);
          return place;
        });
      pairUp(turns, pairs);
    }
    adjacent.push({ kind: 'pairs', name, weight: Math.sqrt(pairs.length), pairs });
  }
  const replies: [number, number][] = [];
  for await (const { value } of readJsonLines(dataSetPath(directory, 'text/wildbench-replies'))) {
    const text = memberOf(value, 'text');
    pairUp(
      sentencesOf(text)
        .slice(0, 40)
        .map((sentence) => texts.add(sentence, 'en')),
      replies,
    );
  }
  adjacent.push({ kind: 'pairs', name: 'wildbench', weight: Math.sqrt(replies.length), pairs: replies });
  sources.push(...shared(adjacent, share.adjacent));

  const answers: Source[] = [];
  for (const name of ANSWER_SETS) {
    const pairs: [number, number][] = [];
    for (const { a, b, label } of await collect(readPairs(dataSetPath(directory, `pairs/${name}`)))) {
      if (label < 0.8) continue;
      pairUp([texts.add(a, 'en'), texts.add(b, 'en')], pairs);
    }
    answers.push({ kind: 'pairs', name, weight: Math.sqrt(pairs.length) * 2, pairs });
  }
  const prompts: [number, number][] = [];
  for await (const { value } of readJsonLines(dataSetPath(directory, 'text/p3-t0-prompts'))) {
    if (!PROMPT_TASKS.has(memberOf(value, 'task'))) continue;
    const sentences = [...sentencesOf(memberOf(value, 'a')), ...sentencesOf(memberOf(value, 'b'))];
    pairUp(
      sentences.map((sentence) => texts.add(sentence, 'en')),
      prompts,
    );
  }
  answers.push({ kind: 'pairs', name: 'p3', weight: Math.sqrt(prompts.length), pairs: prompts });
  sources.push(...shared(answers, share.answers));

  const halves: Source = {
    kind: 'halves',
    name: 'halves of a text',
    weight: 1,
    list: texts.list.flatMap((text, place) => (wordsOf(text).length >= MIN_WORDS_TO_HALVE ? [place] : [])),
  };
  sources.push(...shared([halves], share.halves));

  const meanings: Source = {
    kind: 'groups',
    name: 'meanings of words',
    weight: 1,
    groups: share.meanings > 0 ? meaningGroups(texts) : [],
  };
  sources.push(...shared([meanings], share.meanings));

  const same = texts.list.flatMap((text, place): [number, number][] =>
    text.length >= (isDense(text) ? 10 : 25) ? [[place, place]] : [],
  );
  const once: Source = {
    kind: 'pairs',
    name: 'a text and itself',
    weight: 1,
    dropout: SAME_TEXT_DROPOUT,
    pairs: same,
  };
  sources.push(...shared([once], share.sameText));

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
    sources: sources.filter((source) => source.weight > 0 && sizeOf(source) > 0),
    messages: [...messages],
    wordCounts: texts.wordCounts,
    characters: texts.characters,
  };
}

/** How many groups, pairs or texts a source has. */
export function sizeOf(source: Source): number {
  if (source.kind === 'groups') return source.groups.length;
  return source.kind === 'pairs' ? source.pairs.length : source.list.length;
}

/** Translations out of npm packages: texts of user interfaces and of an editor, and emoji by name and by keywords. */
async function packageSources(texts: TextList): Promise<Source[]> {
  const interfaces = new Map<string, [number, number][]>();
  for (const wordings of await readInterfaceTexts(LANGUAGES)) {
    const english = wordings.get('en') ?? '';
    if (isHeldOut(english)) continue;
    for (const [language, text] of wordings) {
      if (language === 'en' || text === english) continue;
      const a = texts.add(text, language);
      const b = texts.add(english, 'en');
      if (a !== null && b !== null) addTo(interfaces, language, [a, b]);
    }
  }
  const editor: number[][] = [];
  for (const wordings of readEditorTexts(LANGUAGES)) {
    if (isHeldOut(wordings.get('en') ?? '')) continue;
    // Programmers' words are no measure of how often words are used.
    const places = [...wordings].map(([language, text]) => texts.add(text, language, 1, 1));
    editor.push(places.filter((place) => place !== null));
  }
  const names: number[][] = [];
  const keywords: number[][] = [];
  for (const emoji of readEmojiWords(LANGUAGES)) {
    const byName: (number | null)[] = [];
    const byKeyword: (number | null)[] = [];
    for (const [language, [name, ...others]] of emoji) {
      byName.push(texts.add(name ?? '', language, 1));
      byKeyword.push(texts.add([name, ...others].join(', '), language, 1));
    }
    names.push(byName.filter((place) => place !== null));
    keywords.push(byKeyword.filter((place) => place !== null));
  }
  const groupsOf = (lists: readonly number[][]): number[][] =>
    several(new Map(lists.map((list, i) => [String(i), list])));
  return [
    ...[...interfaces].map(([language, pairs]): Source => ({
      kind: 'pairs',
      name: `interfaces ${language}`,
      weight: 0.7,
      pairs,
    })),
    { kind: 'groups', name: 'editor', weight: 3, groups: groupsOf(editor) },
    { kind: 'groups', name: 'emoji by name', weight: 2.5, groups: groupsOf(names) },
    {
      kind: 'groups',
      name: 'emoji by keywords',
      weight: 2.5,
      dropout: KEYWORD_DROPOUT,
      groups: groupsOf(keywords),
    },
  ];
}

/** Words with their definition and examples, for words that the other texts use. */
function meaningGroups(texts: TextList): number[][] {
  const common = new Set(
    [...texts.wordCounts].filter(([, count]) => count >= MIN_COUNT_OF_MEANING).map(([word]) => word),
  );
  const groups = new Map<string, number[]>();
  readMeanings().forEach(({ words, definition, examples }, number) => {
    const known = words.filter((word) => wordsOf(word).every((part) => common.has(part)));
    if (known.length === 0) return;
    for (const text of [known.join(', '), definition, ...examples]) {
      // Dictionaries are no measure of how often words are used.
      const place = texts.add(text, 'en', 1, 0);
      if (place !== null) addTo(groups, String(number), place);
    }
  });
  return several(groups);
}

/** Texts by place, each once; counts words as they come. */
class TextList {
  readonly list: string[] = [];
  readonly wordCounts = new Map<string, number>();
  readonly characters = new Set<string>();
  readonly #places = new Map<string, number | null>();
  readonly #heldOut: ReadonlySet<string>;

  constructor(heldOut: ReadonlySet<string>) {
    this.#heldOut = heldOut;
    for (const [first, last] of ALPHABETS)
      for (let code = first.codePointAt(0)!; code <= last.codePointAt(0)!; code += 1)
        for (const character of wordsOf(String.fromCodePoint(code)).join('')) this.characters.add(character);
  }

  /** The text's place; null when it has fewer than `fewest` words or is held out. Each of its words counts `weight` times. */
  add(text: string, language: string, fewest = 2, weight = weightOf(language)): number | null {
    const short = text.trim().slice(0, MAX_TEXT_LENGTH);
    const known = this.#places.get(short);
    if (known !== undefined) return known;
    const words = wordsOf(short);
    const usable = words.length >= fewest && !this.#heldOut.has(words.join(' '));
    const place = usable ? this.list.push(short) - 1 : null;
    this.#places.set(short, place);
    if (!usable) return null;
    for (const word of words) {
      if (weight > 0) this.wordCounts.set(word, (this.wordCounts.get(word) ?? 0) + weight);
      if (isSupported(language)) for (const character of word) this.characters.add(character);
    }
    return place;
  }
}

function isSupported(language: string): boolean {
  return (LANGUAGES as readonly string[]).includes(language);
}

function weightOf(language: string): number {
  return isSupported(language) ? LANGUAGE_WEIGHT : 1;
}

/** Ranges of letters, digits and signs that are in the vocabulary though no text may show them all. */
const ALPHABETS = [
  ['!', '~'],
  ['¡', 'ſ'],
  ['А', 'я'],
  ['ё', 'ё'],
  ['ぁ', 'ん'],
  ['ァ', 'ー'],
  ['、', '』'],
  ['‐', '…'],
  ['€', '€'],
] as const;

/** Normalised texts of at least four words that measure the model: of left-out sets and of dstc11. */
async function heldOutTexts(directory: string, leftOut: ReadonlySet<string>): Promise<Set<string>> {
  const held = new Set<string>();
  const add = (text: string): void => {
    const words = wordsOf(text);
    if (words.length >= 4) held.add(words.join(' '));
  };
  for (const name of ['dstc11-development-insurance', ...leftOut])
    for await (const { value } of readIntents(dataSetPath(directory, `intents/${name}`))) add(value.text);
  for await (const { value } of readPairs(dataSetPath(directory, 'pairs/stsb-multi-mt'))) {
    add(value.a);
    add(value.b);
  }
  for await (const { value } of readPairs(dataSetPath(directory, 'pairs/tatoeba-parallel-en'))) {
    if (!isHeldOut(value.b)) continue;
    add(value.a);
    add(value.b);
  }
  return held;
}

function shared(sources: readonly Source[], share: number): Source[] {
  const total = sources.reduce((sum, { weight }) => sum + weight, 0);
  return sources.map((source) => ({ ...source, weight: (source.weight / total) * share }));
}

function several(groups: ReadonlyMap<string, readonly number[]>): number[][] {
  return [...groups.values()].map((group) => [...new Set(group)]).filter((group) => group.length >= 2);
}

function addTo<T>(groups: Map<string, T[]>, key: string, value: T): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}

function pairUp(places: readonly (number | null)[], pairs: [number, number][]): void {
  for (let i = 1; i < places.length; i += 1) {
    const a = places[i - 1] ?? null;
    const b = places[i] ?? null;
    if (a !== null && b !== null && a !== b) pairs.push([a, b]);
  }
}

/** Whether a text is written without spaces, so that few characters say much. */
function isDense(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);
}

function sentencesOf(text: string): string[] {
  return text.split(/\n+|(?<=[.!?]) +/).filter((sentence) => sentence.length > 25 && sentence.length < 400);
}

function memberOf(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null || !(name in value)) return '';
  const member = (value as Record<string, unknown>)[name];
  return typeof member === 'string' ? member : '';
}
