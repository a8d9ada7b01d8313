/**
 * The stages: temporary tables that bring the rows of a batch to the views' SQL.
 *
 * Test: test/store/live/stages.test.ts, test/store/live/session-states.test.ts.
 */
import type { MessageFact, StateRow } from '../../domain/facts.ts';
import { derivedId } from '../../domain/ids.ts';
import { KINDS } from '../../domain/kinds.ts';
import { SIGNALS } from '../../domain/signal-kinds.ts';
import type { ColumnType } from '../duckdb.ts';
import type { Batch } from './batch.ts';

/**
 * Most bytes of a session's state in one row. DuckDB writes a value of 4096 bytes or more apart, into a block of 256 KiB
 * that only neighbouring rows share: one such value in a hundred costs as much as all the others.
 */
const PART_BYTES = 4000;

/** Values by column. */
export type StageRow = readonly (number | string | Uint8Array | null)[];

/** A temporary table with rows of a batch. */
export interface Stage {
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Returns rows with a value for each column, in their order. */
  readonly rows: (batch: Batch) => readonly StageRow[];
}

/** All stages by table name. Views read them as temporary tables. */
export const STAGES = {
  batch_message: {
    columns: {
      position: 'bigint',
      instance: 'integer',
      session: 'integer',
      end_user: 'integer',
      event_at: 'bigint',
      micro: 'integer',
      sat: 'integer',
      dsat: 'integer',
      repeated_requests: 'integer',
      wait: 'integer',
      is_reply: 'integer',
    },
    rows: ({ assignment }) => assignment.messages.map(messageRow),
  },
  batch_usage: {
    columns: {
      position: 'bigint',
      instance: 'integer',
      session: 'integer',
      event_at: 'bigint',
      input_tokens: 'bigint',
      output_tokens: 'bigint',
      cost_nanos: 'bigint',
    },
    rows: ({ assignment }) =>
      assignment.messages.flatMap(({ position, instance, session, at, usage }) =>
        usage === undefined
          ? []
          : [[position, instance, session, at, usage.inputTokens, usage.outputTokens, usage.costNanos]],
      ),
  },
  batch_occurrence: {
    columns: { position: 'bigint', kind: 'integer', entity: 'integer' },
    rows: ({ assignment }) => assignment.messages.flatMap(occurrences),
  },
  batch_correction: {
    columns: { position: 'bigint', kind: 'integer', slot: 'integer', entity: 'integer' },
    rows: ({ assignment }) =>
      assignment.corrections.map((row) => [row.position, row.kind, row.slot, row.entity]),
  },
  batch_outcome: {
    columns: { session: 'integer', outcome: 'text' },
    rows: ({ assignment }) => assignment.outcomes.map((row) => [row.session, row.outcome]),
  },
  batch_opening_author: {
    columns: { instance: 'integer', session: 'integer', end_user: 'integer', before_position: 'bigint' },
    rows: ({ assignment }) =>
      assignment.openingAuthors.map((row) => [row.instance, row.session, row.user, row.beforePosition]),
  },
  batch_instance: {
    columns: {
      instance: 'integer',
      id: 'text',
      project: 'text',
      last_sequence: 'bigint',
      processed_at: 'bigint',
    },
    rows: ({ instances, processedAt }) =>
      instances.map((row) => [row.instance, row.id, row.projectId, row.lastSequence, processedAt]),
  },
  batch_session: {
    columns: {
      instance: 'integer',
      session: 'integer',
      id: 'text',
      end_user: 'integer',
      title: 'text',
      summary: 'text',
      language: 'text',
      outcome: 'text',
      unanswered: 'integer',
    },
    rows: ({ assignment }) =>
      assignment.sessions.map((row) => [
        row.instance,
        row.session,
        row.id,
        row.user ?? 0,
        row.title,
        row.summary,
        row.language,
        row.outcome,
        Number(row.isUnanswered ?? false),
      ]),
  },
  batch_session_name: {
    columns: { session: 'integer', external_id: 'text' },
    rows: ({ sessionNames }) => sessionNames.map((row) => [row.session, row.externalId]),
  },
  batch_end_user: {
    columns: { instance: 'integer', end_user: 'integer', id: 'text', external_id: 'text' },
    rows: ({ endUsers }) => endUsers.map((row) => [row.instance, row.endUser, row.id, row.externalId]),
  },
  batch_micro: {
    columns: { instance: 'integer', micro: 'integer', topic: 'integer' },
    rows: ({ assignment }) => assignment.micros.map((row) => [row.instance, row.micro, row.topic]),
  },
  batch_topic: {
    columns: {
      instance: 'integer',
      topic: 'integer',
      id: 'text',
      name: 'text',
      cluster: 'integer',
      heir: 'integer',
      since: 'bigint',
      description: 'text',
      is_own: 'integer',
      is_hidden: 'integer',
      is_named: 'integer',
    },
    rows: ({ assignment }) =>
      assignment.topics.map((row) => [
        row.instance,
        row.topic,
        row.id,
        row.name,
        row.cluster,
        row.heir,
        row.since,
        row.description ?? null,
        Number(row.isOwn ?? false),
        Number(row.isHidden ?? false),
        Number(row.isNamed ?? false),
      ]),
  },
  batch_cluster: {
    columns: { instance: 'integer', cluster: 'integer', id: 'text', name: 'text', is_named: 'integer' },
    rows: ({ assignment }) =>
      assignment.clusters.map((row) => [
        row.instance,
        row.cluster,
        row.id,
        row.name,
        Number(row.isNamed ?? false),
      ]),
  },
  batch_signal: {
    columns: {
      instance: 'integer',
      signal: 'integer',
      id: 'text',
      name: 'text',
      signal_type: 'text',
      source: 'text',
      description: 'text',
    },
    rows: ({ assignment, feedback }) => [
      ...assignment.signals.map((row) => [
        row.instance,
        row.signal,
        row.id,
        row.name,
        row.signalType,
        row.source,
        row.description,
      ]),
      ...givenSignals(feedback),
    ],
  },
  batch_repeated_request: {
    columns: {
      instance: 'integer',
      repeated_request: 'integer',
      id: 'text',
      name: 'text',
      description: 'text',
      heir: 'integer',
      since: 'bigint',
    },
    rows: ({ assignment }) =>
      assignment.repeatedRequests.map((row) => [
        row.instance,
        row.repeatedRequest,
        row.id,
        row.name,
        row.description,
        row.heir,
        row.since,
      ]),
  },
  batch_gap: {
    columns: {
      instance: 'integer',
      gap: 'integer',
      id: 'text',
      name: 'text',
      description: 'text',
      gap_type: 'text',
      heir: 'integer',
      since: 'bigint',
      is_named: 'integer',
    },
    rows: ({ assignment }) =>
      assignment.gaps.map((row) => [
        row.instance,
        row.gap,
        row.id,
        row.name,
        row.description,
        row.gapType,
        row.heir,
        row.since,
        Number(row.isNamed ?? false),
      ]),
  },
  batch_label: {
    columns: {
      instance: 'integer',
      label: 'integer',
      id: 'text',
      name: 'text',
      description: 'text',
      is_gone: 'integer',
    },
    rows: ({ assignment }) =>
      assignment.labels.map((row) => [
        row.instance,
        row.label,
        row.id,
        row.name,
        row.description,
        Number(row.isGone),
      ]),
  },
  batch_label_micro: {
    columns: { instance: 'integer', label: 'integer', micro: 'integer', holds: 'integer' },
    rows: ({ assignment }) =>
      assignment.labelMicros.map((row) => [row.instance, row.label, row.micro, Number(row.holds)]),
  },
  batch_curation: {
    columns: {
      instance: 'integer',
      curation: 'integer',
      id: 'text',
      position: 'bigint',
      created_at: 'bigint',
      key_id: 'text',
      action: 'text',
      entity: 'text',
      entity_id: 'text',
      detail: 'text',
      refused: 'text',
      undone_by: 'text',
    },
    rows: ({ assignment }) =>
      assignment.curations.map((row) => [
        row.instance,
        row.curation,
        row.id,
        row.position,
        row.createdAt,
        row.keyId,
        row.action,
        row.entity,
        row.entityId,
        row.detail,
        row.refused,
        row.undoneBy,
      ]),
  },
  batch_feedback: {
    columns: {
      position: 'bigint',
      place: 'integer',
      instance: 'integer',
      session_id: 'text',
      author: 'text',
      value: 'integer',
      target_at: 'bigint',
      target: 'bigint',
      rating: 'integer',
      given_at: 'bigint',
    },
    rows: ({ feedback }) =>
      feedback.map((row) => [
        row.position,
        row.place,
        row.instance,
        row.sessionId,
        row.author,
        row.value,
        row.at,
        row.target,
        row.rating,
        row.givenAt,
      ]),
  },
  batch_metadata: {
    columns: { instance: 'integer', record: 'text', record_key: 'text', member: 'text', value: 'text' },
    rows: ({ metadata }) => metadata.map((row) => [row.instance, row.record, row.key, row.member, row.value]),
  },
  batch_attribute: {
    columns: { instance: 'integer', session: 'integer', name: 'text', value: 'text' },
    rows: ({ attributes }) => attributes.map((row) => [row.instance, row.session, row.name, row.value]),
  },
  batch_request: {
    columns: { id: 'text', accepted_at: 'bigint' },
    rows: ({ requests }) => requests.map((row) => [row.id, row.acceptedAt]),
  },
  batch_state: {
    columns: { instance: 'integer', kind: 'text', key: 'integer', value: 'blob', part: 'integer' },
    rows: ({ state }) => state.flatMap(stateRows),
  },
  /** Ids and numbers to look up; not part of a batch. */
  wanted_id: { columns: { id: 'text', number: 'bigint' }, rows: () => [] },
} as const satisfies Readonly<Record<string, Stage>>;

