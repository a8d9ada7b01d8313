/** Do titles say what a conversation is about, and is its language right? */
import { detectLanguage } from '../../src/language/detect.ts';
import {
  intentConversations,
  loadPipeline,
  mixed,
  schemaGuidedConversations,
  type LabelledConversation,
  type Pipeline,
} from './assigned.ts';
import { collect, dataSetPath, readDialogues, readLanguages } from './data.ts';
import { needsFolder, type Evaluation, type EvalOptions, type EvalTable } from './report.ts';

const TITLE_LENGTH = 60;
const NEIGHBOURS = 5;
/** A shorter session has no language by design. */
const LEAST_CHARACTERS = 24;

/** Share of texts whose five nearest other texts mostly carry their own label. */
async function neighbourAccuracy(
  pipeline: Pipeline,
  texts: readonly string[],
  labels: readonly string[],
): Promise<number> {
  const vectors = await pipeline.embedder.embed(texts);
  let right = 0;
  vectors.forEach((vector, item) => {
    const nearest: { similarity: number; label: string }[] = [];
    vectors.forEach((other, index) => {
      if (index === item) return;
      let similarity = 0;
      for (let at = 0; at < vector.length; at += 1) similarity += vector[at]! * other[at]!;
      if (nearest.length === NEIGHBOURS && similarity <= nearest[NEIGHBOURS - 1]!.similarity) return;
      nearest.push({ similarity, label: labels[index]! });
      nearest.sort((a, b) => b.similarity - a.similarity);
      nearest.length = Math.min(nearest.length, NEIGHBOURS);
    });
    if (mostCommon(nearest.map(({ label }) => label)) === labels[item]) right += 1;
  });
  return right / texts.length;
}

function mostCommon(labels: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

async function titles(options: EvalOptions, pipeline: Pipeline): Promise<EvalTable> {
  const sets: [string, LabelledConversation[], (conversation: LabelledConversation) => string | null][] = [
    [
      'multidogo, first intent',
      await intentConversations(options, 'intents/multidogo-fastfood-media-software', 12_000),
      firstLabel,
    ],
    ['sgd, first intent', await schemaGuidedConversations(options, 20_000), firstLabel],
  ];
  const rows: (string | number)[][] = [];
  for (const [name, all, labelOf] of sets) {
    const conversations = all.filter((conversation) => labelOf(conversation) !== null);

    const labels = conversations.map((conversation) => labelOf(conversation)!);
    const { sessions } = await pipeline.assign(conversations);
    const made = conversations.map(({ id }) => sessions.get(id)?.title ?? '');
    const first = conversations.map(({ turns }) => turns.find(({ role }) => role === 'user')?.content ?? '');
    const firstUser = first.map((content) => content.slice(0, TITLE_LENGTH));
    const longest = conversations.map(({ turns }) =>
      turns
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content)
        .reduce((best, content) => (content.length > best.length ? content : best), '')
        .slice(0, TITLE_LENGTH),
    );
    const common = mostCommon(labels);
    const cells: [string, readonly string[]][] = [
      ['title', made],
      [`first ${TITLE_LENGTH} characters`, firstUser],
      [`longest user turn, first ${TITLE_LENGTH} characters`, longest],
    ];
    for (const [method, texts] of cells) {
      const length = texts.reduce((sum, text) => sum + text.length, 0) / texts.length;
      rows.push([
        name,
        method,
        await neighbourAccuracy(pipeline, texts, labels),
        length,
        conversations.length,
      ]);
    }
    rows.push([
      name,
      'the most common label',
      labels.filter((label) => label === common).length / labels.length,
      '',
      conversations.length,
    ]);
  }
  for (const method of new Set(rows.map((row) => row[1]!))) {
    const own = rows.filter((row) => row[1] === method);
    const mean = own.reduce((sum, row) => sum + Number(row[2]), 0) / own.length;
    rows.push(['mean of the sets', method, mean, '', '']);
  }
  return {
    title: 'Titles: share of conversations told right from the five nearest titles',
    columns: ['data', 'method', 'right', 'mean length', 'of'],
    rows,
  };
}

function firstLabel({ turns }: LabelledConversation): string | null {
  return turns.find(({ label }) => label !== null)?.label ?? null;
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

async function languages(options: EvalOptions, pipeline: Pipeline): Promise<EvalTable> {
  const chats = await collect(
    readDialogues(dataSetPath(options.dataDirectory, 'dialogues/chatterbot-multilingual')),
  );
  const chatterbot = chats.map(({ id, lang, turns }): LabelledConversation => ({
    id,
    language: lang ?? null,
    domain: '',
    turns: turns.map(({ role, content }) => ({
      role: role === 'user' ? 'user' : 'assistant',
      content,
      label: null,
    })),
  }));
  const sentences = mixed(
    (await collect(readLanguages(dataSetPath(options.dataDirectory, 'language/tatoeba-sentences')))).map(
      (example, index) => ({
        ...example,
        id: String(index),
      }),
    ),
  );
  // Only languages that the detector knows at all: the others can only be null.
  const known = new Set<string>();
  for (const { text, lang } of sentences) if (detectLanguage(text) === lang) known.add(lang);
  const groups = new Map<string, string[]>();
  for (const { text, lang } of sentences) {
    if (!known.has(lang)) continue;
    const group = groups.get(lang);
    if (group === undefined) groups.set(lang, [text]);
    else if (group.length < 300) group.push(text);
  }
  const tatoeba = [...groups].flatMap(([language, texts]) =>
    Array.from({ length: Math.floor(texts.length / 3) }, (_, index): LabelledConversation => ({
      id: `${language}-${index}`,
      language,
      domain: '',
      turns: texts.slice(index * 3, index * 3 + 3).map((content) => ({ role: 'user', content, label: null })),
    })),
  );
  const rows: (string | number)[][] = [];
  const longEnough = chatterbot.filter(({ turns }) => {
    const said = turns.filter(({ role }) => role === 'user').map(({ content }) => content);
    return said.join('\n').length >= LEAST_CHARACTERS;
  });
  const sets: [string, readonly LabelledConversation[]][] = [
    ['three Tatoeba sentences', tatoeba],
    ['chatterbot, mostly one short turn', longEnough],
  ];
  for (const [name, conversations] of sets) {
    const { sessions } = await pipeline.assign(conversations);
    const texts = conversations.map(({ turns }) =>
      turns
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content)
        .join('\n'),
    );
    const common = mostCommon(conversations.map(({ language }) => language ?? ''));
    const methods: [string, (index: number) => string | null][] = [
      ['language', (index) => sessions.get(conversations[index]!.id)?.language ?? null],
      ['script and function words', (index) => languageByKeyWords(texts[index]!)],
      ['the most common', () => common],
    ];
    for (const [method, tell] of methods) {
      let said = 0;
      let right = 0;
      conversations.forEach(({ language }, index) => {
        const told = tell(index);
        if (told !== null) said += 1;
        if (told === language) right += 1;
      });
      rows.push([
        name,
        method,
        right / conversations.length,
        said === 0 ? 0 : right / said,
        said / conversations.length,
        conversations.length,
      ]);
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
    const tables = [await titles(options, pipeline), await languages(options, pipeline)];
    await pipeline.close();
    return tables;
  },
};
