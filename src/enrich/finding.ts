/** What rules and heads find in one turn: everything but its vector. Covered by test/enrich/enricher.test.ts. */
import type { Enrichment, MissingAbility, RequestSentence, SignalCandidate, Turn } from '../domain/facts.ts';
import { SIGNALS, type SignalKey } from '../domain/signal-kinds.ts';
import { LEXICON } from '../language/lexicon.ts';
import { QUESTION_MARK } from '../language/question-marks.ts';
import { analysedPart } from '../language/normalise.ts';
import { alternatives } from '../language/patterns.ts';
import { requestParts } from '../language/request-parts.ts';
import { detectGap } from './gaps.ts';
import type { Heads } from './heads.ts';
import { readSentence, wishesMore } from './read-sentence.ts';
import { readRequest } from './request-sentence.ts';
import { detectSignals, stanceOf } from './signals.ts';
import { contentOf } from './turn-kind.ts';

export type Finding = Omit<Enrichment, 'vector' | 'sentences' | 'gap'> & {
  readonly gap: MissingAbility | null;
  readonly sentences: readonly Omit<RequestSentence, 'vector'>[];
};

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
  switch (turn.role) {
    case 'user': {
      const text = analysedPart(turn.content);
      const signals = detectSignals(text);
      const { request, aboutAssistant, sentences } = readRequest(
        text,
        signals.some(({ key }) => !SATISFIED.has(key)),
      );
      if (aboutAssistant !== null)
        return {
          kind: 'about-assistant',
          request: aboutAssistant,
          sentences: [],
          signals,
          gap: null,
        };
      if (request === '' || isContentedRemark(request, signals))
        return { kind: 'reply', request: '', sentences: [], signals, gap: null };
      return { kind: 'request', request, sentences, signals, gap: null };
    }
    case 'assistant': {
      const text = analysedPart(turn.content);
      const gap = detectGap(text, heads.gap);
      return {
        kind: 'none',
        request: '',
        sentences: [],
        signals: [],
        stance: stanceOf(text, gap !== null),
        gap,
      };
    }
    case 'other':
      return { kind: 'none', request: '', sentences: [], signals: [], gap: null };
  }
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
