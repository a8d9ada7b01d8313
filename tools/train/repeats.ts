/**
 * Weighs the evidence of repeated requests: a logistic regression on sessions written for this (`repeats/`), on the
 * tuned half of the gold, on follow-ups to requests of other sessions, and on real conversations, in which people hardly
 * ever ask twice. Prints what `src/reader/conversations/repeat-weights.ts` holds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { roleOf } from '../../src/domain/records.ts';
import { loadEmbedder, type Embedder } from '../../src/reader/embedding/embedder.ts';
import { createEnricher, type Enricher } from '../../src/reader/acts/enricher.ts';
import { asksUser } from '../../src/reader/acts/answering-turns.ts';
import { edgesOf, RepeatText, phrasesIn } from '../../src/reader/acts/repeat-phrases.ts';
import {
  evidenceOf,
  type AskedRequest,
  type Evidence,
  type KeptRequest,
} from '../../src/reader/conversations/repeat-evidence.ts';
import { mayAskAgain, newRequest } from '../../src/reader/conversations/repeated-requests.ts';
import { collect, dataSetPath, halfOf, readDialogues } from '../eval/data.ts';
import { fitDense, type DenseExample } from './dense-logistic.ts';

const MODELS_DIRECTORY = resolve(import.meta.dirname, '../../models');
const EMBEDDING_MODEL = 'undertone-small';
const SESSIONS_DIRECTORY = resolve(import.meta.dirname, 'repeats');
const GOLD_PATH = resolve(import.meta.dirname, '../../test/gold/repeats.jsonl');
/** Real conversations: how many, and how much each of their follow-ups counts. */
const FOLLOW_UPS = [
  { set: 'dialogues/sgd-train', most: 250, weight: 0.5 },
  { set: 'dialogues/crosswoz-zh', most: 100, weight: 0.25 },
  { set: 'dialogues/llm-glaive-toolcall-en-zh', most: 100, weight: 0.5 },
  { set: 'dialogues/taskmaster4-coffee', most: 100, weight: 0.5 },
] as const;
/** A follow-up counts so much as one to the first request of another session. */
const STRANGER_WEIGHT = 0.3;
/** Another session whose first request is the stranger: fixed numbers without a meaning. */
const STRANGER_STEPS = [7, 1] as const;
/** Pulls weights, each times the deviation of its evidence, to zero. */
const L2 = 4;
/**
 * Evidence that is rare in these sessions and plain to any reader, which the regression holds back: the same words,
 * "another", and another number or name. It weighs at least so much.
 */
const PLAIN: Partial<Record<keyof Evidence, number>> = { same: 1.5, continues: -3.1, newValue: -3.3 };
/** Which of the earlier requests a repeat is of is not labelled: the likeliest, found anew so often. */
const ROUNDS = 3;

/** The vector of what says nothing by itself. */
const NOTHING = new Float32Array(256);

interface Session {
  readonly language: string;
  readonly turns: readonly { readonly role: string; readonly content: string }[];
  /** Places of the turns that ask again. */
  readonly repeats: readonly number[];
}

/** A request that has earlier ones, with the evidence for each of them. */
interface Candidate {
  readonly evidence: readonly Evidence[];
  readonly isRepeat: boolean;
  readonly weight: number;
}

