/**
 * Chooses the sessions that a second reader judges: of each entity that people checked, those that a person judged, then
 * those that GET /v1/checks would draw next. Keeps the invariant that the choice follows from the verdicts, the ids of
 * sessions and what the instance leaves out: none of the sessions that it leaves out is read.
 *
 * Test: test/doors/writer/second-reader.test.ts.
 */
import {
  CHECKED,
  CHECKED_KEYS,
  checkedUuid,
  isCheckedEntity,
  MOST_READER_CHECKS,
  type Checked,
} from '../../domain/checks.ts';
import type { LeftOut, SegmentChoice } from '../../domain/attributes.ts';
import { NAMED_ENTITIES } from '../../domain/named-entities.ts';
import type { Reading, ReadingSource, ReadLine } from '../../domain/second-reading.ts';
import { quoted } from '../../store/duckdb.ts';
import type { Snapshot, SnapshotReader } from '../../store/published/snapshot-reader.ts';
import { cachedNames, entityById } from '../names.ts';
import { SessionReader, type SessionReaderOptions } from '../session-reader.ts';
import { BY_PEOPLE, nextOf, readReview } from './estimates.ts';

/** Sessions of an entity that are judged before a person was asked: the first that the dashboard shows. */
const AHEAD = 20;
/** Messages of a session that are read: what the dashboard shows to a person who checks. */
const MOST_MESSAGES = 200;

/** What people checked. */
interface CheckedEntity {
  readonly of: Checked;
  readonly entity: { readonly number: number; readonly id: string };
  readonly entityId: string;
  readonly name: string;
}

/** Returns what an instance leaves out. Rejects while that is not known: then nothing is read. */
export type LeftOutOf = (instanceId: string) => Promise<LeftOut>;

/** Reads one shard; instances take turns. */
export class SecondReadings implements ReadingSource {
  readonly #reader: Pick<SnapshotReader, 'read' | 'close'>;
  readonly #sessions: SessionReader;
  readonly #leftOutOf: LeftOutOf;
  /** The instance that had the last turn. */
  #last = '';

  constructor(
    reader: Pick<SnapshotReader, 'read' | 'close'>,
    texts: SessionReaderOptions['texts'],
    leftOutOf: LeftOutOf,
  ) {
    this.#reader = reader;
    this.#leftOutOf = leftOutOf;
    this.#sessions = new SessionReader({ readerOf: () => reader, texts });
  }

