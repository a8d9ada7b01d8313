/**
 * Answers GET /v1/checks: draws sessions to check, and estimates shares from the verdicts, all from one snapshot. Keeps
 * the invariant that the order of the drawn sessions depends on their ids alone, so anybody can draw them again.
 *
 * Test: test/e2e/steering-rules.test.ts.
 */
import { intervalOf, shareOf, type Checked, type Stratum, type Verdict } from '../../domain/checks.ts';
import { KINDS } from '../../domain/kinds.ts';
import { formatInstant } from '../../domain/time.ts';
import type { Row } from '../../store/duckdb.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { cachedNames, entityById } from '../dimensions.ts';
import { readInstanceRow, type InstanceReading } from '../instance-row.ts';
import { NAMED_ENTITIES, noSuch } from '../named-entities.ts';
import type { Range } from '../routing.ts';
import type { ChecksParameters, ChecksResponse } from './checks-schema.ts';

/** Most sessions of each stratum whose verdicts count. */
const MOST_COUNTED = 500;

/** A drawn session. */
interface Drawn {
  readonly id: string;
  readonly title: string | null;
  readonly found: boolean;
  /** Sessions of its stratum. */
  readonly size: number;
}

/** The checked entity: of what merged, its heir. */
interface Entity {
  readonly number: number;
  readonly id: string;
  readonly name: string;
}

export class ChecksReader {
  readonly #options: InstanceReading;

  constructor(options: InstanceReading) {
    this.#options = options;
  }

  /**
   * The caller checks that the instance exists. Throws AppError NOT_FOUND for an unknown entity, SERVICE_UNAVAILABLE
   * while the views cannot be read.
   */
  read(parameters: ChecksParameters, caller = ''): Promise<ChecksResponse> {
    return this.#options
      .readerOf(parameters.instanceId)
      .read((snapshot) => this.#answer(snapshot, parameters), caller);
  }

  async #answer(snapshot: Snapshot, parameters: ChecksParameters): Promise<ChecksResponse> {
    const { instanceId, of, reviewerError, limit } = parameters;
    const row = await readInstanceRow(snapshot, instanceId);
    const instance = row?.['instance'] as number | undefined;
    const id = parameters.id.toLowerCase();
    const { table, kind, words } = NAMED_ENTITIES[of];
    const names = instance === undefined ? null : await cachedNames(snapshot, table, instance);
    const entity = names === null ? null : entityOf(names, id);
    if (row === undefined || instance === undefined || entity === null) throw noSuch(words, id);
    const [drawn, verdicts] = await Promise.all([
      draw(snapshot, { instance, kind, entity, range: rangeIn(parameters) }),
      verdictsOn(snapshot, instance, of, entity),
    ]);
    const strata = [true, false].map((found) =>
      countsOf(
        drawn.filter((one) => one.found === found),
        verdicts,
      ),
    );
    const [found, notFound] = strata.map((counts) => ({
      sessions: counts.sessions,
      yes: counts.yes,
      no: counts.checked - counts.yes,
      unsure: counts.unsure,
      share: intervalOf(counts, reviewerError),
    })) as [ChecksResponse['found'], ChecksResponse['notFound']];
    const all = found.sessions + notFound.sessions;
    const hits = (stratum: typeof found): number => stratum.sessions * (stratum.share?.share ?? 0);
    const share = shareOf(strata, reviewerError);
    const since = this.#options.answeringSince?.() ?? 0;
    return {
      checked: { of, id: entity.id, name: entity.name },
      foundShare: all === 0 ? null : found.sessions / all,
      share,
      found,
      notFound,
      recall: share === null || share.share === 0 ? null : hits(found) / (hits(found) + hits(notFound)),
      sample: nextOf(drawn, verdicts, limit),
      lastProcessedAt: formatInstant(Math.max(row['processed_at'] as number, since)),
    };
  }
}

