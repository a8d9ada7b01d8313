/**
 * The question that a check asks about a conversation, in the same words for people and for language models.
 *
 * Test: test/e2e/dashboard.test.ts, test/doors/writer/second-reader.test.ts.
 */
import type { Checked } from './checks.ts';

/** The question, before the name of what is checked and a question mark. */
export const CHECK_QUESTIONS: Readonly<Record<Checked, string>> = {
  TOPIC: 'Is this conversation about',
  SIGNAL: 'Does this conversation show the signal',
  GAP: 'Did the user ask for something that the assistant could not do or did not know, namely',
  REPEATED_REQUEST: 'Does the user ask more than once for',
  LABEL: 'Does this conversation deserve the label',
  OUTCOME: 'Did this conversation end as',
  GAP_TYPE: 'Does this conversation show a case of',
};
