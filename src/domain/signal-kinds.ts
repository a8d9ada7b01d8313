/**
 * The kinds of satisfaction signal. Those that are inferred from texts follow the rubrics of the satisfaction
 * literature; their phrases are in `lexicon/<language>/signals.json`, the required preceding acts in
 * `src/reader/acts/signal-phrases.ts`. Those that end users give come from feedback (views/feedback.sql), and no count
 * of SAT or DSAT contains them unless a query asks for it. Those that are observed show in what the assistant does
 * (`src/reader/conversations/conduct.ts`): no count contains them, and no list until people have checked them. Facts
 * store a kind's index: a key never changes, and new kinds go to the end.
 *
 * Test: test/reader/acts/signals.test.ts, test/view-laws.test.ts.
 */

/** Where a signal comes from: the text of the message, feedback on it, or what the assistant does. */
export const SIGNAL_SOURCES = ['INFERRED', 'GIVEN', 'OBSERVED'] as const;
export type SignalSource = (typeof SIGNAL_SOURCES)[number];

/** What a query counts as SAT and DSAT: signals of one source, or of both. */
export const COUNTED_SIGNALS = ['inferred', 'given', 'all'] as const;
export type CountedSignals = (typeof COUNTED_SIGNALS)[number];

export const SIGNALS = [
  {
    key: 'gratitude',
    type: 'SAT',
    source: 'INFERRED',
    name: 'Gratitude',
    description:
      'The user thanks the assistant for an answer. Thanks in advance, for nothing, or after a refusal do not count.',
  },
  {
    key: 'praise',
    type: 'SAT',
    source: 'INFERRED',
    name: 'Praise',
    description:
      'The user praises the assistant or its answer. A word of approval before the next step does not count.',
  },
  {
    key: 'problem-solved',
    type: 'SAT',
    source: 'INFERRED',
    name: 'Problem solved',
    description: 'The user says that the problem is solved or that the answer works.',
  },
  {
    key: 'positive-closing',
    type: 'SAT',
    source: 'INFERRED',
    name: 'Positive closing',
    description:
      'The user says that everything is settled. A farewell alone, or after a refusal, does not count.',
  },
  {
    key: 'acknowledgement',
    type: 'SAT',
    source: 'INFERRED',
    name: 'Learning or acknowledgement',
    description: 'The user says that they understood or learned something. "OK" does not count.',
  },
  {
    key: 'negative-feedback',
    type: 'DSAT',
    source: 'INFERRED',
    name: 'Negative feedback',
    description:
      'The user says that the answer is bad or did not help. ' +
      'Complaints about a product, a price or a third party do not count.',
  },
  {
    key: 'correction',
    type: 'DSAT',
    source: 'INFERRED',
    name: 'Correction',
    description:
      'The user says that the assistant misunderstood. Answers to its questions, and other wishes, do not count.',
  },
  {
    key: 'factual-error',
    type: 'DSAT',
    source: 'INFERRED',
    name: 'Factual error claimed',
    description:
      'The user says that the answer is wrong, or doubts it. Errors of the user or in their own data do not count.',
  },
  {
    key: 'repetition',
    type: 'DSAT',
    source: 'INFERRED',
    name: 'Request repeated',
    description: 'The user asks again for what the assistant already answered, or says that they ask again.',
  },
  {
    key: 'ignored-instruction',
    type: 'DSAT',
    source: 'INFERRED',
    name: 'Ignored instruction',
    description: 'The user says that an instruction was not followed, or that they said something before.',
  },
  {
    key: 'insufficient-detail',
    type: 'DSAT',
    source: 'INFERRED',
    name: 'Insufficient detail',
    description:
      'The user finds the answer too short, vague or incomplete. A wish for more detail alone does not count.',
  },
  {
    key: 'frustration',
    type: 'DSAT',
    source: 'INFERRED',
    name: 'Frustration',
    description:
      'The user is angry at the assistant or mocks it. Anger before its first answer does not count.',
  },
  {
    key: 'gives-up',
    type: 'DSAT',
    source: 'INFERRED',
    name: 'Gives up or asks for a human',
    description:
      'The user gives up, or asks for a person instead of the assistant. ' +
      'Accepting its offer of a person does not count.',
  },
  {
    key: 'thumbs-up',
    type: 'SAT',
    source: 'GIVEN',
    name: 'Thumbs up',
    description: 'Given by an end user: the message was good. It does not count as SAT.',
  },
  {
    key: 'thumbs-down',
    type: 'DSAT',
    source: 'GIVEN',
    name: 'Thumbs down',
    description: 'Given by an end user: the message was bad. It does not count as DSAT.',
  },
  {
    key: 'ignores-correction',
    type: 'DSAT',
    source: 'OBSERVED',
    name: 'Ignored a correction',
    description:
      'The user corrects the assistant, and it gives the same answer again, or must be corrected again at once.',
  },
  {
    key: 'forgets',
    type: 'DSAT',
    source: 'OBSERVED',
    name: 'Forgot what was said',
    description: 'The assistant asks again for what the user has told it.',
  },
  {
    key: 'answers-else',
    type: 'DSAT',
    source: 'OBSERVED',
    name: 'Answered something else',
    description: 'After an answer, the user says that it was misunderstood, and asks for the same again.',
  },
  {
    key: 'repeats-itself',
    type: 'DSAT',
    source: 'OBSERVED',
    name: 'Kept repeating itself',
    description: 'The user complains or asks again, and the assistant gives an answer that it gave before.',
  },
] as const satisfies readonly {
  key: string;
  type: 'SAT' | 'DSAT';
  source: SignalSource;
  name: string;
  description: string;
}[];

type Signal = (typeof SIGNALS)[number];
/** Keys of the inferred kinds. */
export type SignalKey = Extract<Signal, { readonly source: 'INFERRED' }>['key'];
/** Keys of the observed kinds. */
export type ObservedKey = Extract<Signal, { readonly source: 'OBSERVED' }>['key'];

/** The kinds that are inferred, in the order of their indexes. */
export const INFERRED_SIGNALS = SIGNALS.filter(
  (signal): signal is Extract<Signal, { readonly source: 'INFERRED' }> => signal.source === 'INFERRED',
);

/** Returns true if the signal with this index is given by end users. */
export function isGiven(index: number): boolean {
  return SIGNALS[index]?.source === 'GIVEN';
}
