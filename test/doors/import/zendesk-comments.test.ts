import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { convert } from '../../../src/doors/import/converter.ts';
import { openInputs } from '../../../src/doors/import/inputs.ts';
import { planFile, planFiles, planTogether, type Reading } from '../../../src/doors/import/plan.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-zendesk-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** Writes files into a folder of their own. */
async function write(name: string, files: Readonly<Record<string, unknown>>): Promise<string> {
  const root = join(folder, name);
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return root;
}

/** What each ticket says, and what cannot be imported. */
async function read(root: string): Promise<Record<string, unknown>> {
  const [plan, ...others] = await planFiles([root]);
  ok(plan !== undefined && others.length === 0);
  equal(plan.format.name, 'zendesk');
  const found: Record<string, unknown> = {};
  for await (const converted of convert(plan, {})) {
    if ('fault' in converted) found[converted.place.file.slice(root.length + 1)] = converted.fault;
    else if ('conversation' in converted)
      found[String(converted.conversation.session['externalId'])] = converted.conversation.messages.map(
        ({ role, content }) => `${role}: ${content}`,
      );
  }
  return found;
}

const ticket = (id: number): object => ({
  id,
  requester_id: 501,
  subject: 'Boots',
  description: 'Too small',
  created_at: '2026-03-01T08:00:00Z',
});
const comment = (id: number, author: number, body: string, more: object = {}): object => ({
  id,
  type: 'Comment',
  author_id: author,
  plain_body: body,
  body,
  public: true,
  created_at: `2026-03-0${(id % 8) + 1}T08:00:00Z`,
  ...more,
});
const TICKETS = { tickets: [ticket(35), ticket(36), ticket(37)], next_page: null, count: 3 };

