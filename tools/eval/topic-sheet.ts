/**
 * A reading sheet: topics and topic clusters with some of their requests, without labels, for a reader who judges the
 * names. It holds texts of the data sets, so it belongs outside the repository.
 * Covered by test/tools/eval/topic-sheet.test.ts.
 */
import { createHash } from 'node:crypto';
import type { RunRequest, TopicSnapshot } from './topic-run.ts';

export const TOPICS_IN_SHEET = 60;
export const CLUSTERS_IN_SHEET = 20;
const MEMBERS = 5;
/** Topics that are listed of a cluster, the largest first. */
const MOST_TOPICS = 20;
/** UTF-16 units of a request that are shown. */
const MOST_TEXT = 200;

/** What a reader sees of a topic. */
export interface SheetTopic {
  readonly name: string;
  readonly cluster: string;
  /** Requests. */
  readonly size: number;
  readonly members: readonly string[];
}

export interface SheetCluster {
  readonly name: string;
  /** Requests. */
  readonly size: number;
  /** The largest first. */
  readonly topics: readonly { readonly name: string; readonly size: number }[];
}

export interface Sheet {
  readonly topics: readonly SheetTopic[];
  readonly clusters: readonly SheetCluster[];
}

interface Sized {
  readonly size: number;
}

/** All that one instance could give to a sheet, ordered by size. */
export function sheetOf(snapshot: TopicSnapshot, members: ReadonlyMap<number, readonly RunRequest[]>): Sheet {
  const bySize = (one: Sized & { name: string }, other: Sized & { name: string }): number =>
    other.size - one.size || (one.name < other.name ? -1 : 1);
  const known = [...members].map(([topic, requests]) => ({ ...snapshot.topics.get(topic)!, requests }));
  const clusterName = (cluster: number | null): string =>
    cluster === null ? '' : (snapshot.clusters.get(cluster) ?? '');
  const topics = known.map(({ name, cluster, requests }) => ({
    name,
    cluster: clusterName(cluster),
    size: requests.length,
    members: evenly(requests, MEMBERS).map(({ content }) => shortened(content)),
  }));
  const clusters = [...Map.groupBy(known, ({ cluster }) => cluster)].flatMap(([cluster, own]) => {
    if (cluster === null) return [];
    const inside = own.map(({ name, requests }) => ({ name, size: requests.length })).sort(bySize);
    const size = inside.reduce((sum, topic) => sum + topic.size, 0);
    return [{ name: clusterName(cluster), size, topics: inside }];
  });
  return { topics: topics.sort(bySize), clusters: clusters.sort(bySize) };
}

/** Samples of several instances, as many of each as fair, in an order that has nothing to do with them. */
export function sampledSheet(sheets: readonly Sheet[]): Sheet {
  return {
    topics: shuffled(
      shares(
        sheets.map(({ topics }) => topics),
        TOPICS_IN_SHEET,
      ),
    ),
    clusters: shuffled(
      shares(
        sheets.map(({ clusters }) => clusters),
        CLUSTERS_IN_SHEET,
      ),
    ),
  };
}

/** `count` items out of several lists: the same number of each, and more of the others where one has too few. */
function shares<T extends Sized>(lists: readonly (readonly T[])[], count: number): T[] {
  const quota = lists.map(() => 0);
  let left = Math.min(
    count,
    lists.reduce((sum, list) => sum + list.length, 0),
  );
  for (let list = 0; left > 0; list = (list + 1) % lists.length) {
    if (quota[list]! === lists[list]!.length) continue;
    quota[list]! += 1;
    left -= 1;
  }
  return lists.flatMap((items, list) => byWeight(items, quota[list]!));
}

/**
 * `count` of the items, evenly by their size: steps of the same number of requests through the list. One that is hit
 * again gives way to the next.
 */
export function byWeight<T extends Sized>(items: readonly T[], count: number): T[] {
  const total = items.reduce((sum, { size }) => sum + size, 0);
  const taken = new Set<T>();
  for (let pick = 0; pick < count; pick += 1) {
    let left = ((pick + 0.5) / count) * total;
    let at = items.findIndex(({ size }) => (left -= size) < 0);
    while (taken.has(items[at]!)) at = (at + 1) % items.length;
    taken.add(items[at]!);
  }
  return items.filter((item) => taken.has(item));
}

/** `count` of the items, at even distances, the first and the last among them. */
function evenly<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  return Array.from(
    { length: count },
    (_, index) => items[Math.round((index * (items.length - 1)) / (count - 1))]!,
  );
}

function shuffled<T>(items: readonly T[]): T[] {
  const keyed = items.map((item) => ({
    item,
    key: createHash('sha256').update(JSON.stringify(item)).digest('hex'),
  }));
  return keyed.sort((x, y) => (x.key < y.key ? -1 : 1)).map(({ item }) => item);
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= MOST_TEXT ? line : `${line.slice(0, MOST_TEXT)}…`;
}

/** The sheet as Markdown. */
export function sheetText({ topics, clusters }: Sheet): string {
  const lines = [
    '# Reading sheet: topics',
    '',
    'Each topic is a group of requests that a program found and named. Is its name good (says what its ' +
      'requests ask for,',
    'in words a person would choose), acceptable, or bad (wrong, unreadable, or says nothing)?',
  ];
  topics.forEach(({ name, cluster, size, members }, index) => {
    lines.push('', `## T${index + 1}. ${name}`, '', `${size} requests; cluster: ${cluster || 'none'}`, '');
    lines.push(...members.map((member) => `- ${member}`));
  });
  lines.push(
    '',
    '# Topic clusters',
    '',
    'Each cluster is a group of topics. Is its name good, acceptable or bad for them?',
  );
  clusters.forEach(({ name, size, topics: own }, index) => {
    const more = own.length - MOST_TOPICS;
    lines.push(
      '',
      `## C${index + 1}. ${name}`,
      '',
      `${size} requests in ${own.length === 1 ? '1 topic' : `${own.length} topics`}`,
      '',
    );
    lines.push(...own.slice(0, MOST_TOPICS).map((topic) => `- ${topic.name} (${topic.size})`));
    if (more > 0) lines.push(`- … and ${more} smaller ones`);
  });
  return `${lines.join('\n')}\n`;
}
