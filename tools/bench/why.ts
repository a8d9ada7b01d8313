/** How fast is it said what is behind the numbers of a topic, and how fast from raw messages? */
import { exampleOf } from '../../src/reader/personal/example.ts';
import { WhyReader } from '../../src/query/why/why-reader.ts';
import { whyParameterSchemas } from '../../src/query/why/why-schema.ts';
import { VIEWS } from '../../test/support/fold.ts';
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import { besideRaw, HISTORY_OPTIONS, type Raw } from './load/history-benchmark.ts';

const OF_TOPIC = `from message where topic = (select topic from topic where id = $id::uuid) and sent_at >= $from`;
/** The same numbers: the metrics, the trend, the signals, and what the average of the instance needs. */
const RAW = [
  `select count(distinct session) as sessions, count(distinct end_user), count(*), sum(sat), sum(dsat) ${OF_TOPIC}`,
  `select date_trunc('day', sent_at), count(distinct session), count(distinct end_user), count(*), sum(sat), sum(dsat)
${OF_TOPIC} group by all order by all`,
  `select signal, count(distinct session), count(*) ${OF_TOPIC} and signal is not null group by all`,
  `select signal, count(distinct session) from message
where signal is not null and sent_at >= $from and $id <> '' group by all`,
  `select count(distinct session) from message where sent_at >= $from and $id <> ''`,
];

export const { command, ratios } = besideRaw({
  usage: `Usage: npm run bench -- why [OPTIONS]

How fast is it said what is behind the numbers of a topic, and how fast from raw messages?

Asks for topics of a synthetic history, of all time and of a quarter, with the texts of the examples from a real stream.
The alternative, in the same run: the numbers, the trend and the signals as plain SQL over raw messages in DuckDB,
without any text.
${HISTORY_OPTIONS}`,
  ratio: 'the why of a topic over DuckDB on raw messages',
  count: 40,
  quickCount: 10,
  async asksOf({ history, reader, texts }, count) {
    const why = new WhyReader({
      views: VIEWS,
      readerOf: () => reader,
      texts,
      examples: async () => exampleOf,
    });
    const rows = await reader.read((snapshot) =>
      snapshot.all('select id::varchar as id from @topic order by topic'),
    );
    const quarter = new Date((history.end - 90 * 86_400e6) / 1000).toISOString();
    return [
      { kind: 'all time', start: undefined },
      { kind: '90 days', start: quarter },
    ].map(({ kind, start }) => {
      const parameters = whyParameterSchemas.parse({
        instanceId: SYNTHETIC_IDS.instance(1),
        ...(start === undefined ? {} : { 'dateRange.start': start }),
      });
      const from = { at: start === undefined ? 0 : Date.parse(start) * 1000 };
      const asks = Array.from({ length: count }, (_, index) => {
        const id = rows[Math.floor((index * rows.length) / count)]?.['id'] as string;
        return {
          ours: async () => (await why.read('TOPIC', id, parameters)).fields.sessions,
          async theirs(raw: Raw) {
            const answers = [];
            for (const statement of RAW) answers.push(await raw.all(statement, { id, from }));
            return answers[0]?.[0]?.['sessions'];
          },
        };
      });
      return { kind, asks };
    });
  },
});
