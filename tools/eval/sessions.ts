/** Are titles and summaries right, do titles say what a conversation is about, and is its language right? */
import { writeFileSync } from 'node:fs';
import { detectLanguage } from '../../src/reader/document/detect.ts';
import { dotOf } from '../../src/reader/numeric/vectors.ts';
import {
  intentConversations,
  madeConversation,
  mixed,
  schemaGuidedConversations,
  userTurn,
  type LabelledConversation,
} from './conversations.ts';
import { mean, mostCommon, shareOf } from './counts.ts';
import { collect, dataSetPath, readDialogues, readLanguages } from './data.ts';
import { loadPipeline, type Pipeline } from './pipeline.ts';
import {
  meanRows,
  needsFolder,
  type Evaluation,
  type EvalOptions,
  type EvalTable,
  type Row,
} from './report.ts';
import { textSheet, textTables } from './session-texts.ts';

const TITLE_LENGTH = 60;
const NEIGHBOURS = 5;
/** A shorter session has no language by design. */
const LEAST_CHARACTERS = 24;
/** Sentences of a language that are looked at, and those that make a session. */
const MOST_SENTENCES = 300;
const SENTENCES_PER_SESSION = 3;

/** Share of texts whose five nearest other texts mostly carry their own label. */
async function neighbourAccuracy(
  pipeline: Pipeline,
  texts: readonly string[],
  labels: readonly string[],
): Promise<number> {
  const vectors = await pipeline.embedder.embed(texts);
  const right = vectors.map((vector, item) => {
    const nearest: { similarity: number; label: string }[] = [];
    vectors.forEach((other, index) => {
      if (index === item) return;
      const similarity = dotOf(vector, other);
      if (nearest.length === NEIGHBOURS && similarity <= nearest[NEIGHBOURS - 1]!.similarity) return;
      nearest.push({ similarity, label: labels[index]! });
      nearest.sort((a, b) => b.similarity - a.similarity);
      nearest.length = Math.min(nearest.length, NEIGHBOURS);
    });
    return mostCommon(nearest.map(({ label }) => label)) === labels[item];
  });
  return shareOf(right);
}

/** What the users of a conversation say, turn by turn. */
function userTexts({ turns }: LabelledConversation): string[] {
  return turns.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
}

function firstLabel({ turns }: LabelledConversation): string | null {
  return turns.find(({ label }) => label !== null)?.label ?? null;
}

async function titles(options: EvalOptions, pipeline: Pipeline): Promise<EvalTable> {
  const sets = {
    'multidogo, first intent': await intentConversations(
      options,
      'multidogo-fastfood-media-software',
      12_000,
    ),
    'sgd, first intent': await schemaGuidedConversations(options, 20_000),
  };
  const rows: Row[] = [];
  for (const [name, all] of Object.entries(sets)) {
    const conversations = all.filter((conversation) => firstLabel(conversation) !== null);
    const labels = conversations.map((conversation) => firstLabel(conversation)!);
    const { sessions } = await pipeline.assign(conversations);
    const userTurns = conversations.map(userTexts);
    const methods: readonly (readonly [string, readonly string[]])[] = [
      ['title', conversations.map(({ id }) => sessions.get(id)?.title ?? '')],
      [`first ${TITLE_LENGTH} characters`, userTurns.map(([first = '']) => first.slice(0, TITLE_LENGTH))],
      [
        `longest user turn, first ${TITLE_LENGTH} characters`,
        userTurns.map((texts) => longest(texts).slice(0, TITLE_LENGTH)),
      ],
    ];
    for (const [method, texts] of methods) {
      const length = mean(texts.map((text) => text.length));
      rows.push([name, method, await neighbourAccuracy(pipeline, texts, labels), length, texts.length]);
    }
    const common = mostCommon(labels);
    rows.push([
      name,
      'the most common label',
      shareOf(labels.map((label) => label === common)),
      '',
      labels.length,
    ]);
  }
  return {
    title: 'Titles: share of conversations told right from the five nearest titles',
    columns: ['data', 'method', 'right', 'mean length', 'of'],
    rows: [...rows, ...meanRows(rows, [2])],
  };
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, text) => (text.length > best.length ? text : best), '');
}

/** A language by its script, or by which list holds most of its words. */
const FUNCTION_WORDS: Readonly<Record<string, RegExp>> = {
  en: /\b(?:the|is|are|you|and|of|to|what|it|that)\b/giu,
  de: /\b(?:der|die|das|ist|und|ich|nicht|ein|sie|wie)\b/giu,
  fr: /\b(?:le|la|les|est|et|je|vous|des|que|pas)\b/giu,
  es: /\b(?:el|los|es|y|que|una|por|no|de|con)\b/giu,
  it: /\b(?:il|che|è|di|non|per|sono|un|gli|come)\b/giu,
  pt: /\b(?:o|os|é|que|não|uma|você|com|em|do)\b/giu,
  nl: /\b(?:de|het|een|is|ik|niet|van|dat|je|en)\b/giu,
};
const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['zh', /\p{Script=Han}/u],
  ['ko', /\p{Script=Hangul}/u],
  ['ru', /\p{Script=Cyrillic}/u],
  ['ar', /\p{Script=Arabic}/u],
  ['he', /\p{Script=Hebrew}/u],
  ['hi', /\p{Script=Devanagari}/u],
  ['th', /\p{Script=Thai}/u],
  ['el', /\p{Script=Greek}/u],
];

