/**
 * Reads observations and traces of Langfuse: the export to blob storage (`observations_v2/`, and the older
 * `observations/` and `traces/`, in snake case; thumbs of end users in `scores/`), and the JSON of its API and downloads
 * (in camel case).
 * Source: langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields; api.reference.langfuse.com.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { utcTime } from '../times.ts';
import { scoreOf, type GivenFeedback } from '../../traces/given-feedback.ts';
import { textOf } from '../../traces/values.ts';
import { byShare, objectsOf } from './format.ts';
import { attributesIn, spansFormat } from './traces.ts';

export const langfuse = spansFormat({
  name: 'langfuse',
  title: 'Langfuse observations',
  recognise: byShare({
    holds: (value) =>
      isScore(value) ||
      ('id' in value &&
        'input' in value &&
        'output' in value &&
        (isObservation(value) ||
          ('timestamp' in value && ('session_id' in value || 'sessionId' in value || 'user_id' in value)))),
    confidence: 0.96,
    reason: 'entries have input and output, and a trace or session',
  }),
  place(value, id) {
    if (isScore(value)) {
      const trace = either(value, 'trace_id', 'traceId');
      const score = givenIn(value);
      return trace === undefined || score === null ? { leftOut: 'score that is no thumb' } : { trace, score };
    }
    const parent = either(value, 'parent_observation_id', 'parentObservationId');
    const isCall = (textOf(value['type'])?.toUpperCase() ?? 'TRACE') === 'GENERATION';
    // The older `traces/` has the same messages with their session.
    if ('trace_id' in value && !('session_id' in value))
      return { leftOut: 'observation without its session (import observations_v2 or traces)' };
    const { input = null, output = null } = value;
    if (!isCall && parent !== undefined) return { leftOut: 'step inside a trace' };
    if ((input ?? output ?? null) === null || (input === '' && output === ''))
      return { leftOut: 'step without messages' };
    return {
      conversation: either(value, 'session_id', 'sessionId'),
      span: {
        id,
        trace: either(value, 'trace_id', 'traceId') ?? id,
        isRoot: parent === undefined,
        isCall,
        startedAt: utcTime(value['start_time'] ?? value['startTime'] ?? value['timestamp']),
        endedAt: utcTime(value['end_time'] ?? value['endTime']),
        userId: either(value, 'user_id', 'userId'),
        attributes: attributesIn(
          {
            'langfuse.release': value['release'],
            'langfuse.environment': value['environment'],
            'langfuse.observation.model.name':
              either(value, 'provided_model_name', 'providedModelName') ?? value['model'],
            'langfuse.observation.prompt.name': either(value, 'prompt_name', 'promptName'),
            'langfuse.observation.prompt.version': either(value, 'prompt_version', 'promptVersion'),
            'langfuse.trace.metadata': value['metadata'],
          },
          isCall,
        ),
        input,
        output,
        feedback: objectsOf(value['scores']).flatMap((score) => givenIn(score) ?? []),
      },
    };
  },
});

function isScore(value: Record<string, unknown>): boolean {
  return (
    'name' in value &&
    'value' in value &&
    'source' in value &&
    ('trace_id' in value || 'traceId' in value) &&
    !('input' in value)
  );
}

/** Reads a score that an end user gave: the API brings it. Others are of evaluators (EVAL) and annotators. */
function givenIn(score: Record<string, unknown>): GivenFeedback | null {
  if (score['source'] !== 'API') return null;
  const isText = either(score, 'data_type', 'dataType') === 'CATEGORICAL';
  const value = isText ? (score['string_value'] ?? score['stringValue'] ?? score['value']) : score['value'];
  return scoreOf(textOf(score['name']) ?? '', value);
}

function isObservation(value: Record<string, unknown>): boolean {
  return (
    'parent_observation_id' in value ||
    'parentObservationId' in value ||
    'trace_id' in value ||
    'traceId' in value
  );
}

function either(value: Record<string, unknown>, one: string, other: string): string | undefined {
  return textOf(value[one]) ?? textOf(value[other]);
}
