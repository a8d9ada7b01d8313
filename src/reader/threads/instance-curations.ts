/**
 * The decisions of people about one instance, in stream order, and their combined effect. Keeps the invariant that the
 * effect follows from the list alone: from the decisions that are neither refused nor undone.
 *
 * Test: test/reader/threads/curations.test.ts.
 */
import type { Curation, CuratedEntity, CurationAction, CurationRefusal } from '../../domain/curations.ts';
import type { CurationRow, StateRow } from '../../domain/facts.ts';
import { ByteWriter, readersOf } from '../../domain/byte-codec.ts';
import { slotOf } from '../../domain/kinds.ts';
import { SESSION_OUTCOMES, type SessionOutcome } from '../../domain/session-outcomes.ts';
import { NAMED_ENTITIES } from '../../domain/named-entities.ts';
import type { TopicCuration } from '../topics/curated-topics.ts';

/** Estimated memory of a decision, bytes. */
const DECISION_BYTES = 800;
const KIND = 'curation';
/** Kind of the rows that hold, by session, what was found in those that people corrected. */
const OUTCOME_KIND = 'outcome';

/** A decision, with the entities that it names resolved to numbers of the instance. */
export interface Decision {
  readonly curation: Curation;
  /** Its message position in the stream. */
  readonly position: number;
  /** Microseconds since 1970-01-01 UTC. */
  readonly createdAt: number;
  /** Number of the entity or session that the action changes; −1 if the decision was refused, or is a check. */
  readonly target: number;
  /**
   * Number of the topic that the target merges into or takes over, of the cluster that it moves to, of the correction,
   * or of the label's version; −1 if there is none.
   */
  readonly other: number;
  /** The name that the decision gives or pins; '' if it names nothing. */
  readonly name: string;
  readonly refused: CurationRefusal | null;
  /** UUID of the curation that undid this one; null if none did. */
  readonly undoneBy: string | null;
  /** Of a correction of a message: what was found in its slot; null: nothing. */
  readonly found?: number | null;
  /** Of the first correction of a session: how it ended as was found by then; null: not known. */
  readonly foundOutcome?: SessionOutcome | null;
  /** Of an EXCLUDE of a message: the numbers that then stood for the target, which it takes out. */
  readonly excluded?: readonly number[];
}

/** A slot of a message: `kind` is one of KINDS. */
export interface CorrectedPlace {
  readonly position: number;
  readonly kind: number;
  readonly slot: number;
}

/** What the id of an action is of, which says it nowhere else; of others it is a topic. */
const ENTITY_OF: Readonly<Partial<Record<CurationAction['kind'], CurationRow['entity']>>> = {
  UNDO: 'CURATION',
  LABEL: 'LABEL',
};

/** Actions that topics do not depend on. */
const OF_NO_TOPIC: ReadonlySet<CurationAction['kind']> = new Set(['UNDO', 'CHECK', 'LABEL', 'TRACK']);

