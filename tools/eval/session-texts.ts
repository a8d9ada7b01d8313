/**
 * Are titles and summaries right? On sessions with the titles, answers and outcomes that a person accepts
 * (`test/gold/session-texts*.jsonl`), and as a sheet to read.
 * Covered by test/tools/eval/session-texts.test.ts.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { roleOf } from '../../src/domain/records.ts';
import type { SessionRow } from '../../src/domain/facts.ts';
import type { SessionOutcome } from '../../src/domain/session-outcomes.ts';
import { fold } from '../../src/reader/document/normalise.ts';
import { TEXT_PHRASES } from '../../src/reader/shortening/phrase-set.ts';
import { foldedWordsOf, isUnspaced } from '../../src/reader/document/words.ts';
import { madeConversation, mixed, type LabelledConversation } from './conversations.ts';
import { collect, dataSetPath, readDialogues } from './data.ts';
import { GOLD_PARTS, readGold, type GoldPart } from './gold.ts';
import type { Pipeline } from './pipeline.ts';
import type { EvalOptions, EvalTable, Row } from './report.ts';

const sessionSchema = z.object({
  lang: z.string(),
  turns: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() })),
  requests: z.array(z.string()),
  /** Titles that may stand; empty: none may. */
  title: z.array(z.string()),
  mustNot: z.array(z.string()),
  /** null: no assistant turn answers. */
  answer: z.string().nullable(),
  outcome: z.enum(['solved', 'refused', 'handed-over', 'given-up', 'open']),
});
export type GoldSession = z.infer<typeof sessionSchema>;

/** What was made of a session. */
export type SessionTexts = Pick<SessionRow, 'title' | 'summary' | 'outcome'>;

/** The sessions of one part. */
export function goldSessions(part: GoldPart): GoldSession[] {
  return readGold('session-texts', part, sessionSchema);
}

const NEGATIONS = TEXT_PHRASES.negations;
/** Words that two texts must share, of those of the longer one. */
const NEAR = 0.8;
/** Words of a request that a summary must hold. */
const COVERED = 0.7;

/** Words of a text as they are compared; of scripts without spaces, characters. */
function pieces(text: string): string[] {
  return foldedWordsOf(fold(text)).flatMap((word) => (isUnspaced(word) ? Array.from(word) : [word]));
}

/** The share of the words of `text` that stand in `other`. */
export function shareIn(text: string, other: string): number {
  const words = pieces(text);
  const held = new Set(pieces(other));
  return words.length === 0 ? 0 : words.filter((word) => held.has(word)).length / words.length;
}

/** Whether a title is an accepted one, or nearly, with all of its negations. */
export function isAccepted(title: string | null, accepted: readonly string[]): boolean {
  if (title === null || accepted.length === 0) return title === null && accepted.length === 0;
  return accepted.some((one) => {
    const shared = Math.min(shareIn(one, title), shareIn(title, one));
    const words = new Set(pieces(title));
    return shared >= NEAR && pieces(one).every((word) => !NEGATIONS.hasWord(word) || words.has(word));
  });
}

/** Whether a title holds an accepted one or is a piece of one. */
export function isPieceOf(title: string | null, accepted: readonly string[]): boolean {
  const titleWords = pieces(title ?? '').join(' ');
  return accepted.some((one) => {
    const wanted = pieces(one).join(' ');
    return titleWords !== '' && (wanted.includes(titleWords) || titleWords.includes(wanted));
  });
}

/** The entries of `mustNot` that a text offends against. */
export function offences(text: string, mustNot: readonly string[]): string[] {
  const folded = fold(text);
  return mustNot.filter((entry) => {
    const [, claim, unless] = /^claim: (.*?)(?: \[(.*)\])?$/u.exec(entry) ?? [];
    if (!holds(folded, claim ?? entry)) return false;
    return !(unless ?? '').split(', ').some((word) => word !== '' && holds(folded, word));
  });
}

function holds(folded: string, wanted: string): boolean {
  const phrase = fold(wanted);
  if (isUnspaced(phrase) || /\p{Script=Hangul}/u.test(phrase)) return folded.includes(phrase);
  const escaped = phrase.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'u').test(folded);
}

/** The outcomes that a label of the gold stands for: it was written before thanks were told from success. */
const OUTCOMES: Readonly<Record<GoldSession['outcome'], readonly SessionOutcome[]>> = {
  solved: ['solved', 'thanked'],
  refused: ['not_possible'],
  'handed-over': ['handed_over'],
  'given-up': ['gave_up'],
  open: ['open'],
};

/** Scores of one part, in the order of the columns. */
export function textScores(sessions: readonly GoldSession[], texts: readonly SessionTexts[]): number[] {
  const paired = sessions.map((session, place) => ({
    session,
    title: texts[place]!.title,
    summary: texts[place]!.summary,
  }));
  const share = <T>(items: readonly T[], says: (item: T) => boolean): number =>
    items.length === 0 ? Number.NaN : items.filter(says).length / items.length;
  const requests = paired.flatMap(({ session, summary }) =>
    session.requests.map((request) => shareIn(request, summary ?? '')),
  );
  return [
    share(paired, ({ session, title }) => isAccepted(title, session.title)),
    share(
      paired,
      ({ session, title }) => isAccepted(title, session.title) || isPieceOf(title, session.title),
    ),
    paired.reduce((sum, { session, title }) => sum + offences(title ?? '', session.mustNot).length, 0),
    paired.reduce((sum, { session, summary }) => sum + offences(summary ?? '', session.mustNot).length, 0),
    paired.reduce((sum, { session, title, summary }) => {
      const claims = session.mustNot.filter((entry) => entry.startsWith('claim: '));
      return sum + offences(title ?? '', claims).length + offences(summary ?? '', claims).length;
    }, 0),
    share(requests, (covered) => covered >= COVERED),
    share(
      paired.filter(({ session }) => session.answer !== null),
      ({ session, summary }) => shareIn(session.answer!, summary ?? '') >= NEAR,
    ),
    sessions.length,
  ];
}

