import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { convert } from '../../../../src/doors/import/converter.ts';
import { slackText } from '../../../../src/doors/import/formats/slack-text.ts';
import { openInputs } from '../../../../src/doors/import/inputs.ts';
import { planFiles, planTogether } from '../../../../src/doors/import/plan.ts';
import { zipOf } from '../zip-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'undertone-slack-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** 2025-11-29T09:00:00Z and so many minutes. */
const ts = (minutes: number): string => `${1_764_406_800 + minutes * 60}.000100`;
const says = (user: string, minutes: number, text: string, more: object = {}): object => ({
  type: 'message',
  user,
  ts: ts(minutes),
  text,
  ...more,
});

const USERS = [
  { id: 'U1', name: 'ana', is_bot: false, profile: { display_name: '', real_name: 'Ana Müller' } },
  { id: 'U2', name: 'bo', is_bot: false, profile: { display_name: 'Bo' } },
  { id: 'B9', name: 'helper', is_bot: true, profile: { real_name: 'Helper' } },
];
const EXPORT: Readonly<Record<string, unknown>> = {
  'users.json': USERS,
  'channels.json': [{ id: 'C1', name: 'help', members: ['U1'] }],
  'dms.json': [{ id: 'D1', members: ['U1', 'U2'] }],
  'help/2025-11-29.json': [
    says('U2', 0, '<@U2> has joined the channel', { subtype: 'channel_join' }),
    says('U1', 1, 'How do I reset it, <@B9>?', { thread_ts: ts(1), reply_count: 2 }),
    says('U2', 2, 'Lunch? See <https://a.example/menu|the menu> &amp; <#C1|help>'),
    says('B9', 3, 'Hold the button.', { thread_ts: ts(1) }),
    says('U1', 4, ''),
    { type: 'message', subtype: 'bot_message', bot_id: 'B7', username: 'Menu', ts: ts(5), text: 'Soup' },
    says('U1', 6, '', { files: [{ id: 'F1' }] }),
  ],
  'help/2025-11-30.json': [
    says('U1', 1441, 'It works', { thread_ts: ts(1) }),
    says('U2', 1500, 'Lunch again?'),
    { type: 'message', text: 'no time' },
  ],
  'D1/2025-11-29.json': [says('U1', 0, 'Hi'), says('U2', 1, 'Hello')],
};

async function write(files: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
}

async function read(path: string, roles?: ReadonlyMap<string, string>): Promise<Record<string, unknown>> {
  const { inputs } = await openInputs([path]);
  const mapping = { fields: {}, roles: roles ?? new Map<string, string>() };
  const [plan] =
    roles === undefined ? await planFiles([path]) : (await planTogether(inputs, { mapping })).plans;
  ok(plan);
  equal(plan.format.name, 'slack');
  const found: Record<string, unknown> = {};
  for await (const converted of convert(plan, {})) {
    if ('fault' in converted)
      found[`${converted.place.file.slice(path.length + 1)} ${converted.number}`] = converted.fault;
    else if ('leftOut' in converted) found[converted.leftOut] = Number(found[converted.leftOut] ?? 0) + 1;
    else {
      const { id, messages } = converted.conversation;
      found[id] = messages.map(({ role, userId, content }) => `${userId ?? role}: ${content}`);
    }
  }
  return found;
}

const READ = {
  [`D1/${ts(0)}`]: ['U1: Hi', 'U2: Hello'],
  [`C1/${ts(1)}`]: ['U1: How do I reset it, @Helper?', 'assistant: Hold the button.', 'U1: It works'],
  [`C1/${ts(2)}`]: ['U2: Lunch? See the menu (https://a.example/menu) & #help', 'assistant: Soup'],
  [`C1/${ts(1500)}`]: ['U2: Lunch again?'],
  event: 1,
  file: 1,
  'message without text': 1,
  'help/2025-11-30.json 3': 'ts: missing; it says when the message was sent (1764407701.000100)',
};

describe('an export of Slack', () => {
  it('has threads, and what is said outside of them without a long pause, as a folder and as a zip file', async () => {
    await write(EXPORT);
    deepEqual(await read(folder), READ);
    const zip = join(folder, 'export.zip');
    const entries = Object.entries(EXPORT).map(([name, content]) => ({
      name: `Acme Slack export/${name}`,
      method: 0,
      packed: Buffer.from(JSON.stringify(content)),
    }));
    await writeFile(zip, zipOf(entries.toReversed()));
    const zipped = await read(zip);
    deepEqual(Object.values(zipped).toSorted(), Object.values(READ).toSorted());
  });

  it('may be a channel alone, without the list of users', async () => {
    await write({ 'help/2025-11-29.json': EXPORT['help/2025-11-29.json'] });
    const found = await read(join(folder, 'help'));
    deepEqual(found[`help/${ts(1)}`], ['U1: How do I reset it, @B9?', 'B9: Hold the button.']);
  });

  it('has people for assistants whom somebody names', async () => {
    await write(EXPORT);
    const found = await read(folder, new Map([['Bo', 'assistant']]));
    deepEqual(found[`D1/${ts(0)}`], ['U1: Hi', 'assistant: Hello']);
  });

  it('is imported without the files that are damaged, and stops where nobody knows who is who', async () => {
    await write({ ...EXPORT, 'help/2025-11-29.json': '[{"type": "message"', 'help/2025-11-30.json': '' });
    const found = await read(folder);
    deepEqual(found[`D1/${ts(0)}`], READ[`D1/${ts(0)}`]);
    match(String(found['help/2025-11-29.json 1']), /./);
    await write({ 'users.json': '[{"id": "U1"}, {"name": "x"}]' });
    await rejects(read(folder), /users\.json entry 2: has no id; it says who is who in a Slack export$/);
  });
});

describe('a message of Slack', () => {
  const textOf = (message: Record<string, unknown>): string =>
    slackText(message, (id) => ({ U1: 'Ana' })[id]);

  it('is read as it is shown', () => {
    const texts: readonly [string, string][] = [
      ['Ask <@U1> or <@U7|bo>, <!here> <!subteam^S1|@team>', 'Ask @Ana or @bo, @here @team'],
      [
        '<mailto:a@b.example|a@b.example> <https://c.example> <http://d.example|d.example>',
        'a@b.example https://c.example http://d.example',
      ],
      ['<!date^1392734382^{date}|Feb 18> 1 &lt; 2 &amp;amp; <open', 'Feb 18 1 < 2 &amp; <open'],
    ];
    for (const [text, plainText] of texts) equal(textOf({ text }), plainText);
  });

  it('of a bot may be in blocks or attachments', () => {
    const section = { type: 'section', text: { type: 'mrkdwn', text: 'Done <@U1>' } };
    const rich = {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_section',
          elements: [
            { type: 'text', text: 'Hi ' },
            { type: 'user', user_id: 'U1' },
          ],
        },
      ],
    };
    equal(
      textOf({ text: '', blocks: [section, rich, { type: 'actions', elements: [{ text: 'Click' }] }] }),
      'Done @Ana\nHi @Ana',
    );
    equal(
      textOf({ attachments: [{ title: 'Build 7', text: 'failed' }, { fallback: 'see log' }] }),
      'Build 7\nfailed\nsee log',
    );
  });

  it('takes no longer for odd text', () => {
    const startedAt = performance.now();
    for (const odd of ['<', '<@', '|', '&lt;', '<|>']) textOf({ text: odd.repeat(300_000) });
    ok(performance.now() - startedAt < 3000);
  });
});
