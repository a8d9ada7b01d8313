/**
 * The kinds of satisfaction signal, after the rubrics of the satisfaction literature. Phrases are in
 * `lexicon/<language>/signals.json`, the required preceding acts in `src/reader/acts/signal-phrases.ts`. Facts store a
 * kind's index: a key never changes, and new kinds go to the end.
 *
 * Test: test/reader/acts/signals.test.ts.
 */

export const SIGNALS = [
  {
    key: 'gratitude',
    type: 'SAT',
    name: 'Gratitude',
    description:
      'The user thanks the assistant for an answer. Thanks in advance, for nothing, or after a refusal do not count.',
  },
  {
    key: 'praise',
    type: 'SAT',
    name: 'Praise',
    description:
      'The user praises the assistant or its answer. A word of approval before the next step does not count.',
  },
  {
    key: 'problem-solved',
    type: 'SAT',
    name: 'Problem solved',
    description: 'The user says that the problem is solved or that the answer works.',
  },
  {
    key: 'positive-closing',
    type: 'SAT',
    name: 'Positive closing',
    description:
      'The user says that everything is settled. A farewell alone, or after a refusal, does not count.',
  },
  {
    key: 'acknowledgement',
    type: 'SAT',
    name: 'Learning or acknowledgement',
    description: 'The user says that they understood or learned something. "OK" does not count.',
  },
  {
    key: 'negative-feedback',
    type: 'DSAT',
    name: 'Negative feedback',
    description:
      'The user says that the answer is bad or did not help. ' +
      'Complaints about a product, a price or a third party do not count.',
  },
  {
    key: 'correction',
    type: 'DSAT',
    name: 'Correction',
    description:
      'The user says that the assistant misunderstood. Answers to its questions, and other wishes, do not count.',
  },
  {
    key: 'factual-error',
    type: 'DSAT',
    name: 'Factual error claimed',
    description:
      'The user says that the answer is wrong, or doubts it. Errors of the user or in their own data do not count.',
  },
  {
    key: 'repetition',
    type: 'DSAT',
    name: 'Request repeated',
    description: 'The user asks again for what the assistant already answered, or says that they ask again.',
  },
  {
    key: 'ignored-instruction',
    type: 'DSAT',
    name: 'Ignored instruction',
    description: 'The user says that an instruction was not followed, or that they said something before.',
  },
  {
    key: 'insufficient-detail',
    type: 'DSAT',
    name: 'Insufficient detail',
    description:
      'The user finds the answer too short, vague or incomplete. A wish for more detail alone does not count.',
  },
  {
    key: 'frustration',
    type: 'DSAT',
    name: 'Frustration',
    description:
      'The user is angry at the assistant or mocks it. Anger before its first answer does not count.',
  },
  {
    key: 'gives-up',
    type: 'DSAT',
    name: 'Gives up or asks for a human',
    description:
      'The user gives up, or asks for a person instead of the assistant. ' +
      'Accepting its offer of a person does not count.',
  },
] as const satisfies readonly { key: string; type: 'SAT' | 'DSAT'; name: string; description: string }[];

export type SignalKey = (typeof SIGNALS)[number]['key'];
