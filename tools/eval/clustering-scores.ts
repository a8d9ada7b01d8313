/** How well groups agree with labels, or with other groups. */
export interface Agreement {
  /** Normalised mutual information, arithmetic mean; the same number as the V-measure. */
  readonly nmi: number;
  /** Adjusted Rand index. */
  readonly ari: number;
  /** Null is none of them. */
  readonly groups: number;
  readonly labels: number;
}

export interface ClusteringScores extends Agreement {
  /** Share of items in the group that stands for their label, groups and labels matched one to one. */
  readonly accuracy: number;
}

type Group = string | number | null;

/** Counts of items by group and label, both numbered in order of first occurrence. */
interface Contingency {
  readonly total: number;
  readonly rows: number;
  readonly columns: number;
  /** Row of the items with group null; undefined without such items. */
  readonly unassigned: number | undefined;
  cell(row: number, column: number): number;
}

function contingencyOf(groups: readonly Group[], labels: readonly Group[]): Contingency {
  const groupIndex = new Map<Group, number>();
  const labelIndex = new Map<Group, number>();
  const counts: number[][] = [];
  groups.forEach((group, item) => {
    const row = indexOf(groupIndex, group);
    const column = indexOf(labelIndex, labels[item]!);
    (counts[row] ??= [])[column] = (counts[row]?.[column] ?? 0) + 1;
  });
  return {
    total: groups.length,
    rows: counts.length,
    columns: labelIndex.size,
    unassigned: groupIndex.get(null),
    cell: (row, column) => counts[row]?.[column] ?? 0,
  };
}

/**
 * Agreement of two parallel lists, also of more groups than `clusteringScores` can match. Items of group null count
 * as one group.
 */
export function agreementOf(groups: readonly Group[], labels: readonly Group[]): Agreement {
  return agreementIn(contingencyOf(groups, labels));
}

/**
 * Scores of `groups` against `labels`, parallel lists. An item with group null counts as a group of its own kind
 * and is never right.
 */
export function clusteringScores(groups: readonly Group[], labels: readonly string[]): ClusteringScores {
  const table = contingencyOf(groups, labels);
  const { rows, columns, unassigned, total, cell } = table;
  const size = Math.max(rows, columns);
  const matched = assignment(
    Array.from({ length: size }, (_, row) =>
      Array.from({ length: size }, (_, column) => (row === unassigned ? 0 : -cell(row, column))),
    ),
  );
  const right = sum(rows, (row) => (row === unassigned ? 0 : cell(row, matched[row]!)));
  return { accuracy: right / total, ...agreementIn(table) };
}

function agreementIn({ rows, columns, total, unassigned, cell }: Contingency): Agreement {
  const rowSums = Array.from({ length: rows }, (_, row) => sum(columns, (column) => cell(row, column)));
  const columnSums = Array.from({ length: columns }, (_, column) => sum(rows, (row) => cell(row, column)));
  let mutual = 0;
  let pairs = 0;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const count = cell(row, column);
      if (count === 0) continue;
      mutual += (count / total) * Math.log((count * total) / (rowSums[row]! * columnSums[column]!));
      pairs += pairsOf(count);
    }
  }
  const entropies = entropy(rowSums, total) + entropy(columnSums, total);
  const rowPairs = sum(rows, (row) => pairsOf(rowSums[row]!));
  const columnPairs = sum(columns, (column) => pairsOf(columnSums[column]!));
  const expected = (rowPairs * columnPairs) / pairsOf(total);
  const most = (rowPairs + columnPairs) / 2;
  return {
    nmi: entropies === 0 ? 1 : (2 * mutual) / entropies,
    ari: most === expected ? 1 : (pairs - expected) / (most - expected),
    groups: rows - (unassigned === undefined ? 0 : 1),
    labels: columns,
  };
}

function indexOf<K>(index: Map<K, number>, key: K): number {
  let found = index.get(key);
  if (found === undefined) index.set(key, (found = index.size));
  return found;
}

function sum(count: number, value: (index: number) => number): number {
  let total = 0;
  for (let index = 0; index < count; index += 1) total += value(index);
  return total;
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}

function entropy(counts: readonly number[], total: number): number {
  return -sum(counts.length, (index) => {
    const share = counts[index]! / total;
    return share === 0 ? 0 : share * Math.log(share);
  });
}

/** The column of each row in the cheapest one-to-one assignment (Hungarian method, O(n³)). */
function assignment(costs: readonly (readonly number[])[]): number[] {
  const size = costs.length;
  const rowPotential = new Float64Array(size + 1);
  const columnPotential = new Float64Array(size + 1);
  const rowOf = new Int32Array(size + 1);
  for (let row = 1; row <= size; row += 1) {
    const cheapest = new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY);
    const from = new Int32Array(size + 1);
    const seen = new Uint8Array(size + 1);
    rowOf[0] = row;
    let column = 0;
    do {
      seen[column] = 1;
      const current = rowOf[column]!;
      let delta = Number.POSITIVE_INFINITY;
      let next = 0;
      for (let other = 1; other <= size; other += 1) {
        if (seen[other] === 1) continue;
        const cost = costs[current - 1]![other - 1]! - rowPotential[current]! - columnPotential[other]!;
        if (cost < cheapest[other]!) {
          cheapest[other] = cost;
          from[other] = column;
        }
        if (cheapest[other]! < delta) {
          delta = cheapest[other]!;
          next = other;
        }
      }
      for (let other = 0; other <= size; other += 1) {
        if (seen[other] === 1) {
          rowPotential[rowOf[other]!]! += delta;
          columnPotential[other]! -= delta;
        } else {
          cheapest[other]! -= delta;
        }
      }
      column = next;
    } while (rowOf[column] !== 0);
    do {
      const previous = from[column]!;
      rowOf[column] = rowOf[previous]!;
      column = previous;
    } while (column !== 0);
  }
  const columns = Array.from({ length: size }, () => 0);
  for (let column = 1; column <= size; column += 1) columns[rowOf[column]! - 1] = column - 1;
  return columns;
}
