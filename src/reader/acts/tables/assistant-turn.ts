/**
 * The act of an assistant turn: what it leaves the user to say. It decides whether a user's phrase becomes a signal
 * (`SAID` in signal-phrases.ts).
 *
 * Test: test/reader/acts/tables/act-tables.test.ts.
 */
import type { AssistantAct } from '../../../domain/facts.ts';
import { endsOf, signalPhrases, type AssistantPhrase } from '../signal-phrases.ts';
import { firstRule, type ActRule } from './act-table.ts';

/** Number of tokens at the end of a turn in which a question asks the user. */
const CLOSING_TOKENS = 60;

/** The properties of a turn, read from both of its ends. */
export interface TurnRead {
  /** True if it admits that it cannot do or does not know something. */
  readonly lacks: boolean;
  readonly phrases: ReadonlySet<AssistantPhrase>;
  /** True if a question stands near its end. */
  readonly asks: boolean;
  /** True if one of those questions asks how something is or went. */
  readonly asksAbout: boolean;
}

/** Exported for its test; use `assistantActOf`. */
export const TURN_ACTS: readonly ActRule<TurnRead, AssistantAct>[] = [
  { act: 'asked-if-helped', when: ({ phrases }) => phrases.has('asks-if-helped'), example: 'Did that help?' },
  {
    act: 'unable',
    when: ({ phrases, lacks }) => phrases.has('asks-for-more') && (lacks || phrases.has('unable')),
    example: 'I cannot open the harbour gate. Is there anything else I can help with?',
  },
  {
    act: 'asked-for-more',
    when: ({ phrases }) => phrases.has('asks-for-more'),
    example: 'The gate opens at nine. Is there anything else I can help with?',
  },
  {
    act: 'asked-about',
    when: ({ asksAbout }) => asksAbout,
    example: 'What happens when you start the engine?',
  },
  { act: 'asked', when: ({ asks }) => asks, example: 'Which boat is it?' },
  {
    act: 'asked',
    when: ({ phrases }) => phrases.has('asks'),
    example: 'Please tell me the number of your berth.',
  },
  { act: 'waiting', when: ({ phrases }) => phrases.has('waits'), example: 'One moment, please.' },
  {
    act: 'unable',
    when: ({ phrases, lacks }) => lacks || phrases.has('unable'),
    example: 'I cannot open the harbour gate.',
  },
  { act: 'answered', example: 'The gate opens at nine.' },
];

/** Reads both ends of a turn. `lacks`: the turn has a gap. */
export function readTurn(content: string, lacks: boolean): TurnRead {
  const { matches, tokens, closings } = signalPhrases().assistant.match(endsOf(content));
  const from = Math.max(0, tokens.length - CLOSING_TOKENS);
  return {
    lacks,
    phrases: new Set(matches.map(({ kind }) => kind)),
    asks: closings.indexOf('?', from) >= 0,
    asksAbout: matches.some(
      ({ kind, start }) => kind === 'asks-about' && start >= from && closings[start] === '?',
    ),
  };
}

/** The act of an assistant turn. `lacks`: the turn has a gap. */
export function assistantActOf(content: string, lacks: boolean): AssistantAct {
  return firstRule(TURN_ACTS, readTurn(content, lacks)).act;
}
