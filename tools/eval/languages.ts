/** How often the language of a request or of five words is told right, by us and by libraries. */
import { detectLanguage } from '../../src/reader/document/detect.ts';
import { installedLibraries, type Teller } from './language-libraries.ts';
import { goldRequests, measuredSentences, sentencesOf, type LanguageCase } from './language-sets.ts';
import type { Evaluation, EvalOptions, EvalTable, Row } from './report.ts';

const WORDS = 5;
/** Upper bounds of the lengths that are told apart, in UTF-16 units. */
const LENGTHS = [8, 12, 16, 24, 32, 48, Infinity];
/** 40 characters, as many as a request often has. */
const TIMED = 'ich habe meine bestellung nicht bekommen';
const TIMED_RUNS = 5000;
const COLUMNS = ['right', 'wrong', 'null', 'of'];

interface Set {
  readonly name: string;
  readonly cases: readonly LanguageCase[];
}

/** A text that says nothing is told right when nothing is told. */
function verdictOf({ language, also }: LanguageCase, detected: string | null): 'right' | 'wrong' | 'null' {
  if (detected === language || (detected !== null && also.includes(detected))) return 'right';
  return detected === null ? 'null' : 'wrong';
}

function scoreOf(cases: readonly LanguageCase[], tell: Teller): Row {
  const counts = { right: 0, wrong: 0, null: 0 };
  for (const one of cases) counts[verdictOf(one, tell(one.text))] += 1;
  const of = cases.length;
  return [counts.right / of, counts.wrong / of, counts.null / of, of];
}

async function setsOf({ dataDirectory, file }: EvalOptions): Promise<Set[]> {
  if (file !== null) return [{ name: 'sentences of the file', cases: await sentencesOf(file) }];
  const tuned = await goldRequests('tuned');
  const languages = new Set(tuned.map(({ language }) => language));
  const sentences = await measuredSentences(dataDirectory, WORDS);
  return [
    { name: 'requests, sealed', cases: await goldRequests('sealed') },
    { name: 'requests, tuned', cases: tuned },
    {
      name: `${WORDS} words, languages of the requests`,
      cases: sentences.filter(({ language }) => languages.has(language)),
    },
    {
      name: `${WORDS} words, other languages`,
      cases: sentences.filter(({ language }) => !languages.has(language)),
    },
  ];
}

/** Microseconds of processor time for a request of 40 characters. */
function timeOf(tell: Teller): number {
  for (let run = 0; run < TIMED_RUNS; run++) tell(TIMED);
  const before = process.cpuUsage();
  for (let run = 0; run < TIMED_RUNS; run++) tell(TIMED);
  return Math.round(process.cpuUsage(before).user / TIMED_RUNS);
}

function byLanguage(sets: readonly Set[]): EvalTable {
  const rows = sets.flatMap(({ name, cases }) =>
    [...Map.groupBy(cases, ({ language }) => language ?? 'none')]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([language, own]): Row => [name, language, ...scoreOf(own, detectLanguage)]),
  );
  return { title: 'languages: ours by language', columns: ['set', 'language', ...COLUMNS], rows };
}

function byLength(sets: readonly Set[]): EvalTable {
  const rows = sets.flatMap(({ name, cases }) =>
    LENGTHS.map((end, place): [number, number, readonly LanguageCase[]] => {
      const start = LENGTHS[place - 1] ?? 0;
      return [start, end, cases.filter(({ text }) => text.length >= start && text.length < end)];
    })
      .filter(([, , own]) => own.length > 0)
      .map(([start, end, own]): Row => [
        name,
        end === Infinity ? `from ${start}` : `${start} to ${end - 1}`,
        ...scoreOf(own, detectLanguage),
      ]),
  );
  return { title: 'languages: ours by length', columns: ['set', 'characters', ...COLUMNS], rows };
}

export const evaluation: Evaluation = {
  name: 'languages',
  async run(options) {
    const sets = await setsOf(options);
    const { tellers, missing } = await installedLibraries();
    const methods: readonly [string, Teller][] = [
      ['this project', (text) => detectLanguage(text)],
      ...tellers,
      ['trivial: always English', () => 'en'],
    ];
    const install = `To compare with more: npm install --no-save ${missing.join(' ')}`;
    return [
      {
        title: 'languages: single texts',
        columns: ['set', 'method', ...COLUMNS],
        rows: sets.flatMap(({ name, cases }) =>
          methods.map(([method, tell]): Row => [name, method, ...scoreOf(cases, tell)]),
        ),
        notes: [
          'Null is right for a text that says nothing. No sentence here was trained on; rules saw the tuned requests.',
          'Of other languages, those that we do not tell are wrong or null.',
          ...(missing.length === 0 ? [] : [install]),
        ],
      },
      {
        title: 'languages: time for 40 characters',
        columns: ['method', 'processor time, microseconds'],
        rows: methods.map(([method, tell]): Row => [method, timeOf(tell)]),
      },
      byLanguage(sets),
      byLength(sets),
    ];
  },
};