const COLUMNS = [
  'part',
  'title accepted',
  'or a piece',
  'must not: titles',
  'summaries',
  'the opposite',
  'requests told',
  'answer told',
  'of',
];

/** Precision and recall of each outcome. */
function outcomeRows(part: string, sessions: readonly GoldSession[], texts: readonly SessionTexts[]): Row[] {
  return Object.entries(OUTCOMES).map(([name, outcomes]): Row => {
    const isReported = texts.map(({ outcome }) => outcomes.some((one) => one === outcome));
    const isWanted = sessions.map(({ outcome }) => outcome === name);
    const count = (flags: readonly boolean[]): number => flags.filter(Boolean).length;
    const right = count(isReported.map((reported, place) => reported && isWanted[place]!));
    const ratio = (of: number): number => (of === 0 ? Number.NaN : right / of);
    return [part, name, ratio(count(isReported)), ratio(count(isWanted)), count(isReported), count(isWanted)];
  });
}

/** The texts that the pipeline makes of sessions. */
export async function textsOf(
  pipeline: Pipeline,
  conversations: readonly LabelledConversation[],
): Promise<SessionTexts[]> {
  const { sessions } = await pipeline.assign(conversations);
  return conversations.map(({ id }) => sessions.get(id) ?? { title: null, summary: null, outcome: null });
}

/** Titles, summaries and endings against what a person accepts. */
export async function textTables(pipeline: Pipeline): Promise<EvalTable[]> {
  const rows: Row[] = [];
  const outcomes: Row[] = [];
  for (const part of GOLD_PARTS) {
    const sessions = goldSessions(part);
    if (sessions.length === 0) continue;
    const texts = await textsOf(
      pipeline,
      sessions.map(({ turns }, place) =>
        madeConversation(
          `${part}-${place}`,
          turns.map((turn) => ({ ...turn, label: null })),
        ),
      ),
    );
    rows.push([part, ...textScores(sessions, texts)]);
    outcomes.push(...outcomeRows(part, sessions, texts));
  }
  return [
    {
      title: 'Titles and summaries of sessions, against what a person accepts',
      columns: COLUMNS,
      rows,
      notes: [
        '"must not" counts offences: personal data, reactions, courtesies and what says the opposite, which has a column of its own.',
      ],
    },
    {
      title: 'How sessions ended, as summaries say; open: nothing is said, or that no answer came',
      columns: ['part', 'outcome', 'precision', 'recall', 'told', 'true'],
      rows: outcomes,
    },
  ];
}

const SHEET_SETS = [
  ['dialogues/llm-tau-bench-retail-fewshot', 8],
  ['dialogues/llm-glaive-toolcall-en-zh', 8],
  ['dialogues/sgd-train', 8],
  ['dialogues/llm-oasst-en100', 5],
  ['dialogues/crosswoz-zh', 4],
  ['dialogues/taskmaster4-coffee', 5],
  ['dialogues/chatterbot-multilingual', 4],
  ['satisfaction/uss-mwoz', 8],
] as const;
const MOST_OF_TURN = 400;

/** 50 sessions of the data sets with title and summary, for a reader who knows nothing of the rules. */
export async function textSheet(options: EvalOptions, pipeline: Pipeline): Promise<string> {
  const chosen: LabelledConversation[] = [];
  for (const [set, count] of SHEET_SETS) {
    const dialogues = await collect(readDialogues(dataSetPath(options.dataDirectory, set)));
    const conversations = dialogues.map(({ id, turns }) =>
      madeConversation(
        `${set} ${id}`,
        turns.map(({ role, content }) => ({
          role: roleOf(role) === 'user' ? ('user' as const) : ('assistant' as const),
          content,
          label: null,
        })),
      ),
    );
    chosen.push(...mixed(conversations, 'sheet').slice(0, count));
  }
  const texts = await textsOf(pipeline, chosen);
  const parts = chosen
    .map(({ id, turns }, place) => ({ id, turns, ...texts[place]! }))
    .sort((one, other) => (digest(one.id) < digest(other.id) ? -1 : 1))
    .map(({ turns, title, summary }, place) =>
      [
        `## ${place + 1}`,
        ...turns.map(({ role, content }) => `${role === 'user' ? 'User' : 'Assistant'}: ${oneLine(content)}`),
        '',
        `TITLE: ${title ?? '(none)'}`,
        `SUMMARY: ${summary ?? '(none)'}`,
      ].join('\n'),
    );
  return `# Titles and summaries\n\n${parts.join('\n\n')}\n`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length <= MOST_OF_TURN ? line : `${line.slice(0, MOST_OF_TURN)} [… cut here]`;
}
