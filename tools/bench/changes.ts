/** How fast is it said what changed in a long history, and how fast from raw messages? */
import { ChangesReader } from '../../src/query/changes/changes-reader.ts';
import { changesParameterSchemas } from '../../src/query/changes/changes-schema.ts';
import { VIEWS } from '../../test/support/fold.ts';
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import { besideRaw, HISTORY_OPTIONS, type Raw } from './load/history-benchmark.ts';

const DAY = 86_400e6;
/** Sessions of each entity, and of all, in a range. */
const RAW = [
  ...['topic', 'signal', 'gap'].map(
    (entity) =>
      `select ${entity}, count(distinct session) from message
where ${entity} is not null and sent_at >= $from and sent_at < $to group by all`,
  ),
  'select count(distinct session) as sessions from message where sent_at >= $from and sent_at < $to',
];

export const { command, ratios } = besideRaw({
  usage: `Usage: npm run bench -- changes [OPTIONS]

How fast is it said what changed in a long history, and how fast from raw messages?

Compares weeks, months and quarters that end at different days of a synthetic history with the period before. The
alternative, in the same run: the same counts of sessions as plain SQL over raw messages in DuckDB, without the test
that tells a change from chance.
${HISTORY_OPTIONS}`,
  ratio: 'changes over DuckDB on raw messages',
  count: 20,
  quickCount: 10,
  async asksOf({ history, reader }, count) {
    const changes = new ChangesReader({ views: VIEWS, readerOf: () => reader });
    // Whole weeks: the period before then ends where this one begins.
    return [7, 28, 91].map((days) => ({
      kind: `${days} days`,
      asks: Array.from({ length: count }, (_, index) => {
        // What is not over yet is cut off, also from the period before.
        const end = history.end - (index + 1) * 2 * DAY;
        const [before, start] = [end - 2 * days * DAY, end - days * DAY];
        const parameters = changesParameterSchemas.parse({
          instanceId: SYNTHETIC_IDS.instance(1),
          'dateRange.start': new Date(start / 1000).toISOString(),
          'dateRange.end': new Date(end / 1000).toISOString(),
        });
        return {
          async ours() {
            const answer = await changes.read(parameters);
            return [answer.period.sessions, answer.before.sessions];
          },
          async theirs(raw: Raw) {
            const sessions: unknown[] = [];
            for (const [from, to] of [
              [start, end],
              [before, start],
            ] as const)
              for (const statement of RAW) {
                const [row] = await raw.all(statement, { from: { at: from }, to: { at: to } });
                if (row !== undefined && 'sessions' in row) sessions.push(row['sessions']);
              }
            return sessions;
          },
        };
      }),
    }));
  },
});