function rangeIn(parameters: ChecksParameters): Range {
  return { start: parameters['dateRange.start'] ?? -Infinity, end: parameters['dateRange.end'] ?? Infinity };
}

function entityOf(names: ReadonlyMap<number, Row>, id: string): Entity | null {
  const found = entityById(names, id);
  if (found === null) return null;
  const { number, heir } = found;
  return { number, id: heir['id'] as string, name: heir['name'] as string };
}

interface Drawing {
  readonly instance: number;
  readonly kind: number;
  readonly entity: Entity;
  readonly range: Range;
}

/** Draws the first sessions of both strata. */
async function draw(snapshot: Snapshot, { instance, kind, entity, range }: Drawing): Promise<Drawn[]> {
  const facts = (of: number) =>
    ({
      table: 'message_fact',
      equal: { instance, kind: of },
      range: { from: range.start, to: range.end },
    }) as const;
  const rows = await snapshot.all(
    `with counted as (
  select session, bool_or(is_hit) as found from (
    select session, false as is_hit from @sent where not gone
    union all
    select session, true from @own where not gone and entity = ${entity.number}
  ) group by session
), placed as (
  select s.id::varchar as id, s.title, c.found, md5(concat($id, ' ', s.id::varchar)) as place
  from @session s join counted c using (session)
)
select id, title, found, count(*) over (partition by found) as size
from placed
qualify row_number() over (partition by found order by place) <= ${MOST_COUNTED}
order by found, place`,
    {
      rows: {
        sent: facts(KINDS.all),
        own: facts(kind),
        session: { table: 'session', equal: { instance } },
      },
      bindings: { id: entity.id },
    },
  );
  return rows.map(({ id, title, found, size }) => ({
    id: id as string,
    title: title as string | null,
    found: found as boolean,
    size: Number(size),
  }));
}

/** Returns the latest verdict on each session, by its id. A verdict on what merged later is none on its heir. */
async function verdictsOn(
  snapshot: Snapshot,
  instance: number,
  of: Checked,
  { id }: Entity,
): Promise<ReadonlyMap<string, Verdict>> {
  const rows = await snapshot.all(
    `select detail from @check
where entity_id = $id::uuid and undone_by is null and refused is null order by curation`,
    {
      rows: {
        check: { table: 'curation', equal: { instance }, and: `action = 'CHECK' and entity = '${of}'` },
      },
      bindings: { id },
    },
  );
  return new Map(
    rows.map(({ detail }) => {
      const { session, verdict } = JSON.parse(detail as string) as { session: string; verdict: Verdict };
      return [session, verdict] as const;
    }),
  );
}

function countsOf(
  drawn: readonly Drawn[],
  verdicts: ReadonlyMap<string, Verdict>,
): Stratum & { readonly unsure: number } {
  // Only verdicts on the first drawn ones are of a random sample: whoever checks others has chosen them.
  const unread = drawn.findIndex(({ id }) => !verdicts.has(id));
  const read = unread < 0 ? drawn : drawn.slice(0, unread);
  const said = read.map(({ id }) => verdicts.get(id)!);
  const yes = said.filter((verdict) => verdict === 'YES').length;
  const unsure = said.filter((verdict) => verdict === 'UNSURE').length;
  return { sessions: drawn[0]?.size ?? 0, checked: said.length - unsure, yes, unsure };
}

/** The next sessions without a verdict, found ones and others in turns. */
function nextOf(
  drawn: readonly Drawn[],
  verdicts: ReadonlyMap<string, Verdict>,
  limit: number,
): ChecksResponse['sample'] {
  const open = drawn.filter(({ id }) => !verdicts.has(id));
  const [found, others] = [open.filter((one) => one.found), open.filter((one) => !one.found)];
  return Array.from({ length: Math.max(found.length, others.length) })
    .flatMap((_, at) => [found.slice(at, at + 1), others.slice(at, at + 1)].flat())
    .slice(0, limit)
    .map(({ id, title, found }) => ({ sessionId: id, title, found }));
}
