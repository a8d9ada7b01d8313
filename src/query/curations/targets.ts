/**
 * Checks curations against the processed data. The worker decides again when it reaches the curation's record; the list
 * of curations shows what it refused.
 *
 * Test: test/query/curations/targets.test.ts.
 */
import type { AskedCuration } from '../../domain/asked-curations.ts';
import { isCheckedEntity } from '../../domain/checks.ts';
import {
  CHECK_MESSAGES,
  CURATION_MESSAGES,
  MOST_CORRECTIONS,
  MOST_LABELS,
  MOST_OWN_TOPICS,
  otherTopicId,
  type CuratedEntity,
} from '../../domain/curations.ts';
import type { NamesTable } from '../../domain/groupings.ts';
import { GRANULARITY_NUMBER, KINDS } from '../../domain/kinds.ts';
import { AppError } from '../../errors.ts';
import type { Row } from '../../store/duckdb.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { cachedNames, entityById } from '../names.ts';
import { InstanceReader, readInstanceRow, type InstanceReading } from '../instance-reader.ts';
import { NAMED_ENTITIES, type NamedEntity } from '../../domain/named-entities.ts';
import { noSuch } from '../no-such.ts';

export class CurationTargets extends InstanceReader<Pick<InstanceReading, 'readerOf'>> {
  /**
   * Returns the curation with merged entities replaced by their heirs. The caller checks that the instance exists.
   * Throws AppError NOT_FOUND for an unknown id, CONFLICT for a contradiction to the processed data,
   * SERVICE_UNAVAILABLE while the views cannot be read.
   */
  check(instanceId: string, asked: AskedCuration, caller = ''): Promise<AskedCuration> {
    return this.#read(instanceId, caller, (names) => checkIn(names, asked, otherTopicId(instanceId)));
  }

  /**
   * Returns the work of a curation in messages, including those that it moves. Throws AppError SERVICE_UNAVAILABLE as
   * `check`.
   */
  messagesOf(instanceId: string, asked: AskedCuration, caller = ''): Promise<number> {
    return this.#read(instanceId, caller, async (names) => {
      if (asked.kind === 'CHECK' || asked.kind === 'TRACK') return CHECK_MESSAGES;
      if (asked.kind === 'UNDO' && (await names.movesNothing(asked.id))) return CHECK_MESSAGES;
      const moved = movedBy(asked);
      return CURATION_MESSAGES + (moved === null ? 0 : await names.messagesOf(moved));
    });
  }

  #read<T>(instanceId: string, caller: string, work: (names: Names) => Promise<T>): Promise<T> {
    return this.options.readerOf(instanceId).read(async (snapshot) => {
      const row = await readInstanceRow(snapshot, instanceId);
      return work(new Names(snapshot, (row?.['instance'] as number | undefined) ?? null));
    }, caller);
  }
}

/** Returns the topic whose messages a curation moves, or null. */
function movedBy(asked: AskedCuration): string | null {
  if (asked.kind === 'MERGE' || asked.kind === 'MOVE' || asked.kind === 'HIDE') return asked.id;
  return (asked.kind === 'CREATE' ? asked.from : undefined) ?? null;
}

/** `other`: the id of the topic Other. */
async function checkIn(names: Names, asked: AskedCuration, other: string): Promise<AskedCuration> {
  switch (asked.kind) {
    case 'RENAME': {
      const id = await names.heir(asked.entity, asked.id);
      const hint = asked.entity === 'TOPIC' ? 'Merge the two, or choose another name.' : OTHER_NAME;
      await names.refuseTaken(asked.entity, asked.name, id, hint);
      return { ...asked, id };
    }
    case 'PIN':
      return { ...asked, id: await names.heir(asked.entity, asked.id) };
    case 'MERGE': {
      const [id, into] = [await names.heir('TOPIC', asked.id), await names.heir('TOPIC', asked.into)];
      if (id === into) {
        throw new AppError('CONFLICT', `The topics ${asked.id} and ${asked.into} are one already: ${id}.`);
      }
      if (id === other) {
        throw new AppError(
          'CONFLICT',
          `The topic ${id} counts what no topic made by people claims, and merges into none. Choose FOUND instead.`,
        );
      }
      return { ...asked, id, into };
    }
    case 'MOVE': {
      const id = await names.heir('TOPIC', asked.id);
      if (asked.cluster !== null)
        return { ...asked, id, cluster: await names.heir('CLUSTER', asked.cluster) };
      const hint = 'Name it as topicClusterId, or choose another name.';
      await names.refuseTaken('CLUSTER', asked.clusterName, null, hint);
      return { ...asked, id };
    }
    case 'HIDE':
      return { ...asked, id: await names.heir('TOPIC', asked.id) };
    case 'CREATE': {
      const from = asked.from === undefined ? null : await names.found(asked.from);
      await names.refuseTaken('TOPIC', asked.name, from, `Rename it, or ${OTHER_NAME.replace('C', 'c')}`);
      await names.refuseMoreTopics(other);
      return from === null ? asked : { ...asked, from };
    }
    case 'LABEL': {
      const id = asked.id === null ? null : await names.heir('LABEL', asked.id);
      await names.refuseTaken('LABEL', asked.name, id, OTHER_NAME);
      if (id === null) await names.refuseMoreLabels();
      return { ...asked, id };
    }
    case 'ASSIGN':
    case 'EXCLUDE':
      if ('outcome' in asked) {
        await names.refuseUnknownSession(asked.id);
        return asked;
      }
      if (asked.of === 'SIGNAL') await names.refuseGiven(asked.id);
      if ('text' in asked) await names.refuseMoreCorrections();
      else await names.refuseUnknownMessage(asked.position);
      return { ...asked, id: await names.heir(asked.of, asked.id) };
    case 'CHECK': {
      const id = isCheckedEntity(asked.of) ? await names.heir(asked.of, asked.id) : asked.id;
      await names.refuseUnknownSession(asked.session);
      return { ...asked, id };
    }
    case 'TRACK':
      return { ...asked, id: await names.heir(asked.of, asked.id) };
    case 'ROUTE':
      return asked;
    case 'UNDO':
      await names.refuseUndo(asked.id);
      return asked;
    default:
      return asked satisfies never;
  }
}