/** The decisions of one instance. */
export class InstanceCurations {
  readonly #instance: number;
  /** Index = number of the decision, in stream order. */
  readonly #decisions: Decision[] = [];
  readonly #byId = new Map<string, number>();
  #accepted = 0;
  #checks = 0;
  #readerChecks = 0;
  #tracked = 0;
  /** UTF-16 units of the texts of lives. */
  #lifeTexts = 0;
  readonly #unsaved = new Set<number>();
  readonly #undrained = new Set<number>();
  /** The names in effect: of each entity kind, by number. */
  #names = namesOf([]);
  /** How sessions ended, as people say now. */
  #outcomes = new Map<number, SessionOutcome>();
  /** The same as it was found, of all sessions that somebody ever corrected. */
  readonly #foundOutcomes = new Map<number, SessionOutcome | null>();
  readonly #unsavedOutcomes = new Set<number>();
  /** Numbers whose given name changed since the last call of `takeRenamed`. */
  readonly #renamed: Readonly<Record<CuratedEntity, Set<number>>> = {
    TOPIC: new Set(),
    CLUSTER: new Set(),
    GAP: new Set(),
  };

  constructor(instance: number) {
    this.#instance = instance;
  }

  /** Number of decisions that were not refused, without checks and lives. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Number of checks by people that were not refused. */
  get checks(): number {
    return this.#checks;
  }

  /** Number of checks by language models that were not refused. */
  get readerChecks(): number {
    return this.#readerChecks;
  }

  /** Number of stated lives that were not refused. */
  get tracked(): number {
    return this.#tracked;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Keeps no text of a correction: the stream has it, and its vector is with the topics. */
  add(given: Decision): void {
    const decision = withoutText(given);
    this.#count(decision);
    this.#put(this.#decisions.length, decision);
    this.#byId.set(decision.curation.id, this.#decisions.length - 1);
    this.#rename(decision);
    this.#end(decision);
  }

  /** Returns the decision with this id if it can be undone, else the reason why not. */
  undoable(id: string): Decision | CurationRefusal {
    const decision = this.#decisions[this.#byId.get(id) ?? -1];
    if (decision === undefined) return 'UNKNOWN';
    const { refused, undoneBy, curation } = decision;
    return refused !== null || undoneBy !== null || curation.action.kind === 'UNDO'
      ? 'NOT_UNDOABLE'
      : decision;
  }

  undo({ curation: { id } }: Decision, by: string): void {
    const number = this.#byId.get(id)!;
    this.#put(number, { ...this.#decisions[number]!, undoneBy: by });
    this.#rename(this.#decisions[number]!);
    this.#end(this.#decisions[number]!);
  }

  /** The name that a person gave or pinned; undefined if nobody did. */
  nameOf(entity: CuratedEntity, number: number): string | undefined {
    return this.#names[entity].get(number);
  }

  /** Takes the numbers whose given name changed since the last call. */
  takeRenamed(entity: CuratedEntity): number[] {
    const renamed = [...this.#renamed[entity]];
    this.#renamed[entity].clear();
    return renamed;
  }

  /** The decisions in effect on topics. `held` topics are those that a person decided on. */
  ofTopics(): TopicCuration {
    const merges = new Map<number, { into: number; since: number }>();
    const moves = new Map<number, number>();
    const [hidden, held] = [new Set<number>(), new Set<number>()];
    let routesToOther = false;
    for (const { curation, target, other, position } of this.#applied()) {
      const { action } = curation;
      if ('entity' in action && action.entity !== 'TOPIC') continue;
      if ('position' in action || 'outcome' in action) continue;
      if (OF_NO_TOPIC.has(action.kind)) continue;
      if (action.kind === 'ROUTE') {
        routesToOther = action.unclaimed === 'OTHER';
        continue;
      }
      if (action.kind === 'CREATE') {
        if (other >= 0) merges.set(other, { into: target, since: position });
        if (other >= 0) held.add(other);
        continue;
      }
      held.add(target);
      if (action.kind === 'MERGE') merges.set(target, { into: other, since: position });
      if (action.kind === 'MERGE') held.add(other);
      if (action.kind === 'MOVE') moves.set(target, other);
      if (action.kind === 'HIDE') hidden.add(target);
    }
    // What was made once stays, also where its decision was undone.
    const made = this.#decisions.find(
      ({ curation, target }) => curation.action.kind === 'ROUTE' && target >= 0,
    );
    return { merges, moves, hidden, held, other: made?.target ?? -1, routesToOther };
  }

  /** What was found in a slot of a message that somebody corrected; undefined if nobody did. */
  foundIn(place: CorrectedPlace): number | null | undefined {
    return this.#correctionsOf(place)[0]?.found;
  }

  /** All numbers that a slot of a message may show by what people said of it, before groups merged. */
  numbersIn(place: CorrectedPlace): readonly number[] {
    const corrections = this.#correctionsOf(place);
    return [
      ...new Set(corrections.flatMap(({ target, found }) => [target, ...(found == null ? [] : [found])])),
    ];
  }

  /**
   * What a slot of a message shows by all that people said of it, in their order; null: nothing. `resolve` returns the
   * number that now stands for another.
   */
  shownIn(place: CorrectedPlace, resolve: (number: number) => number): number | null {
    const corrections = this.#correctionsOf(place);
    let shown = corrections[0]?.found ?? null;
    for (const { curation, target, excluded = [], undoneBy } of corrections) {
      if (undoneBy !== null) continue;
      if (curation.action.kind === 'ASSIGN') shown = target;
      else if (shown !== null && excluded.includes(shown)) shown = null;
    }
    return shown === null ? null : resolve(shown);
  }

  #correctionsOf({ position, kind, slot }: CorrectedPlace): Decision[] {
    return this.#decisions.filter(
      ({ curation: { action }, target, found }) =>
        found !== undefined &&
        'position' in action &&
        action.position === position &&
        NAMED_ENTITIES[action.of].kind === kind &&
        slotOf(kind, target) === slot,
    );
  }

  /** How a session ended: what a person said, else what was found. */
  outcomeOf(session: number, found: SessionOutcome | null): SessionOutcome | null {
    return this.#outcomes.get(session) ?? found;
  }

  /** What was found of a session that somebody corrected; undefined if nobody did. */
  foundOutcome(session: number): SessionOutcome | null | undefined {
    return this.#foundOutcomes.get(session);
  }

  /** Keeps what is found of a session, for when the correction is taken back. */
  findOutcome(session: number, found: SessionOutcome | null): void {
    if (this.#foundOutcomes.get(session) === found) return;
    this.#foundOutcomes.set(session, found);
    this.#unsavedOutcomes.add(session);
  }

  /** The rows that changed since the last call. */
  drain(): CurationRow[] {
    const rows = [...this.#undrained].sort((x, y) => x - y).map((number) => this.#rowOf(number));
    this.#undrained.clear();
    return rows;
  }

  /** The state rows that changed since the last call. */
  takeState(): StateRow[] {
    const rows = [...this.#unsaved].map((number) => ({
      instance: this.#instance,
      kind: KIND,
      key: number,
      value: new ByteWriter().text(JSON.stringify(this.#decisions[number])).finish(),
    }));
    this.#unsaved.clear();
    const outcomes = [...this.#unsavedOutcomes].map((session) => ({
      instance: this.#instance,
      kind: OUTCOME_KIND,
      key: session,
      value: new ByteWriter().text(this.#foundOutcomes.get(session) ?? '').finish(),
    }));
    this.#unsavedOutcomes.clear();
    return [...rows, ...outcomes];
  }

  /** Restores a new object from its state rows, in any order; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    for (const { key, read } of readersOf(rows, KIND)) {
      const decision = JSON.parse(read.text()) as Decision;
      this.#decisions[key] = decision;
      this.#byId.set(decision.curation.id, key);
      this.#count(decision);
    }
    this.#names = namesOf(this.#applied());
    this.#outcomes = outcomesOf(this.#applied());
    for (const { key, read } of readersOf(rows, OUTCOME_KIND)) {
      const text = read.text();
      this.#foundOutcomes.set(key, SESSION_OUTCOMES.find((outcome) => outcome === text) ?? null);
    }
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    return this.#decisions.length * DECISION_BYTES + 2 * this.#lifeTexts;
  }

  #count({ refused, curation }: Decision): void {
    if (refused !== null) return;
    const { action } = curation;
    if (action.kind === 'TRACK') {
      const { owner = '', note = '', link = '' } = action;
      this.#tracked += 1;
      this.#lifeTexts += owner.length + note.length + link.length;
    } else if (action.kind !== 'CHECK') this.#accepted += 1;
    else if (action.reader === undefined) this.#checks += 1;
    else this.#readerChecks += 1;
  }

  #applied(): Decision[] {
    return this.#decisions.filter(({ refused, undoneBy }) => refused === null && undoneBy === null);
  }

  #put(number: number, decision: Decision): void {
    this.#decisions[number] = decision;
    this.#unsaved.add(number);
    this.#undrained.add(number);
  }

  #rename({ curation, target, name, refused, undoneBy }: Decision): void {
    if (refused !== null || !('entity' in curation.action)) return;
    const { entity } = curation.action;
    if (undoneBy === null) this.#names[entity].set(target, name);
    else this.#names = namesOf(this.#applied());
    this.#renamed[entity].add(target);
  }

  #end({ curation, target, refused, undoneBy }: Decision): void {
    if (refused !== null || !('outcome' in curation.action)) return;
    if (undoneBy === null) this.#outcomes.set(target, curation.action.outcome);
    else this.#outcomes = outcomesOf(this.#applied());
  }

  #rowOf(number: number): CurationRow {
    const { curation, position, createdAt, name, refused, undoneBy, ...rest } = this.#decisions[number]!;
    const { kind, id, ...given } = curation.action;
    const entity = 'entity' in given ? given.entity : 'of' in given ? given.of : (ENTITY_OF[kind] ?? 'TOPIC');
    const { entity: _, of: __, text: ___, ...members } = { entity, of: entity, text: '', ...given };
    return {
      instance: this.#instance,
      curation: number,
      id: curation.id,
      position,
      createdAt,
      keyId: curation.keyId,
      action: kind,
      entity,
      entityId: id,
      // What was found there is no member of the action: estimates of how sure it is need it.
      detail: JSON.stringify({
        ...members,
        ...(kind === 'PIN' && name !== '' ? { name } : {}),
        found: rest.found === undefined ? rest.foundOutcome : rest.found,
      }),
      refused,
      undoneBy,
    };
  }
}

/** Names by entity kind and number; a later name replaces an earlier one. */
function namesOf(applied: readonly Decision[]): Readonly<Record<CuratedEntity, Map<number, string>>> {
  const names = { TOPIC: new Map<number, string>(), CLUSTER: new Map(), GAP: new Map() };
  for (const { curation, target, name } of applied)
    if ('entity' in curation.action) names[curation.action.entity].set(target, name);
  return names;
}

/** Outcomes by number of the session; a later one replaces an earlier one. */
function outcomesOf(applied: readonly Decision[]): Map<number, SessionOutcome> {
  return new Map(
    applied.flatMap(({ curation: { action }, target }) =>
      'outcome' in action ? [[target, action.outcome] as const] : [],
    ),
  );
}

function withoutText(decision: Decision): Decision {
  const { curation } = decision;
  return 'text' in curation.action
    ? { ...decision, curation: { ...curation, action: { ...curation.action, text: '' } } }
    : decision;
}
