/**
 * What speaks for and against a request being another try at an earlier one of its session: the two requests, the
 * turn, the answer in between, and how near the other requests are. Which of it counts how much is in
 * `repeat-weights.ts`.
 * Covered by test/reader/conversations/repeat-evidence.test.ts.
 */
import { quantisedCosine } from '../numeric/quantised.ts';
import { holdsQuestion } from '../acts/answering-turns.ts';
import type { Compared } from '../acts/compared-request.ts';
import { EDGES, SaidText, type RepeatPhrase } from '../acts/repeat-phrases.ts';

/** A request as a session keeps it: enough to tell whether a later one asks for the same. */
export interface KeptRequest extends Omit<Compared, 'values'> {
  /** Its beginning, as it may be shown; may be ''. */
  readonly text: string;
  readonly vector: Int8Array;
  /** UTF-16 units of its turn, at most those of its edges. */
  readonly length: number;
  /** `text`, where it was read and what it was answered is not known yet; never written. */
  said?: SaidText | undefined;
  /** It says what is wished for with what, or asks about something, and neither complains nor asks again. */
  standsAlone: boolean;
  /** What it was answered before the next request of the session, as `ANSWERED` bits; 0: nothing yet. */
  answered: number;
}

/**
 * What a request was answered, one bit each; `read` is set of any answer. `met`, `unmet`: the request asks for a number
 * ("how much", "when"), and the answer holds one, or none. `open`: it asks for yes or no, and the answer says neither.
 */
export const ANSWERED = { read: 1, asked: 2, long: 4, evades: 8, met: 16, unmet: 32, open: 64 } as const;

/** A request that is being compared with earlier ones. */
export interface NewRequest extends KeptRequest, Compared {}

/** A request in its turn, as it is told whether it is a repeat. */
export interface AskedRequest {
  readonly request: NewRequest;
  /** The beginning and end of the turn. */
  readonly said: SaidText;
  /** The beginning and end of the assistant turn before it. */
  readonly answer: SaidText;
  /** That turn asked the user something, not long ago. */
  readonly isAsked: boolean;
  /** The turn says nothing by itself ("still not working", "but when?"): its vector means nothing. */
  readonly isBare: boolean;
}

/** What a turn and the answer before it say, whatever was asked earlier; 0 or 1. */
export interface TurnEvidence {
  readonly short: number;
  /** It says nothing by itself, so that only its phrases tell. */
  readonly bare: number;
  /** Phrases of the turn and of the answer (`repeat-phrases.ts`). */
  readonly insists: number;
  readonly persists: number;
  readonly presses: number;
  readonly adds: number;
  readonly continues: number;
  readonly accepts: number;
  readonly denies: number;
  readonly question: number;
  readonly settles: number;
  readonly misses: number;
  readonly evades: number;
  /** The answer holds a number: a price, a time. */
  readonly number: number;
  /** The answer is longer than the start and end of it that are read. */
  readonly long: number;
  /** The turn may answer a question of the assistant, other than an offer of help; or asks back. */
  readonly isAsked: number;
  readonly asksBack: number;
  /** It has a word in capitals. */
  readonly shouts: number;
  /** It asks for a number. */
  readonly measures: number;
}

/** What speaks for or against one earlier request being the one that is asked again, 0 to 1 unless said otherwise. */
export interface PairEvidence {
  /** Cosine of the requests over that of requests for the same, on a similarity scale of 1: −1.6 to 0.4. */
  readonly meaning: number;
  /** How much nearer it is than the median of the other earlier requests; 0 with fewer than two others. */
  readonly nearer: number;
  /** No other earlier request is nearer. */
  readonly nearest: number;
  /** Binary logarithm of how many earlier requests there are, at most `MOST_EARLIER`: one may be near by chance. */
  readonly earlier: number;
  /** Whether the requests have anything to do with each other, by meaning or words; and that times other evidence. */
  readonly related: number;
  readonly relatedPersists: number;
  readonly relatedPresses: number;
  readonly relatedNumber: number;
  readonly relatedShouts: number;
  readonly relatedAsked: number;
  /** Share of the words of the request that the earlier one holds, and the reverse. */
  readonly known: number;
  readonly kept: number;
  /** Both have the same words, and the turn asks for no other thing. */
  readonly same: number;
  readonly sameAction: number;
  readonly otherThing: number;
  readonly otherLanguage: number;
  /** A number or name that neither the earlier request nor the answer holds; 0 when the turn insists. */
  readonly newValue: number;
  /** It denies a word of the answer that the earlier request does not hold: "delete, not create". */
  readonly rejects: number;
  /** Share of its words that the answer holds, and of those that the earlier request does not hold. */
  readonly fromAnswer: number;
  readonly onlyFromAnswer: number;
  /** The answer begins with a word of the earlier request: "Quinoa is a seed from the Andes". */
  readonly restates: number;
  /** Binary logarithm of its length over that of the earlier one, −3 to 3. */
  readonly longer: number;
  /** How the earlier request was answered, before the next one came. */
  readonly firstAsked: number;
  readonly firstLong: number;
  readonly firstEvades: number;
  readonly relatedFirstEvades: number;
  readonly met: number;
  readonly unmet: number;
  /** It asks for a number, or who and why, where the earlier one asked for something else: it goes on. */
  readonly newQuestion: number;
  /** It asks for yes or no, and was told neither. */
  readonly open: number;
  readonly relatedOpen: number;
}

