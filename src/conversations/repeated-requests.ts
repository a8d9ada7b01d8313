/**
 * Whether a user asks the same thing again: another try, after an assistant turn, at something that the session asked
 * before. Meaning, action, thing, words, phrases and the answer in between are evidence; each adds its log-odds.
 * Covered by test/conversations/repeated-requests.test.ts.
 */
import { truncate } from '../domain/truncate.ts';
import { requestParts } from '../language/request-parts.ts';
import { wordsOf, type Word } from '../language/words.ts';
import { quantise, quantisedCosine } from '../numeric/quantised.ts';
import { holdsQuestion } from './answering-turns.ts';
import { EDGES, phrasesIn, type RepeatPhrase } from './repeat-phrases.ts';

/** Requests that a session keeps. */
export const KEPT_REQUESTS = 32;
/** Words that are kept of a request. */
const MOST_WORDS = 24;

/** UTF-16 units that are kept of the text of a request. */
const KEPT_TEXT = 160;

/** A request as a session keeps it: enough to tell whether a later one asks for the same. */
export interface KeptRequest {
  /** Its beginning, as it may be shown; may be ''. */
  readonly text: string;
  readonly vector: Int8Array;
  /** 16-bit hashes of its telling words and numbers, each once, in order of appearance. */
  readonly words: readonly number[];
  /** 16-bit hashes of its action and the head of its thing; 0: none. */
  readonly action: number;
  readonly thing: number;
}

/** A request that is being compared with earlier ones. */
export interface NewRequest extends KeptRequest {
  /** Numbers and names: hashes in `words`. */
  readonly values: readonly number[];
}

/** A request in its turn, as it is told whether it is a repeat. */
export interface AskedRequest {
  readonly request: NewRequest;
  /** The turn. */
  readonly said: string;
  /** One of its sentences asks for something, or says that something is wrong. */
  readonly asks: boolean;
  /** The beginning and end of the assistant turn before it. */
  readonly answer: string;
  /** That turn asked the user something, not long ago, and this one may be the answer. */
  readonly isAsked: boolean;
}

/** What a request is compared by. `shown`: its text as it may be shown. */
export function newRequest(text: string, vector: Float32Array, shown = text): NewRequest {
  const { action, thing, language } = requestParts(text);
  const words: number[] = [];
  const values: number[] = [];
  tellingWords(text).forEach((word, index) => {
    const hash = hashOf(word.stem);
    if (!words.includes(hash)) words.push(hash);
    if (isNumber(word) || (index > 0 && !CAPITAL_NOUNS.has(language) && isName(word))) values.push(hash);
  });
  return {
    text: truncate(shown, KEPT_TEXT),
    vector: quantise(vector),
    words,
    values,
    action: action === null ? 0 : hashOf(action),
    thing: thing[0] === undefined ? 0 : hashOf(thing[0]),
  };
}

function tellingWords(text: string): Word[] {
  const telling = wordsOf(text).filter((word) => word.content || isNumber(word));
  return telling.slice(0, MOST_WORDS);
}

/** Languages that write every noun with a capital. */
const CAPITAL_NOUNS: ReadonlySet<string | null> = new Set(['de']);

function isNumber({ text }: Word): boolean {
  return /\p{N}/u.test(text);
}

/** Written with a capital where no sentence begins. */
function isName({ text, afterBreak }: Word): boolean {
  return !afterBreak && text.length > 1 && /^\p{Lu}/u.test(text);
}

/** FNV-1a over UTF-16 units, folded to 16 bits; never 0. */
function hashOf(stem: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < stem.length; index += 1)
    hash = Math.imul(hash ^ stem.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 16)) & 0xffff || 1;
}

/** What may speak for or against a repeat, 0 to 1 unless said otherwise. */
interface Evidence {
  /** Cosine of the requests over the cosine of the same request, on a similarity scale of 1: −1.6 to 0.4. */
  readonly meaning: number;
  /** Share of the words of the shorter request that the other one holds. */
  readonly covered: number;
  readonly sameAction: number;
  readonly sameThing: number;
  /** A number or name that neither the earlier request nor the answer holds; 0 when the turn insists. */
  readonly newValue: number;
  /** It denies a word of the answer that the earlier request does not hold: "delete, not create". */
  readonly rejects: number;
  /** Share of its words that it takes from the answer and not from the earlier request. */
  readonly fromAnswer: number;
  /** Share of the words of the earlier request that the answer takes up. */
  readonly addressed: number;
  /** It has one telling word or none. */
  readonly few: number;
  /** Phrases of the turn and of the answer (`repeat-phrases.ts`). */
  readonly insists: number;
  readonly persists: number;
  readonly continues: number;
  readonly accepts: number;
  readonly settles: number;
  readonly misses: number;
  readonly evades: number;
  /** The answer holds a number: a price, a time. */
  readonly number: number;
  /** The answer is longer than the start and end of it that are read. */
  readonly long: number;
  /** The turn may be the answer to a question of the assistant, other than an offer of help. */
  readonly isAsked: number;
  readonly question: number;
  readonly asks: number;
}