describe('comments of Zendesk in files of their own', () => {
  it('are joined with their tickets, whose id is in the name of the file or folder, or in a page’s URLs', async () => {
    const url = (page: number): string =>
      `https://shop.zendesk.com/api/v2/tickets/37/comments.json?page=${page}`;
    const root = await write('joined', {
      'tickets.json': TICKETS,
      'comments/35.json': {
        comments: [
          comment(1, 77, 'Which size?'),
          comment(0, 501, 'Too small'),
          comment(2, 77, 'Angry', { public: false }),
        ],
        next_page: null,
      },
      'tickets/36/comments.json': JSON.stringify({ comments: [comment(0, 501, 'Too big')] }, null, 2),
      // Pages that overlap, the later one first.
      'pages.jsonl': [
        { comments: [comment(1, 77, 'No.'), comment(2, 501, 'Pity.')], previous_page: url(1) },
        { comments: [comment(0, 501, 'Open on Sunday?'), comment(1, 77, 'No.')], next_page: url(2) },
      ]
        .map((page) => JSON.stringify(page))
        .join('\n'),
    });
    deepEqual(await read(root), {
      35: ['user: Too small', 'assistant: Which size?'],
      36: ['user: Too big'],
      37: ['user: Open on Sunday?', 'assistant: No.', 'user: Pity.'],
    });
  });

  it('are told where their ticket is missing, or nothing says which it is', async () => {
    const two = [[comment(0, 501, 'a')], [comment(0, 501, 'b')]];
    const root = await write('partly', {
      'tickets.json': { tickets: [ticket(35)] },
      'ticket-99.json': { comments: [comment(0, 501, 'Hello')] },
      'all.json': { comments: [comment(0, 501, 'Hello')] },
      'ticket-35.jsonl': two.map((comments) => JSON.stringify({ comments })).join('\n'),
    });
    const found = await read(root);
    deepEqual(found['35'], ['user: a']);
    match(String(found['ticket-99.json']), /^ticket 99: missing; its comments are there/);
    match(String(found['ticket-35.jsonl']), /^comments: nothing says of which ticket.*comments\/35\.json/);
    match(String(found['all.json']), /^comments: nothing says of which ticket/);
  });

  it('go to no ticket whose number counts their pages or versions', async () => {
    const pageWith = (body: string): object => ({ comments: [comment(body.length, 501, body)] });
    const root = await write('pages', {
      'tickets.json': { tickets: [ticket(1), ticket(2), ticket(35), ticket(36), ticket(37)] },
      'tickets/35/comments-1.json': pageWith('a'),
      'tickets/35/comments-2.json': pageWith('bb'),
      '35/comments_v2.json': pageWith('ccc'),
      'tickets/36/comments/page-2.json': pageWith('d'),
      'all/comments_2.json': pageWith('e'),
      'all/ticket_37 (1).json': pageWith('f'),
      'all/ticket_37-page-2.json': pageWith('gg'),
    });
    const found = await read(root);
    match(String(found['all/comments_2.json']), /^comments: nothing says of which ticket/);
    deepEqual(
      [1, 2, 35, 36, 37].map((id) => found[id]),
      [
        ['user: Too small'],
        ['user: Too small'],
        ['user: a', 'user: bb', 'user: ccc'],
        ['user: d'],
        ['user: f', 'user: gg'],
      ],
    );
  });

  it('are not imported where the URLs, the folder and the name of a file tell different tickets', async () => {
    const page = (next: number | null): object => ({
      comments: [comment(0, 501, 'Hello')],
      next_page:
        next === null ? null : `https://shop.zendesk.com/api/v2/tickets/${next}/comments.json?page=2`,
    });
    const files = {
      '36.json': page(37),
      'tickets/35/36.json': page(null),
      'tickets/35/comments/1.json': page(null),
      'tickets/35/comments.json': page(36),
      'tickets/35/ticket-35-ticket-36.json': page(null),
      // The first page would be taken.
      '37.jsonl': `${JSON.stringify(page(null))}\n${JSON.stringify(page(35))}\n`,
    };
    const root = await write('unclear', {
      'tickets.json': { tickets: [1, 35, 36, 37].map(ticket) },
      ...files,
    });
    const found = await read(root);
    for (const file of Object.keys(files)) {
      match(String(found[file]), /tell different tickets \((?:\d+, \d+)\); no comments of this file/, file);
      ok(String(found[file]).includes(join(root, file)));
    }
    for (const id of [1, 35, 36, 37]) deepEqual(found[id], ['user: Too small']);
  });

  it('are refused before anything is sent where there is no ticket at all', async () => {
    const root = await write('alone', { 'comments/35.json': { comments: [comment(0, 501, 'Hello')] } });
    const { inputs } = await openInputs([root]);
    const { plans, rest } = await planTogether(inputs, {});
    deepEqual([plans.length, rest.length], [0, 1]);
    for (const reading of [{}, { format: 'zendesk' }]) {
      const plan = await planFile(rest[0]!, reading);
      ok(!('format' in plan) && plan.isOpen === true);
      equal(plan.looksLike, 'comments of Zendesk without their tickets');
      match(plan.todo ?? '', /tickets\.json comments\//);
    }
  });

  it('are no chats that have a list of comments, too', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ];
    const named = [{ sender: 'user', text: 'Hi' }];
    const given = [comment(0, 501, 'Nice')];
    const chats = {
      'plain.json': [{ id: 'a', messages, comments: [] }],
      'rated.json': [{ id: 'b', messages, comments: given }],
      'lines.jsonl': `${JSON.stringify({ id: 'c', messages, comments: [] })}\n`,
    };
    const odd = {
      'named.json': [{ id: 'd', messages: named, comments: [] }],
      'rated-named.json': [{ id: 'd', messages: named, comments: given }],
      'odd.json': [{ id: 'e', posts: [{ wer: 'Kunde', was: 'Hallo' }], comments: [] }],
      'bare.json': [{ comments: [] }],
      'mixed.json': [{ comments: [...given, 'Hello'] }],
    };
    const page = { comments: [], next_page: null, previous_page: null, count: 0 };
    const root = await write('chats', { ...chats, ...odd, 'page.json': page });
    const planned = async (file: string, reading: Reading = {}): Promise<string> => {
      const { inputs } = await openInputs([join(root, file)]);
      const plan = await planFile(inputs[0]!, reading);
      return 'format' in plan ? plan.format.name : plan.looksLike;
    };
    for (const file of Object.keys(chats)) equal(await planned(file), 'undertone', file);
    for (const file of ['named.json', 'rated-named.json']) equal(await planned(file), 'table', file);
    for (const file of Object.keys(odd)) ok(!/Zendesk/.test(await planned(file)), file);
    equal(await planned('page.json'), 'comments of Zendesk without their tickets');
    const fields = { turns: 'comments', role: 'author_id', content: 'body' };
    await write('chats', { 'mapped.json': [{ comments: given }] });
    equal(await planned('mapped.json'), 'comments of Zendesk without their tickets');
    const roles = new Map([['501', 'user']]);
    equal(await planned('mapped.json', { mapping: { fields, roles } }), 'table');

    await write('chats', { 'tickets.json': TICKETS, 'comments/35.json': { comments: given } });
    const { inputs } = await openInputs([root]);
    const { plans, rest } = await planTogether(inputs, {});
    deepEqual(
      plans.map(({ parts }) => parts.map(({ input }) => input.name.slice(root.length + 1))),
      [['tickets.json', 'comments/35.json', 'mapped.json', 'page.json']],
    );
    equal(rest.length, Object.keys({ ...chats, ...odd }).length);
  });

  it('come from every copy of a ticket, and the newest copy says whose they are', async () => {
    const copy = (day: number, requester: number, comments: object[]): object => ({
      ...ticket(35),
      requester_id: requester,
      updated_at: `2026-03-0${day}T08:00:00Z`,
      comments,
    });
    const unnamed = { ...comment(3, 77, 'Sorry'), id: undefined };
    const users = [{ id: 88, role: 'end-user' }];
    const root = await write('copies', {
      'a.json': { tickets: [copy(2, 77, [comment(0, 501, 'Too smal'), unnamed]), ticket(36)] },
      'b.json': { tickets: [copy(9, 501, [comment(0, 501, 'Too small'), comment(1, 77, 'Which?')])] },
      'c.jsonl': [
        { ticket: copy(1, 77, [comment(4, 501, 'Ten')]) },
        { ticket: copy(1, 77, []), users, comments: [comment(5, 88, 'Mine, too')] },
      ]
        .map((row) => JSON.stringify(row))
        .join('\n'),
      'comments/35.json': { comments: [comment(6, 501, 'Thanks')] },
      'comments/36.json': { comments: [comment(0, 501, 'Too big')] },
    });
    deepEqual(await read(root), {
      35: [
        'user: Too small',
        'assistant: Which?',
        'assistant: Sorry',
        'user: Ten',
        'user: Mine, too',
        'user: Thanks',
      ],
      36: ['user: Too big'],
    });
  });

  it('are missed where other tickets have them', async () => {
    const whole = { ...ticket(38), comments: [comment(0, 501, 'Whole')] };
    const root = await write('missed', {
      'tickets.json': { tickets: [ticket(35), ticket(36), ticket(37), whole] },
      'comments/35.json': { comments: [comment(0, 501, 'Hello'), comment(1, 77, 'Note', { public: false })] },
      'comments/37.json': { comments: [], next_page: null, previous_page: null, count: 0 },
    });
    const [plan] = await planFiles([root]);
    const omitted: Record<string, string[]> = {};
    for await (const converted of convert(plan!, {}))
      if ('conversation' in converted)
        omitted[String(converted.conversation.session['externalId'])] = [...converted.omitted].map(
          ([reason, times]) => `${times} × ${reason.slice(0, 46)}`,
        );
    const missing = ['1 × answers to a ticket whose comments are missing'];
    deepEqual(omitted, { 35: ['1 × internal note'], 36: missing, 37: missing, 38: [] });
  });

  it('leave tickets that have their comments as they are', async () => {
    const whole = { ...ticket(35), comments: [comment(0, 501, 'Too small'), comment(1, 77, 'Sorry')] };
    const root = await write('whole', { 'tickets.jsonl': JSON.stringify(whole) });
    deepEqual(await read(root), { 35: ['user: Too small', 'assistant: Sorry'] });
  });
});
