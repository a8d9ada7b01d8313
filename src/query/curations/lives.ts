/**
 * Reads the lives of entities from one snapshot. Keeps the invariant that the life of an entity follows from the list of
 * curations and from what merged into what alone: the latest TRACK of it, or of what merged into it, that is neither
 * refused nor undone.
 *
 * Test: test/query/curations/lives.test.ts.
 */
import type { Life } from '../../domain/life-schema.ts';
import type { StatedLife, TrackedEntity } from '../../domain/lives.ts';
import { NAMED_ENTITIES } from '../../domain/named-entities.ts';
import { formatInstant } from '../../domain/time.ts';
import type { Row } from '../../store/duckdb.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { cachedNames, heirOf } from '../names.ts';

/** Returns the lives of an instance's entities of a kind, by the number of what lives. Cached until a table changes. */
export function livesOf(
  snapshot: Snapshot,
  instance: number,
  of: TrackedEntity,
): Promise<ReadonlyMap<number, Life>> {
  const { table } = NAMED_ENTITIES[of];
  return snapshot.cached(`lives ${instance} ${of}`, ['curation', table], async () => {
    const said = await snapshot.all(
      `select id::varchar as id, entity_id::varchar as tracked, created_at, detail from @tracked
where undone_by is null and refused is null order by curation`,
      {
        rows: {
          tracked: { table: 'curation', equal: { instance }, and: `action = 'TRACK' and entity = '${of}'` },
        },
      },
    );
    if (said.length === 0) return new Map<number, Life>();
    const names = await cachedNames(snapshot, table, instance);
    const numbers = new Map([...names].map(([number, row]) => [row['id'] as string, number]));
    const lives = new Map<number, Life>();
    for (const row of said) {
      const number = numbers.get(row['tracked'] as string);
      if (number !== undefined) lives.set(heirOf(names, number), lifeIn(row));
    }
    return lives;
  });
}

/** Returns the life of an entity, by the number of what lives; null: nobody has said anything of it. */
export async function lifeOf(
  snapshot: Snapshot,
  instance: number,
  of: TrackedEntity,
  number: number,
): Promise<Life | null> {
  return (await livesOf(snapshot, instance, of)).get(number) ?? null;
}

function lifeIn(row: Row): Life {
  const { state, fixedAt, release, owner, note, link } = JSON.parse(row['detail'] as string) as StatedLife;
  const at = row['created_at'] as number;
  return {
    state,
    fixedAt: state === 'FIXED' && release === undefined ? formatInstant(fixedAt ?? at) : null,
    release: release ?? null,
    owner: owner ?? null,
    note: note ?? null,
    link: link ?? null,
    at: formatInstant(at),
    curationId: row['id'] as string,
  };
}
