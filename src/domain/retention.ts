/**
 * Computes which retention an instance has, its own or its project's, and when its data passes it: texts first, then
 * identities, then counts. Data that is gone stays gone, also when the retention is raised later.
 *
 * Test: test/domain/retention.test.ts.
 */

const DAY = 86_400_000_000;

/** Most days of a period: a hundred years. */
export const MOST_RETENTION_DAYS = 36_500;

/** Periods in days; null: no limit. */
export interface Retention {
  /** For texts, titles, summaries, quotes and vectors of conversations without a message for this long. */
  readonly textDays: number | null;
  /** Names of end users without a message for this long, and metadata of them and of their conversations. */
  readonly peopleDays: number | null;
  /** Messages older than this no longer count. */
  readonly countDays: number | null;
  /** Lower bound of the other periods. */
  readonly keepAtLeastDays: number | null;
}

/** An instance and its retention. */
export interface Retained {
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly retention: Retention;
}

/** A project and the retention of its instances that have none of their own. */
export interface ProjectRetention {
  /** UUID, lower case. */
  readonly projectId: string;
  readonly retention: Retention;
  /** ISO 8601, UTC. */
  readonly setAt: string;
}

/** What the retention of a project needs to know of an instance. */
export interface ProjectInstance {
  readonly id: string;
  readonly projectId: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** The place where the days that hold for an instance were set. */
export const RETENTION_SOURCES = ['INSTANCE', 'PROJECT', 'NOTHING'] as const;
export type RetentionSource = (typeof RETENTION_SOURCES)[number];

export const KEPT_FOR_EVER: Retention = {
  textDays: null,
  peopleDays: null,
  countDays: null,
  keepAtLeastDays: null,
};

const PERIODS = ['textDays', 'peopleDays', 'countDays'] as const;
type Periods = Pick<Retention, (typeof PERIODS)[number]>;

/** The periods that are shorter than a floor in days; null: no floor. */
export function periodsBelow(retention: Periods, floor: number | null): (keyof Periods)[] {
  return PERIODS.filter((name) => (retention[name] ?? Infinity) < (floor ?? 0));
}

/** Ids that a refusal names at most. */
const NAMED = 5;

/**
 * Lists the instances of a project whose own days are below a floor: the first five ids, and how many others; '' if
 * there are none.
 */
export async function instancesBelow(
  { keepAtLeastDays }: Retention,
  own: readonly Retained[],
  {
    projectId,
    projectOf,
  }: { readonly projectId: string; readonly projectOf: (instanceId: string) => Promise<string | null> },
): Promise<string> {
  const found: string[] = [];
  for (const { instanceId, retention } of own) {
    if (periodsBelow(retention, keepAtLeastDays).length === 0) continue;
    if ((await projectOf(instanceId)) === projectId) found.push(instanceId);
  }
  const others = found.length - NAMED;
  return `${found.slice(0, NAMED).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

/** Returns true if nothing ever goes and nothing has to stay. */
export function isUnlimited(retention: Retention): boolean {
  return Object.values(retention).every((days) => days === null);
}

/** Returns a retention whose periods are at least a floor in days; null: no floor. */
function raisedTo(floor: number | null, retention: Retention): Retention {
  const below = periodsBelow(retention, floor).map((name) => [name, floor] as const);
  return below.length === 0 ? retention : { ...retention, ...Object.fromEntries(below) };
}

/**
 * The retention in force of an instance: its own, or else that of its project. Null: not set. Days of its own below the
 * project's floor count as the floor: both may be set in the same moment, and then neither is refused.
 */
export function inForce(
  own: Retention | null,
  ofProject: Retention | null,
): { readonly retention: Retention; readonly from: RetentionSource } {
  if (own !== null) return { retention: raisedTo(ofProject?.keepAtLeastDays ?? null, own), from: 'INSTANCE' };
  if (ofProject !== null) return { retention: ofProject, from: 'PROJECT' };
  return { retention: KEPT_FOR_EVER, from: 'NOTHING' };
}

/** The project retentions by which something goes. */
function limiting(projects: readonly ProjectRetention[]): ProjectRetention[] {
  return projects.filter(({ retention }) => PERIODS.some((name) => retention[name] !== null));
}

/** The highest floor of all projects; null if there is none. */
function highestFloor(projects: readonly ProjectRetention[]): number | null {
  const highest = Math.max(0, ...projects.map(({ retention }) => retention.keepAtLeastDays ?? 0));
  return highest === 0 ? null : highest;
}

/**
 * Returns true if `retainedOf` needs the list of instances: something goes by the days of a project, or days of an
 * instance may be below the floor of its project.
 */
export function needsInstances(own: readonly Retained[], projects: readonly ProjectRetention[]): boolean {
  const floor = highestFloor(projects);
  return (
    limiting(projects).length > 0 || own.some(({ retention }) => periodsBelow(retention, floor).length > 0)
  );
}

/**
 * The instances that have a retention, with the one in force. An instance that was created after its project's
 * retention was set follows at the next midnight UTC: each run recounts a whole shard. So the result depends on the
 * settings and the day only. `now`: microseconds.
 */
export function retainedOf(
  own: readonly Retained[],
  projects: readonly ProjectRetention[],
  instances: readonly ProjectInstance[],
  now: number,
): Retained[] {
  // A list that is read while somebody writes may have an instance twice, or lack one.
  const ownById = new Map(own.map((each) => [each.instanceId, each]));
  const projectOf = new Map(instances.map(({ id, projectId }) => [id, projectId]));
  const floors = new Map(projects.map(({ projectId, retention }) => [projectId, retention.keepAtLeastDays]));
  const highest = highestFloor(projects);
  const raised = [...ownById.values()].map(({ instanceId, retention }) => {
    const projectId = projectOf.get(instanceId);
    // What is gone does not come back: an instance of an unknown project keeps as much as any has to.
    const floor = projectId === undefined ? highest : (floors.get(projectId) ?? null);
    return { instanceId, retention: raisedTo(floor, retention) };
  });
  const byProject = new Map(limiting(projects).map((each) => [each.projectId, each]));
  const midnight = midnightOf(now) / 1000;
  const others = instances.flatMap(({ id, projectId, createdAt }) => {
    const found = byProject.get(projectId);
    if (found === undefined || ownById.has(id)) return [];
    const isLater = Date.parse(createdAt) >= Math.max(midnight, Date.parse(found.setAt));
    return isLater ? [] : [{ instanceId: id, retention: found.retention }];
  });
  return [...raised, ...others];
}

/** Event times before which data is removed, microseconds since 1970-01-01 UTC; null: nothing is. */
export interface Cutoffs {
  readonly texts: number | null;
  readonly people: number | null;
  readonly counts: number | null;
}

/** Rows that a run removed from the views. */
export interface AgedCounts {
  readonly messages: number;
  readonly sessions: number;
  readonly texts: number;
  readonly people: number;
}

/** The latest retention run of an instance. */
export interface RetentionRun {
  /** UUID, lower case. */
  readonly instanceId: string;
  readonly cutoffs: Cutoffs;
  /** Cutoffs of the last run that finished. */
  readonly former: Cutoffs;
  /** Stream sequence up to which entries are rewritten; null while views are still trimmed. */
  readonly position: number | null;
  /** ISO 8601, UTC, as the next one. */
  readonly startedAt: string;
  /** Null while the run is in progress or interrupted. */
  readonly doneAt: string | null;
  readonly counts: AgedCounts;
  /** Stream entries that were rewritten. */
  readonly entries: number;
  /**
   * True once this or an earlier run removed texts or messages: the stream alone can no longer reproduce the counts.
   */
  readonly lostTexts: boolean;
  /** Error of the last attempt, or null. */
  readonly fault: string | null;
}

/** The last midnight UTC; both in microseconds. */
export function midnightOf(now: number): number {
  return Math.floor(now / DAY) * DAY;
}

/** Rounds cutoffs down to midnight UTC, so that they move once a day. `now`: microseconds. */
export function cutoffsOf({ textDays, peopleDays, countDays }: Retention, now: number): Cutoffs {
  const midnight = midnightOf(now);
  const before = (days: number | null): number | null => (days === null ? null : midnight - days * DAY);
  return { texts: before(textDays), people: before(peopleDays), counts: before(countDays) };
}

/** Returns true if `cutoffs` remove something that `than` kept. */
export function isFurther(cutoffs: Cutoffs, than: Cutoffs): boolean {
  return (['texts', 'people', 'counts'] as const).some(
    (part) => (cutoffs[part] ?? -Infinity) > (than[part] ?? -Infinity),
  );
}

export const NO_COUNTS: AgedCounts = { messages: 0, sessions: 0, texts: 0, people: 0 };
const NO_CUTOFFS: Cutoffs = cutoffsOf(KEPT_FOR_EVER, 0);

/**
 * Returns the runs to begin or resume: those of instances with data that has aged past a cutoff since their last run.
 * Runs that were interrupted before they reached the stream, and whose days were given up since, come with position 0:
 * nothing is left to do but to close them. They may have removed texts from the views.
 */
export function dueRuns(
  retained: readonly Retained[],
  runs: readonly RetentionRun[],
  now: number,
): RetentionRun[] {
  const known = new Map(runs.map((run) => [run.instanceId, run]));
  // Until a run reaches the stream, the current retention applies; from there on it ends, whatever is set by then.
  const begun = runs.filter(({ doneAt, position }) => doneAt === null && position !== null);
  const isBegun = new Set(begun);
  const others = retained.flatMap(({ instanceId, retention }) => {
    const last = known.get(instanceId);
    if (last !== undefined && isBegun.has(last)) return [];
    const before = last === undefined ? NO_CUTOFFS : last.doneAt === null ? last.former : last.cutoffs;
    const cutoffs = cutoffsOf(retention, now);
    if (!isFurther(cutoffs, before)) return [];
    return [
      {
        instanceId,
        // Never moves a cutoff back, even if the retention was raised.
        cutoffs: furthest(cutoffs, before),
        former: before,
        position: null,
        startedAt: new Date(Math.floor(now / 1000)).toISOString(),
        doneAt: null,
        counts: NO_COUNTS,
        entries: 0,
        lostTexts: last?.lostTexts ?? false,
        fault: null,
      },
    ];
  });
  const kept = new Set(others.map(({ instanceId }) => instanceId));
  const givenUp = runs
    .filter(
      ({ doneAt, position, instanceId }) => doneAt === null && position === null && !kept.has(instanceId),
    )
    .map((run): RetentionRun => ({ ...run, position: 0, lostTexts: true, fault: null }));
  return [...begun, ...givenUp, ...others];
}

function furthest(one: Cutoffs, other: Cutoffs): Cutoffs {
  const later = (part: keyof Cutoffs): number | null => {
    const most = Math.max(one[part] ?? -Infinity, other[part] ?? -Infinity);
    return most === -Infinity ? null : most;
  };
  return { texts: later('texts'), people: later('people'), counts: later('counts') };
}
