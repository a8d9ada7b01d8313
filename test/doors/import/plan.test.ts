import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fastCheck from 'fast-check';
import { convert } from '../../../src/doors/import/converter.ts';
import { layoutOf } from '../../../src/doors/import/entries.ts';
import { SURE } from '../../../src/doors/import/formats/format.ts';
import type { Input } from '../../../src/doors/import/inputs.ts';
import { planFile, type Reading } from '../../../src/doors/import/plan.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');

function inputOf(content: string | Uint8Array, name = 'file', named = true): Input {
  const bytes = Buffer.from(content);
  async function* open(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
  }
  return { name, operand: name, source: 'file', size: bytes.length, named, path: null, open };
}

/** Tells to stop when the second piece is read. */
function stopping(input: Input, stop: AbortController): Input {
  return {
    ...input,
    async *open() {
      let pieces = 0;
      for await (const piece of input.open()) {
        pieces += 1;
        if (pieces === 2) stop.abort();
        yield piece;
      }
    },
  };
}

const chat = { id: 'a', turns: [{ role: 'user', content: 'Hello' }] };
const shared = { conversations: [{ from: 'human', value: 'Hello' }] };

describe('layoutOf', () => {
  const layouts: readonly [string, string | Buffer, unknown][] = [
    ['lines', `${JSON.stringify(chat)}\n${JSON.stringify(chat)}`, { shape: 'jsonl' }],
    ['one line', JSON.stringify(chat), { shape: 'jsonl' }],
    [
      'lines of which the first is broken',
      `{"id": \n${`${JSON.stringify(chat)}\n`.repeat(3)}`,
      { shape: 'jsonl' },
    ],
    ['lines of lists', '[1]\n[2]\n', { shape: 'jsonl' }],
    ['a list', JSON.stringify([chat, chat]), { shape: 'json', member: null }],
    ['a list over several lines', JSON.stringify([chat, chat], null, 2), { shape: 'json', member: null }],
    [
      'a list with an entry a line',
      `[\n${JSON.stringify(chat)},\n${JSON.stringify(chat)}\n]`,
      { shape: 'json', member: null },
    ],
    ['a page', JSON.stringify({ count: 1, tickets: [{ id: 1 }] }), { shape: 'json', member: 'tickets' }],
    [
      'a page over several lines',
      JSON.stringify({ data: [{ id: 1 }] }, null, 2),
      { shape: 'json', member: 'data' },
    ],
    ['one conversation over several lines', JSON.stringify(shared, null, 2), { shape: 'json', member: null }],
    ['a table', 'a;b\n1;2\n', { shape: 'csv', delimiter: ';', isUtf8: true }],
    [
      'a table that is not UTF-8',
      Buffer.from('a;b\nÄ;2\n', 'latin1'),
      { shape: 'csv', delimiter: ';', isUtf8: false },
    ],
    ['a page of the web', '<html>,,,</html>', null],
    ['bytes', 'a,b\u0000c', null],
    ['text', 'nothing of this is a table', null],
  ];
  for (const [name, content, layout] of layouts)
    it(`tells ${name}`, async () => deepEqual(await layoutOf(inputOf(content)), layout));

  it('tells a page whose list does not end in what it reads of it', async () => {
    const page = `{"x": 1, "conversations": [${`{"id": 1, "text": "${'y'.repeat(1000)}"},`.repeat(1200)}`;
    deepEqual(await layoutOf(inputOf(page)), { shape: 'json', member: 'conversations' });
  });
});