  next(model: string, limit: number, isPassed: (reading: Reading) => boolean): Promise<readonly Reading[]> {
    return this.#reader.read(async (snapshot) => {
      const instances = await checkedInstances(snapshot);
      const turns = [
        ...instances.filter(({ id }) => id > this.#last),
        ...instances.filter(({ id }) => id <= this.#last),
      ];
      for (const { id, instance } of turns) {
        const segment = segmentWithout(await this.#leftOutOf(id));
        const found = await readingsOf(snapshot, { id, instance, model, limit, isPassed, segment });
        if (found.length === 0) continue;
        this.#last = id;
        return found;
      }
      return [];
    });
  }

  async linesOf({ instanceId, sessionId }: Reading): Promise<readonly ReadLine[]> {
    const { messages } = await this.#sessions.read(sessionId, {
      instanceId,
      limit: MOST_MESSAGES,
      cursor: undefined,
    });
    return messages.flatMap(({ role, content }) =>
      role === null || content === null ? [] : [{ role, content }],
    );
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

interface Instance {
  readonly id: string;
  readonly instance: number;
}

/** Instances with verdicts of people, by id. */
async function checkedInstances(snapshot: Snapshot): Promise<Instance[]> {
  const rows = await snapshot.all(
    `select i.id::varchar as id, i.instance from @instance i semi join
(select instance from @curation where ${BY_PEOPLE} and undone_by is null and refused is null) using (instance)
order by 1`,
    { bindings: {} },
  );
  return rows.map(({ id, instance }) => ({ id: id as string, instance: instance as number }));
}

interface Wanted extends Instance {
  readonly model: string;
  readonly limit: number;
  readonly isPassed: (reading: Reading) => boolean;
  readonly segment: readonly SegmentChoice[];
}

/** The segment of requests that name none (`segment.NAME!=VALUE`). */
function segmentWithout(leftOut: LeftOut): SegmentChoice[] {
  return Object.entries(leftOut).map(([name, values]) => ({ name, values, isLeftOut: true }));
}

async function readingsOf(
  snapshot: Snapshot,
  { id: instanceId, instance, model, limit, isPassed, segment }: Wanted,
): Promise<Reading[]> {
  const judged = await judgedBy(snapshot, instance, model);
  const room = Math.min(limit, MOST_READER_CHECKS - judged.all);
  const found: Reading[] = [];
  for (const { of, entity, entityId, name } of await checkedEntitiesOf(snapshot, instanceId, instance)) {
    if (found.length >= room) break;
    const range = { start: -Infinity, end: Infinity };
    const { drawn, verdicts } = await readReview(snapshot, {
      instance,
      of,
      entity,
      verdictsOf: entityId,
      range,
      segment,
    });
    const said = drawn.filter(({ id }) => !['UNSURE', undefined].includes(verdicts.get(id)));
    const readings = [...said, ...nextOf({ drawn, verdicts }, AHEAD)]
      .map(({ id: sessionId }) => ({ instanceId, of, entityId, name, sessionId }))
      .filter((reading) => !judged.has(reading) && !isPassed(reading));
    found.push(...readings.slice(0, room - found.length));
  }
  return found;
}

/** What a model judged; what was taken back or refused since is not judged again. */
async function judgedBy(
  snapshot: Snapshot,
  instance: number,
  model: string,
): Promise<{ readonly all: number; readonly has: (reading: Reading) => boolean }> {
  const rows = await snapshot.all(
    `select entity, entity_id::varchar as entity_id, json_extract_string(detail, '$.session') as session,
  json_extract_string(detail, '$.reader') as reader, refused is null as counts
from @curation where action = 'CHECK' and json_extract_string(detail, '$.reader') is not null`,
    { rows: { curation: { table: 'curation', equal: { instance } } }, bindings: {} },
  );
  const keys = new Set(
    rows
      .filter(({ reader }) => reader === model)
      .map(({ entity, entity_id, session }) => [entity, entity_id, session].join(' ')),
  );
  return {
    all: rows.filter(({ counts }) => counts === true).length,
    has: ({ of, entityId, sessionId }) => keys.has([of, entityId, sessionId].join(' ')),
  };
}

/** What people checked and is still there, by kind and id. A verdict on what merged is none on its heir. */
async function checkedEntitiesOf(
  snapshot: Snapshot,
  instanceId: string,
  instance: number,
): Promise<CheckedEntity[]> {
  const rows = await snapshot.all(
    `select distinct entity, entity_id::varchar as id from @curation
where undone_by is null and refused is null and entity in (${CHECKED.map(quoted).join(', ')}) order by all`,
    { rows: { curation: { table: 'curation', equal: { instance }, and: BY_PEOPLE } }, bindings: {} },
  );
  const found: CheckedEntity[] = [];
  for (const row of rows) {
    const { entity: of, id: entityId } = row as { entity: Checked; id: string };
    if (!isCheckedEntity(of)) {
      const key = Object.keys(CHECKED_KEYS[of]).find((one) => checkedUuid(instanceId, of, one) === entityId);
      if (key !== undefined)
        found.push({ of, entity: { number: -1, id: key }, entityId, name: CHECKED_KEYS[of][key]! });
      continue;
    }
    const names = await cachedNames(snapshot, NAMED_ENTITIES[of].table, instance);
    const named = entityById(names, entityId);
    if (named !== null && named.number === named.own)
      found.push({
        of,
        entity: { number: named.number, id: entityId },
        entityId,
        name: named.heir['name'] as string,
      });
  }
  return found;
}
