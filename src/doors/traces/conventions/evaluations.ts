/**
 * Reads feedback of end users out of evaluations: `gen_ai.evaluation.result` as an event of a span, a log record or a
 * span of its own. Keeps the invariant that an evaluation counts by its name alone: most come from evaluators.
 * https://github.com/open-telemetry/semantic-conventions-genai (docs/gen-ai/gen-ai-events.md)
 *
 * Test: test/doors/traces/conventions/evaluations.test.ts.
 */
import { scoreOf } from '../given-feedback.ts';
import type { ObservedFeedback } from '../observation.ts';
import type { Attributes } from '../span.ts';

const EVENT = 'gen_ai.evaluation.result';
const NAME = 'gen_ai.evaluation.name';
/** The first that is a thumb counts. */
const SCORES = ['gen_ai.evaluation.score.value', 'gen_ai.evaluation.score.label'];

/** The names of the attributes that are read. */
export const EVALUATION_NAMES: ReadonlySet<string> = new Set([NAME, ...SCORES]);

export function isEvaluation(event: string): boolean {
  return event === EVENT;
}

/** Returns what an end user gave; null: an evaluator's result, or none. `at`: microseconds since 1970. */
export function feedbackIn(attributes: Attributes, at: number): ObservedFeedback | null {
  const name = attributes.get(NAME);
  if (typeof name !== 'string') return null;
  for (const score of SCORES) {
    const given = scoreOf(name, attributes.get(score));
    if (given !== null) return { value: given.value, at };
  }
  return null;
}
