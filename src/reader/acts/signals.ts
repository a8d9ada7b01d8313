/**
 * Finds satisfaction signals in a user turn, by phrases (`lexicon/<language>/signals.json`).
 * `conversations/signal-context.ts` decides which of them count, because that needs the turn before.
 *
 * Test: test/reader/acts/signals.test.ts.
 */
import type { SignalCandidate, AssistantAct } from '../../domain/facts.ts';
import { INFERRED_SIGNALS, type SignalKey } from '../../domain/signal-kinds.ts';
import type { Clause } from '../phrases/clauses.ts';
import type { Match, MatchedText } from '../phrases/phrase-matcher.ts';
import { BREAK, isEmoji } from '../phrases/read-text.ts';
import { quotationsOf } from '../document/quotations.ts';
import { isFoldedStopWord } from '../document/words.ts';
import {
  endsOf,
  isSignalPhrase,
  meaningOf,
  signalPhrases,
  type SignalPhrase,
  type BesidePhrase,
  type UserPhrase,
} from './signal-phrases.ts';

/** With more content words beside it, an approving word only opens a next step. */
const MOST_BESIDE_APPROVAL = 0;
/** With more content words before them, thanks are mere politeness: "I need a taxi, thanks". */
const MOST_BEFORE_THANKS = 5;

/** Beside this many content words, thanks and approval speak of what the turn tells, so they count after `AFTER_CONTENT` too. */
const LEAST_CONTENT = 3;
const AFTER_CONTENT: readonly AssistantAct[] = ['waiting', 'asked'];
const ASKED: readonly AssistantAct[] = ['asked', 'asked-about'];

/** A turn with fewer words, courtesies left out, understood only that something was said. */
const LEAST_OF_INSIGHT = 4;

/**
 * With more content words beside it, a failure or an error belongs to a longer story, perhaps not about the answer. For
 * anger that does not mention the answer, the bound is lower.
 */
const MOST_BESIDE = { complaint: 10, anger: 2 } as const;

/** A phrase that counts, in words of the user. */
interface Hit {
  readonly phrase: SignalPhrase;
  readonly start: number;
  readonly end: number;
  readonly clause: number;
}

/**
 * The candidate signals of a user turn, in the order of INFERRED_SIGNALS, each at most once. Works in any language with phrases.
 */
export function detectSignals(content: string): SignalCandidate[] {
  const text = signalPhrases().user.match(endsOf(content));
  const turn = matchedIn(text);
  const { hits, courtesies } = turn;
  const type = typeOfTurn(hits, text);
  if (type === null) return [];
  const first = text.matches.some(({ kind }) => kind === 'earlier');
  const beside = wordsBeside(text, heldTokens(turn), 0, text.tokens.length);
  const isBare = beside === 0;
  const endings = courtesies.filter(({ kind }) => kind === 'ends');
  const isThanked = hits.some(({ phrase }) => phrase === 'thanks');
  const found = new Map<SignalKey, SignalCandidate>();
  const add = (key: SignalKey, needs: readonly AssistantAct[], isFirst: boolean): void => {
    const known = found.get(key);
    found.set(key, {
      key,
      needs: [...new Set([...(known?.needs ?? []), ...needs])],
      first: isFirst || known?.first === true,
    });
  };
  for (const hit of hits) {
    const { phrase } = hit;
    const { type: own, needs, keys } = meaningOf(phrase);
    if (own !== type) continue;
    // "No, that's all, thanks" declines more help; "thank you for the help" does not.
    const declines =
      phrase === 'closing'
        ? endings.some((end) => overlap(end, hit))
        : phrase === 'thanks' && isBare && endings.length > 0 && endsClause(hit.end, text);
    // A user who tells something beside thanks or approval neither just waits nor takes an offer.
    const hasContent =
      (phrase === 'thanks' || phrase === 'approval') && beside >= LEAST_CONTENT && asksNothing(turn);
    const muted = new Set(answersTo(hit, turn, isBare));
    if (declines) muted.add('asked-for-more');
    // "Never mind then, thanks" accepts a refusal.
    if (phrase === 'gives-up' && isThanked) muted.add('unable');
    const after = [...needs, ...(hasContent ? AFTER_CONTENT : [])].filter((act) => !muted.has(act));
    for (const key of keys) add(key, after, first || (phrase === 'thanks' && isBare));
  }
  if (type === 'DSAT' && hits.some(({ phrase }) => phrase === 'no'))
    add('negative-feedback', ['asked-if-helped'], false);
  return INFERRED_SIGNALS.flatMap(({ key }) => found.get(key) ?? []);
}