function languageByKeyWords(text: string): string | null {
  const script = SCRIPTS.find(([, pattern]) => pattern.test(text));
  if (script !== undefined) return script[0];
  let best: string | null = null;
  let most = 0;
  for (const [language, words] of Object.entries(FUNCTION_WORDS)) {
    const count = text.match(words)?.length ?? 0;
    if (count > most) [best, most] = [language, count];
  }
  return best;
}

/** Conversations of several languages, long enough to have one. */
async function chatterbotConversations(options: EvalOptions): Promise<LabelledConversation[]> {
  const chats = await collect(
    readDialogues(dataSetPath(options.dataDirectory, 'dialogues/chatterbot-multilingual')),
  );
  return chats
    .map(({ id, lang = null, turns }): LabelledConversation => ({
      ...madeConversation(
        id,
        turns.map(({ role, content }) => ({
          ...userTurn(content),
          role: role === 'user' ? 'user' : 'assistant',
        })),
      ),
      language: lang,
    }))
    .filter((conversation) => userTexts(conversation).join('\n').length >= LEAST_CHARACTERS);
}

/**
 * Conversations of three sentences each, in the languages that the detector knows at all: the others can only be
 * null.
 */
async function tatoebaConversations(options: EvalOptions): Promise<LabelledConversation[]> {
  const examples = await collect(
    readLanguages(dataSetPath(options.dataDirectory, 'language/tatoeba-sentences')),
  );
  const sentences = mixed(examples.map((example, index) => ({ ...example, id: String(index) })));
  const known = new Set(sentences.flatMap(({ text, lang }) => (detectLanguage(text) === lang ? [lang] : [])));
  const byLanguage = Map.groupBy(
    sentences.filter(({ lang }) => known.has(lang)),
    ({ lang }) => lang,
  );
  return [...byLanguage].flatMap(([language, all]) => {
    const turns = all.slice(0, MOST_SENTENCES).map(({ text }) => userTurn(text));
    return Array.from({ length: Math.floor(turns.length / SENTENCES_PER_SESSION) }, (_, index) => ({
      ...madeConversation(
        `${language}-${index}`,
        turns.slice(index * SENTENCES_PER_SESSION, (index + 1) * SENTENCES_PER_SESSION),
      ),
      language,
    }));
  });
}

async function languages(options: EvalOptions, pipeline: Pipeline): Promise<EvalTable> {
  const sets = {
    'three Tatoeba sentences': await tatoebaConversations(options),
    'chatterbot, mostly one short turn': await chatterbotConversations(options),
  };
  const rows: Row[] = [];
  for (const [name, conversations] of Object.entries(sets)) {
    const { sessions } = await pipeline.assign(conversations);
    const common = mostCommon(conversations.map(({ language }) => language ?? ''));
    const methods: readonly (readonly [string, (conversation: LabelledConversation) => string | null])[] = [
      ['language', ({ id }) => sessions.get(id)?.language ?? null],
      ['script and function words', (conversation) => languageByKeyWords(userTexts(conversation).join('\n'))],
      ['the most common', () => common],
    ];
    for (const [method, tell] of methods) {
      const verdicts = conversations.map((conversation) => ({
        detected: tell(conversation),
        ...conversation,
      }));
      const right = verdicts.filter((one) => one.detected === one.language).length;
      const detected = verdicts.filter((one) => one.detected !== null).length;
      const of = conversations.length;
      rows.push([name, method, right / of, detected === 0 ? 0 : right / detected, detected / of, of]);
    }
  }
  return {
    title: 'Language of sessions',
    columns: ['data', 'method', 'right', 'right where told', 'told', 'of'],
    rows,
    notes: [
      'A session shorter than 24 characters, or in doubt, has no language: that counts as wrong under "right".',
    ],
  };
}

export const evaluation: Evaluation = {
  name: 'sessions',
  run: async (options): Promise<EvalTable[]> => {
    needsFolder(options);
    const pipeline = await loadPipeline(options);
    const tables = await textTables(pipeline);
    if (options.sheet !== undefined) writeFileSync(options.sheet, await textSheet(options, pipeline));
    else tables.push(await titles(options, pipeline), await languages(options, pipeline));
    await pipeline.close();
    return tables;
  },
};
