/**
 * Finds by rules and heads what one turn says, except its vector. Keeps the invariant that reading turns together
 * changes no finding.
 *
 * Test: test/reader/acts/enricher.test.ts.
 */
import type {
  Enrichment,
  MissingAbility,
  RequestSentence,
  SignalCandidate,
  Turn,
} from '../../domain/facts.ts';
import { INFERRED_SIGNALS, type SignalKey } from '../../domain/signal-kinds.ts';
import { LEXICON } from '../document/lexicon.ts';
import { QUESTION_MARK } from '../document/question-marks.ts';
import { analysedPart } from '../document/normalise.ts';
import { alternatives } from '../document/patterns.ts';
import { requestParts } from '../document/request-parts.ts';
import { assistantActOf } from './tables/assistant-turn.ts';
import { detectGap } from './gaps.ts';
import type { Heads } from './heads.ts';
import { readSentence, wishesMore } from './read-sentence.ts';
import { readRequest } from './request-sentence.ts';
import { detectSignals } from './signals.ts';
import { contentOf } from './turn-kind.ts';

/** The findings in one turn: everything but its vectors. */
export type Finding = Omit<Enrichment, 'vector' | 'sentences' | 'gap'> & {
  readonly gap: MissingAbility | null;
  readonly sentences: readonly Omit<RequestSentence, 'vector'>[];
};

/** Number of turns that are read together, one reader after the other. */
export const READ_TOGETHER = 1024;

/** The part of a turn that findings may depend on. */
export type ReadTurn = Pick<Turn, 'role' | 'content'>;

const LATIN = LEXICON.please.all.filter((phrase) => /[a-z]/.test(phrase));
const OTHERS = LEXICON.please.all.filter((phrase) => !LATIN.includes(phrase));
/**
 * Matches what asks for something, however short it is. `\b` knows only Latin letters, so words of other scripts go
 * without it.
 */
const ASKS = new RegExp(`${QUESTION_MARK}|\\b(?:${alternatives(LATIN)})\\b|${alternatives(OTHERS)}`, 'u');
const SATISFIED: ReadonlySet<SignalKey> = new Set(
  INFERRED_SIGNALS.filter(({ type }) => type === 'SAT').map(({ key }) => key),
);

/** Finds what one turn says. */
export function findIn(turn: ReadTurn, heads: Heads): Finding {
  return findInEach([turn], heads)[0]!;
}

/**
 * Finds what each of several turns says. One reader reads all turns before the next reader starts, so that its tables
 * stay in the processor's cache. `onText` is called with the index of each turn.
 */
export function findInEach(
  turns: readonly ReadTurn[],
  heads: Heads,
  onText: (place: number) => void = () => undefined,
): Finding[] {
  const texts = turns.map(({ content }) => analysedPart(content));
  const each = <T>(role: ReadTurn['role'], read: (text: string, place: number) => T): (T | undefined)[] =>
    turns.map((turn, place) => {
      if (turn.role !== role) return undefined;
      onText(place);
      return read(texts[place]!, place);
    });
  const signals = each('user', detectSignals);
  const ofUsers = each('user', (text, place) => findingOfUser(text, signals[place]!));
  const gaps = each('assistant', (text) => detectGap(text, heads.gap));
  const acts = each('assistant', (text, place) => assistantActOf(text, gaps[place] !== null));
  return turns.map(
    (_, place) =>
      ofUsers[place] ?? {
        ...NOTHING,
        ...(acts[place] === undefined ? {} : { act: acts[place] }),
        gap: gaps[place] ?? null,
      },
  );
}

const NOTHING: Finding = { kind: 'none', request: '', sentences: [], signals: [], gap: null };

function findingOfUser(text: string, signals: readonly SignalCandidate[]): Finding {
  const isComplaint = signals.some(({ key }) => !SATISFIED.has(key));
  const { request, aboutAssistant, sentences } = readRequest(text, isComplaint);
  const found = { ...NOTHING, signals };
  if (aboutAssistant !== null) return { ...found, kind: 'about-assistant', request: aboutAssistant };
  if (request === '' || isContentedRemark(request, signals)) return { ...found, kind: 'reply' };
  return { ...found, kind: 'request', request, sentences };
}

/**
 * True for a satisfied turn that asks nothing and says no more than a word ("Found it. Cheers"): it creates no topic.
 */
function isContentedRemark(request: string, signals: readonly SignalCandidate[]): boolean {
  if (!signals.some(({ key }) => SATISFIED.has(key)) || ASKS.test(request.toLowerCase())) return false;
  const sentence = readSentence(request);
  if (contentOf(sentence) > 1 || wishesMore(sentence)) return false;
  // An action on a thing is a request: "Great, make a reservation for four."
  const { action, thing } = requestParts(request);
  return action === null || thing.length === 0;
}