describe('planFile', () => {
  it('reads lines of our own as ever, however many are broken', async () => {
    const lines = [...Array.from({ length: 19 }, () => '{"x": 1}'), JSON.stringify(chat)].join('\n');
    const plan = await planFile(inputOf(lines, 'chats.jsonl'));
    ok('format' in plan);
    equal(plan.format.name, 'undertone');
    ok(plan.recognition.confidence >= SURE);
  });

  it('takes a bare list of messages for a conversation', async () => {
    const bare = [{ role: 'user', content: 'Hello' }];
    const plan = await planFile(inputOf(JSON.stringify([bare, bare])));
    ok('format' in plan && plan.recognition.confidence >= SURE);
    const found: string[] = [];
    for await (const converted of convert(plan, {}))
      if ('conversation' in converted) found.push(converted.conversation.id);
    deepEqual([plan.format.name, found], ['openai', ['line-1', 'line-2']]);
  });

  it('reads an object by its only list, whatever the list is called, if a format knows its entries', async () => {
    const ticket = { requester_id: 1, id: 35, comments: [{ author_id: 1, body: 'Hello' }] };
    const layoutIn = async (value: unknown, indent?: number): Promise<unknown> => {
      const plan = await planFile(inputOf(JSON.stringify(value, null, indent)));
      return 'format' in plan ? [plan.format.name, plan.parts[0].layout] : null;
    };
    const cut = ['zendesk', { shape: 'json', member: 'cases' }];
    for (const indent of [0, 2])
      deepEqual(await layoutIn({ by: '"}[{', total: 1, cases: [ticket] }, indent), cut);
    // One ticket, an unknown list, and two lists of which one might be meant.
    deepEqual(await layoutIn(ticket, 2), ['zendesk', { shape: 'json', member: null }]);
    equal(await layoutIn({ cases: [{ a: 1 }] }, 2), null);
    equal(await layoutIn({ cases: [ticket], others: [ticket] }, 2), null);
    // Behind the first MiB, another list could follow.
    const many = Array.from({ length: 20_000 }, () => ticket);
    equal(await layoutIn({ cases: many, others: [ticket] }), null);
  });

  it('takes a log for no chat', async () => {
    const lines = '2026-11-28 09:15:01 - INFO: started\n2026-11-28 09:15:02 - INFO: ready\n';
    ok(!('format' in (await planFile(inputOf(lines, 'app.log')))));
    const plan = await planFile(inputOf(lines, 'chat.txt'));
    ok('isOpen' in plan && plan.isOpen);
  });

  it('says what a file looks like that it does not know', async () => {
    const plan = await planFile(
      inputOf('[{"id": 1, "posts": [{"who": "x", "what": "y"}], "more": {"a": 1}}]'),
    );
    ok('looksLike' in plan);
    equal(plan.looksLike, 'JSON with id, posts [of who, what], more {…}');
  });

  it('reads no table whose letters it would lose, and says what helps', async () => {
    const plan = await planFile(inputOf(Buffer.from('role,content\nuser,Grüße\n', 'latin1')));
    ok(!('format' in plan));
    match(`${plan.looksLike} ${plan.todo}`, /not UTF-8 Save it as UTF-8, or name its encoding: --encoding/);
  });

  it('is not sure of roles that nobody knows, nor of messages without a conversation', async () => {
    for (const table of ['thread,sender,text\n1,Kunde,Hallo\n', 'role,text\nuser,Hello\n']) {
      const plan = await planFile(inputOf(table));
      ok('format' in plan && plan.recognition.confidence < SURE);
      match(plan.recognition.reason, /unknown roles: Kunde|no column names the conversation/);
    }
  });

  it('says which roles of a table mean nothing, before anything is sent', async () => {
    const table = inputOf('thread,sender,text\n1,Kunde,Hallo\n1,Berater,Ja\n1,Tool,{}\n');
    const fields = { conversation: 'thread', role: 'sender', content: 'text' };
    const reasonWith = async (roles: readonly [string, string][]): Promise<string> => {
      const plan = await planFile(table, { mapping: { fields, roles: new Map(roles) } });
      if (!('format' in plan)) return '';
      const { recognition, mapping } = plan;
      return `${recognition.confidence >= SURE} ${recognition.reason} ${mapping.join(' ')}`;
    };
    match(
      await reasonWith([['Berater', 'ai']]),
      /^false as --map says, but unknown roles: Kunde .*role:Kunde=user$/,
    );
    equal(
      await reasonWith([
        ['Berater', 'ai'],
        ['Kunde', 'user'],
      ]),
      'true as --map says conversation=thread role=sender content=text role:Berater=ai role:Kunde=user',
    );
    // Whoever wants a role to be counted alone says so.
    match(
      await reasonWith([
        ['Berater', 'ai'],
        ['Kunde', 'Kunde'],
      ]),
      /^true /,
    );
  });

  it('guesses the columns of German, French and Spanish tables', async () => {
    const tables = [
      ['Ticket-Nr;Datum;Absender;Nachricht;Kunde', 'T1;2026-11-01;Kunde;Wo ist mein Paket?;k-7'],
      ['Numéro ticket;Date;Expéditeur;Message;Client', 'T1;2026-11-01;client;Où est mon colis ?;k-7'],
      ['ID conversación;Fecha;Remitente;Mensaje;Cliente', 'T1;2026-11-01;cliente;¿Dónde está?;k-7'],
    ];
    for (const table of tables) {
      const plan = await planFile(inputOf(`${table.join('\n')}\n`));
      ok('format' in plan, table[0]);
      const columns = table[0]!.split(';');
      for (const [index, field] of ['conversation', 'time', 'role', 'content', 'user'].entries())
        ok(
          plan.mapping.some((pair) => pair === `${field}=${columns[index]}`),
          `${field}: ${plan.mapping.join(' ')}`,
        );
    }
  });

  it('reads the dates of a table in the order that one of them decides, or stops', async () => {
    const table = (dates: readonly string[]): Input =>
      inputOf(`thread,role,text,date\n${dates.map((date, row) => `${row},user,Hello,${date}\n`).join('')}`);
    const timesIn = async (input: Input, reading: Reading = {}): Promise<unknown[]> => {
      const plan = await planFile(input, reading);
      if (!('format' in plan)) return [plan.isOpen, `${plan.looksLike}. ${plan.todo}`];
      const found: unknown[] = [];
      for await (const converted of convert(plan, {}))
        if ('fault' in converted) found.push(`${converted.number} ${converted.fault}`);
        else if ('conversation' in converted)
          found.push(converted.conversation.messages[0]?.metadata?.['createdAt']);
      return found;
    };
    const open = Array.from({ length: 30 }, (_, row) => `11/${(row % 12) + 1}/2026`);
    deepEqual((await timesIn(table([...open, '13/1/2026']))).slice(0, 2), [
      '2026-01-11T00:00:00Z',
      '2026-02-11T00:00:00Z',
    ]);
    deepEqual(await timesIn(table(['11/1/2026', '1/13/2026 9:30 PM', '13/1/2026'])), [
      '4 date: "13/1/2026" is no date, where the month stands first',
      '2026-11-01T00:00:00Z',
      '2026-01-13T21:30:00Z',
    ]);
    // What the calendar lacks is no matter of order.
    deepEqual(await timesIn(table(['30.11.2026 9:00', '31.02.2026 10:00', '2026-02-30'])), [
      '3 date: "31.02.2026 10:00": the calendar has no such day',
      '4 date: "2026-02-30": the calendar has no such day',
      '2026-11-30T09:00:00Z',
    ]);
    deepEqual(await timesIn(table(open)), [
      true,
      'a table whose dates do not say whether the day or the month comes first, such as 11/1/2026 (date). ' +
        'Say it with --dates day-first, or with --dates month-first.',
    ]);
    equal((await timesIn(table(open), { dates: 'month-first' }))[0], '2026-11-01T00:00:00Z');
    const zoned = table(['2026-07-01 12:00:00.5', '2026-07-01T12:00:00Z', '"1/7/2026, 12:00"', '13/7/2026']);
    deepEqual(await timesIn(zoned, { timeZone: 'Europe/Berlin' }), [
      '2026-07-01T10:00:00.500Z',
      '2026-07-01T12:00:00Z',
      '2026-07-01T10:00:00Z',
      '2026-07-12T22:00:00Z',
    ]);
  });

  it('names the columns of a table where --map names one that it lacks', async () => {
    const table = 'Ticket-Nr,Rolle,Text\n1,user,Hallo\n';
    const fields = { conversation: 'Ticketnr', role: 'Rolle', content: 'Text' };
    const plan = await planFile(inputOf(table), { mapping: { fields, roles: new Map() } });
    ok(!('format' in plan));
    equal(
      `${plan.looksLike}. ${plan.todo}`,
      'a table without the column Ticketnr; it has Ticket-Nr, Rolle, Text. Correct --map.',
    );
    const whole = { fields: { conversation: '-', role: '=user', content: 'Text' }, roles: new Map() };
    ok('format' in (await planFile(inputOf(table), { mapping: whole })));
  });

  it('takes roles alone beside columns that it guesses', async () => {
    const roles = new Map([['Kunde', 'user']]);
    const plan = await planFile(inputOf('thread,sender,text\n1,Kunde,Hallo\n'), {
      mapping: { fields: {}, roles },
    });
    ok('format' in plan && plan.recognition.confidence >= SURE);
    deepEqual(plan.mapping, ['conversation=thread', 'role=sender', 'content=text', 'role:Kunde=user']);
  });

  it('is not sure of lists that lack the answers, and says what has them', async () => {
    const author = { type: 'user', id: '1' };
    const source = { body: '<p>Hi</p>', author };
    const thin = [
      { type: 'conversation', id: '1', source },
      { id: 1, requester_id: 2, description: 'Where is my parcel?', subject: 'Parcel' },
    ];
    const whole = [
      { ...thin[0], conversation_parts: { conversation_parts: [] } },
      { ...thin[1], comments: [{ author_id: 2, body: 'Where?' }] },
    ];
    for (const [index, why] of [
      /conversation_parts.*each conversation/,
      /comments.*full JSON export/,
    ].entries()) {
      const plan = await planFile(inputOf(`${JSON.stringify(thin[index])}\n`));
      ok('format' in plan && plan.recognition.confidence < SURE);
      match(plan.recognition.reason, why);
      const complete = await planFile(inputOf(`${JSON.stringify(whole[index])}\n`));
      ok('format' in complete && complete.recognition.confidence >= SURE && complete.format === plan.format);
    }
  });

  it('ends reading at once when it is told to, rows that belong together as well', async () => {
    const rows = Array.from({ length: 20 }, (_, index) => `${index},user,Hello ${'x'.repeat(200)}`);
    for (const file of [`thread,sender,text\n${rows.join('\n')}`, `${JSON.stringify(chat)}\n`.repeat(200)]) {
      const plan = await planFile(inputOf(file));
      ok('format' in plan);
      const stop = new AbortController();
      let found = 0;
      const input = { ...plan.parts[0], input: stopping(plan.parts[0].input, stop) };
      for await (const converted of convert({ ...plan, parts: [input] }, { signal: stop.signal }))
        found += 'conversation' in converted ? 1 : 0;
      // What was read with the first piece of the file, at most.
      ok(found <= 20, String(found));
    }
  });

  it('looks at the beginning of a file whose first line does not end', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    let pieces = 0;
    const endless: Input = {
      ...inputOf('', 'endless.jsonl'),
      async *open() {
        for (; pieces < 1000; pieces += 1) yield piece;
      },
    };
    ok('format' in (await planFile(endless)));
    ok(pieces < 200, String(pieces));
  });

  it('takes any file, whole or damaged, without throwing', async () => {
    const files = globSync('*.{json,jsonl,csv}', { cwd: FIXTURES })
      .toSorted()
      .map((name) => readFileSync(join(FIXTURES, name)));
    const damaged = fastCheck
      .tuple(fastCheck.constantFrom(...files), fastCheck.nat(5000), fastCheck.uint8Array({ maxLength: 4 }))
      .map(([file, at, bytes]) => {
        const place = at % file.length;
        return Buffer.concat([file.subarray(0, place), bytes, file.subarray(place + (at % 7))]);
      });
    const content = fastCheck.oneof(damaged, fastCheck.uint8Array({ maxLength: 100 }), fastCheck.string());
    await fastCheck.assert(
      fastCheck.asyncProperty(content, async (bytes) => {
        const plan = await planFile(inputOf(bytes));
        if (!('format' in plan) || plan.format.kind === 'rows') return;
        for await (const converted of convert(plan, {})) ok(converted.number > 0);
      }),
      { seed: 16, numRuns: 150 },
    );
  });
});
