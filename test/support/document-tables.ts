/** The parts of documents that follow from declarations: what stands between `<!-- NAME: npm run generate -->` and `<!-- end -->`. */
import { dimensionFieldsOf, GROUP_BYS, GROUPINGS } from '../../src/domain/groupings.ts';
import { METRICS, metricsSchema } from '../../src/domain/metrics.ts';
import { OUTCOME_WORDS, SESSION_OUTCOMES } from '../../src/domain/session-outcomes.ts';
import { SINK_TABLES, type Division } from '../../src/doors/sink/tables.ts';

type Cells = readonly string[];

/** By document, the parts by name. */
export const PARTS: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/api.md': {
    outcomes: () =>
      table(
        ['Outcome', 'Meaning'],
        SESSION_OUTCOMES.map((outcome) => [code(outcome), OUTCOME_WORDS[outcome].meaning]),
      ),
    metrics: () =>
      table(
        ['Metric', 'Meaning'],
        METRICS.map((metric) => [code(metric), metricsSchema.shape[metric].unwrap().description ?? '']),
      ),
    groupings: () =>
      table(
        ['`groupBy`', 'Metrics', '`dimensionFields`'],
        GROUP_BYS.map((groupBy) => [
          code(groupBy),
          GROUPINGS[groupBy].metrics.join(', '),
          dimensionFieldsOf(groupBy).join(', '),
        ]),
      ),
  },
  'docs/sink.md': { tables: () => SINK_TABLES.map(sinkTable).join('\n\n') },
};

/** The document with its parts as they are declared now. */
export function withParts(document: string, text: string): string {
  return text.replace(
    /(<!-- (\w+): npm run generate -->)[\s\S]*?(<!-- end -->)/g,
    (_, begin: string, name: string, end: string) => `${begin}\n\n${PARTS[document]?.[name]?.()}\n\n${end}`,
  );
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(head: Cells, rows: readonly Cells[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function sinkTable({ name, what, division, columns }: (typeof SINK_TABLES)[number]): string {
  const rows = columns.map((column) => [
    code(column.name),
    column.optional === true ? `${column.type}, null` : column.type,
    column.what,
  ]);
  const sentence = what.charAt(0).toUpperCase() + what.slice(1);
  const path = code(`${name}/instance_id=…/${FOLDERS[division.by]}data.parquet`);
  return `### ${name}\n\n${sentence}. In ${path}.\n\n${table(['Column', 'Type', ''], rows)}`;
}

const FOLDERS: Readonly<Record<Division['by'], string>> = {
  none: '',
  day: 'date=YYYY-MM-DD/',
  'granularity and month': 'granularity=HOUR, DAY, WEEK or MONTH/month=YYYY-MM-01/',
};
