/** How often the language of a sentence is told right, over the languages that the detector knows. */
import { detectLanguage, KNOWN_LANGUAGES } from '../../src/language/detect.ts';
import { dataSetPath, readLanguages } from './data.ts';
import type { Evaluation } from './report.ts';

/** What anyone would write first: the most telling words of ten languages, and scripts. */
const KEYWORDS: readonly [string, RegExp][] = [
  ['ja', /[\u3040-\u30ff]/u],
  ['zh', /\p{Script=Han}/u],
  ['ko', /\p{Script=Hangul}/u],
  ['ru', /\p{Script=Cyrillic}/u],
  ['ar', /\p{Script=Arabic}/u],
  ['el', /\p{Script=Greek}/u],
  ['en', /\b(the|is|you|are|of)\b/i],
  ['es', /\b(el|los|que|una|es)\b/i],
  ['fr', /\b(le|les|est|une|je)\b/i],
  ['de', /\b(der|die|das|ist|ich)\b/i],
  ['pt', /\b(o|os|um|uma|não)\b/i],
  ['it', /\b(il|gli|che|di|è)\b/i],
  ['nl', /\b(de|het|een|ik|niet)\b/i],
  ['pl', /\b(jest|nie|się|to)\b/i],
];

interface Count {
  of: number;
  told: number;
  right: number;
}

export const evaluation: Evaluation = {
  name: 'languages',
  async run({ dataDirectory, file }) {
    const methods: readonly [string, (text: string) => string | null][] = [
      ['this project', detectLanguage],
      ['key words and scripts', (text) => KEYWORDS.find(([, pattern]) => pattern.test(text))?.[0] ?? null],
      ['trivial: always English', () => 'en'],
    ];
    const counts = new Map<string, Count>();
    for await (const { text, lang } of readLanguages(
      file ?? dataSetPath(dataDirectory, 'language/tatoeba-sentences'),
    )) {
      const length = text.trim().length < 24 ? 'under 24 characters' : '24 characters or more';
      const known = KNOWN_LANGUAGES.has(lang) ? 'known' : 'unknown';
      for (const [method, tell] of methods) {
        const key = `${method}\t${known} language, ${length}`;
        const count = counts.get(key) ?? { of: 0, told: 0, right: 0 };
        const told = tell(text);
        count.of += 1;
        if (told !== null) count.told += 1;
        if (told === lang) count.right += 1;
        counts.set(key, count);
      }
    }
    return [
      {
        title: 'languages: single sentences',
        columns: ['method', 'sentences', 'right', 'right where told', 'told', 'of'],
        rows: [...counts]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, { of, told, right }]) => [
            ...key.split('\t'),
            right / of,
            told === 0 ? 0 : right / told,
            told / of,
            of,
          ]),
        notes: ['A text under 24 characters, or in doubt, has no language. Nothing was tuned on this set.'],
      },
    ];
  },
};