export type Evidence = TurnEvidence & PairEvidence;

/** More earlier requests than these make no difference. */
const MOST_EARLIER = 8;
/** Requests this much below the cosine of requests for the same have nothing to do with each other. */
const UNRELATED = 0.4;
/** UTF-16 units. */
const SHORT = 24;
/** Added to lengths before they are compared, so that one word more or less makes little difference. */
const LENGTH_MARGIN = 8;
const MOST_LONGER = 3;
/** Abbreviations have fewer letters. */
const CAPITALS = /(?<!\p{L})\p{Lu}{5,}(?!\p{L})/u;

/** A turn and the answer before it. */
interface ReadTurn {
  readonly answerWords: readonly number[];
  /** Of the answer, as it is kept with the requests before it. */
  readonly answered: number;
  readonly evidence: TurnEvidence;
}

function readTurn({ said, answer, isAsked, isBare }: AskedRequest): ReadTurn {
  const { kinds, denies } = said.phrases;
  const { kinds: answered } = answer.phrases;
  const found = (of: ReadonlySet<RepeatPhrase>, kind: RepeatPhrase): number => Number(of.has(kind));
  const asked = isAsked && !answered.has('offers') && !answered.has('misses');
  const question = holdsQuestion(said.text);
  const long = answer.text.length > EDGES;
  return {
    answerWords: answer.words,
    answered:
      ANSWERED.read |
      (asked ? ANSWERED.asked : 0) |
      (long ? ANSWERED.long : 0) |
      (answered.has('evades') ? ANSWERED.evades : 0),
    evidence: {
      short: Number(said.text.length < SHORT),
      bare: Number(isBare),
      insists: found(kinds, 'insists'),
      persists: found(kinds, 'persists'),
      presses: found(kinds, 'presses'),
      adds: found(kinds, 'adds'),
      continues: found(kinds, 'continues'),
      accepts: found(kinds, 'accepts'),
      denies: Number(denies),
      question: Number(question),
      settles: found(answered, 'settles'),
      misses: found(answered, 'misses'),
      evades: found(answered, 'evades'),
      number: Number(/\p{N}/u.test(answer.text)),
      long: Number(long),
      isAsked: Number(asked && !question),
      asksBack: Number(asked && question),
      shouts: Number(CAPITALS.test(said.text)),
      measures: found(kinds, 'measures'),
    },
  };
}

/**
 * The evidence of a turn, and for each of some earlier requests, oldest first. `threshold`: the cosine of two requests
 * for the same; `scale`: the similarity scale. Requests without an answer so far get the one in between.
 */
export function evidenceOf(
  asked: AskedRequest,
  earlier: readonly KeptRequest[],
  threshold: number,
  scale: number,
): { readonly turn: TurnEvidence; readonly pairs: PairEvidence[] } {
  const turn = readTurn(asked);
  for (const peer of earlier) {
    if (peer.answered === 0) peer.answered = turn.answered | metBy(peer, turn);
    // Sessions stay in memory: what is not needed again does not.
    peer.said = undefined;
  }
  const cosines = earlier.map(({ vector }) => quantisedCosine(asked.request.vector, vector));
  const ascending = cosines.toSorted((one, other) => one - other);
  const greatest = ascending.at(-1) ?? 0;
  const count = Math.log2(Math.min(earlier.length, MOST_EARLIER));
  const pairs = earlier.map((peer, at) => {
    const cosine = cosines[at]!;
    const nearer = earlier.length < 3 ? 0 : (cosine - medianWithout(ascending, cosine)) / scale;
    const meaning = asked.isBare ? 0 : (cosine - threshold) / scale;
    const place = { meaning, nearer, nearest: Number(cosine === greatest), earlier: count };
    return evidenceOfPair(asked.request, peer, turn, place);
  });
  return { turn: turn.evidence, pairs };
}