/** A file: `# domain`, then turns of the user (`u`, or `r` when it asks again) and of the assistant (`a`). */
export function readSessions(text: string, language: string): Session[] {
  return text
    .split(/^#.*\n/mu)
    .map((block) => block.split('\n').filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .map((lines) => ({
      language,
      turns: lines.map((line) => ({
        role: line.startsWith('a ') ? 'assistant' : 'user',
        content: line.slice(2),
      })),
      repeats: lines.flatMap((line, place) => (line.startsWith('r ') ? [place] : [])),
    }));
}

function ownSessions(): Session[] {
  const written = readdirSync(SESSIONS_DIRECTORY)
    .sort()
    .flatMap((file) => readSessions(readFileSync(join(SESSIONS_DIRECTORY, file), 'utf8'), file));
  const gold = readFileSync(GOLD_PATH, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Session => {
      const { lang, turns, repeats } = JSON.parse(line) as Session & { readonly lang: string };
      return { language: lang, turns, repeats };
    });
  return [...written, ...gold];
}

async function followUps(dataDirectory: string, set: string, most: number): Promise<Session[]> {
  const dialogues = await collect(readDialogues(dataSetPath(dataDirectory, set)));
  return dialogues
    .filter(({ id, turns }) => halfOf(id) === 'tune' && turns.length > 2)
    .slice(0, most)
    .map(({ turns, lang = '' }) => ({
      language: lang,
      turns: turns.map(({ role, content }) => ({ role: roleOf(role), content })),
      repeats: [],
    }));
}

/** A request as it is asked, and what the session has asked before. */
interface Asked {
  readonly asked: AskedRequest;
  readonly earlier: readonly KeptRequest[];
  readonly isRepeat: boolean;
}

/** The requests of a session, as `worker/analysis/turn-assignment.ts` meets them. */
async function requestsOf({ turns, repeats }: Session, enricher: Enricher): Promise<Asked[]> {
  const enriched = await enricher.enrich(turns.map(({ role, content }) => ({ role: roleOf(role), content })));
  const requests: KeptRequest[] = [];
  let answered = 0;
  let answer = new RepeatText('');
  let isAsked = false;
  return turns.flatMap(({ role, content }, place): Asked[] => {
    const { kind, request: text, vector } = enriched[place]!;
    if (role === 'assistant') {
      [answered, answer, isAsked] = [requests.length, new RepeatText(edgesOf(content)), asksUser(content)];
      return [];
    }
    const edges = new RepeatText(edgesOf(content));
    const isBare = kind === 'reply' && mayAskAgain(enriched[place]!, edges);
    if (!isBare && (kind !== 'request' || vector === null)) return [];
    const request = newRequest(isBare ? content : text, vector ?? NOTHING, text, content.length);
    const asked = { request, edges, answer, isAsked, isBare };
    const isRepeat = repeats.includes(place);
    if (isBare) return [{ asked, earlier: requests.slice(0, answered).slice(-1), isRepeat }];
    const earlier = requests.slice(0, answered);
    requests.push(request);
    isAsked = false;
    return [{ asked, earlier, isRepeat }];
  });
}

async function candidatesOf(
  sessions: readonly Session[],
  weight: number,
  enricher: Enricher,
  { thresholds: { repeated } }: Embedder,
): Promise<{ readonly candidates: Candidate[]; readonly strangers: Candidate[] }> {
  const all: Asked[][] = [];
  for (const session of sessions) all.push(await requestsOf(session, enricher));
  const candidate = (asked: AskedRequest, earlier: readonly KeptRequest[], isRepeat: boolean): Candidate => {
    const { turn, pairs } = evidenceOf(asked, earlier, repeated, 1);
    return { evidence: pairs.map((pair) => ({ ...turn, ...pair })), isRepeat, weight };
  };
  const candidates = all
    .flat()
    .filter(({ earlier }) => earlier.length > 0)
    .map(({ asked, earlier, isRepeat }) => candidate(asked, earlier, isRepeat));
  const strangers = all.flatMap((own, at) => {
    const others = all.filter(
      (of, other) =>
        other !== at && of[0]?.asked.isBare === false && sessions[other]!.language === sessions[at]!.language,
    );
    return own
      .filter(
        ({ asked, earlier }) =>
          earlier.length > 0 && !asked.isBare && !insists(asked.edges.text) && others.length > 0,
      )
      .map(({ asked }, place) => {
        const first = others[(at * STRANGER_STEPS[0] + place * STRANGER_STEPS[1]) % others.length]![0]!;
        const stranger = { ...first.asked.request, answered: 0 };
        return { ...candidate(asked, [stranger], false), weight: STRANGER_WEIGHT };
      });
  });
  return { candidates, strangers };
}

function insists(turnText: string): boolean {
  const { kinds } = phrasesIn(turnText);
  return kinds.has('insists') || kinds.has('persists') || kinds.has('presses');
}

/** Trains the weights, and prints them. */
export async function trainRepeats(dataDirectory: string): Promise<void> {
  const embedder = await loadEmbedder({ model: EMBEDDING_MODEL, modelsDirectory: MODELS_DIRECTORY });
  const enricher = createEnricher({ embedder, cached: 0 });
  const own = await candidatesOf(ownSessions(), 1, enricher, embedder);
  const all = [...own.candidates, ...own.strangers];
  for (const { set, most, weight } of FOLLOW_UPS) {
    const sessions = await followUps(dataDirectory, set, most);
    all.push(...(await candidatesOf(sessions, weight, enricher, embedder)).candidates);
  }
  await embedder.close();
  const kinds = Object.keys(all[0]!.evidence[0]!) as (keyof Evidence)[];
  const rows = all.map(({ evidence }) => evidence.map((one) => kinds.map((kind) => one[kind])));
  let weights = kinds.map((kind) => Number(kind === 'meaning'));
  let bias = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const examples = all.map(({ isRepeat, weight }, at): DenseExample => {
      const odds = rows[at]!.map((row) => row.reduce((sum, value, i) => sum + value * weights[i]!, 0));
      return { features: rows[at]![odds.indexOf(Math.max(...odds))]!, positive: isRepeat, weight };
    });
    ({ weights, bias } = fitDense(examples, L2));
  }
  const table = kinds.map(
    (kind, at) => `  ${kind}: ${(PLAIN[kind] ?? weights[at]!).toFixed(2).replace(/\.?0+$/, '')},`,
  );
  process.stdout.write(
    `${all.length} requests\nexport const PRIOR = ${bias.toFixed(2)};\nexport const WEIGHTS = {\n${table.join('\n')}\n};\n`,
  );
}
