/**
 * Estimates from verdicts how often something is truly there. Keeps the invariants that the order of the drawn sessions
 * depends on their ids alone, so anybody can draw them again, of every range and segment; and that a correction of a
 * message or outcome moves no session to the other stratum: whoever corrects what was read would make what was not read
 * look as right.
 *
 * Test: test/e2e/steering-rules.test.ts, test/domain/checks.test.ts.
 */
import { createHash } from 'node:crypto';
import {
  intervalOf,
  isCheckedEntity,
  kappaOf,
  shareOf,
  type Checked,
  type CheckedEntity,
  type Stratum,
  type Verdict,
} from '../../domain/checks.ts';
import type { SegmentChoice } from '../../domain/attributes.ts';
import { KINDS } from '../../domain/kinds.ts';
import { quoted } from '../../store/duckdb.ts';
import type { TableRows } from '../../store/published/segment-sql.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { NAMED_ENTITIES } from '../../domain/named-entities.ts';
import type { Range } from '../routing.ts';
import { segmentCondition } from '../segments.ts';
import type { ChecksResponse, Estimate } from './checks-schema.ts';

/** Most sessions of each stratum whose verdicts count. */
const MOST_COUNTED = 500;

/** A drawn session. */
export interface Drawn {
  readonly id: string;
  readonly title: string | null;
  /** Whether it was found, before people corrected messages and outcomes. */
  readonly found: boolean;
  /** Sessions of its stratum. */
  readonly size: number;
  /** Sessions of both that show it now. */
  readonly counted: number;
}

/**
 * What is checked, when and in which sessions: `entity` is of what merged its heir; `verdictsOf` is the UUID that verdicts
 * name; `segment` leaves the order of its sessions as it is, so those that were checked stay a random sample of them.
 */
export interface Question {
  readonly instance: number;
  readonly of: Checked;
  readonly entity: { readonly number: number; readonly id: string };
  readonly verdictsOf: string;
  readonly range: Range;
  readonly segment: readonly SegmentChoice[];
}

/** The latest verdict on each session, by its id. */
type Verdicts = ReadonlyMap<string, Verdict>;

/** The language model that judged last, and its verdicts. */
export interface SecondReader {
  readonly model: string;
  readonly verdicts: Verdicts;
}

/** The drawn sessions and the verdicts on them: `verdicts` are those of people. */
export interface Review {
  readonly drawn: readonly Drawn[];
  readonly verdicts: Verdicts;
  readonly second: SecondReader | null;
}

/** Draws sessions and reads the verdicts. */
export async function readReview(snapshot: Snapshot, question: Question): Promise<Review> {
  const [drawn, said] = await Promise.all([draw(snapshot, question), verdictsOn(snapshot, question)]);
  return { drawn, ...said };
}

/** What the rows of a grouping are checked as; null: they are not. */
export function checkedAs(groupBy: string): CheckedEntity | null {
  if (groupBy === 'CSAT_DSAT') return 'SIGNAL';
  return isCheckedEntity(groupBy) ? groupBy : null;
}

/** Verdicts of people, among curations (SQL). */
export const BY_PEOPLE = "action = 'CHECK' and json_extract_string(detail, '$.reader') is null";

/** Ids of the entities of a kind that people have checked. */
export async function checkedEntities(
  snapshot: Snapshot,
  instance: number,
  of: CheckedEntity,
): Promise<ReadonlySet<string>> {
  const rows = await snapshot.all(
    'select distinct entity_id::varchar as id from @check where undone_by is null and refused is null',
    {
      rows: {
        check: { table: 'curation', equal: { instance }, and: `${BY_PEOPLE} and entity = '${of}'` },
      },
    },
  );
  return new Set(rows.map(({ id }) => id as string));
}

/** As `estimateOf`; null, without drawing, if there is no verdict at all. */
export async function readEstimate(snapshot: Snapshot, question: Question): Promise<Estimate | null> {
  const { verdicts } = await verdictsOn(snapshot, question);
  return verdicts.size === 0 ? null : estimateOf({ drawn: await draw(snapshot, question), verdicts });
}

/**
 * The verdicts of people on drawn sessions in which it was found, in any order, and the number of these sessions. Verdicts
 * stay whatever comes in among them, but are no random sample where somebody chose what to check.
 */