/** Whether the answer of a turn is the number that an earlier request asks for; 0 if that asks for none. */
function metBy(peer: KeptRequest, { evidence }: ReadTurn): number {
  const { text } = peer;
  const { kinds } = (peer.said ?? new SaidText(text)).phrases;
  if (kinds.has('measures')) return evidence.number === 1 ? ANSWERED.met : ANSWERED.unmet;
  const isPolar = kinds.has('polar') || (holdsQuestion(text) && !kinds.has('wonders'));
  return isPolar && evidence.settles === 0 ? ANSWERED.open : 0;
}

/** The median of ascending numbers without one of them; the greater one of two in the middle. */
function medianWithout(ascending: readonly number[], left: number): number {
  const middle = (ascending.length - 1) >> 1;
  return ascending[ascending.indexOf(left) <= middle ? middle + 1 : middle]!;
}

function evidenceOfPair(
  request: NewRequest,
  peer: KeptRequest,
  { answerWords, evidence }: ReadTurn,
  { meaning, nearer, nearest, earlier }: Pick<PairEvidence, 'meaning' | 'nearer' | 'nearest' | 'earlier'>,
): PairEvidence {
  const { words, values } = request;
  const isNew = (hash: number): boolean => !peer.words.includes(hash);
  const share = (count: number, of: number): number => count / Math.max(1, of);
  const fresh = words.filter(isNew);
  const shared = words.length - fresh.length;
  const taken = fresh.filter((hash) => answerWords.includes(hash)).length;
  const hasNewValue = values.some((hash) => isNew(hash) && !answerWords.includes(hash));
  const near = evidence.bare === 1 ? 0 : Math.max(0, Math.min(1, (meaning + UNRELATED) / UNRELATED));
  const related = Math.max(near, share(shared, Math.min(words.length, peer.words.length)));
  const longer = Math.log2((request.length + LENGTH_MARGIN) / (peer.length + LENGTH_MARGIN));
  const answered = (bit: number): number => Number((peer.answered & bit) !== 0);
  const firstEvades = answered(ANSWERED.evades);
  const open = answered(ANSWERED.open);
  return {
    meaning,
    nearer,
    nearest,
    earlier,
    related,
    known: share(shared, words.length),
    kept: share(shared, peer.words.length),
    same: Number(
      shared > 0 && shared === words.length && shared === peer.words.length && evidence.continues === 0,
    ),
    sameAction: Number(request.action !== 0 && request.action === peer.action),
    otherThing: Number(request.thing !== 0 && peer.thing !== 0 && request.thing !== peer.thing),
    otherLanguage: Number(
      request.language !== 0 && peer.language !== 0 && request.language !== peer.language,
    ),
    newValue: Number(hasNewValue && evidence.insists === 0),
    rejects: Number(evidence.denies === 1 && taken > 0),
    fromAnswer: share(words.filter((hash) => answerWords.includes(hash)).length, words.length),
    onlyFromAnswer: share(taken, words.length),
    restates: Number(answerWords.length > 0 && peer.words.includes(answerWords[0]!)),
    longer: Math.max(-MOST_LONGER, Math.min(MOST_LONGER, longer)),
    relatedPersists: related * evidence.persists,
    relatedPresses: related * evidence.presses,
    relatedNumber: related * evidence.number,
    relatedShouts: related * evidence.shouts,
    relatedAsked: related * evidence.isAsked,
    firstAsked: answered(ANSWERED.asked),
    firstLong: answered(ANSWERED.long),
    firstEvades,
    relatedFirstEvades: related * firstEvades,
    newQuestion: evidence.measures * (1 - Math.max(answered(ANSWERED.met), answered(ANSWERED.unmet))),
    met: answered(ANSWERED.met),
    unmet: answered(ANSWERED.unmet),
    open,
    relatedOpen: related * open,
  };
}
