/**
 * Reads observations and traces of Langfuse: the export to blob storage (`observations_v2/`, and the older
 * `observations/` and `traces/`, in snake case), and the JSON of its API and downloads (in camel case).
 * Source: langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields; api.reference.langfuse.com.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { parseTime } from '../../../domain/time.ts';
import { utcTime } from './utc-time.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, shareOf, type RowFormat } from './format.ts';
import { conversationOfSpans, type Span } from './traces.ts';

export const langfuse: RowFormat = {
  kind: 'rows',
  name: 'langfuse',
  title: 'Langfuse observations',
  joins: true,
  recognise({ values }) {
    return byShare(
      shareOf(
        values,
        (value) =>
          'id' in value &&
          'input' in value &&
          'output' in value &&
          (isObservation(value) ||
            ('timestamp' in value && ('session_id' in value || 'sessionId' in value || 'user_id' in value))),
      ),
      0.96,
      'entries have input and output, and a trace or session',
    );
  },
  place(value) {
    if (!isObject(value)) return { fault: 'not a JSON object' };
    const id = textOf(value['id']);
    if (id === undefined) return { fault: 'id: missing' };
    const trace = either(value, 'trace_id', 'traceId') ?? id;
    const type = textOf(value['type'])?.toUpperCase() ?? 'TRACE';
    const parent = either(value, 'parent_observation_id', 'parentObservationId');
    const isCall = type === 'GENERATION';
    // The older `traces/` has the same messages with their session.
    if ('trace_id' in value && !('session_id' in value))
      return { leftOut: 'observation without its session (import observations_v2 or traces)' };
    const { input = null, output = null } = value;
    if (!isCall && parent !== undefined) return { leftOut: 'step inside a trace' };
    if ((input ?? output ?? null) === null || (input === '' && output === ''))
      return { leftOut: 'step without messages' };
    const startedAt = utcTime(value['start_time'] ?? value['startTime'] ?? value['timestamp']);
    const endedAt = utcTime(value['end_time'] ?? value['endTime']);
    const userId = either(value, 'user_id', 'userId');
    const kept: Span = {
      id,
      trace,
      isRoot: parent === undefined,
      isCall,
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
      ...(userId === undefined ? {} : { userId }),
      input,
      output,
    };
    const at = typeof startedAt === 'string' ? parseTime(startedAt) : null;
    return { conversation: either(value, 'session_id', 'sessionId') ?? null, part: trace, at, kept };
  },
  assemble: (conversation, rows) => conversationOfSpans(conversation, 'langfuse', rows as readonly Span[]),
};

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
