/**
 * Measures the evidence that a request is another try at an earlier one of its session: from the two requests, the
 * turn, the answer in between, and the distance of the other requests. `repeat-weights.ts` weighs it.
 *
 * Test: test/reader/conversations/repeat-evidence.test.ts.
 */
import { quantisedCosine } from '../numeric/quantised.ts';
import { holdsQuestion } from '../acts/answering-turns.ts';
import type { Compared } from '../acts/compared-request.ts';
import { EDGES, RepeatText, type RepeatPhrase } from '../acts/repeat-phrases.ts';

/** A request as a session keeps it: enough to tell whether a later one repeats it. */
export interface KeptRequest extends Omit<Compared, 'values'> {
  /** Its beginning, redacted; may be ''. */
  readonly text: string;
  readonly vector: Int8Array;
  /** Length of its turn, UTF-16 units, at most that of its edges. */
  readonly length: number;
  /** The read text, until the answer is known; never stored. */
  readText?: RepeatText | undefined;
  /** True if it names an action and a thing, or asks about something, and neither complains nor repeats. */
  standsAlone: boolean;
  /** `ANSWERED` bits of its answer before the session's next request; 0 if there is no answer yet. */
  answered: number;
}

/**
 * Bits that describe the answer to a request; `read` is set for every answer. `met`, `unmet`: the request asks for a
 * number ("how much", "when"), and the answer holds one, or none. `open`: the request asks for yes or no, and the
 * answer says neither.
 */
export const ANSWERED = { read: 1, asked: 2, long: 4, evades: 8, met: 16, unmet: 32, open: 64 } as const;

/** A request that is compared with earlier ones. */
export interface NewRequest extends KeptRequest, Compared {}

/** A request within its turn, as input of the detection. */
export interface AskedRequest {
  readonly request: NewRequest;
  /** The beginning and end of the turn. */
  readonly edges: RepeatText;
  /** The beginning and end of the assistant turn before it. */
  readonly answer: RepeatText;
  /** True if that turn asked the user something, not long ago. */
  readonly isAsked: boolean;
  /** True if the turn has no content of its own ("still not working", "but when?"): its vector means nothing. */
  readonly isBare: boolean;
}

/** Evidence from the turn and the answer before it, independent of earlier requests; each 0 or 1. */
export interface TurnEvidence {
  readonly short: number;
  /** The turn has no content of its own, so only its phrases count. */
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
  /** The answer is longer than its edges, which are all that is read. */
  readonly long: number;
  /** The turn may answer a question of the assistant, other than an offer of help; or it asks back. */
  readonly isAsked: number;
  readonly asksBack: number;
  /** The turn has a word in capitals. */
  readonly shouts: number;
  /** The turn asks for a number. */
  readonly measures: number;
}

/** Evidence about one earlier request, 0 to 1 unless noted. */
export interface PairEvidence {
  /**
   * Cosine of the two requests minus the threshold for equal requests, in units of the similarity scale: −1.6 to 0.4.
   */
  readonly meaning: number;
  /**
   * Lead of its cosine over the median of the other earlier requests, in units of the similarity scale; 0 with fewer
   * than two others.
   */
  readonly nearer: number;
  /** 1 if no other earlier request is nearer. */
  readonly nearest: number;
  /**
   * Binary logarithm of the number of earlier requests, at most `MOST_EARLIER`: among many, one may be near by chance.
   */
  readonly earlier: number;
  /** Relatedness of the two requests by meaning or words; below, its products with other evidence. */
  readonly related: number;
  readonly relatedPersists: number;
  readonly relatedPresses: number;
  readonly relatedNumber: number;
  readonly relatedShouts: number;
  readonly relatedAsked: number;
  /** Share of the request's words that the earlier one holds, and the reverse. */
  readonly known: number;
  readonly kept: number;
  /** 1 if both have the same words and the turn asks for no other thing. */
  readonly same: number;
  readonly sameAction: number;
  readonly otherThing: number;
  readonly otherLanguage: number;
  /** 1 if it holds a number or name that neither the earlier request nor the answer holds; 0 if the turn insists. */
  readonly newValue: number;
  /** 1 if it denies a word of the answer that the earlier request lacks: "delete, not create". */
  readonly rejects: number;
  /** Share of its words that the answer holds; the second counts only words that the earlier request lacks. */
  readonly fromAnswer: number;
  readonly onlyFromAnswer: number;
  /** 1 if the answer begins with a word of the earlier request: "Quinoa is a seed from the Andes". */
  readonly restates: number;
  /** Binary logarithm of the ratio of its length to that of the earlier one, −3 to 3. */
  readonly longer: number;
  /** The answer to the earlier request, before the next request came. */
  readonly firstAsked: number;
  readonly firstLong: number;
  readonly firstEvades: number;
  readonly relatedFirstEvades: number;
  readonly met: number;
  readonly unmet: number;
  /** 1 if it asks for a number and the earlier one asked for something else: the user continues. */
  readonly newQuestion: number;
  /** 1 if the earlier request asks for yes or no and was answered with neither. */
  readonly open: number;
  readonly relatedOpen: number;
}