/**
 * The acts after which a hit may be a mere answer: "sounds good" takes an offer, "it is broken" tells what is wrong.
 * A phrase that insists ("still", "your tip") answers nothing.
 */
function answersTo(hit: Hit, turn: MatchedTurn, isBare: boolean): readonly AssistantAct[] {
  const { phrase } = hit;
  const { type, aboutThing } = meaningOf(phrase);
  // "Got it" waits for more; "now it makes sense" has understood.
  if (phrase === 'acknowledgement' && wordsOf(turn) < LEAST_OF_INSIGHT) return [...ASKED, 'waiting'];
  const mayTell = phrase === 'praise' || phrase === 'solved';
  if (!mayTell && (type === 'SAT' || aboutThing !== true)) return [];
  const agrees = turn.courtesies.some((match) => match.kind === 'agrees' && overlap(match, hit));
  if (mayTell && isBare && (agrees || hit.end - hit.start === 1)) return ASKED;
  if (says(turn, 'insists')) return [];
  return phrase === 'wrong' ? ASKED : ['asked-about'];
}

/** Number of words in a turn, without thanks and polite words beside them. */
function wordsOf({ text: { tokens }, hits, courtesies }: MatchedTurn): number {
  const polite = new Uint8Array(tokens.length);
  for (const { phrase, start, end } of hits) if (phrase === 'thanks') polite.fill(1, start, end);
  for (const { kind, start, end } of courtesies) if (kind === 'polite') polite.fill(1, start, end);
  const weights = tokens.map(({ isCharacter }, at) => (polite[at] === 1 ? 0 : isCharacter ? 0.5 : 1));
  return weights.reduce<number>((sum, weight) => sum + weight, 0);
}

/** The hits in a turn, and the phrases beside them. */
interface MatchedTurn {
  readonly text: MatchedText<UserPhrase>;
  readonly hits: readonly Hit[];
  readonly courtesies: readonly Match<BesidePhrase>[];
}

function says({ courtesies }: MatchedTurn, wanted: BesidePhrase): boolean {
  return courtesies.some(({ kind }) => kind === wanted);
}

