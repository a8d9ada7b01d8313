/**
 * Lists the curations of an instance, newest first, from one snapshot.
 *
 * Test: test/query/curations/curations-reader.test.ts, test/e2e/steering-rules.test.ts.
 */
import type { CurationRefusal, Unclaimed } from '../../domain/curations.ts';
import type { NamesTable } from '../../domain/groupings.ts';
import type { StatedLife } from '../../domain/lives.ts';
import type { SessionOutcome } from '../../domain/session-outcomes.ts';
import { formatInstant } from '../../domain/time.ts';
import type { Row } from '../../store/duckdb.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { cachedNames } from '../names.ts';
import { InstanceReader, processedAt, readInstanceRow } from '../instance-reader.ts';
import {
  REFUSALS,
  type CurationsParameters,
  type CurationsResponse,
  type ListedCuration,
} from './curations-schema.ts';

export class CurationsReader extends InstanceReader {
  /** The caller checks that the instance exists. Throws AppError SERVICE_UNAVAILABLE while the views cannot be read. */
  read(parameters: CurationsParameters, caller = ''): Promise<CurationsResponse> {
    return this.options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#page(snapshot, parameters), caller);
  }

  async #page(
    snapshot: Snapshot,
    { instanceId, limit, cursor }: CurationsParameters,
  ): Promise<CurationsResponse> {
    const row = await readInstanceRow(snapshot, instanceId);
    if (row === undefined) return { elements: [], pagination: { limit, next: null }, lastProcessedAt: null };
    const instance = row['instance'] as number;
    // GET /v1/checks answers checks; what was taken back of them is no decision either.
    const decisions =
      "action <> 'CHECK' and (action <> 'UNDO' or entity_id not in (select id from @verdict))";
    const and = cursor === undefined ? decisions : `${decisions} and curation < ${cursor}`;
    const rows = await snapshot.all(
      // Reads one curation more than the page to detect a next page.
      `select * replace (id::varchar as id, entity_id::varchar as entity_id, undone_by::varchar as undone_by)
from @curation where ${and} order by curation desc limit ${limit + 1}`,
      {
        rows: {
          curation: { table: 'curation', equal: { instance } },
          verdict: { table: 'curation', equal: { instance }, and: "action = 'CHECK'" },
        },
        bindings: {},
      },
    );
    const page = rows.slice(0, limit);
    const names = await readNames(snapshot, instance);
    const titles = await readTitles(snapshot, instance, page);
    return {
      elements: page.map((curation) => listed(curation, names, titles)),
      pagination: { limit, next: rows.length > limit ? String(page.at(-1)?.['curation']) : null },
      lastProcessedAt: processedAt(row, this.options),
    };
  }
}

/** The API's type of an entity, and its naming table. */
const TARGETS = {
  TOPIC: { type: 'TOPIC', table: 'topic' },
  CLUSTER: { type: 'TOPIC_CLUSTER', table: 'cluster' },
  GAP: { type: 'GAP', table: 'gap' },
  SIGNAL: { type: 'SIGNAL', table: 'signal' },
  REPEATED_REQUEST: { type: 'REPEATED_REQUEST', table: 'repeated_request' },
  LABEL: { type: 'LABEL', table: 'label' },
  OUTCOME: { type: 'SESSION', table: null },
  CURATION: { type: 'CURATION', table: null },
} as const satisfies Readonly<
  Record<string, { type: ListedCuration['target']['type']; table: NamesTable | null }>
>;

/** Returns the name of an entity, or null. */
type NameOf = (table: NamesTable | null, id: string) => { id: string; name: string | null };

async function readNames(snapshot: Snapshot, instance: number): Promise<NameOf> {
  const tables = await Promise.all(
    (['topic', 'cluster', 'gap', 'signal', 'repeated_request', 'label'] as const).map(async (table) => {
      const rows = await cachedNames(snapshot, table, instance);
      return [table, new Map([...rows.values()].map((row) => [row['id'], row['name'] as string]))] as const;
    }),
  );
  const names = new Map<NamesTable | null, ReadonlyMap<unknown, string>>(tables);
  return (table, id) => ({ id, name: names.get(table)?.get(id) ?? null });
}

/** The titles of the sessions whose outcomes the curations correct, by id. */
async function readTitles(
  snapshot: Snapshot,
  instance: number,
  page: readonly Row[],
): Promise<ReadonlyMap<unknown, string | null>> {
  const ids = page.flatMap((row) => (row['entity'] === 'OUTCOME' ? [`'${row['entity_id'] as string}'`] : []));
  if (ids.length === 0) return new Map();
  const rows = await snapshot.all('select id::varchar as id, title from @session', {
    rows: { session: { table: 'session', equal: { instance }, and: `id in (${ids.join()})` } },
    bindings: {},
  });
  return new Map(rows.map((row) => [row['id'], row['title'] as string | null]));
}

/** The other members of an action, as the view stores them. */
interface Detail extends Partial<StatedLife> {
  readonly name?: string;
  readonly into?: string;
  readonly cluster?: string;
  readonly clusterName?: string;
  readonly description?: string;
  readonly examples?: string[];
  readonly counterexamples?: string[];
  readonly fromBeginning?: boolean;
  readonly position?: number;
  readonly outcome?: SessionOutcome;
  readonly from?: string;
  readonly unclaimed?: Unclaimed;
  /** What was found where it was corrected, which is no member of the action. */
  readonly found?: number | SessionOutcome | null;
}

/** False for the empty text that an erasure leaves in the place of an example that quoted. */
const isLeft = (example: string): boolean => example !== '';

function listed(row: Row, nameOf: NameOf, titles: ReadonlyMap<unknown, string | null>): ListedCuration {
  const { type, table } = TARGETS[row['entity'] as keyof typeof TARGETS];
  const {
    into,
    cluster,
    clusterName,
    from,
    examples,
    counterexamples,
    fixedAt,
    found: _,
    ...same
  } = JSON.parse(row['detail'] as string) as Detail;
  const refused = row['refused'] as CurationRefusal | null;
  const undoneBy = row['undone_by'] as string | null;
  const target = nameOf(table, row['entity_id'] as string);
  return {
    curationId: row['id'] as string,
    createdAt: formatInstant(row['created_at'] as number),
    position: row['position'] as number,
    keyId: row['key_id'] as string,
    action: row['action'] as ListedCuration['action'],
    target: { type, ...target, name: target.name ?? titles.get(target.id) ?? null },
    details: {
      ...same,
      ...(examples === undefined ? {} : { examples: examples.filter(isLeft) }),
      ...(counterexamples === undefined ? {} : { counterexamples: counterexamples.filter(isLeft) }),
      ...(into === undefined ? {} : { intoTopic: nameOf('topic', into) }),
      ...(cluster === undefined ? {} : { topicCluster: nameOf('cluster', cluster) }),
      ...(clusterName === undefined ? {} : { newClusterName: clusterName }),
      ...(fixedAt === undefined ? {} : { fixedAt: formatInstant(fixedAt) }),
      ...(from === undefined ? {} : { fromTopic: nameOf('topic', from) }),
    },
    status: refused !== null ? 'REFUSED' : undoneBy !== null ? 'UNDONE' : 'APPLIED',
    reason: refused === null ? null : { code: refused, message: REFUSALS[refused] },
    undoneBy,
  };
}
