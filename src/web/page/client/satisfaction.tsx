/**
 * What counts as satisfaction: what users say in texts, the thumbs that they give, or both. The choice in the header
 * stays while one clicks through the page, and the figures are worded by it.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { COUNTED_SIGNALS, type CountedSignals } from '../../../domain/signal-kinds.ts';
import { api } from './api.ts';
import { Choice } from './choice.tsx';
import { useAnswer, useNavigation } from './hooks.ts';
import { START } from './state.ts';

interface Words {
  readonly choice: string;
  /** The labels of `sat` and `dsat`, and what they count. */
  readonly sat: readonly [label: string, meaning: string];
  readonly dsat: readonly [label: string, meaning: string];
  /** What `netSat` counts. */
  readonly net: string;
}

export const SATISFACTION_WORDS: Readonly<Record<CountedSignals, Words>> = {
  inferred: {
    choice: 'satisfaction from texts',
    sat: [
      'Signals of satisfaction',
      'Users thanked, praised, or said that it worked; some more than once in a conversation.',
    ],
    dsat: [
      'Signals of dissatisfaction',
      'Users complained, corrected, asked again or gave up; some more than once in a conversation.',
    ],
    net: 'Signals of satisfaction minus those of dissatisfaction, per 100 messages.',
  },
  given: {
    choice: 'satisfaction from thumbs',
    sat: ['Thumbs up', 'Messages with a thumb up of a user.'],
    dsat: ['Thumbs down', 'Messages with a thumb down of a user.'],
    net: 'Messages with a thumb up minus those with a thumb down, per 100 messages.',
  },
  all: {
    choice: 'satisfaction from both',
    sat: [
      'Signals of satisfaction',
      'Users thanked, praised, said that it worked, or gave a thumb up; some more than once in a conversation.',
    ],
    dsat: [
      'Signals of dissatisfaction',
      'Users complained, corrected, asked again, gave up, or gave a thumb down; some more than once in a conversation.',
    ],
    net: 'Signals of satisfaction and thumbs up minus those of dissatisfaction and thumbs down, per 100 messages.',
  },
};

/** Chooses what counts as satisfaction; nothing where no user has given a thumb. */
export function SatisfactionChoice() {
  const { state, go } = useNavigation();
  const { value } = useAnswer(`thumbs ${state.instance}`, '', async (signal) =>
    state.instance === ''
      ? null
      : api.query(
          {
            instanceId: state.instance,
            groupBy: 'CSAT_DSAT',
            fields: 'messages',
            signalSource: 'GIVEN',
            limit: 1,
          },
          signal,
        ),
  );
  const hasThumbs = (value?.elements.length ?? 0) > 0;
  if (!hasThumbs && state.signals === START.signals) return null;
  return (
    <Choice
      label="Satisfaction"
      isInBar
      value={state.signals}
      options={COUNTED_SIGNALS.map((signals) => [signals, SATISFACTION_WORDS[signals].choice])}
      onChoice={(signals) => go({ signals })}
    />
  );
}