/** The hits in the user's own words: neither quoted, nor given to write or translate, nor denied. */
function matchedIn(text: MatchedText<UserPhrase>): MatchedTurn {
  const { matches, tokens, clauses } = text;
  const nothing: MatchedTurn = { text, hits: [], courtesies: [] };
  if (matches.length === 0) return nothing;
  const task = matches.find(({ kind }) => kind === 'task');
  if (task !== undefined && task.start <= clauses[0]!.end) return nothing;
  const quoted = quotationsOf(text.text);
  const isQuoted = ({ start, end }: Match<UserPhrase>): boolean => {
    const [from, to] = [tokens[start]!.start, tokens[end - 1]!.end];
    return quoted.some((span) => from < span.end && to > span.start);
  };
  const clauseOf = clauseByToken(clauses, tokens.length);
  const hits: Hit[] = [];
  for (const match of matches) {
    const { kind, start, end, negated, denies } = match;
    if (!isSignalPhrase(kind) || isQuoted(match)) continue;
    const phrase = negated && !(denies && meaningOf(kind).type === 'DSAT') ? deniedAs(kind) : kind;
    if (phrase === null) continue;
    const clause = clauseOf[end - 1]!;
    if (clauses[clause]!.isQuestion && meaningOf(phrase).inQuestions !== true) continue;
    hits.push({ phrase, start, end, clause });
  }
  if (hits.length === 0) return nothing;
  const courtesies = signalPhrases().beside.match(text.text).matches;
  return { text, hits: withoutPoliteness({ text, hits, courtesies }), courtesies };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function overlap(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end;
}

/** True if a mark, or nothing, stands before the token at `end`. */
function endsClause(end: number, { tokens }: MatchedText<UserPhrase>): boolean {
  return end >= tokens.length || tokens[end]!.before >= BREAK.mark;
}

/**
 * The kind that a denied phrase stands for: "not helpful" is a complaint, "it did not work" a failure, "not wrong"
 * nothing.
 */
function deniedAs(phrase: SignalPhrase): SignalPhrase | null {
  if (phrase === 'praise' || phrase === 'approval') return 'bad-answer';
  return phrase === 'solved' ? 'failed' : null;
}

function clauseByToken(clauses: readonly Clause[], count: number): Int32Array {
  const places = new Int32Array(count);
  clauses.forEach(({ start, end }, place) => places.fill(place, start, end));
  return places;
}

/** Drops thanks after a request, approving words with a next step, and complaints in a longer story. */
function withoutPoliteness(turn: MatchedTurn): Hit[] {
  const { text, hits } = turn;
  const held = heldTokens(turn);
  const beside = wordsBeside(text, held, 0, text.tokens.length);
  const isThankful = hits.some(({ phrase }) => meaningOf(phrase).type === 'SAT');
  const leaves = hits.some(({ phrase }) => meaningOf(phrase).unthanked === true);
  const isApproval = !leaves && (beside <= MOST_BESIDE_APPROVAL || asksNothing(turn));
  const besideAnger = (hit: Hit): number => wordsBeside(text, held, ...sentenceOf(hit, text.clauses));
  return hits.filter((hit) => {
    const { phrase } = hit;
    const { aboutThing, alone, type, unthanked } = meaningOf(phrase);
    if (aboutThing === true && beside > MOST_BESIDE.complaint) return false;
    if (phrase === 'angry' && !says(turn, 'insists') && besideAnger(hit) > MOST_BESIDE.anger) return false;
    if (phrase === 'thanks' || phrase === 'warm') return !areThanksForRequest(hit, turn, held);
    if (unthanked === true && isThankful) return false;
    if (phrase === 'praise' && opensRequest(hit, turn)) return false;
    return alone !== true || type !== 'SAT' || isApproval;
  });
}

/** True for "That sounds good, please book it": it takes an offer and judges nothing. */
function opensRequest(hit: Hit, { text: { closings }, courtesies }: MatchedTurn): boolean {
  if (!courtesies.some((match) => match.kind === 'agrees' && overlap(match, hit))) return false;
  return (
    courtesies.some(({ kind, start }) => kind === 'wants' && start >= hit.end) ||
    closings.slice(hit.end).includes('?')
  );
}

/** True if something is asked for before the thanks. Thanks in their own sentence may follow a report. */
function areThanksForRequest(
  { start, clause }: Hit,
  { text, courtesies }: MatchedTurn,
  held: Uint8Array,
): boolean {
  const { clauses, closings } = text;
  if (start === 0) return false;
  const isRequest =
    courtesies.some((match) => match.kind === 'wants' && match.start < start) ||
    closings.slice(0, start).includes('?');
  if (isRequest) return wordsBeside(text, held, 0, start) > 0;
  const isOwnSentence = clauses[clause]!.start === start && clauses[clause]!.sentence > 0;
  return !isOwnSentence && wordsBeside(text, held, 0, start) > MOST_BEFORE_THANKS;
}

/** True if a turn holds neither a wish nor a question. */
function asksNothing(turn: MatchedTurn): boolean {
  return !says(turn, 'wants') && !turn.text.closings.includes('?');
}

/** The token range of the sentence in which a hit ends, end exclusive. */
function sentenceOf({ clause }: Hit, clauses: readonly Clause[]): [number, number] {
  const { sentence } = clauses[clause]!;
  const own = clauses.filter((one) => one.sentence === sentence);
  return [own[0]!.start, own.at(-1)!.end];
}

/** Marks the tokens of hits, and of courtesies beside them. */
function heldTokens({ text, hits, courtesies }: MatchedTurn): Uint8Array {
  const held = new Uint8Array(text.tokens.length);
  for (const { start, end } of hits) held.fill(1, start, end);
  for (const { kind, start, end } of courtesies)
    if (kind === 'polite' || kind === 'ends') held.fill(1, start, end);
  return held;
}

/** Number of content words in no hit; in a question every word counts. */
function wordsBeside(
  { tokens, closings }: MatchedText<UserPhrase>,
  held: Uint8Array,
  from: number,
  to: number,
): number {
  let count = 0;
  for (let at = from; at < to; at++) {
    if (held[at] === 1) continue;
    const { key, isCharacter } = tokens[at]!;
    const asks = closings[at] === '?';
    if (isEmoji(tokens[at]!) || (!asks && isFoldedStopWord(key))) continue;
    count += isCharacter ? 0.4 : 1;
  }
  return count;
}

/**
 * The judgement of the whole turn. Praise and success after a complaint stand; thanks at the end of one are mere
 * politeness; a contrasting clause after praise takes the praise back.
 */
function typeOfTurn(hits: readonly Hit[], { clauses }: MatchedText<UserPhrase>): 'SAT' | 'DSAT' | null {
  const complaints = hits.filter(({ phrase }) => meaningOf(phrase).type === 'DSAT');
  const approvals = hits.filter(({ phrase }) => meaningOf(phrase).type === 'SAT');
  const lastComplaint = Math.max(-1, ...complaints.map(({ clause }) => clause));
  const judgements = approvals.filter(({ phrase }) => meaningOf(phrase).courtesy !== true);
  const lastJudgement = Math.max(-1, ...judgements.map(({ clause }) => clause));
  if (complaints.length > 0) {
    const ends = lastJudgement > lastComplaint && !isCountered(lastJudgement, clauses);
    return ends ? 'SAT' : 'DSAT';
  }
  if (approvals.length === 0) return null;
  const last = Math.max(...approvals.map(({ clause }) => clause));
  return isCountered(last, clauses) ? null : 'SAT';
}

/** True if a contrasting clause follows. */
function isCountered(clause: number, clauses: readonly Clause[]): boolean {
  return clauses.slice(clause + 1).some(({ contrasts }) => contrasts);
}

/** Complaints without a wish. */
const WISHLESS: ReadonlySet<SignalPhrase> = new Set<SignalPhrase>([
  'failed',
  'bad-answer',
  'wrong',
  'said-so',
  'told',
  'angry',
  'irony',
]);

/** Longest sentence that is nothing but a complaint, UTF-16 units. */
const LONGEST_COMPLAINT = 300;

/** True if a sentence complains about the conversation and says nothing else. */
export function isOnlyComplaint(sentence: string): boolean {
  if (sentence.length > LONGEST_COMPLAINT) return false;
  const text = signalPhrases().user.match(sentence);
  const turn = matchedIn(text);
  const complaints = turn.hits.filter(({ phrase }) => WISHLESS.has(phrase));
  const held = heldTokens({ ...turn, hits: complaints });
  return complaints.length > 0 && wordsBeside(text, held, 0, text.tokens.length) === 0;
}

const TYPE_OF = new Map<SignalKey, 'SAT' | 'DSAT'>(INFERRED_SIGNALS.map(({ key, type }) => [key, type]));

/** The type of a signal. */
export function typeOf(key: SignalKey): 'SAT' | 'DSAT' {
  return TYPE_OF.get(key) ?? 'DSAT';
}