export async function verdictsOnFound(
  snapshot: Snapshot,
  question: Question,
): Promise<{ readonly sessions: number; readonly verdicts: readonly Verdict[] }> {
  const { verdicts } = await verdictsOn(snapshot, question);
  const drawn = verdicts.size === 0 ? [] : (await draw(snapshot, question)).filter(({ found }) => found);
  return { sessions: drawn[0]?.size ?? 0, verdicts: drawn.flatMap(({ id }) => verdicts.get(id) ?? []) };
}

/** `error`: share of verdicts that are wrong. */
export function estimateOf({ drawn, verdicts }: Pick<Review, 'drawn' | 'verdicts'>, error = 0): Estimate {
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
    share: intervalOf(counts, error),
  })) as [Estimate['found'], Estimate['notFound']];
  const all = found.sessions + notFound.sessions;
  const hits = (stratum: typeof found): number => stratum.sessions * (stratum.share?.share ?? 0);
  const share = shareOf(strata, error);
  return {
    foundShare: all === 0 ? null : drawn[0]!.counted / all,
    share,
    found,
    notFound,
    recall: share === null || share.share === 0 ? null : hits(found) / (hits(found) + hits(notFound)),
  };
}

/**
 * Sessions that show it now (`counts`), or in which it was found before people corrected them (SQL), and the rows that
 * this reads, beside `sent`.
 */
function hitsOf({ instance, of, entity, range }: Question): {
  readonly sql: string;
  readonly rows: Readonly<Record<string, TableRows>>;
} {
  const correction = (and: string): TableRows => ({
    table: 'curation',
    equal: { instance },
    and: `refused is null and action in ('ASSIGN', 'EXCLUDE') and ${and}`,
  });
  if (of === 'OUTCOME')
    return {
      sql: `with fixed as (
  select entity_id, arg_min(json_extract_string(detail, '$.found'), curation) as found
  from @correction group by all having bool_or(undone_by is null)
)
select session, coalesce(outcome = ${quoted(entity.id)}, false) as counts,
  coalesce(case when f.entity_id is null then outcome else f.found end = ${quoted(entity.id)}, false) as found
from @ended s left join fixed f on s.id = f.entity_id`,
      rows: {
        ended: { table: 'session', equal: { instance } },
        correction: correction("entity = 'OUTCOME'"),
      },
    };
  const kindOf = of === 'GAP_TYPE' ? 'GAP' : of;
  const own = factsOf(instance, NAMED_ENTITIES[kindOf].kind, range);
  const numbers = of === 'GAP_TYPE' ? 'select gap from @gap' : `${entity.number}`;
  // A message has a slot for each signal, and one for its gap.
  const slot = of === 'SIGNAL' ? ` and entity_id = '${entity.id}'` : '';
  return {
    sql: `with fixed as (
  select distinct json_extract(detail, '$.position')::bigint as position,
    json_extract_string(detail, '$.found')::integer as found
  from @correction
)
select session, true as counts, fixed.position is null as found
from @own left join fixed using (position) where not gone and entity in (${numbers})
union all
select session, false, true from @sent join fixed using (position) where not gone and fixed.found in (${numbers})`,
    rows: {
      own,
      correction: correction(
        `undone_by is null and entity = '${kindOf}' and json_exists(detail, '$.found')${slot}`,
      ),
      ...(of === 'GAP_TYPE'
        ? { gap: { table: 'gap', equal: { instance }, and: `gap_type = ${quoted(entity.id)}` } }
        : {}),
    },
  };
}

function factsOf(instance: number, kind: number, { start, end }: Range): TableRows {
  return { table: 'message_fact', equal: { instance, kind }, range: { from: start, to: end } };
}

