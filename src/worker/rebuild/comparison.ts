/**
 * Compares two builds of the views, table by table and instance by instance. Only instances at the same stream position
 * on both sides are compared.
 *
 * Test: test/worker/rebuild/digest.test.ts, test/cli/rebuild.test.ts.
 */
import { sameAnalysis, standingOf } from '../../store/epochs/definition.ts';
import { digestTable, positionsOf, type DigestScope, type RowsDigest } from './digest.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import type { PublishedTable, View } from '../../store/view-files.ts';

/** The comparison of one table. */
export interface ComparedTable {
  readonly view: string;
  readonly table: string;
  readonly scope: DigestScope;
  /** True if a difference is a fault: the view and all its predecessors have the same version on both sides. */
  readonly due: boolean;
  /** Number of instances whose rows differ. */
  readonly differing: number;
  /** Rows of the compared instances on each side. */
  readonly liveRows: number;
  readonly rebuiltRows: number;
}

/** The result of a comparison. */
export interface Comparison {
  readonly tables: readonly ComparedTable[];
  readonly notCompared: readonly { readonly table: string; readonly reason: string }[];
  /** Number of instances at the same stream position on both sides. */
  readonly instances: number;
  /** Number of instances of which one side contains later entries. */
  readonly elsewhere: number;
  /** Ids of instances that the rebuilt side lacks, or has at an earlier entry, and the reverse. */
  readonly missing: readonly string[];
}

/** Snapshots that together hold the same partitions of the stream. */
export interface Pair {
  readonly live: readonly Snapshot[];
  readonly rebuilt: readonly Snapshot[];
}

export interface ComparisonOptions {
  readonly pairs: readonly Pair[];
  readonly views: readonly View[];
  /** The definitions of the live and of the rebuilt rows (`definitionOf`). */
  readonly liveDefinition: string;
  readonly rebuiltDefinition: string;
  /** Ids of instances that are not compared, because of an erasure. */
  readonly except?: ReadonlySet<string>;
}

type Positions = ReadonlyMap<string, number>;

/**
 * Compares the published tables of two builds. Where model or rules differ, it compares only columns that follow from
 * the stream alone.
 */
export async function compareBuilds(options: ComparisonOptions): Promise<Comparison> {
  const { views, liveDefinition, rebuiltDefinition } = options;
  const scope: DigestScope = sameAnalysis(liveDefinition, rebuiltDefinition) ? 'rows' : 'stream';
  const sides: { pair: Pair; same: ReadonlySet<string> }[] = [];
  const missing: string[] = [];
  let elsewhere = 0;
  for (const pair of options.pairs) {
    const live = await merged(pair.live.map(positionsOf));
    const rebuilt = await merged(pair.rebuilt.map(positionsOf));
    const reached = Math.min(...pair.live.map(({ sequence }) => sequence));
    const behind = new Set(pair.live.flatMap((snapshot) => [...snapshot.behind]));
    for (const instance of options.except ?? []) for (const side of [live, rebuilt]) side.delete(instance);
    const found = matched(live, rebuilt, reached, behind);
    sides.push({ pair, same: found.same });
    missing.push(...found.missing);
    elsewhere += found.elsewhere;
  }
  const tables: ComparedTable[] = [];
  const notCompared: { table: string; reason: string }[] = [];
  for (const view of views) {
    const standing = standingOf(view, views, liveDefinition);
    for (const table of view.publishes) {
      if (standing === 'changed') {
        notCompared.push({ table: table.name, reason: `view ${view.name} is another one than before` });
        continue;
      }
      const compared = await compareTable(sides, table, scope);
      if (compared === null)
        notCompared.push({
          table: table.name,
          reason: 'its rows follow from the model and rules, which changed',
        });
      else tables.push({ view: view.name, table: table.name, scope, due: standing === 'same', ...compared });
    }
  }
  const instances = sides.reduce((sum, { same }) => sum + same.size, 0);
  return { tables, notCompared, instances, elsewhere, missing };
}

async function compareTable(
  sides: readonly { pair: Pair; same: ReadonlySet<string> }[],
  table: PublishedTable,
  scope: DigestScope,
): Promise<Pick<ComparedTable, 'differing' | 'liveRows' | 'rebuiltRows'> | null> {
  let differing = 0;
  let liveRows = 0;
  let rebuiltRows = 0;
  for (const { pair, same } of sides) {
    const digests = async (
      snapshots: readonly Snapshot[],
    ): Promise<ReadonlyMap<string, RowsDigest> | null> => {
      const found = await Promise.all(snapshots.map((snapshot) => digestTable(snapshot, table, scope)));
      const some = found.filter((digest) => digest !== null);
      return some.length < found.length ? null : merged(some);
    };
    const live = await digests(pair.live);
    const rebuilt = await digests(pair.rebuilt);
    if (live === null || rebuilt === null) return null;
    for (const instance of same) {
      const [old, now] = [live.get(instance), rebuilt.get(instance)];
      liveRows += old?.rows ?? 0;
      rebuiltRows += now?.rows ?? 0;
      if (old?.digest !== now?.digest || old?.rows !== now?.rows) differing += 1;
    }
  }
  return { differing, liveRows, rebuiltRows };
}

/**
 * Matches instances by position. `reached`: sequence up to which the live side is complete. `behind`: instances of
 * which it holds only a part of the last entry.
 */
function matched(
  live: Positions,
  rebuilt: Positions,
  reached: number,
  behind: ReadonlySet<string>,
): { same: ReadonlySet<string>; missing: string[]; elsewhere: number } {
  const same = new Set<string>();
  const missing: string[] = [];
  let elsewhere = 0;
  for (const [instance, position] of live) {
    const other = rebuilt.get(instance) ?? 0;
    if (behind.has(instance) && other >= position) elsewhere += 1;
    else if (other === position) same.add(instance);
    else if (other < position) missing.push(instance);
    else elsewhere += 1;
  }
  for (const [instance, position] of rebuilt) {
    if (live.has(instance)) continue;
    if (position <= reached) missing.push(instance);
    else elsewhere += 1;
  }
  return { same, missing, elsewhere };
}

async function merged<T>(
  maps: readonly (ReadonlyMap<string, T> | Promise<ReadonlyMap<string, T>>)[],
): Promise<Map<string, T>> {
  return new Map((await Promise.all(maps)).flatMap((map) => [...map]));
}

/** Returns a sentence for each difference that is a fault; empty when the rebuilt views equal the live ones. */
export function faultsOf({ tables, missing }: Comparison): string[] {
  const faults = tables
    .filter(({ due, differing }) => due && differing > 0)
    .map(
      ({ table, differing, liveRows, rebuiltRows }) =>
        `${table}: differs in ${differing} ${differing === 1 ? 'instance' : 'instances'} (${liveRows} rows ` +
        `live, ${rebuiltRows} rebuilt)`,
    );
  if (missing.length > 0)
    faults.push(
      `${missing.length} instances are not there with the same entries on both sides, among them ${missing[0]}`,
    );
  return faults;
}
