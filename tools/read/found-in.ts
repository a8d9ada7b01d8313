/**
 * Lists what the reader finds in one turn, and by which phrases. It opens no embedding model, so it calls a request what
 * holds no word that the model knows.
 *
 * Test: test/tools/read.test.ts.
 */
import { ASSISTANT_ACTS, type SignalCandidate } from '../../src/domain/facts.ts';
import { findIn } from '../../src/reader/acts/finding.ts';
import { gapMatcher } from '../../src/reader/acts/gap-phrases.ts';
import { loadHeads } from '../../src/reader/acts/heads.ts';
import { signalPhrases } from '../../src/reader/acts/signal-phrases.ts';
import { turnMatcher } from '../../src/reader/acts/turn-phrases.ts';
import { signalsInContext } from '../../src/reader/conversations/signal-context.ts';
import { sentencesOf } from '../../src/reader/document/sentences.ts';
import type { MatchedText } from '../../src/reader/phrases/phrase-matcher.ts';

export const ROLES = ['user', 'assistant'] as const;

export interface ReadOptions {
  readonly role?: (typeof ROLES)[number];
  /** The assistant's turn before; left out if the turn opens the session. */
  readonly after?: string;
}

/** A line of the table: what is found, where or in which words, and by which phrase of the lexicon. */
export type FoundRow = readonly [found: string, words: string, phrase: string];

/** Finds what a turn says: kind, request and signals of a user's, act and gap of an assistant's, and all phrases. */
export function foundIn(content: string, { role = 'user', after }: ReadOptions = {}): FoundRow[] {
  const heads = loadHeads();
  const { kind, request, signals, act, gap } = findIn({ role, content }, heads);
  if (role === 'assistant')
    return [
      ['act', act ?? 'none', ''],
      ['gap', gap === null ? 'none' : `${gap.type}: ${gap.words}`, gap?.claim ?? ''],
      ...phraseRows('signals', signalPhrases().assistant.match(content)),
      ...phraseRows('gaps', gapMatcher().match(content)),
    ];
  const latestAct =
    after === undefined ? null : (findIn({ role: 'assistant', content: after }, heads).act ?? null);
  const counted = signalsInContext(signals, { latestAct, hasUserTurn: after !== undefined });
  const context = after === undefined ? 'as the first turn' : `after "${latestAct ?? 'no act'}"`;
  return [
    ['kind', kind, ''],
    ['request', request || 'none', ''],
    ...signals.map((signal): FoundRow => ['signal', signal.key, `counts ${whenCounted(signal)}`]),
    [`counts ${context}`, counted.join(', ') || 'no signal', ''],
    ...phraseRows('signals', signalPhrases().user.match(content)),
    ...phraseRows('signals', signalPhrases().beside.match(content)),
    // The reader reads signals in the whole turn, and what the turn asks for sentence by sentence.
    ...sentencesOf(content).flatMap((sentence) => phraseRows('turns', turnMatcher().match(sentence))),
  ];
}

function whenCounted({ needs, first }: SignalCandidate): string {
  const acts = needs.length === ASSISTANT_ACTS.length ? 'any act' : needs.join(', ');
  return `after ${acts}${first ? ', and as the first turn' : ''}`;
}

/** One row for each phrase and place; of matches of one phrase within each other, the longest. */
function phraseRows(file: string, { text, tokens, matches }: MatchedText<string>): FoundRow[] {
  const longest = matches.filter(
    (match, place) =>
      !matches.some(
        (other, at) =>
          other.phrase === match.phrase &&
          other.kind === match.kind &&
          other.start <= match.start &&
          other.end >= match.end &&
          (other.end - other.start > match.end - match.start || at < place),
      ),
  );
  return longest.map(({ kind, language, phrase, start, end, negated }) => [
    `${language}/${file}.json, ${kind}${negated ? ', denied' : ''}`,
    text.slice(tokens[start]?.start, tokens[end - 1]?.end),
    phrase,
  ]);
}
