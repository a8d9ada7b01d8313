/** How fast is a conversation of a long history opened, and how fast from raw messages? */
import { SessionReader } from '../../src/query/session-reader.ts';
import { sessionParameterSchemas } from '../../src/query/session-schema.ts';
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import { besideRaw, HISTORY_OPTIONS, type Raw } from './load/history-benchmark.ts';

const RAW = `select * from message
where instance = 1 and session = (select session from session where id = $id::uuid) order by sent_at`;

export const { command, ratios } = besideRaw({
  usage: `Usage: npm run bench -- transcript [OPTIONS]

How fast is a conversation of a long history opened, and how fast from raw messages?

Opens sessions spread over a synthetic history: what was found in each message from the views, each text from an entry
of its own of a real stream. The alternative, in the same run: the messages of the session as one plain SQL query over
raw messages in DuckDB, without any text.
${HISTORY_OPTIONS}`,
  ratio: 'a transcript over DuckDB on raw messages',
  count: 300,
  quickCount: 50,
  async asksOf({ reader, texts }, count) {
    const sessions = new SessionReader({ readerOf: () => reader, texts });
    const parameters = sessionParameterSchemas.parse({ instanceId: SYNTHETIC_IDS.instance(1) });
    const rows = await reader.read((snapshot) =>
      snapshot.all('select id::varchar as id from @session order by session'),
    );
    const asks = Array.from({ length: count }, (_, index) => {
      const id = rows[Math.floor((index * rows.length) / count)]?.['id'] as string;
      return {
        ours: async () => (await sessions.read(id, parameters)).messages.length,
        theirs: async (raw: Raw) => (await raw.all(RAW, { id })).length,
      };
    });
    return [{ kind: 'a transcript', asks }];
  },
});
