/**
 * Reads runs of LangSmith: the bulk export (Parquet), and runs of its API or SDK as JSON.
 * Source: docs.langchain.com/langsmith/data-export and docs.langchain.com/langsmith/run-data-format; threads by
 * `session_id`, `thread_id` or `conversation_id` in the metadata: docs.langchain.com/langsmith/threads.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { utcTime } from '../times.ts';
import { scoreOf, type GivenFeedback } from '../../traces/given-feedback.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare } from './format.ts';
import { attributesIn, spansFormat } from './traces.ts';

const THREADS = ['session_id', 'thread_id', 'conversation_id'];
const USERS = ['user_id', 'userId', 'ls_user_id'];

export const langsmith = spansFormat({
  name: 'langsmith',
  title: 'LangSmith runs',
  recognise: byShare({
    holds: (value) => 'run_type' in value && 'inputs' in value && 'outputs' in value,
    confidence: 0.98,
    reason: 'entries have run_type, inputs and outputs',
  }),
  place(value, id) {
    const trace = textOf(value['trace_id']) ?? id;
    const isRoot = isRootRun(value, id, trace);
    const isCall = value['run_type'] === 'llm';
    if (!isRoot && !isCall) return { leftOut: 'step inside a trace' };
    const metadata = metadataOf(value);
    const firstOf = (names: readonly string[]): string | undefined =>
      names.map((name) => textOf(metadata[name])).find((text) => text !== undefined);
    return {
      // The column `session_id` is the project, not the thread.
      conversation: textOf(value['thread_id']) ?? firstOf(THREADS),
      span: {
        id,
        trace,
        isRoot,
        isCall,
        startedAt: utcTime(value['start_time']),
        endedAt: utcTime(value['end_time']),
        userId: firstOf(USERS),
        attributes: attributesIn(
          Object.fromEntries(
            Object.entries(metadata).map(([name, member]) => [`langsmith.metadata.${name}`, member]),
          ),
          isCall,
        ),
        input: value['inputs'] ?? null,
        output: value['outputs'] ?? null,
        feedback: feedbackOf(value['feedback_stats']),
      },
    };
  },
});

/** Reads thumbs of end users from the statistics of a run: one for each key, where all gave the same. */
function feedbackOf(stats: unknown): GivenFeedback[] {
  const keys = objectOrText(stats);
  if (!isObject(keys)) return [];
  return Object.entries(keys).flatMap(([key, of]) => (isObject(of) ? (scoreOf(key, of['avg']) ?? []) : []));
}

function isRootRun(value: Record<string, unknown>, id: string, trace: string): boolean {
  if (typeof value['is_root'] === 'boolean') return value['is_root'];
  if (textOf(value['parent_run_id']) !== undefined) return false;
  const parents = objectOrText(value['parent_run_ids']);
  return Array.isArray(parents) ? parents.length === 0 : id === trace;
}

function metadataOf(value: Record<string, unknown>): Record<string, unknown> {
  const extra = objectOrText(value['extra']);
  const metadata = objectOrText((isObject(extra) ? extra['metadata'] : undefined) ?? value['metadata']);
  return isObject(metadata) ? metadata : {};
}

/** Parses nested values, which Parquet has as JSON text. */
function objectOrText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