/** Draws the first sessions of both strata. */
async function draw(snapshot: Snapshot, question: Question): Promise<Drawn[]> {
  const { instance, entity, range, segment } = question;
  const hits = hitsOf(question);
  const within = segmentCondition(segment, instance);
  const rows = await snapshot.all(
    `with hit as (select session, bool_or(counts) as counts, bool_or(found) as found from (${hits.sql}) group by session),
placed as (
  select s.id::varchar as id, s.title, coalesce(hit.found, false) as found, coalesce(hit.counts, false) as counts,
    md5(concat($id, ' ', s.id::varchar)) as place
  from (
    select distinct session from @sent where not gone${within.sql === null ? '' : ` and ${within.sql}`}
  ) c join @session s using (session)
  left join hit using (session)
)
select id, title, found, count(*) over (partition by found) as size, (select count(*) from placed where counts) as counted
from placed
qualify row_number() over (partition by found order by place) <= ${MOST_COUNTED}
order by found, place`,
    {
      rows: {
        ...hits.rows,
        ...within.rows,
        sent: factsOf(instance, KINDS.all, range),
        session: { table: 'session', equal: { instance } },
      },
      bindings: { id: entity.id, ...within.bindings },
    },
  );
  return rows.map(({ id, title, found, size, counted }) => ({
    id: id as string,
    title: title as string | null,
    found: found as boolean,
    size: Number(size),
    counted: Number(counted),
  }));
}

/** Returns the verdicts of people and of a second reader. A verdict on what merged later is none on its heir. */
async function verdictsOn(
  snapshot: Snapshot,
  { instance, of, verdictsOf }: Question,
): Promise<Pick<Review, 'verdicts' | 'second'>> {
  const rows = await snapshot.all(
    `select detail from @check
where entity_id = $id::uuid and undone_by is null and refused is null order by curation`,
    {
      rows: {
        check: { table: 'curation', equal: { instance }, and: `action = 'CHECK' and entity = '${of}'` },
      },
      bindings: { id: verdictsOf },
    },
  );
  const said = rows.map(({ detail }) => JSON.parse(detail as string) as Said);
  const by = (reader: string | undefined): Verdicts =>
    new Map(said.filter((one) => one.reader === reader).map(({ session, verdict }) => [session, verdict]));
  const model = said.findLast(({ reader }) => reader !== undefined)?.reader;
  return {
    verdicts: by(undefined),
    second: model === undefined ? null : { model, verdicts: by(model) },
  };
}

/** What the view keeps of a verdict. */
interface Said {
  readonly session: string;
  readonly verdict: Verdict;
  /** The language model that said it; left out: a person. */
  readonly reader?: string;
}

/** How far the second reader agrees with people on the drawn sessions; null: there is none. */
export function agreementOf({ drawn, verdicts, second }: Review): ChecksResponse['secondReader'] {
  if (second === null) return null;
  const judged = drawn.filter(({ id }) => second.verdicts.has(id));
  const count = (people: Verdict, model: Verdict): number =>
    judged.filter(({ id }) => verdicts.get(id) === people && second.verdicts.get(id) === model).length;
  const table = {
    yesYes: count('YES', 'YES'),
    yesNo: count('YES', 'NO'),
    noYes: count('NO', 'YES'),
    noNo: count('NO', 'NO'),
  };
  const agreed = table.yesYes + table.noNo;
  return {
    model: second.model,
    judged: judged.length,
    both: agreed + table.yesNo + table.noYes,
    agreed,
    kappa: kappaOf(table),
  };
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

/** Found sessions, and others, that are shuffled together. */
const TOGETHER = 3;

/**
 * The next sessions without a verdict of a person, in the order of each stratum. Found ones and others come in a
 * shuffled order, so that nobody expects the answer before reading: that of a digest of the sessions' ids.
 */
export function nextOf({ drawn, verdicts }: Pick<Review, 'drawn' | 'verdicts'>, limit: number): Drawn[] {
  const open = drawn.filter(({ id }) => !verdicts.has(id));
  const [found, others] = [open.filter((one) => one.found), open.filter((one) => !one.found)];
  const next: Drawn[] = [];
  for (let at = 0; next.length < limit && at < open.length; at += TOGETHER) {
    const some = [found, others].map((all) => all.slice(at, at + TOGETHER));
    const strata = some
      .flat()
      .map((one) => ({ ...one, place: createHash('md5').update(one.id).digest('hex') }))
      .toSorted((a, b) => (a.place < b.place ? -1 : 1));
    for (const { found: isFound } of strata) next.push(some[isFound ? 0 : 1]!.shift()!);
  }
  return next.slice(0, limit);
}