export type StageName = keyof typeof STAGES;

/** The kinds of signal that feedback is shown as, of each instance that gets some. */
function givenSignals(feedback: Batch['feedback']): StageRow[] {
  const instances = new Map(feedback.map(({ instance, instanceId }) => [instance, instanceId]));
  return [...instances].flatMap(([instance, instanceId]) =>
    SIGNALS.flatMap(({ key, type, source, name, description }, signal) =>
      source === 'GIVEN'
        ? [[instance, signal, derivedId(instanceId, 'signal', key), name, type, source, description]]
        : [],
    ),
  );
}

function messageRow(fact: MessageFact): StageRow {
  const inferred = fact.signals.filter((signal) => SIGNALS[signal]?.source === 'INFERRED');
  const sat = inferred.filter((signal) => SIGNALS[signal]?.type === 'SAT').length;
  return [
    fact.position,
    fact.instance,
    fact.session,
    fact.user ?? 0,
    fact.at,
    fact.micro,
    sat,
    inferred.length - sat,
    fact.repeatedRequest === null ? 0 : 1,
    fact.wait,
    Number(fact.isReply ?? false),
  ];
}

/** A session's state in parts, any other state as one row. */
function stateRows({ instance, kind, key, value }: StateRow): StageRow[] {
  if (value === null || kind !== 'session' || value.length <= PART_BYTES)
    return [[instance, kind, key, value, 0]];
  return Array.from({ length: Math.ceil(value.length / PART_BYTES) }, (_, part) => {
    const from = part * PART_BYTES;
    return [instance, kind, key, value.subarray(from, from + PART_BYTES), part];
  });
}

function occurrences({ position, signals, repeatedRequest, gap }: MessageFact): StageRow[] {
  return [
    ...signals.map((signal) => [position, KINDS.signal, signal]),
    ...(repeatedRequest === null ? [] : [[position, KINDS.repeatedRequest, repeatedRequest]]),
    ...(gap === null ? [] : [[position, KINDS.gap, gap]]),
  ];
}