/** Log-odds of a repeat before any evidence. */
const PRIOR = -0.6;
/**
 * What each adds to the log-odds: weights of a logistic regression on the tuned half of test/gold/repeats.jsonl, on
 * requests that do not belong together and on follow-ups of real conversations, rounded. Those of rare evidence
 * (`continues`, `newValue`, `isAsked`, `misses`) are greater than it found, as it holds rare evidence back.
 */
const WEIGHTS: Readonly<Record<keyof Evidence, number>> = {
  meaning: 2,
  covered: 0.5,
  sameAction: 0.9,
  sameThing: 0.6,
  newValue: -2.5,
  rejects: 0.8,
  fromAnswer: -1,
  addressed: -0.2,
  insists: 2.7,
  persists: 0.9,
  continues: -3,
  accepts: -0.7,
  settles: -1.6,
  misses: 1.5,
  evades: 0.9,
  number: -1,
  long: -1.5,
  isAsked: -2.3,
  question: 0.4,
  asks: 0.8,
  few: -0.8,
};
/** Log-odds from which a repeat counts as dissatisfaction. */
const SURE = 1.2;
const KINDS = Object.keys(WEIGHTS) as (keyof Evidence)[];

/** What a turn and the answer before it say, whatever was asked earlier. */
interface ReadTurn {
  readonly denies: boolean;
  readonly answerWords: ReadonlySet<number>;
  readonly evidence: Omit<
    Evidence,
    | 'meaning'
    | 'covered'
    | 'sameAction'
    | 'sameThing'
    | 'newValue'
    | 'rejects'
    | 'fromAnswer'
    | 'addressed'
    | 'few'
  >;
}

function readTurn({ said, asks, answer, isAsked }: AskedRequest): ReadTurn {
  const { kinds, denies } = phrasesIn(said);
  const { kinds: answered } = phrasesIn(answer);
  const found = (of: ReadonlySet<RepeatPhrase>, kind: RepeatPhrase): number => Number(of.has(kind));
  return {
    denies,
    answerWords: new Set(tellingWords(answer).map(({ stem }) => hashOf(stem))),
    evidence: {
      insists: found(kinds, 'insists'),
      persists: found(kinds, 'persists'),
      continues: found(kinds, 'continues'),
      accepts: found(kinds, 'accepts'),
      settles: found(answered, 'settles'),
      evades: found(answered, 'evades'),
      misses: found(answered, 'misses'),
      number: Number(/\p{N}/u.test(answer)),
      long: Number(answer.length > EDGES),
      isAsked: Number(isAsked && !answered.has('offers') && !answered.has('misses')),
      question: Number(holdsQuestion(said)),
      asks: Number(asks),
    },
  };
}

function evidenceOf(
  request: NewRequest,
  peer: KeptRequest,
  { denies, answerWords, evidence }: ReadTurn,
  cosineOver: number,
): Evidence {
  const isNew = (hash: number): boolean => !peer.words.includes(hash);
  const share = (count: number, of: number): number => count / Math.max(1, of);
  const fresh = request.words.filter(isNew);
  const shared = request.words.length - fresh.length;
  const taken = fresh.filter((hash) => answerWords.has(hash)).length;
  const hasNewValue = request.values.some((hash) => isNew(hash) && !answerWords.has(hash));
  return {
    ...evidence,
    meaning: cosineOver,
    covered: share(shared, Math.min(request.words.length, peer.words.length)),
    sameAction: Number(request.action !== 0 && request.action === peer.action),
    sameThing: Number(request.thing !== 0 && request.thing === peer.thing),
    newValue: Number(hasNewValue && evidence.insists === 0),
    rejects: Number(denies && taken > 0),
    few: Number(request.words.length < 2),
    fromAnswer: share(taken, request.words.length),
    addressed: share(peer.words.filter((hash) => answerWords.has(hash)).length, peer.words.length),
  };
}

/** A request that is asked again. */
export interface Repeat {
  readonly of: KeptRequest;
  /** Sure enough to be dissatisfaction: at least four of five such are repeats. */
  readonly isSure: boolean;
}

/**
 * Which of some answered requests a request most likely asks again; null when none is likelier than not.
 * `threshold`: the cosine of two requests for the same; `scale`: the similarity scale.
 */
export function repeatIn(
  asked: AskedRequest,
  earlier: readonly KeptRequest[],
  threshold: number,
  scale = 1,
): Repeat | null {
  if (earlier.length === 0) return null;
  const turn = readTurn(asked);
  const { request } = asked;
  let likeliest: KeptRequest | null = null;
  let greatest = 0;
  for (const peer of earlier) {
    const cosineOver = (quantisedCosine(request.vector, peer.vector) - threshold) / scale;
    const odds = logOdds(evidenceOf(request, peer, turn, cosineOver));
    if (odds > greatest) [likeliest, greatest] = [peer, odds];
  }
  return likeliest === null ? null : { of: likeliest, isSure: greatest >= SURE };
}

function logOdds(evidence: Evidence): number {
  return KINDS.reduce((sum, kind) => sum + WEIGHTS[kind] * evidence[kind], PRIOR);
}