export type Evidence = TurnEvidence & PairEvidence;

/** Most earlier requests that make a difference. */
const MOST_EARLIER = 8;
/** Requests this far below the threshold for equal requests are unrelated. */
const UNRELATED = 0.4;
/** A shorter turn is short, UTF-16 units. */
const SHORT = 24;
/** Added to both lengths of a ratio, so that one word more or less makes little difference. */
const LENGTH_MARGIN = 8;
const MOST_LONGER = 3;
/** A word in capitals; abbreviations have fewer letters. */
const CAPITALS = /(?<!\p{L})\p{Lu}{5,}(?!\p{L})/u;

/** A turn, and the answer before it. */
interface ReadTurn {
  readonly answerWords: readonly number[];
  /** `ANSWERED` bits of the answer, kept with the requests before it. */
  readonly answered: number;
  readonly evidence: TurnEvidence;
}

function readTurn({ edges, answer, isAsked, isBare }: AskedRequest): ReadTurn {
  const { kinds, denies } = edges.phrases;
  const { kinds: answered } = answer.phrases;
  const found = (of: ReadonlySet<RepeatPhrase>, kind: RepeatPhrase): number => Number(of.has(kind));
  const asked = isAsked && !answered.has('offers') && !answered.has('misses');
  const question = holdsQuestion(edges.text);
  const long = answer.text.length > EDGES;
  return {
    answerWords: answer.words,
    answered:
      ANSWERED.read |
      (asked ? ANSWERED.asked : 0) |
      (long ? ANSWERED.long : 0) |
      (answered.has('evades') ? ANSWERED.evades : 0),
    evidence: {
      short: Number(edges.text.length < SHORT),
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
      shouts: Number(CAPITALS.test(edges.text)),
      measures: found(kinds, 'measures'),
    },
  };
}

/**
 * Returns the evidence of a turn, and for each earlier request, oldest first. `threshold`: cosine of two equal
 * requests. `scale`: the similarity scale. Marks earlier requests without an answer as answered by the one in between.
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
    // Sessions stay in memory, so the read text is dropped once its answer is known.
    peer.readText = undefined;
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

/** `ANSWERED` bits that tell whether the answer meets a request for a number or for yes or no; 0 for other requests. */
function metBy(peer: KeptRequest, { evidence }: ReadTurn): number {
  const { text } = peer;
  const { kinds } = (peer.readText ?? new RepeatText(text)).phrases;
  if (kinds.has('measures')) return evidence.number === 1 ? ANSWERED.met : ANSWERED.unmet;
  const isPolar = kinds.has('polar') || (holdsQuestion(text) && !kinds.has('wonders'));
  return isPolar && evidence.settles === 0 ? ANSWERED.open : 0;
}

/** The median of ascending numbers without one of them; the greater of two middle ones. */
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
  let [shared, answers, taken] = [0, 0, 0];
  for (const hash of words) {
    const isFresh = isNew(hash);
    const isAnswer = answerWords.includes(hash);
    if (!isFresh) shared += 1;
    if (isAnswer) answers += 1;
    if (isFresh && isAnswer) taken += 1;
  }
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
    fromAnswer: share(answers, words.length),
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
