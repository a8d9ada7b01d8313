/**
 * Applies a person's decision to an instance. Keeps the invariant that every decision is stored: one that cannot be
 * applied at its place in the stream is refused, and listed with the reason.
 *
 * Test: test/reader/threads/curations.test.ts.
 */
import { MOST_CHECKS, MOST_READER_CHECKS } from '../../domain/checks.ts';
import {
  MOST_CORRECTIONS,
  MOST_CURATIONS,
  MOST_LABELS,
  MOST_LABEL_EXAMPLES,
  MOST_OWN_TOPICS,
  type CuratedEntity,
  type CurationAction,
  type CurationRefusal,
  type PlacedCuration,
  type ShownFacts,
  type ShownSession,
} from '../../domain/curations.ts';
import { derivedId } from '../../domain/ids.ts';
import { KINDS, slotOf } from '../../domain/kinds.ts';
import { MOST_TRACKED, type TrackedEntity } from '../../domain/lives.ts';
import { NAMED_ENTITIES } from '../../domain/named-entities.ts';
import { isGiven, SIGNALS } from '../../domain/signal-kinds.ts';
import type { CorrectedPlace, Decision } from './instance-curations.ts';
import type { InstanceState } from './instance-state.ts';
import type { MutableMessage } from './turn-assignment.ts';

type Outcome = Pick<Decision, 'target' | 'other' | 'name'>;
type Action<Kind extends CurationAction['kind']> = Extract<CurationAction, { kind: Kind }>;

/** Of a decision that changes no entity. */
const NOTHING: Outcome = { target: -1, other: -1, name: '' };

/**
 * Applies one decision at its place in the stream, or records why it was refused. `messages`: those of the batch before
 * it; a correction changes them in place. `sessionIn` finds a session that has messages among them, by its UUID.
 */
export function curate(
  instance: InstanceState,
  placed: PlacedCuration,
  messages: readonly MutableMessage[] = [],
  sessionIn: (id: string) => ShownSession | null = () => null,
): void {
  const { curation, position, acceptedAt } = placed;
  const { curations, topics } = instance;
  const { action } = curation;
  if (action.kind === 'CHECK') {
    // A worker that was killed publishes the verdict of a model again, under the same id.
    if (action.reader !== undefined && curations.has(curation.id)) return;
    const [given, most] =
      action.reader === undefined
        ? [curations.checks, MOST_CHECKS]
        : [curations.readerChecks, MOST_READER_CHECKS];
    const refused = given < most ? null : 'TOO_MANY';
    curations.add({ curation, position, createdAt: acceptedAt, ...NOTHING, refused, undoneBy: null });
    return;
  }
  if (action.kind === 'TRACK') {
    track(instance, placed, action);
    return;
  }
  if ('position' in action) {
    correctMessage(instance, placed, action, messages);
    return;
  }
  if ('outcome' in action) {
    correctOutcome(instance, placed, sessionIn(action.id) ?? placed.ended ?? null);
    return;
  }
  const corrected = action.kind === 'UNDO' ? curations.undoable(action.id) : null;
  topics.curate(() => {
    const outcome = outcomeOf(instance, placed, action);
    const refused = typeof outcome === 'string' ? outcome : null;
    const applied = typeof outcome === 'string' ? NOTHING : outcome;
    curations.add({ curation, position, createdAt: acceptedAt, ...applied, refused, undoneBy: null });
    return refused === null ? curations.ofTopics() : null;
  });
  if (corrected === null || typeof corrected === 'string') return;
  const taken = corrected.curation.action;
  if ('position' in taken) showIn(instance, placeOf(taken, corrected.target), messages);
  if ('outcome' in taken) instance.end(corrected.target);
}

