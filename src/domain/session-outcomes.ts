/**
 * The outcomes of a session, declared once: query, documents, columns and the dashboard follow from them.
 *
 * Test: test/e2e/session-rules.test.ts.
 */

export const SESSION_OUTCOMES = [
  'solved',
  'thanked',
  'handed_over',
  'gave_up',
  'not_possible',
  'open',
] as const;
export type SessionOutcome = (typeof SESSION_OUTCOMES)[number];

/** Label and one-sentence meaning of each outcome. */
export const OUTCOME_WORDS: Readonly<
  Record<SessionOutcome, { readonly label: string; readonly meaning: string }>
> = {
  solved: {
    label: 'Solved',
    meaning: 'The user says that it works, or the assistant reports it done and nobody contradicts.',
  },
  thanked: {
    label: 'Thanked',
    meaning: 'Nothing shows that it is solved, but the user ends with thanks or approval.',
  },
  handed_over: { label: 'Handed over', meaning: 'The assistant hands the conversation over to a person.' },
  gave_up: { label: 'Gave up', meaning: 'The user gives up, or asks for a person instead of the assistant.' },
  not_possible: {
    label: 'Not possible',
    meaning: 'The assistant cannot do it or does not know, and that stays the last word.',
  },
  open: {
    label: 'Open',
    meaning: 'Nothing of that: the request still waits for its answer, or nobody says whether it is solved.',
  },
};
