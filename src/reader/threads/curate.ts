/**
 * Applies a person's decision to an instance. Keeps the invariant that every decision is stored: one that cannot be
 * applied at its place in the stream is refused, and listed with the reason.
 *
 * Test: test/reader/threads/curations.test.ts.
 */
import { MOST_CHECKS } from '../../domain/checks.ts';
import {
  MOST_CORRECTIONS,
  MOST_CURATIONS,
  MOST_OWN_TOPICS,
  type CuratedEntity,
  type CurationAction,
  type CurationRefusal,
  type PlacedCuration,
} from '../../domain/curations.ts';
import type { Decision } from './instance-curations.ts';
import type { InstanceState } from './instance-state.ts';

type Outcome = Pick<Decision, 'target' | 'other' | 'name'>;
type Action<Kind extends CurationAction['kind']> = Extract<CurationAction, { kind: Kind }>;

/** Of a decision that changes no entity. */
const NOTHING: Outcome = { target: -1, other: -1, name: '' };

/** Applies one decision at its place in the stream, or records why it was refused. */
export function curate(instance: InstanceState, placed: PlacedCuration): void {
  const { curation, position, acceptedAt } = placed;
  const { curations, topics } = instance;
  const { action } = curation;
  if (action.kind === 'CHECK') {
    const refused = curations.checks < MOST_CHECKS ? null : 'TOO_MANY';
    curations.add({ curation, position, createdAt: acceptedAt, ...NOTHING, refused, undoneBy: null });
    return;
  }
  topics.curate(() => {
    const outcome = outcomeOf(instance, placed, action);
    const refused = typeof outcome === 'string' ? outcome : null;
    const applied = typeof outcome === 'string' ? NOTHING : outcome;
    curations.add({ curation, position, createdAt: acceptedAt, ...applied, refused, undoneBy: null });
    return refused === null ? curations.ofTopics() : null;
  });
}

function outcomeOf(
  instance: InstanceState,
  placed: PlacedCuration,
  action: Exclude<CurationAction, { kind: 'CHECK' }>,
): Outcome | CurationRefusal {
  if (instance.curations.accepted >= MOST_CURATIONS) return 'TOO_MANY';
  switch (action.kind) {
    case 'RENAME':
    case 'PIN':
      return named(instance, action);
    case 'MERGE':
      return merged(instance, action);
    case 'MOVE':
      return moved(instance, action);
    case 'HIDE': {
      const target = numberOf(instance, 'TOPIC', action.id);
      return target === null ? 'UNKNOWN' : { target, other: -1, name: '' };
    }
    case 'CREATE':
      return created(instance, placed, action);
    case 'ASSIGN':
    case 'EXCLUDE':
      return corrected(instance, placed, action);
    case 'UNDO':
      return undone(instance, placed, action);
  }
}

function named(instance: InstanceState, action: Action<'RENAME' | 'PIN'>): Outcome | CurationRefusal {
  const target = numberOf(instance, action.entity, action.id);
  if (target === null) return 'UNKNOWN';
  const name = action.kind === 'RENAME' ? action.name : instance.nameOf(action.entity, target);
  return { target, other: -1, name };
}

function merged(instance: InstanceState, action: Action<'MERGE'>): Outcome | CurationRefusal {
  const target = numberOf(instance, 'TOPIC', action.id);
  const other = numberOf(instance, 'TOPIC', action.into);
  if (target === null || other === null) return 'UNKNOWN';
  return target === other ? 'CIRCULAR' : { target, other, name: '' };
}

function moved(instance: InstanceState, action: Action<'MOVE'>): Outcome | CurationRefusal {
  const target = numberOf(instance, 'TOPIC', action.id);
  if (target === null) return 'UNKNOWN';
  const { cluster, clusterName } = action;
  const known = numberOf(instance, 'CLUSTER', cluster);
  const other =
    known ?? (clusterName === undefined ? null : instance.topics.createCluster(cluster, clusterName));
  return other === null ? 'UNKNOWN' : { target, other, name: '' };
}

function created(
  instance: InstanceState,
  { position, examples }: PlacedCuration,
  { id, name, description, examples: texts, fromBeginning, from }: Action<'CREATE'>,
): Outcome | CurationRefusal {
  if (examples === undefined) throw new Error('a topic is to be made of examples without vectors');
  if (instance.topics.ownTopics >= MOST_OWN_TOPICS) return 'TOO_MANY';
  // After a rebuild with other models nothing may be found under the id; what a person made stays.
  const found = from === undefined ? null : numberOf(instance, 'TOPIC', from);
  const other = found === null || instance.topics.row(found).isOwn === true ? -1 : found;
  const made = { id, position, name, description, texts, vectors: examples, fromBeginning };
  return { target: instance.topics.createTopic(made), other, name };
}

function corrected(
  instance: InstanceState,
  { examples }: PlacedCuration,
  { kind, id }: Action<'ASSIGN' | 'EXCLUDE'>,
): Outcome | CurationRefusal {
  const [vector] = examples ?? [];
  if (vector === undefined) throw new Error('a topic is to be corrected by a text without a vector');
  if (instance.topics.corrections >= MOST_CORRECTIONS) return 'TOO_MANY';
  const target = numberOf(instance, 'TOPIC', id);
  if (target === null) return 'UNKNOWN';
  const correction = instance.topics.correct({
    topic: target,
    belongs: kind === 'ASSIGN',
    vector,
  });
  return { target, other: correction, name: '' };
}

function undone(
  { curations, topics }: InstanceState,
  { curation }: PlacedCuration,
  action: Action<'UNDO'>,
): Outcome | CurationRefusal {
  const decision = curations.undoable(action.id);
  if (typeof decision === 'string') return decision;
  curations.undo(decision, curation.id);
  const { kind } = decision.curation.action;
  if (kind === 'CREATE') topics.retire(decision.target);
  if (kind === 'ASSIGN' || kind === 'EXCLUDE') topics.retireCorrection(decision.other);
  return { target: decision.target, other: -1, name: '' };
}

/** Finds the number of the entity with this id, and follows merges to its heir; null if no entity has the id. */
function numberOf(instance: InstanceState, entity: CuratedEntity, id: string): number | null {
  const rows = instance.rowsOf(entity);
  let row = rows.find((one) => one.id === id);
  while (row !== undefined && typeof row.heir === 'number') row = rows[row.heir];
  return row === undefined ? null : rows.indexOf(row);
}
