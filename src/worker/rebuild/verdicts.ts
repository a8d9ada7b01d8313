/**
 * Compares what was found with the verdicts of people on it, so that a rebuild tells whether new models or rules are
 * better. Keeps the invariant that both sides are measured by the same verdicts as far as their entities are there, and
 * by what was found in messages that people corrected: a correction makes no rule better.
 *
 * Test: test/worker/rebuild/verdicts.test.ts.
 */
import { CHECKED_ENTITIES, type CheckedEntity } from '../../domain/checks.ts';
import { NAMED_ENTITIES } from '../../domain/named-entities.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';

/** Numbers of verdicts YES or NO, the latest of each session and entity. */
export interface Agreement {
  /** Found, and YES. */
  readonly hits: number;
  /** Found, and NO. */
  readonly wrong: number;
  /** Not found, and YES. */
  readonly missed: number;
}

/** The entities of these kinds that are there (SQL). */
function entitiesOf(kinds: readonly CheckedEntity[]): string {
  return kinds
    .map((of) => {
      const { table, kind } = NAMED_ENTITIES[of];
      const alive = of === 'SIGNAL' || of === 'LABEL' ? '' : ' where heir is null';
      return `select '${of}' as type, ${kind} as kind, instance, ${table} as entity, id from @${table}${alive}`;
    })
    .join('\nunion all ');
}

const agreementOn = (entities: string): string => `with said as (
  select instance, entity as type, entity_id,
    json_extract_string(detail, '$.session') as session_id, json_extract_string(detail, '$.verdict') as verdict
  from @curation where action = 'CHECK' and refused is null and undone_by is null
    and json_extract_string(detail, '$.reader') is null
  qualify row_number() over (partition by instance, type, entity_id, session_id order by curation desc) = 1
), checked as (
  select v.instance, v.type, e.kind, e.entity, e.id, s.session, v.verdict = 'YES' as is_there
  from said v
  join (${entities}) e on e.instance = v.instance and e.type = v.type and e.id = v.entity_id
  join @session s on s.instance = v.instance and s.id::varchar = v.session_id
  where v.verdict <> 'UNSURE'
), corrected as (
  select distinct instance, e.kind, e.entity, json_extract(detail, '$.position')::bigint as position,
    json_extract_string(detail, '$.found')::integer is not distinct from e.entity as was
  from @curation c join (select distinct instance, type, kind, entity, id from checked) e using (instance)
  where c.entity = e.type and (c.entity <> 'SIGNAL' or c.entity_id = e.id)
    and action in ('ASSIGN', 'EXCLUDE') and refused is null and undone_by is null and json_exists(detail, '$.found')
), found as (
  select f.instance, f.kind, f.entity, f.session
  from @message_fact f semi join checked c using (instance, kind, entity, session)
  anti join corrected using (instance, kind, entity, position)
  where not f.gone
  union
  select c.instance, c.kind, c.entity, f.session
  from corrected c join @message_fact f on f.instance = c.instance and f.position = c.position and f.kind = 0
  where c.was and not f.gone
)
select count(*) filter (found.session is not null and is_there) as hits,
  count(*) filter (found.session is not null and not is_there) as wrong,
  count(*) filter (found.session is null and is_there) as missed
from checked left join found using (instance, kind, entity, session)`;

/** Sums over snapshots that together hold an installation. */
export async function readAgreement(snapshots: readonly Snapshot[]): Promise<Agreement> {
  const sum = { hits: 0, wrong: 0, missed: 0 };
  for (const snapshot of snapshots) {
    // Without verdicts, no fact is read; earlier views lack tables of what nobody could check then.
    const said = await snapshot.all(`select distinct entity from @curation where action = 'CHECK'`);
    const kinds = CHECKED_ENTITIES.filter((of) => said.some(({ entity }) => entity === of));
    if (kinds.length === 0) continue;
    const [row = {}] = await snapshot.all(agreementOn(entitiesOf(kinds)), { bindings: {} });
    for (const name of ['hits', 'wrong', 'missed'] as const) sum[name] += Number(row[name] ?? 0);
  }
  return sum;
}

/** Describes both sides in a line; null if there is no verdict on either. */
export function agreementLine(before: Agreement, after: Agreement): string | null {
  const [was, is] = [wordsOf(before), wordsOf(after)];
  return was === '' && is === '' ? null : `verdicts of people: before ${was || 'none'}; now ${is || 'none'}`;
}

/** Example: “precision 91.3 % (73 of 80), recall 88 % (73 of 83)”; '' without verdicts. */
function wordsOf({ hits, wrong, missed }: Agreement): string {
  const share = (name: string, all: number): string[] =>
    all === 0 ? [] : [`${name} ${Math.round((hits / all) * 1000) / 10} % (${hits} of ${all})`];
  return [...share('precision', hits + wrong), ...share('recall', hits + missed)].join(', ');
}
