/**
 * Reads observations and traces of Langfuse: the export to blob storage (`observations_v2/`, and the older
 * `observations/` and `traces/`, in snake case), and the JSON of its API and downloads (in camel case).
 * Source: langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields; api.reference.langfuse.com.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { utcTime } from '../times.ts';
import { textOf } from '../../traces/values.ts';
import { byShare } from './format.ts';
import { attributesIn, spansFormat } from './traces.ts';

export const langfuse = spansFormat({
  name: 'langfuse',
  title: 'Langfuse observations',
  recognise: byShare({
    holds: (value) =>
      'id' in value &&
      'input' in value &&
      'output' in value &&
      (isObservation(value) ||
        ('timestamp' in value && ('session_id' in value || 'sessionId' in value || 'user_id' in value))),
    confidence: 0.96,
    reason: 'entries have input and output, and a trace or session',
  }),
  place(value, id) {
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
      },
    };
  },
});

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
