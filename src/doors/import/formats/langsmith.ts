/**
 * Reads runs of LangSmith: the bulk export (Parquet), and runs of its API or SDK as JSON.
 * Source: docs.langchain.com/langsmith/data-export and docs.langchain.com/langsmith/run-data-format; threads by
 * `session_id`, `thread_id` or `conversation_id` in the metadata: docs.langchain.com/langsmith/threads.
 *
 * Test: test/doors/import/formats/registry.test.ts.
 */
import { parseTime } from '../../../domain/time.ts';
import { utcTime } from './utc-time.ts';
import { isObject, textOf } from '../../traces/values.ts';
import { byShare, shareOf, type RowFormat } from './format.ts';
import { conversationOfSpans, type Span } from './traces.ts';

const THREADS = ['session_id', 'thread_id', 'conversation_id'];
const USERS = ['user_id', 'userId', 'ls_user_id'];

export const langsmith: RowFormat = {
  kind: 'rows',
  name: 'langsmith',
  title: 'LangSmith runs',
  joins: true,
  recognise({ values }) {
    return byShare(
      shareOf(values, (value) => 'run_type' in value && 'inputs' in value && 'outputs' in value),
      0.98,
      'entries have run_type, inputs and outputs',
    );
  },
  place(value) {
    if (!isObject(value)) return { fault: 'not a JSON object' };
    const id = textOf(value['id']);
    if (id === undefined) return { fault: 'id: missing' };
    const trace = textOf(value['trace_id']) ?? id;
    const isRoot = isRootRun(value, id, trace);
    const isCall = value['run_type'] === 'llm';
    if (!isRoot && !isCall) return { leftOut: 'step inside a trace' };
    const metadata = metadataOf(value);
    const startedAt = utcTime(value['start_time']);
    const endedAt = utcTime(value['end_time']);
    const userId = USERS.map((name) => textOf(metadata[name])).find((user) => user !== undefined);
    const kept: Span = {
      id,
      trace,
      isRoot,
      isCall,
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(endedAt === undefined ? {} : { endedAt }),
      ...(userId === undefined ? {} : { userId }),
      input: value['inputs'] ?? null,
      output: value['outputs'] ?? null,
    };
    // The column `session_id` is the project, not the thread.
    const thread =
      textOf(value['thread_id']) ??
      THREADS.map((name) => textOf(metadata[name])).find((name) => name !== undefined);
    const at = typeof startedAt === 'string' ? parseTime(startedAt) : null;
    return { conversation: thread ?? null, part: trace, at, kept };
  },
  assemble: (conversation, rows) => conversationOfSpans(conversation, 'langsmith', rows as readonly Span[]),
};

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