function outcomeOf(
  instance: InstanceState,
  placed: PlacedCuration,
  action: Exclude<CurationAction, { kind: 'CHECK' | 'TRACK' } | { position: number } | { outcome: string }>,
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
    case 'LABEL':
      return labelled(instance, placed, action);
    case 'ASSIGN':
    case 'EXCLUDE':
      return corrected(instance, placed, action);
    case 'ROUTE': {
      const target = action.unclaimed === 'OTHER' ? instance.topics.makeOther(placed.position) : -1;
      return { target, other: -1, name: '' };
    }
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
  if (instance.topics.isOther(target)) return 'IS_OTHER';
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

function labelled(
  { topics }: InstanceState,
  { examples }: PlacedCuration,
  action: Action<'LABEL'>,
): Outcome | CurationRefusal {
  if (examples === undefined) throw new Error('a label is to be made of examples without vectors');
  const is = topics.labelIs(action.id);
  if (is === 'gone') return 'UNKNOWN';
  if (is === 'new' && topics.labels >= MOST_LABELS) return 'TOO_MANY';
  if (topics.labelExamples + examples.length > MOST_LABEL_EXAMPLES) return 'TOO_MANY';
  const { label, version } = topics.saveLabel(action, examples);
  return { target: label, other: version, name: action.name };
}

function corrected(
  instance: InstanceState,
  { examples, acceptedAt }: PlacedCuration,
  { kind, id }: Extract<CurationAction, { text: string }>,
): Outcome | CurationRefusal {
  if (examples === undefined) throw new Error('a topic is to be corrected by a text without its vector');
  const [vector] = examples;
  if (vector === undefined) return 'NO_REQUEST';
  if (instance.topics.corrections >= MOST_CORRECTIONS) return 'TOO_MANY';
  const target = numberOf(instance, 'TOPIC', id);
  if (target === null) return 'UNKNOWN';
  const correction = instance.topics.correct({
    topic: target,
    belongs: kind === 'ASSIGN',
    vector,
    createdAt: acceptedAt,
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
  if (kind === 'LABEL') topics.retireLabel(decision.other);
  if ((kind === 'ASSIGN' || kind === 'EXCLUDE') && decision.other >= 0)
    topics.retireCorrection(decision.other);
  return { target: decision.target, other: -1, name: '' };
}

/** States the life of an entity. The query side follows what merges later, so the entity is only looked for. */
function track(
  instance: InstanceState,
  { curation, position, acceptedAt: createdAt }: PlacedCuration,
  { of, id }: Action<'TRACK'>,
): void {
  const { curations } = instance;
  const isThere = trackedEntity(instance, of, id) !== null;
  const refused = curations.tracked >= MOST_TRACKED ? 'TOO_MANY' : isThere ? null : 'UNKNOWN';
  curations.add({ curation, position, createdAt, ...NOTHING, refused, undoneBy: null });
}

type MessageCorrection = Extract<CurationAction, { position: number }>;

/** Corrects what one message shows. */
function correctMessage(
  instance: InstanceState,
  { curation, position, acceptedAt: createdAt, shown: stored = null }: PlacedCuration,
  action: MessageCorrection,
  messages: readonly MutableMessage[],
): void {
  const { curations } = instance;
  const fresh = freshAt(instance, action.position, messages);
  const shown = fresh ?? (stored?.instance === instance.instance ? stored : null);
  const target = correctedEntity(instance, action);
  const refused =
    curations.accepted >= MOST_CURATIONS ? 'TOO_MANY' : shown === null || target === null ? 'UNKNOWN' : null;
  if (refused !== null || shown === null || target === null) {
    curations.add({ curation, position, createdAt, ...NOTHING, refused, undoneBy: null });
    return;
  }
  const place = placeOf(action, target);
  const before = curations.foundIn(place);
  const found = before === undefined ? instance.resolved(place.kind, entityIn(shown, place)) : before;
  const numbers = [...curations.numbersIn(place), target, ...(found === null ? [] : [found])];
  const excluded = [...new Set(numbers)].filter((number) => instance.resolved(place.kind, number) === target);
  curations.add({
    curation,
    position,
    createdAt,
    ...NOTHING,
    target,
    refused,
    undoneBy: null,
    found,
    ...(action.kind === 'EXCLUDE' ? { excluded } : {}),
  });
  if (place.kind === KINDS.signal) instance.signal(target);
  showIn(instance, place, messages);
}

/** Says how a session ended. `shown`: the session as it is at this place in the stream; null: it is not there. */
function correctOutcome(
  instance: InstanceState,
  { curation, position, acceptedAt: createdAt }: PlacedCuration,
  shown: ShownSession | null,
): void {
  const { curations } = instance;
  const refused = curations.accepted >= MOST_CURATIONS ? 'TOO_MANY' : shown === null ? 'UNKNOWN' : null;
  if (refused !== null || shown === null) {
    curations.add({ curation, position, createdAt, ...NOTHING, refused, undoneBy: null });
    return;
  }
  const { session: target, outcome: foundOutcome } = shown;
  const isFirst = curations.foundOutcome(target) === undefined;
  // Once a session is corrected, it shows what a person said, and what is found is kept apart.
  if (isFirst) curations.findOutcome(target, foundOutcome);
  instance.end(target);
  const first = isFirst ? { foundOutcome } : {};
  curations.add({ curation, position, createdAt, ...NOTHING, target, refused, undoneBy: null, ...first });
}

function placeOf(action: MessageCorrection, target: number): CorrectedPlace {
  const { kind } = NAMED_ENTITIES[action.of];
  return { position: action.position, kind, slot: slotOf(kind, target) };
}

/** Shows in a slot what people decided: in a message of the batch, or by a row for an earlier one. */
function showIn(instance: InstanceState, place: CorrectedPlace, messages: readonly MutableMessage[]): void {
  const { position, kind, slot } = place;
  const shown = instance.curations.shownIn(place, (number) => instance.resolved(kind, number)!);
  const message = freshAt(instance, position, messages);
  if (message === null) instance.correct({ position, kind, slot, entity: shown });
  else if (kind === KINDS.gap) message.gap = shown;
  else if (kind === KINDS.repeatedRequest) message.repeatedRequest = shown;
  else {
    const others = message.signals.filter((signal) => slotOf(kind, signal) !== slot);
    message.signals = (shown === null ? others : [...others, shown]).toSorted((x, y) => x - y);
  }
}

function freshAt(
  { instance }: InstanceState,
  position: number,
  messages: readonly MutableMessage[],
): MutableMessage | null {
  return messages.find((message) => message.position === position && message.instance === instance) ?? null;
}

function entityIn(
  { signals, gap, repeatedRequest }: Pick<ShownFacts, 'signals' | 'gap' | 'repeatedRequest'>,
  { kind, slot }: CorrectedPlace,
): number | null {
  if (kind === KINDS.gap) return gap;
  if (kind === KINDS.repeatedRequest) return repeatedRequest;
  return signals.find((signal) => slotOf(kind, signal) === slot) ?? null;
}

/** The number of what a correction names, of what merged its heir; null if it is not there. */
function correctedEntity(instance: InstanceState, { of, id }: MessageCorrection): number | null {
  const number = trackedEntity(instance, of, id);
  // What end users give, they alone take back.
  return number === null || (of === 'SIGNAL' && isGiven(number)) ? null : number;
}

/** The same of what has a life. */
function trackedEntity(instance: InstanceState, of: TrackedEntity, id: string): number | null {
  if (of === 'GAP' || of === 'TOPIC') return numberOf(instance, of, id);
  if (of === 'REPEATED_REQUEST') {
    const number = instance.repeatedRequestOf(id);
    return number === null ? null : instance.resolved(KINDS.repeatedRequest, number);
  }
  const signal = SIGNALS.findIndex(({ key }) => derivedId(instance.instanceId, 'signal', key) === id);
  return signal < 0 ? null : signal;
}

/**
 * Finds the number of the entity with this id, and follows merges to its heir; null if no entity has the id, or it is
 * Other where nothing counts as Other.
 */
function numberOf(instance: InstanceState, entity: CuratedEntity, id: string): number | null {
  const rows = instance.rowsOf(entity);
  let row = rows.find((one) => one.id === id);
  while (row !== undefined && typeof row.heir === 'number') row = rows[row.heir];
  if (row === undefined) return null;
  const number = rows.indexOf(row);
  return entity === 'TOPIC' && instance.topics.isOther(number) && instance.topics.isGone(number)
    ? null
    : number;
}
