/** What rules and heads find in one turn: everything but its vector. Covered by test/reader/acts/enricher.test.ts. */
import type {
  Enrichment,
  MissingAbility,
  RequestSentence,
  SignalCandidate,
  Turn,
} from '../../domain/facts.ts';
import { SIGNALS, type SignalKey } from '../../domain/signal-kinds.ts';
import { LEXICON } from '../document/lexicon.ts';
import { QUESTION_MARK } from '../document/question-marks.ts';
import { analysedPart } from '../document/normalise.ts';
import { alternatives } from '../document/patterns.ts';
import { requestParts } from '../document/request-parts.ts';
import { stanceOf } from './tables/assistant-turn.ts';
import { detectGap } from './gaps.ts';
import type { Heads } from './heads.ts';
import { readSentence, wishesMore } from './read-sentence.ts';
import { readRequest } from './request-sentence.ts';
import { detectSignals } from './signals.ts';
import { contentOf } from './turn-kind.ts';

export type Finding = Omit<Enrichment, 'vector' | 'sentences' | 'gap'> & {
  readonly gap: MissingAbility | null;
  readonly sentences: readonly Omit<RequestSentence, 'vector'>[];
};

/** So many turns are read together, each by one reader after the other. */
export const READ_TOGETHER = 1024;

/** What may be known of a turn for finding something in it. */
export type ReadTurn = Pick<Turn, 'role' | 'content'>;

const LATIN = LEXICON.please.all.filter((phrase) => /[a-z]/.test(phrase));
const OTHERS = LEXICON.please.all.filter((phrase) => !LATIN.includes(phrase));
/** Asks for something, however short it is. `\b` knows Latin letters only: other scripts go without it. */
const ASKS = new RegExp(`${QUESTION_MARK}|\\b(?:${alternatives(LATIN)})\\b|${alternatives(OTHERS)}`, 'u');
const SATISFIED: ReadonlySet<SignalKey> = new Set(
  SIGNALS.filter(({ type }) => type === 'SAT').map(({ key }) => key),
);

/** What rules and heads find in a turn. */
export function findIn(turn: ReadTurn, heads: Heads): Finding {
  return findInEach([turn], heads)[0]!;
}

/**
 * What they find in each of several turns. One reader reads all of them before the next one does: in turn, each would
 * find that the others have taken its tables' place in the processor's cache. `onText`: told of a turn by its place.
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
  const stances = each('assistant', (text, place) => stanceOf(text, gaps[place] !== null));
  return turns.map(
    (_, place) =>
      ofUsers[place] ?? {
        ...NOTHING,
        ...(stances[place] === undefined ? {} : { stance: stances[place] }),
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

/** A satisfied turn that asks nothing and says no more than a word ("Found it. Cheers") creates no topic. */
function isContentedRemark(request: string, signals: readonly SignalCandidate[]): boolean {
  if (!signals.some(({ key }) => SATISFIED.has(key)) || ASKS.test(request.toLowerCase())) return false;
  const sentence = readSentence(request);
  if (contentOf(sentence) > 1 || wishesMore(sentence)) return false;
  // "Great, make a reservation for four."
  const { action, thing } = requestParts(request);
  return action === null || thing.length === 0;
}
