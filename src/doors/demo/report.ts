/**
 * Prints the report of the demo: a table for each grouping.
 *
 * Test: test/doors/demo/report.test.ts.
 */
import Table from 'cli-table3';
import { printable } from '../../domain/printable.ts';
import { isRefusal, type QueryAnswer, type QueryElement } from '../import/client.ts';

/** Runs one query. */
export type Ask = (params: Readonly<Record<string, string>>) => Promise<QueryAnswer>;

interface Column {
  readonly title: string;
  readonly value: (element: QueryElement) => string;
  readonly align?: 'right';
  /** Longer values are cut, characters. */
  readonly width?: number;
}

interface Section {
  readonly title: string;
  readonly params: Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
  /** What an earlier version loaded may be refused this, which is left out then, and where nothing has a row. */
  readonly isOptional?: true;
}

function dimension(element: QueryElement, entity: string, member: string): unknown {
  const value: unknown = element.dimensions[entity];
  return typeof value === 'object' && value !== null && member in value
    ? (value as Record<string, unknown>)[member]
    : undefined;
}

function text(entity: string, member: string, title: string, width?: number): Column {
  return {
    title,
    value: (element) => {
      const value = dimension(element, entity, member);
      return typeof value === 'string' ? value : '–';
    },
    ...(width === undefined ? {} : { width }),
  };
}

function names(entity: string, member: string, title: string, width: number): Column {
  return {
    title,
    width,
    value: (element) => {
      const value = dimension(element, entity, member);
      if (!Array.isArray(value) || value.length === 0) return '–';
      return value
        .map((item: unknown) =>
          typeof item === 'object' && item !== null && 'name' in item ? String(item.name) : '',
        )
        .join(', ');
    },
  };
}

function metric(name: string, title = name): Column {
  return { title, align: 'right', value: ({ fields }) => number(fields[name]) };
}

function number(value: number | string | null | undefined): string {
  if (typeof value === 'string') return value.slice(0, 16).replace('T', ' ');
  if (value === null || value === undefined) return '–';
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Topics',
    params: { groupBy: 'TOPIC', fields: 'sessions,users,messages,sat,dsat,netSat', limit: '20' },
    columns: [
      text('topic', 'name', 'topic', 40),
      ...['sessions', 'users', 'messages', 'sat', 'dsat', 'netSat'].map((name) => metric(name)),
    ],
  },
  {
    title: 'Topic clusters',
    params: { groupBy: 'TOPIC_CLUSTER', fields: 'sessions,users,messages,sat,dsat', limit: '10' },
    columns: [
      text('cluster', 'name', 'cluster', 40),
      ...['sessions', 'users', 'messages', 'sat', 'dsat'].map((name) => metric(name)),
    ],
  },
  {
    title: 'Satisfaction signals',
    params: { groupBy: 'CSAT_DSAT', fields: 'sessions,users,messages', limit: '20' },
    columns: [
      text('csatDsatSignal', 'signalType', 'type'),
      text('csatDsatSignal', 'name', 'signal', 40),
      metric('messages', 'times'),
      metric('sessions'),
      metric('users'),
    ],
  },
  {
    title: 'Gaps: what the assistant could not do (TOOL) or did not know (KNOWLEDGE)',
    params: { groupBy: 'GAP', fields: 'sessions,users,messages', limit: '20' },
    columns: [
      text('gap', 'gapType', 'type'),
      text('gap', 'name', 'gap', 40),
      names('gap', 'topics', 'topics', 30),
      metric('messages', 'times'),
      metric('sessions'),
      metric('users'),
    ],
  },
  {
    title: 'Repeated requests: what had to be asked again',
    params: { groupBy: 'REPEATED_REQUEST', fields: 'sessions,users,messages', limit: '10' },
    columns: [
      text('repeatedRequest', 'name', 'request', 48),
      metric('messages', 'times'),
      metric('sessions'),
      metric('users'),
    ],
  },
  {
    title: 'Labels: what people marked',
    params: { groupBy: 'LABEL', fields: 'sessions,users,messages,dsat', limit: '10' },
    columns: [
      text('label', 'name', 'label', 40),
      ...['sessions', 'users', 'messages', 'dsat'].map((name) => metric(name)),
    ],
    isOptional: true,
  },
  {
    title: 'Plans: segments of the sessions, by metadata.session.plan',
    params: { groupBy: 'SEGMENT', segmentKey: 'plan', fields: 'sessions,users,sat,dsat', limit: '10' },
    columns: [
      text('segment', 'value', 'plan'),
      ...['sessions', 'users', 'sat', 'dsat'].map((name) => metric(name)),
    ],
    isOptional: true,
  },
  {
    title: 'End users',
    params: {
      groupBy: 'END_USER',
      fields: 'sessions,messages,sat,dsat,repeatedRequests',
      dimensionFields: 'externalId,topTopics',
      'sort.field': 'sessions',
      limit: '10',
    },
    columns: [
      text('endUser', 'externalId', 'end user', 24),
      names('endUser', 'topTopics', 'top topics', 44),
      ...['sessions', 'messages', 'sat', 'dsat'].map((name) => metric(name)),
      metric('repeatedRequests', 'repeats'),
    ],
  },
  {
    title: 'Latest sessions',
    params: {
      groupBy: 'SESSION',
      fields: 'messages,lastActiveAt,sat,dsat',
      dimensionFields: 'title,language',
      limit: '10',
    },
    columns: [
      metric('lastActiveAt', 'last active (UTC)'),
      text('session', 'language', 'lang'),
      text('session', 'title', 'title', 60),
      ...['messages', 'sat', 'dsat'].map((name) => metric(name)),
    ],
  },
];

/** Queries each grouping of an instance and prints a table for each. */
export async function printReport(
  instanceId: string,
  ask: Ask,
  print: (text: string) => void,
  color: boolean,
): Promise<void> {
  for (const section of SECTIONS) {
    const answer = await ask({ instanceId, ...section.params }).catch((error: unknown) => {
      if (section.isOptional === true && isRefusal(error)) return null;
      throw error;
    });
    if (answer === null || (section.isOptional === true && answer.elements.length === 0)) continue;
    const more = answer.pagination.total - answer.elements.length;
    const title =
      more > 0 ? `${section.title} (${answer.elements.length} of ${answer.pagination.total})` : section.title;
    print(`\n${title}\n${tableOf(section.columns, answer.elements, color)}`);
  }
}

function tableOf(columns: readonly Column[], elements: readonly QueryElement[], color: boolean): string {
  if (elements.length === 0) return '  none';
  const table = new Table({
    head: columns.map(({ title }) => title),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    style: color
      ? { head: ['cyan'], border: ['grey'], compact: true }
      : { head: [], border: [], compact: true },
  });
  for (const element of elements) {
    table.push(columns.map(({ value, width }) => cut(value(element), width ?? 80)));
  }
  return table.toString();
}

function cut(value: string, width: number): string {
  const characters = [...printable(value.replace(/\s+/g, ' '))];
  return characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : characters.join('');
}