const OTHER_NAME = 'Choose another name.';

/** The entities of an instance, by id and by name. */
class Names {
  readonly #snapshot: Snapshot;
  /** Null until the first message of the instance is processed. */
  readonly #instance: number | null;

  constructor(snapshot: Snapshot, instance: number | null) {
    this.#snapshot = snapshot;
    this.#instance = instance;
  }

  async #rows(table: NamesTable): Promise<ReadonlyMap<number, Row>> {
    if (this.#instance === null) return new Map();
    const rows = await cachedNames(this.#snapshot, table, this.#instance);
    if (table === 'label') return new Map([...rows].filter(([, row]) => row['is_gone'] !== true));
    if (table !== 'topic') return rows;
    const unmade = await this.#unmade(this.#instance);
    return unmade.size === 0 ? rows : new Map([...rows].filter(([, { id }]) => !unmade.has(id as string)));
  }

  /** Ids of topics whose creation was undone. */
  #unmade(instance: number): Promise<ReadonlySet<string>> {
    return this.#snapshot.cached(`unmade topics ${instance}`, ['curation'], async () => {
      const rows = await this.#snapshot.all(
        'select entity_id::varchar as id from @curation where undone_by is not null',
        { rows: { curation: { table: 'curation', equal: { instance }, and: "action = 'CREATE'" } } },
      );
      return new Set(rows.map(({ id }) => id as string));
    });
  }

  /** Returns the id of the entity that inherited an id, or the id itself. Throws AppError NOT_FOUND. */
  async heir(entity: NamedEntity, id: string): Promise<string> {
    const { table, words } = NAMED_ENTITIES[entity];
    const found = entityById(await this.#rows(table), id);
    if (found === null) throw noSuch(words, id);
    return found.heir['id'] as string;
  }

  /** As `heir`, for a topic that no person made. Throws AppError CONFLICT for another. */
  async found(id: string): Promise<string> {
    const heir = await this.heir('TOPIC', id);
    if (entityById(await this.#rows('topic'), heir)?.heir['is_own'] === true)
      throw new AppError('CONFLICT', `The topic ${heir} was made by a person already.`);
    return heir;
  }

  /** Counts the topic's messages over the whole history; 0 for an unknown topic. */
  async messagesOf(topicId: string): Promise<number> {
    const found = [...(await this.#rows('topic'))].find(([, row]) => row['id'] === topicId);
    if (found === undefined) return 0;
    const equal = { instance: this.#instance!, granularity: GRANULARITY_NUMBER.ALL, kind: KINDS.topic };
    const [row] = await this.#snapshot.all('select messages from @counted', {
      rows: { counted: { table: 'entity_rollup', equal, and: `entity = ${found[0]}` } },
      bindings: {},
    });
    return (row?.['messages'] as number | undefined) ?? 0;
  }

  /** Throws AppError CONFLICT if a visible entity other than `id` has the name. */
  async refuseTaken(
    entity: CuratedEntity | 'LABEL',
    name: string,
    id: string | null,
    hint: string,
  ): Promise<void> {
    const { table, words } = NAMED_ENTITIES[entity];
    const holdsTopics = new Set(
      [...(await this.#rows('topic')).values()].filter(isVisible).map((topic) => topic['cluster']),
    );
    for (const [number, row] of await this.#rows(table)) {
      if (!isVisible(row) || row['id'] === id || folded(row['name'] as string) !== folded(name)) continue;
      // A cluster without topics is invisible, and may come back.
      if (entity === 'CLUSTER' && !holdsTopics.has(number)) continue;
      const taken = `There is already a ${words} named "${name}": ${row['id'] as string}.`;
      throw new AppError('CONFLICT', `${taken} ${hint}`);
    }
  }

  /** Throws AppError CONFLICT for a signal that end users give. */
  async refuseGiven(id: string): Promise<void> {
    const found = entityById(await this.#rows('signal'), id);
    if (found?.heir['source'] !== 'GIVEN') return;
    throw new AppError(
      'CONFLICT',
      `The signal ${id} is feedback of end users, and no text. Its author takes it back: POST /v1/feedback, value 0.`,
    );
  }

  async refuseUnknownSession(id: string): Promise<void> {
    const instance = this.#instance;
    const found =
      instance === null
        ? []
        : await this.#snapshot.all('select 1 as one from @session', {
            rows: { session: { table: 'session', equal: { instance }, and: 'id = $id::uuid' } },
            bindings: { id },
          });
    if (found.length === 0) throw noSuch('session', id);
  }

  async refuseUnknownMessage(position: number): Promise<void> {
    const instance = this.#instance;
    const rows =
      instance === null
        ? []
        : await this.#snapshot.all('select 1 as one from @message where not gone', {
            rows: {
              message: {
                table: 'message_fact',
                equal: { instance, kind: KINDS.all },
                and: `position = ${position}`,
              },
            },
            bindings: {},
          });
    if (rows.length === 0)
      throw new AppError('NOT_FOUND', `There is no message at position ${position} in this instance.`);
  }

  async refuseMoreTopics(other: string): Promise<void> {
    const topics = [...(await this.#rows('topic')).values()];
    const made = topics.filter((row) => row['is_own'] === true && row['id'] !== other && isVisible(row));
    if (made.length < MOST_OWN_TOPICS) return;
    const message = `The instance has ${MOST_OWN_TOPICS} topics that people made, and takes no more. Undo one first.`;
    throw new AppError('CONFLICT', message);
  }

  async refuseMoreLabels(): Promise<void> {
    if (this.#instance === null) return;
    const made = await cachedNames(this.#snapshot, 'label', this.#instance);
    if (made.size < MOST_LABELS) return;
    const message = `People made ${MOST_LABELS} labels in the instance, which takes no more. Change one of them.`;
    throw new AppError('CONFLICT', message);
  }

  async refuseMoreCorrections(): Promise<void> {
    if (this.#instance === null) return;
    const [row] = await this.#snapshot.all(
      'select count(*) as corrections from @curation where undone_by is null and refused is null',
      {
        rows: {
          curation: {
            table: 'curation',
            equal: { instance: this.#instance },
            and: "action in ('ASSIGN', 'EXCLUDE') and entity = 'TOPIC'",
          },
        },
        bindings: {},
      },
    );
    if (Number(row?.['corrections'] ?? 0) < MOST_CORRECTIONS) return;
    const message = `The instance has ${MOST_CORRECTIONS} corrections, and takes no more. Undo one first.`;
    throw new AppError('CONFLICT', message);
  }

  /** True if the curation is a verdict or a life. */
  async movesNothing(id: string): Promise<boolean> {
    const instance = this.#instance;
    if (instance === null) return false;
    const rows = await this.#snapshot.all('select 1 as one from @curation', {
      rows: {
        curation: {
          table: 'curation',
          equal: { instance },
          and: "id = $id::uuid and action in ('CHECK', 'TRACK')",
        },
      },
      bindings: { id },
    });
    return rows.length > 0;
  }

  async refuseUndo(id: string): Promise<void> {
    const instance = this.#instance;
    const [row] =
      instance === null
        ? []
        : await this.#snapshot.all('select action, refused, undone_by::varchar as undone_by from @curation', {
            rows: { curation: { table: 'curation', equal: { instance }, and: 'id = $id::uuid' } },
            bindings: { id },
          });
    if (row === undefined) throw noSuch('curation', id);
    const fault =
      row['action'] === 'UNDO'
        ? 'is an undo; ask again for what it undid'
        : row['refused'] !== null
          ? 'was refused and changed nothing'
          : row['undone_by'] !== null
            ? `was undone by ${row['undone_by'] as string}`
            : null;
    if (fault !== null) throw new AppError('CONFLICT', `The curation ${id} ${fault}.`);
  }
}

/** Returns false for merged and hidden entities. */
function isVisible(row: Row): boolean {
  return (row['heir'] ?? null) === null && row['is_hidden'] !== true;
}

/** Folds names that differ only in case or Unicode form. */
function folded(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}
