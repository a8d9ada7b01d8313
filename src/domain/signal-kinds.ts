/**
 * The kinds of satisfaction signal, after the rubrics of the satisfaction literature. What a message must say is in
 * `enrich/signal-rules.ts`. A key never changes, and new kinds go to the end: facts store their index.
 * Covered by test/enrich/signals.test.ts.
 */
export const SIGNALS = [
  {
    key: 'gratitude',
    type: 'SAT',
    name: 'Gratitude',
    description: 'The user thanks the assistant for its help.',
  },
  {
    key: 'praise',
    type: 'SAT',
    name: 'Praise',
    description: 'The user praises the assistant or its answer.',
  },
  {
    key: 'problem-solved',
    type: 'SAT',
    name: 'Problem solved',
    description: 'The user says that the problem is solved or the answer works.',
  },
  {
    key: 'positive-closing',
    type: 'SAT',
    name: 'Positive closing',
    description: 'The user ends the conversation content, with nothing left to ask.',
  },
  {
    key: 'acknowledgement',
    type: 'SAT',
    name: 'Learning or acknowledgement',
    description: 'The user says that they understood or learned something.',
  },
  {
    key: 'negative-feedback',
    type: 'DSAT',
    name: 'Negative feedback',
    description: 'The user says that the answer is bad or did not help.',
  },
  {
    key: 'correction',
    type: 'DSAT',
    name: 'Correction',
    description: 'The user says that the assistant misunderstood, or corrects or replaces what it offered.',
  },
  {
    key: 'factual-error',
    type: 'DSAT',
    name: 'Factual error claimed',
    description: 'The user says that the answer is wrong.',
  },
  {
    key: 'repetition',
    type: 'DSAT',
    name: 'Request repeated',
    description: 'The user asks again for what the assistant already answered.',
  },
  {
    key: 'ignored-instruction',
    type: 'DSAT',
    name: 'Ignored instruction',
    description: 'The user says that an instruction was not followed.',
  },
  {
    key: 'insufficient-detail',
    type: 'DSAT',
    name: 'Insufficient detail',
    description: 'The user finds the answer too short, vague or incomplete.',
  },
  {
    key: 'frustration',
    type: 'DSAT',
    name: 'Frustration',
    description: 'The user is angry, insults or complains.',
  },
  {
    key: 'gives-up',
    type: 'DSAT',
    name: 'Gives up or asks for a human',
    description: 'The user gives up or asks for a person instead of the assistant.',
  },
] as const satisfies readonly { key: string; type: 'SAT' | 'DSAT'; name: string; description: string }[];

export type SignalKey = (typeof SIGNALS)[number]['key'];
