import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastCheck from 'fast-check';
import { convert } from '../../../../src/doors/import/converter.ts';
import { rolesOfChat } from '../../../../src/doors/import/formats/whatsapp.ts';
import type { Input } from '../../../../src/doors/import/inputs.ts';
import { planFile, type Reading } from '../../../../src/doors/import/plan.ts';

function inputOf(text: string, name = 'WhatsApp Chat with Ana.txt'): Input {
  const bytes = Buffer.from(text);
  async function* open(): AsyncGenerator<Buffer> {
    const size = Math.max(50, Math.ceil(bytes.length / 100));
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return { name, operand: name, source: 'file', size: bytes.length, named: false, path: null, open };
}

const roles = (pairs: Readonly<Record<string, string>>): Reading => ({
  mapping: { fields: {}, roles: new Map(Object.entries(pairs)) },
});
const SHOP = roles({ Shop: 'assistant' });

/** Conversations as `id: role text|role text`, faults and what was left out as they are. */
async function read(text: string, reading: Reading = SHOP, name?: string): Promise<string[]> {
  const plan = await planFile(inputOf(text, name), reading);
  if (!('format' in plan)) return [`${plan.isOpen} ${plan.looksLike}. ${plan.todo}`];
  equal(plan.format.name, 'whatsapp');
  const found: string[] = [];
  for await (const converted of convert(plan, {})) {
    if ('fault' in converted) found.push(`line ${converted.number}: ${converted.fault}`);
    else if ('leftOut' in converted) found.push(converted.leftOut);
    else {
      const { id, messages } = converted.conversation;
      const omitted = [...converted.omitted].map(([reason, count]) => `-${count} ${reason}`);
      found.push([id, ...messages.map(({ role, content }) => `${role} ${content}`), ...omitted].join('|'));
    }
  }
  return found;
}

async function timesOf(text: string, reading: Reading = SHOP): Promise<unknown[]> {
  const plan = await planFile(inputOf(text), reading);
  ok('format' in plan, JSON.stringify(plan));
  const found: unknown[] = [];
  for await (const converted of convert(plan, {}))
    if ('conversation' in converted)
      found.push(...converted.conversation.messages.map(({ metadata }) => metadata?.['createdAt']));
  return found;
}

describe('a WhatsApp chat', () => {
  it('has messages of several lines, and no notices, media and deleted messages', async () => {
    const chat = [
      '11/29/25, 9:15\u202fAM - Messages and calls are end-to-end encrypted.',
      '11/29/25, 9:15\u202fAM - Ana: Where is it?',
      '',
      '11/29: it was due',
      '11/29/25, 9:16\u202fAM - Shop: On its way <This message was edited>',
      '11/29/25, 9:17\u202fAM - Ana: <Media omitted>',
      '11/29/25, 9:17\u202fAM - Ana: <Médias omis>',
      '11/29/25, 9:17\u202fAM - Ana: \u200eIMG-1.jpg (file attached)',
      'the old one',
      '11/29/25, 9:18\u202fAM - Shop: This message was deleted',
      '11/29/25, 9:18\u202fAM - Shop: Du hast diese Nachricht gelöscht.',
      '11/29/25, 9:19\u202fAM - Ana changed the subject from "A: b" to "C"',
      "11/29/25, 9:20\u202fAM - Bo joined using this group's invite link",
      '11/29/25, 9:21\u202fAM - Bo: a < b: fine <3',
    ].join('\r\n');
    deepEqual(await read(chat), [
      'Ana 2025-11-29T09:15:00|user Where is it?\n\n11/29: it was due|assistant On its way|user the old one|' +
        'user a < b: fine <3|-3 notice of WhatsApp|-2 deleted message|-2 media or notice of WhatsApp',
    ]);
  });

  it('begins another conversation after half a day without a message', async () => {
    const chat = '2025-11-29 09:00 - Ana: one\n2025-11-29 21:00 - Shop: two\n2025-11-30 09:01 - Ana: three\n';
    deepEqual(await read(chat, SHOP, 'WhatsApp Chat - Ana (2).zip/_chat.txt'), [
      'Ana 2025-11-29T09:00:00|user one|assistant two',
      'Ana 2025-11-30T09:01:00|user three',
    ]);
  });

  it('is dated in every way that phones write dates, in the time zone that is named', async () => {
    const dates: readonly [string, string][] = [
      ['[29.11.25, 09:15:01] ', '2025-11-29T09:15:01.000Z'],
      ['\u200e[29/11/2025, 9:15:01 pm] ', '2025-11-29T21:15:01.000Z'],
      ['[29/11/2025 09:15:01] ', '2025-11-29T09:15:01.000Z'],
      ['29/11/25 9:15 p. m. - ', '2025-11-29T21:15:00.000Z'],
      ['29/11/25, 12:15 a.m. - ', '2025-11-29T00:15:00.000Z'],
      ['29.11.25, 09:15 - ', '2025-11-29T09:15:00.000Z'],
      ['29/11/2025 à 09:15 - ', '2025-11-29T09:15:00.000Z'],
      ['29-11-2025 09:15 - ', '2025-11-29T09:15:00.000Z'],
      ['29.11.2025 klo 9.15 - ', '2025-11-29T09:15:00.000Z'],
      ['2025/11/29 21:15 - ', '2025-11-29T21:15:00.000Z'],
      ['2025. 11. 29. 오후 9:15 - ', '2025-11-29T21:15:00.000Z'],
      ['[2025/11/29 下午9:15:01] ', '2025-11-29T21:15:01.000Z'],
      ['11/29/25, 9:15\u202fPM - ', '2025-11-29T21:15:00.000Z'],
    ];
    for (const [date, at] of dates) deepEqual(await timesOf(`${date}Shop: Hello`), [at], date);
    deepEqual(await timesOf('29.07.25, 09:15 - Shop: Hello', { ...SHOP, timeZone: 'Europe/Berlin' }), [
      '2025-07-29T07:15:00.000Z',
    ]);
  });

  it('says that its times are read as those of UTC, where no time zone is named', async () => {
    const chat = '29.11.25, 09:15 - Ana: one\n29.11.25, 09:16 - Shop: two\n';
    const reasonOf = async (timeZone?: string): Promise<string> => {
      const plan = await planFile(inputOf(chat), timeZone === undefined ? SHOP : { ...SHOP, timeZone });
      return 'format' in plan ? plan.recognition.reason : plan.looksLike;
    };
    match(await reasonOf(), /; times are read as UTC, --time-zone names another zone$/);
    match(await reasonOf('Europe/Berlin'), /^(?!.*UTC)/);
  });

  it('tells from all of its dates whether the day comes first, or asks', async () => {
    const either = '11/1/25, 09:15 - Ana: one\n11/2/25, 09:15 - Shop: two\n';
    match(
      (await read(either))[0] ?? '',
      /^true .*day or the month.* such as 11\/1\/25, 09:15\. .*--dates day-first/,
    );
    deepEqual(await timesOf(either, { ...SHOP, dates: 'day-first' }), [
      '2025-01-11T09:15:00.000Z',
      '2025-02-11T09:15:00.000Z',
    ]);
    const later = `${either}11/13/25, 09:15 - Ana: three\n`;
    equal((await timesOf(later))[0], '2025-11-01T09:15:00.000Z');
    // A chat does not go back by months.
    const sorted = '9/11/25, 09:15 - Ana: one\n10/11/25, 09:15 - Shop: two\n1/12/25, 09:15 - Ana: three\n';
    equal((await timesOf(sorted))[0], '2025-11-09T09:15:00.000Z');
    // Both orders are the same day.
    deepEqual(await timesOf('11/11/25, 09:15 - Shop: one\n'), ['2025-11-11T09:15:00.000Z']);
  });

  it('tells dates that are none in its order, with their lines', async () => {
    const chat = '13/1/25, 09:15 - Ana: one\n1/13/25, 09:15 - Shop: two\n14/1/25, 29:15 - Ana: three\nmore\n';
    deepEqual(await read(chat), [
      'line 2: "1/13/25, 09:15" is no date, where the day stands first',
      'line 3: "14/1/25, 29:15 - Ana: th": no time of day',
      'line 4: begins with no date, and no message is before it',
      'Ana 2025-01-13T09:15:00|user one',
    ]);
  });

  it('asks who the assistant is, unless somebody alone is called one', async () => {
    const chat = "29.11.25, 09:15 - Ana: one\n29.11.25, 09:16 - Bo's Shop: two\n";
    match(
      (await read(chat, {}))[0] ?? '',
      /^true .*: Ana, Bo's Shop\. Say it with --map role:Ana=assistant, or --map 'role:Bo'\\''s Shop=assistant'/,
    );
    const names = (known: ReadonlyMap<string, string> | null): unknown => known && [...known];
    deepEqual(names(rolesOfChat(['Ana', 'AcmeBot'], new Map())), [['AcmeBot', 'assistant']]);
    deepEqual(names(rolesOfChat(['Ana', 'Acme Support'], new Map())), [['Acme Support', 'assistant']]);
    equal(rolesOfChat(['Acme Support', 'Helper Bot'], new Map()), null);
    equal(rolesOfChat(['Abbot', 'Talbot'], new Map()), null);
    const given = new Map([
      ['Ana', 'assistant'],
      ['Cy', 'assistant'],
    ]);
    deepEqual(names(rolesOfChat(['Ana', 'Acme Support'], given)), [['Ana', 'assistant']]);
    deepEqual(names(rolesOfChat(['Ana'], new Map([['Ana', 'user']]))), [['Ana', 'user']]);
  });

  it('is read whole, cut anywhere, and takes no longer for odd text', async () => {
    const piece = fastCheck.constantFrom(
      '[',
      ']',
      ' ',
      '29.11.25, 09:15 - ',
      'A: ',
      '\n',
      '<',
      '>',
      '\u200e',
      '"',
      '(',
    );
    await fastCheck.assert(
      fastCheck.asyncProperty(fastCheck.array(piece, { maxLength: 40 }), async (pieces) => {
        const found = await read(`29.11.25, 09:15 - Shop: x\n${pieces.join('')}`);
        ok(found.length > 0);
      }),
      { seed: 16, numRuns: 150 },
    );
    const startedAt = performance.now();
    for (const odd of [' ', '<', '\u200e', '"', ' \u200e', '29.11.25, ', '1'])
      await read(`29.11.25, 09:15 - Shop: ${odd.repeat(50_000)}\n${`${odd}\n`.repeat(10_000)}`);
    ok(performance.now() - startedAt < 20_000);
  });
});
